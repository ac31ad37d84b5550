"""A goal as it stood at an earlier line: by replay, from the nearest state kept before it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from loopx_kernel.clock import Reading
from loopx_kernel.domain import fold
from loopx_kernel.domain.needs_you import Reads
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Storage, UsageError
from loopx_kernel.store.line import Position
from loopx_kernel.views.envelope import Coverage, ledger_row, seal
from loopx_kernel.views.goal import GoalView, goal_view
from loopx_kernel.workspace import resume

if TYPE_CHECKING:
    from loopx_kernel.workspace.core import Core
    from loopx_kernel.workspace.ledger import Progress
    from loopx_kernel.workspace.ledgers import GoalLedger

EVERY = 16_384
"""How many lines lie between two kept states."""
FOLDER = "snapshots"


@dataclass(frozen=True, slots=True)
class Past:
    """A goal right after the line ``view.seq``, by the clock of that line (``at``, UTC).

    ``last_seq`` is where its journal ends now. Files beside the journal have no past, so
    ``view.reads`` says nothing of them, and the envelope is never fresh.
    """

    view: GoalView
    state: GoalState
    at: datetime
    last_seq: int


class History:
    """Goals as they stood."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def at(self, goal_id: str, seq: int) -> Past:
        """The goal right after line ``seq``. Raises ``unknown_event`` where there is none,
        ``journal_damaged`` where it cannot be read."""
        core = self._core
        with core.lock:
            core.house.refresh()
            ledger = core.fresh_goal(goal_id)
            last = ledger.position.seq
            if seq > last:
                ledger.require_whole()
            if not 1 <= seq <= last:
                raise UsageError(
                    "unknown_event",
                    f"{goal_id} has the lines 1 to {last}; there is no line {seq}",
                    next=f"loopx event list --goal {goal_id} --limit 20",
                    seq=seq,
                    last_seq=last,
                )
            state = state_at(ledger, seq, core.progress)
            assert state.last_at is not None
            return Past(self._view(state, state.last_at), state, state.last_at, last)

    def _view(self, state: GoalState, at: datetime) -> GoalView:
        house = self._core.house.state
        view = goal_view(
            state,
            Reads(),
            Reading(at),
            agents=list(house.agents),
            owners=[owner.name for owner in house.present_owners],
        )
        now = self._core.clock.read().now
        integrity = [f"#{alert.seq}" for alert in state.alerts]
        row = replace(ledger_row(at, now, integrity), status="stale")
        envelope = seal(
            "replay",
            observed_at=at,
            served_at=now,
            sources=[row, *view.envelope.sources[1:]],
            coverage=Coverage("goal", 1, 1),
            integrity=integrity,
        )
        return replace(view, envelope=envelope)


def state_at(ledger: GoalLedger, seq: int, progress: Progress | None = None) -> GoalState:
    """The state right after line ``seq``, or the last good line before it.

    States on the way are kept in the ledger's cache, so that the next replay is short.
    """
    state, position = _nearest(ledger, seq)
    if seq <= position.seq:
        return state
    for result in ledger.journal.batches(position, seq - position.seq):
        for line in result.lines:
            event = ledger.event_of(line)
            state = fold.evolve(state, event, ledger.verdict(event))
            if line.seq % EVERY == 0:
                _keep(ledger, state, line.position)
        if progress is not None:
            progress(result.position.seq, seq)
    return state


def _nearest(ledger: GoalLedger, seq: int) -> tuple[GoalState, Position]:
    """The last kept state at or before line ``seq``, if the journal still has its line."""
    folder = _folder(ledger)
    for kept in range(seq // EVERY * EVERY, 0, -EVERY) if folder else ():
        assert folder is not None
        path = folder / f"{kept}.json"
        found = resume.load(path, ledger.rests_on(), files=ledger.journal.files)
        state = found and resume.state_of(found, GoalState)
        fits = found and found.seq == kept and ledger.journal.holds(found.position)
        if found and state and fits and ledger.is_own(state):
            return state, found.position
    return GoalState(goal_id=ledger.name), ledger.start


def _keep(ledger: GoalLedger, state: GoalState, position: Position) -> None:
    folder = _folder(ledger)
    if folder is None:
        return
    with contextlib.suppress(Storage):
        ledger.journal.flush()
        path = folder / f"{position.seq}.json"
        resume.save(path, state, position, ledger.rests_on(), files=ledger.journal.files)


def _folder(ledger: GoalLedger) -> Path | None:
    return ledger.cache / FOLDER if ledger.cache else None
