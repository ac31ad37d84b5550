"""What the app keeps of a person's choices: the theme. No choice is lost with it but that."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_FILE: Final = "theme"
_LONGEST: Final = 64


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
    if folder is None:
        return None
    try:
        with (folder / _FILE).open("rb") as file:
            return file.read(_LONGEST).decode("ascii").strip() or None
    except (OSError, ValueError):
        return None


def keep_theme(folder: Path | None, name: str) -> None:
    """Keeps a name for the next start; where that fails, the choice holds until the end."""
    if folder is None:
        return
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = folder / f"{_FILE}.{os.getpid()}.tmp"
        part.write_text(f"{name}\n", "ascii")
        part.replace(folder / _FILE)
