"""The person at this machine: their own configuration folder and the keys in it.

Nothing here needs a workspace, and nothing of it is an authority: a key counts
only where it is enrolled.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loopx_kernel.errors import LoopxError, Storage, UsageError

KEY_NAME = "loopx_ed25519"


@dataclass(frozen=True, slots=True)
class KeyFile:
    """A key file as it lies there. ``problem`` is a sentence: why it cannot be read, or,
    where there is a ``fingerprint``, what is wrong with who may read it."""

    path: Path
    fingerprint: str = ""
    public_line: str = ""
    needs_passphrase: bool = False
    problem: str | None = None


def look_at_key(path: Path) -> KeyFile:
    """What can be told of a key file without its passphrase; never raises for its content."""
    from loopx_kernel.trust.keys import needs_passphrase, permissions_problem, public_of

    try:
        public = public_of(path)
        exposed = permissions_problem(path)
        return KeyFile(
            path,
            public.fingerprint,
            public.line,
            needs_passphrase(path),
            exposed and f"{path}: {exposed}",
        )
    except LoopxError as error:
        return KeyFile(path, problem=error.message)


def generate_key(path: Path, comment: str, passphrase: bytes | None) -> KeyFile:
    """Makes an ed25519 key file, durable on return; ``exists`` if one is there."""
    from loopx_kernel.trust.keys import generate

    generate(path, comment, passphrase)
    return look_at_key(path)


def config_folder() -> Path:
    """The person's own configuration folder."""
    from platformdirs import user_config_path

    return user_config_path("loopx")


def config_file() -> Path:
    """The person's own configuration."""
    return config_folder() / "config.yaml"


def default_key() -> Path:
    """Where ``connect --new-key`` puts LoopX's own key."""
    return config_folder() / KEY_NAME


def candidate_keys(explicit: Path | None) -> list[Path]:
    """The key named, else ``$LOOPX_KEY``, else the configured key and LoopX's own."""
    if explicit is not None:
        return [explicit]
    if named := os.environ.get("LOOPX_KEY"):
        return [Path(named).expanduser()]
    named = read_config().get("key")
    configured = [Path(named).expanduser()] if isinstance(named, str) else []
    return [path for path in dict.fromkeys([*configured, default_key()]) if path.exists()]


def remember_key(path: Path) -> bool:
    """Notes a key in the person's configuration unless one is noted there already.

    Keeps every other line of the file; durable on return. Tells whether it was noted.
    """
    from io import StringIO

    from ruamel.yaml import YAML

    from loopx_kernel.store.disk import atomic_write, make_folder
    from loopx_kernel.store.files import Files

    if path == default_key() or read_config().get("key") is not None:
        return False
    files, place = Files(), config_file()
    yaml = YAML()
    yaml.width = 2**16  # a long path stays on its line
    values: Any = yaml.load(place) if place.exists() else None
    values = values if isinstance(values, dict) else {}
    values["key"] = str(path.absolute())
    text = StringIO()
    yaml.dump(values, text)
    make_folder(place.parent, files=files, mode=0o700)
    atomic_write(place, text.getvalue().encode(), files=files)
    return True


def read_config() -> dict[str, Any]:
    """The person's own configuration; empty without one.

    Raises ``permission`` where it cannot be opened and ``invalid_value`` where it is not YAML.
    """
    place = config_file()
    if not place.exists():
        return {}
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        values = YAML(typ="safe").load(place)
    except OSError as error:
        raise Storage(
            "permission", f"{place}: {error.strerror}", next=f"ls -l {place}", path=str(place)
        ) from None
    except (YAMLError, UnicodeDecodeError):
        raise UsageError(
            "invalid_value",
            f"{place} is not YAML that can be read",
            next=f"mend {place}, or name the key with --key PATH",
            path=str(place),
        ) from None
    return values if isinstance(values, dict) else {}
