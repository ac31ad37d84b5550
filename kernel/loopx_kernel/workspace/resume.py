"""Going on from where an earlier reading stopped: checkpoints in the reader's own cache."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from loopx_kernel.domain.canonical import digest
from loopx_kernel.domain.records import Cut, Head
from loopx_kernel.domain.roster_state import WorkspaceState
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Damaged
from loopx_kernel.store import checkpoint
from loopx_kernel.store.checkpoint import Checkpoint
from loopx_kernel.store.files import Files
from loopx_kernel.store.line import Position
from loopx_kernel.value import Value

S = TypeVar("S", GoalState, WorkspaceState)
FILE = "checkpoint.json"
EVERY = 64
MIDWAY = 65_536
"""After how many lines a state is kept: at the end of a reading, and on the way."""


class Seen(Value):
    """A line seen earlier, and the repairs of the journal that were known then, by event id."""

    line: Head
    cuts: frozenset[str]

    def explained_by(self, cuts: Iterable[Cut]) -> bool:
        """Whether a repair made since cut the line off, or names it or one before it as gone:
        what came after a line that is gone went with it."""
        since = [cut for cut in cuts if cut.event_id not in self.cuts]
        gone = [cut.missed.seq - 1 for cut in since if cut.missed is not None]
        return any(last < self.line.seq for last in (*gone, *(cut.after.seq for cut in since)))


def load(path: Path, rests_on: str, *, files: Files) -> Checkpoint | None:
    """The checkpoint at ``path``, unless it is of other folding code or rests on other owners."""
    found = checkpoint.load(path, fingerprint(), files=files)
    return found if found is not None and found.owners_head == rests_on else None


def state_of(found: Checkpoint, kind: type[S]) -> S | None:
    """The state a checkpoint holds, if it is one of that kind and at the checkpoint's line."""
    try:
        state = kind.model_validate_json(found.state)
    except ValidationError:
        return None
    return state if (state.seq, state.head) == (found.seq, found.head) else None


def save(
    path: Path,
    state: GoalState | WorkspaceState,
    position: Position,
    rests_on: str,
    *,
    files: Files,
) -> bool:
    """Keeps a state whose lines are flushed. Failing costs only time."""
    return checkpoint.save(
        path,
        Checkpoint(
            fingerprint=fingerprint(),
            seq=position.seq,
            offset=position.offset,
            head=position.head,
            owners_head=rests_on,
            state=state.model_dump_json(exclude_defaults=True),
        ),
        files=files,
    )


def rolled_back(path: Path, seen: Head, last_seq: int, now: str | None) -> Damaged | None:
    """The damage of a journal that no longer holds a head seen earlier, or ``None``.

    ``now`` is the hash that stands at the seen line's place now.
    """
    if now == seen.head:
        return None
    shorter = last_seq < seen.seq
    return Damaged(
        "rolled_back",
        f"{path} {'ends before' if shorter else 'no longer holds'} "
        f"line {seen.seq}, which was seen earlier",
        next="loopx repair journal",
        path=str(path),
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
