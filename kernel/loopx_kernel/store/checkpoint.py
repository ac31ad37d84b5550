"""Checkpoints: a folded state kept in the reader's own cache folder.

A cache and nothing else: what does not fit is as good as missing, and a checkpoint that cannot
be saved costs only time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

from loopx_kernel.errors import LoopxError
from loopx_kernel.store.disk import MIB, atomic_write, read_regular
from loopx_kernel.store.files import Files
from loopx_kernel.store.line import Position
from loopx_kernel.value import Value

_LIMIT = 256 * MIB
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


class Checkpoint(Value):
    """A state right after the line ``seq``, which ends at ``offset`` and has the hash ``head``.

    ``fingerprint`` names the folding code, ``owners_head`` the workspace journal's head that the
    verdicts rest on, ``state`` is the state as JSON text.
    """

    fingerprint: str
    seq: int
    offset: int
    head: str
    owners_head: str
    state: str

    @property
    def position(self) -> Position:
        """Where to go on reading."""
        return Position(self.offset, self.seq, self.head)


def cache_folder(workspace_id: str, goal_id: str) -> Path:
    """The reader's folder for one goal: ``$LOOPX_CACHE_DIR`` or the platform's, by ids.

    An id that is no plain name is replaced by its digest. Makes nothing.
    """
    base = os.environ.get("LOOPX_CACHE_DIR")
    if base:
        root = Path(base)
    else:
        from platformdirs import user_cache_path

        root = user_cache_path("loopx")
    return root / _plain(workspace_id) / _plain(goal_id)


def load(path: Path, fingerprint: str, *, files: Files) -> Checkpoint | None:
    """The checkpoint at ``path``; ``None`` unless it is whole and of that folding code.

    Whether its ``position`` is still in the journal, only reading from there tells.
    """
    try:
        data = read_regular(path, _LIMIT, files=files)
        found: dict[str, Any] = json.loads(data or b"")
        digest = found.pop("digest")
        checkpoint = Checkpoint(**found)
    except (LoopxError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None
    good = digest == _digest(checkpoint) and checkpoint.fingerprint == fingerprint
    return checkpoint if good and _is_typed(checkpoint) else None


def save(path: Path, checkpoint: Checkpoint, *, files: Files) -> bool:
    """Keeps the checkpoint at ``path`` in one step, folders with mode 0700; tells whether it could.

    The journal up to ``checkpoint.position`` must have been flushed before.
    """
    record = {**asdict(checkpoint), "digest": _digest(checkpoint)}
    content = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    with contextlib.suppress(LoopxError, OSError, UnicodeEncodeError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.chmod(0o700)
        atomic_write(path, content.encode(), files=files, durable=False)
        return True
    return False


def _digest(checkpoint: Checkpoint) -> str:
    # The state is long, and is JSON already: written out as it stands.
    head = json.dumps({**asdict(checkpoint), "state": ""}, sort_keys=True)
    return hashlib.sha256(f"{head}\n{checkpoint.state}".encode(errors="surrogatepass")).hexdigest()


def _is_typed(checkpoint: Checkpoint) -> bool:
    numbers = (checkpoint.seq, checkpoint.offset)
    texts = (checkpoint.head, checkpoint.owners_head, checkpoint.state)
    return all(type(n) is int and n >= 0 for n in numbers) and all(type(t) is str for t in texts)


def _plain(name: str) -> str:
    if _PLAIN.fullmatch(name):
        return name
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
