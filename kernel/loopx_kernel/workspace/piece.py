"""One materialised file: what it should be, how it stands, and writing it anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loopx_kernel.errors import LoopxError
from loopx_kernel.store.files import Files
from loopx_kernel.store.quarantine import digest_of
from loopx_kernel.store.records import Level, Verdict
from loopx_kernel.value import Value

DAMAGED = (Level.DAMAGED, Level.AHEAD)
"""What no writer mends by itself."""


class Piece(Value):
    """One file. Its right content depends on ``key`` alone; ``level`` tells how it stands,
    ``audit`` how all of it stands, and ``write`` puts it right whatever stood there.
    ``todo_id`` is the todo that damage of it stops: empty where it stops nothing, None where it
    stops the goal. ``copy_of`` names the evidence whose bytes are kept there: no journal can give
    them back."""

    path: Path
    key: Any
    level: Callable[[], Verdict]
    write: Callable[[], None]
    todo_id: str | None = None
    audit: Callable[[], Verdict] | None = None
    copy_of: str | None = None

    def audited(self) -> Verdict:
        """How all of the file stands; one that cannot be read is damaged."""
        try:
            return (self.audit or self.level)()
        except LoopxError as error:
            return Verdict(Level.DAMAGED, what=error.message)


def holds(path: Path, sha256: str, *, files: Files) -> bool:
    """Whether a regular file with that digest stands there."""
    try:
        return digest_of(path, files=files) == sha256
    except LoopxError:
        return False


def names_in(folder: Path) -> list[str]:
    """What lies in a folder, sorted."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries)
    except OSError:
        # Missing, or not to be read: then no file in it can be judged either.
        return []
