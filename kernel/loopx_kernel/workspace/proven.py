"""Journals that this user's kernel found whole from line 1 on, and that did not change since.

Kept in the reader's own cache like a checkpoint, and worth as much: it spares a second replay
where nobody asks for one, and says when the first was.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopx_kernel.clock import format_time, parse_time
from loopx_kernel.errors import LoopxError
from loopx_kernel.store import checkpoint
from loopx_kernel.store.disk import MIB, atomic_write, read_regular
from loopx_kernel.store.line import Position
from loopx_kernel.store.seek import ends_with
from loopx_kernel.value import Value
from loopx_kernel.workspace import resume

if TYPE_CHECKING:
    from datetime import datetime

    from loopx_kernel.workspace.core import Core
    from loopx_kernel.workspace.ledger import Ledger

FILE = "verified.json"
Signature = tuple[int, int, int, int]


class Proven(Value):
    """A journal that was whole at ``at`` (UTC), when it ended at ``position``."""

    position: Position
    at: datetime


def signature(path: Path) -> Signature | None:
    """Size, times and inode of a journal; ``None`` where it is missing."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def note(core: Core, ledger: Ledger, before: Signature | None) -> None:
    """Keeps that ``ledger``, read from line 1, is whole, unless its file changed since ``before``,
    which was taken before the reading. Failing costs only time."""
    if before is None or signature(ledger.journal.path) != before or ledger.has_tail:
        return
    record = _basis(ledger, before) | {
        "offset": ledger.position.offset,
        "seq": ledger.position.seq,
        "head": ledger.position.head,
        "at": format_time(core.clock.read().now),
    }
    path = _place(core, ledger)
    with contextlib.suppress(LoopxError, OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        data = json.dumps(record).encode()
        atomic_write(path, data, files=core.files, durable=False, mode=0o600)


def look(core: Core, ledger: Ledger) -> Proven | None:
    """What is kept of the journal, where its file has the same size, times, inode and last line,
    and the same folding code and owners judge it; else ``None``."""
    now = signature(ledger.journal.path)
    with contextlib.suppress(LoopxError, ValueError, TypeError, KeyError, RecursionError):
        kept: Any = json.loads(read_regular(_place(core, ledger), MIB, files=core.files) or b"null")
        if now is None or any(kept[key] != value for key, value in _basis(ledger, now).items()):
            return None
        found = Proven(Position(kept["offset"], kept["seq"], kept["head"]), parse_time(kept["at"]))
        return found if ends_with(ledger.journal, found.position) else None
    return None


def _basis(ledger: Ledger, found: Signature) -> dict[str, Any]:
    return {
        "fingerprint": resume.fingerprint(),
        "rests_on": ledger.rests_on(),
        "start": ledger.start.head,
        "root": os.path.realpath(ledger.journal.path),
        "file": list(found),
    }


def _place(core: Core, ledger: Ledger) -> Path:
    folder = checkpoint.cache_folder(core.house.state.workspace_id, ledger.name)
    return folder / FILE
