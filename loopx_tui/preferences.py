"""What the app keeps of a person's choices: the theme, and which panes are hidden."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

_THEME: Final = "theme"
_HIDDEN: Final = "hidden"
_LONGEST: Final = 256


def state_folder() -> Path:
    """Where LoopX keeps what is not configuration; honours ``XDG_STATE_HOME``, makes nothing."""
    from platformdirs.unix import Unix

    return Unix("loopx").user_state_path


def own_folder() -> Path:
    """The person's own configuration; honours ``XDG_CONFIG_HOME``, makes nothing."""
    from platformdirs.unix import Unix

    return Unix("loopx").user_config_path


def theme(folder: Path | None) -> str | None:
    """The name of the theme that was chosen last; ``None`` where nothing is kept."""
    return _read(folder, _THEME) or None


def keep_theme(folder: Path | None, name: str) -> None:
    """Keeps a name for the next start; where that fails, the choice holds until the end."""
    _write(folder, _THEME, name)


def hidden(folder: Path | None) -> tuple[str, ...]:
    """The panes that were hidden last, by their names; not all of them need be there now."""
    return tuple(_read(folder, _HIDDEN).split())


def keep_hidden(folder: Path | None, names: Iterable[str]) -> None:
    """Keeps which panes are hidden for the next start; a failure is as with a theme."""
    _write(folder, _HIDDEN, " ".join(names))


def _read(folder: Path | None, name: str) -> str:
    if folder is None:
        return ""
    try:
        with (folder / name).open("rb") as file:
            return file.read(_LONGEST).decode("ascii").strip()
    except (OSError, ValueError):
        return ""


def _write(folder: Path | None, name: str, text: str) -> None:
    if folder is None:
        return
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = folder / f"{name}.{os.getpid()}.tmp"
        part.write_text(f"{text}\n", "ascii")
        part.replace(folder / name)
