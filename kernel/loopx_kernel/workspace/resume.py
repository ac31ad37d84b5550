"""Going on from where an earlier reading stopped: checkpoints in the reader's own cache."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from loopx_kernel.domain.canonical import digest
from loopx_kernel.domain.roster import WorkspaceState
from loopx_kernel.errors import Damaged, Storage
from loopx_kernel.store import checkpoint
from loopx_kernel.store.checkpoint import Checkpoint

if TYPE_CHECKING:
    from loopx_kernel.workspace.ledgers import Ledger

FILE = "checkpoint.json"
EVERY = 64


def resume(ledger: Ledger, cache: Path) -> Checkpoint | None:
    """Puts the ledger where the last checkpoint stood. What does not fit costs a replay."""
    found = checkpoint.load(cache / FILE, fingerprint(), files=ledger.journal.files)
    if found is None or found.owners_head != ledger.rests_on():
        return None
    try:
        state = type(ledger.state).model_validate_json(found.state)
    except ValidationError:
        return None
    if not ledger.is_own(state) or (state.seq, state.head) != (found.seq, found.head):
        return None
    ledger.state = state
    ledger.position = found.position
    return found


def save(ledger: Ledger, cache: Path) -> bool:
    """Keeps the present state, after flushing what it rests on. Failing costs only time."""
    try:
        ledger.journal.flush()
    except Storage:
        return False
    position = ledger.position
    return checkpoint.save(
        cache / FILE,
        Checkpoint(
            fingerprint=fingerprint(),
            seq=position.seq,
            offset=position.offset,
            head=position.head,
            owners_head=ledger.rests_on(),
            state=ledger.state.model_dump_json(),
        ),
        files=ledger.journal.files,
    )


def rolled_back(ledger: Ledger, seen: Checkpoint) -> Damaged | None:
    """The damage of a journal that no longer holds a head seen earlier, or ``None``."""
    if ledger.hash_at(seen.seq) == seen.head:
        return None
    shorter = ledger.position.seq < seen.seq
    return Damaged(
        "rolled_back",
        f"{ledger.journal.path} {'ends before' if shorter else 'no longer holds'} "
        f"line {seen.seq}, which was seen earlier",
        next="restore the journal from a backup",
        path=str(ledger.journal.path),
        line=seen.seq,
        kind="shorter" if shorter else "rewritten",
    )


def owners_digest(state: WorkspaceState) -> str:
    """What the verdicts of a checkpoint rest on."""
    return digest([owner.model_dump(mode="json") for owner in state.owners])


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """A fingerprint of the folding code: names, sizes and times of the domain's files."""
    folder = Path(__file__).parent.parent / "domain"
    with os.scandir(folder) as entries:
        facts = sorted(
            (entry.name, entry.stat().st_size, entry.stat().st_mtime_ns)
            for entry in entries
            if entry.name.endswith(".py")
        )
    return hashlib.sha256(repr(facts).encode()).hexdigest()
