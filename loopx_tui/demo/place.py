"""Where the demo lives: one temporary folder, and the environment its processes get."""

from __future__ import annotations

import os
import site
from dataclasses import dataclass
from pathlib import Path

PREFIX = "loopx-demo-"
OWNER = "demo-owner"
"""Who decides in the demo, whoever sits at it."""
_KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV", "TZ")


class DemoError(Exception):
    """Why the demo cannot go on, as a sentence for the person at the terminal."""


@dataclass(frozen=True, slots=True)
class Place:
    """The folders of one demo; everything the demo ever writes is below ``top``."""

    top: Path

    @property
    def home(self) -> Path:
        """The home folder of the demo's processes, outside the workspace."""
        return self.top / "home"

    @property
    def repo(self) -> Path:
        """The small repository, which is also the workspace."""
        return self.top / "mall-frontend"

    @property
    def origin(self) -> Path:
        """The bare repository that workers push to after an approval."""
        return self.top / "origin.git"

    @property
    def inbox(self) -> Path:
        """Messages from customers, one text file each."""
        return self.top / "inbox"

    @property
    def key(self) -> Path:
        """The throw-away private key of the demo's owner, where ``connect --new-key`` puts it."""
        from loopx_kernel.workspace.person import KEY_NAME

        return next(self.home.rglob(KEY_NAME))

    @property
    def reports(self) -> Path:
        """Test reports, inside the repo because evidence has to be."""
        return self.repo / "build" / "reports"

    @property
    def cache(self) -> Path:
        """What LoopX would keep in the person's cache folder."""
        return self.home / "cache" / "loopx"

    @property
    def checks(self) -> Path:
        """Tickets of checks that wait for the demo's CI, and its checkouts."""
        return self.top / "ci"

    def environment(self) -> dict[str, str]:
        """For ``loopx``, git and pytest: nothing of the person's own settings is used."""
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        return kept | {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "XDG_STATE_HOME": str(self.home / "state"),
            "XDG_DATA_HOME": str(self.home / "data"),
            # Packages installed with `pip install --user` are found by the real home.
            "PYTHONUSERBASE": site.getuserbase(),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "NO_COLOR": "1",
            "LOOPX_ROOT": str(self.repo),
            "LOOPX_CACHE_DIR": str(self.cache),
        }

    def screen_variables(self) -> dict[str, str]:
        """What points the terminal UI at the demo's key; its caches go with the demo."""
        return {"LOOPX_KEY": str(self.key), "LOOPX_CACHE_DIR": str(self.cache)}
