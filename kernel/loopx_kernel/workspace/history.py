"""A goal as it stood at an earlier line: by replay, from the nearest state kept before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from loopx_kernel.clock import Reading
from loopx_kernel.domain.needs_you import Reads
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.turn_state import knows_turn, unknown_turn
from loopx_kernel.errors import UsageError
from loopx_kernel.value import Value
from loopx_kernel.views.envelope import Coverage, ledger_row, seal
from loopx_kernel.views.goal import GoalView, goal_view
from loopx_kernel.workspace.paging import Wanted, last_to_first
from loopx_kernel.workspace.snapshots import Near, closed_earlier, finished_earlier, state_at

if TYPE_CHECKING:
    from loopx_kernel.domain.records import Todo
    from loopx_kernel.domain.records_of_work import Turn
    from loopx_kernel.workspace.core import Core
    from loopx_kernel.workspace.ledgers import GoalLedger


class Past(Value):
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
        self._near = Near()

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
            state = state_at(ledger, seq, core.progress, self._near)
            assert state.last_at is not None
            return Past(self._view(state, state.last_at), state, state.last_at, last)

    def todo(self, goal_id: str, todo_id: str) -> Todo:
        """A todo whenever it was finished, as it is now. Raises ``unknown_todo``."""
        core = self._core
        with core.lock:
            core.house.refresh()
            ledger = core.fresh_goal(goal_id)
            state: GoalState = ledger.state
            if todo_id not in state.todos and state.knows(todo_id):
                for then in self._when_about(ledger, todo_id):
                    if todo_id in then.todos:
                        return then.todos[todo_id]
            return state.todo(todo_id)

    def turn(self, goal_id: str, turn_id: str) -> Turn:
        """A turn whenever it was closed. Raises ``unknown_turn``."""
        core = self._core
        with core.lock:
            core.house.refresh()
            ledger = core.fresh_goal(goal_id)
            state: GoalState = ledger.state
            if turn_id in state.turns:
                return state.turns[turn_id]
            for then in self._when_about(ledger, turn_id) if knows_turn(state, turn_id) else ():
                if turn_id in then.turns:
                    return then.turns[turn_id]
            raise unknown_turn(state, turn_id)

    def turns(self, goal_id: str, most: int | None = None) -> list[Turn]:
        """The turns that were closed before those in the state, oldest first: all, or the last
        ``most``. Takes long where there are many, and tells the workspace's ``progress``."""
        core = self._core
        with core.lock:
            core.house.refresh()
            return closed_earlier(core.fresh_goal(goal_id), most, core.progress)

    def _when_about(self, ledger: GoalLedger, object_id: str) -> Iterator[GoalState]:
        """The states right after the lines about an object, the latest first. Nothing changes
        it once it left, so it left after the last of them."""
        for line in last_to_first(ledger, Wanted(about=object_id)):
            if ledger.fault_at(line.seq) is None:
                yield state_at(ledger, line.seq, self._core.progress)

    def finished(self, goal_id: str, most: int | None = None) -> list[Todo]:
        """The todos that finished before those in the view, oldest first: all, or the last
        ``most``. Takes long where there are many, and tells the workspace's ``progress``."""
        core = self._core
        with core.lock:
            core.house.refresh()
            ledger = core.fresh_goal(goal_id)
            return finished_earlier(ledger, most, core.progress)

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
