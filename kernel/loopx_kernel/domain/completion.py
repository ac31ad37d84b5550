"""Completion is derived: every book must stand at zero at once. Nothing can write it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from loopx_kernel.domain.freshness import SourceReading
from loopx_kernel.domain.landing import is_unproven
from loopx_kernel.domain.needs_you import Reads
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.records_of_work import Observation
from loopx_kernel.domain.standing import gaps, worked_seq
from loopx_kernel.domain.state import (
    GoalState,
    open_escalations,
    open_obligations,
    waiting_gates,
)
from loopx_kernel.value import Value

SOURCE = "validated_goal_closure"
ListSource = Literal["journal", "prose"]


class Check(Value):
    """One condition of completion; ``count`` and ``ids`` say what stands in the way. The count is
    more than the ids where facts are so many that the oldest are not named any more."""

    gate: Literal[1, 2]
    check: str
    ok: bool
    count: int
    ids: tuple[str, ...]


class Completion(Value):
    """The verdict and its derivation."""

    complete: bool
    checks: tuple[Check, ...]
    derived: bool = True
    source: str = SOURCE

    @property
    def failing(self) -> tuple[Check, ...]:
        """The checks that do not hold."""
        return tuple(check for check in self.checks if not check.ok)


def derive(
    state: GoalState,
    reads: Reads,
    sources: Iterable[SourceReading],
    now: datetime,
    list_source: ListSource = "journal",
) -> Completion:
    """Completion of a goal at ``now``. When in doubt it is not complete."""
    checks = (*_the_list(state, now, list_source), *_the_other_books(state, reads, sources))
    return Completion(all(check.ok for check in checks), checks)


def _the_list(state: GoalState, now: datetime, source: ListSource) -> Iterable[Check]:
    todos = list(state.todos.values())
    loose = tuple(t.id for t in todos if t.status == "superseded" and not state.has_ended(t.id))
    unfinished = tuple(t.id for t in todos if not t.finished)
    yield _check(1, "list_source", () if source == "journal" else (source,))
    yield _check(1, "list_declared", () if state.rules is not None else ("absent",))
    yield _check(1, "count_total", unfinished + loose)
    for status in ("open", "claimed", "waiting", "blocked", "deferred"):
        yield _check(1, f"{status}_zero", _ids(todos, status))
    overdue = tuple(
        t.id for t in todos if not t.finished and t.next_check_at and t.next_check_at <= now
    )
    yield _check(1, "due_checked", overdue)


def _the_other_books(
    state: GoalState, reads: Reads, sources: Iterable[SourceReading]
) -> Iterable[Check]:
    waiting = [t for t in state.todos.values() if t.status == "waiting" and t.waiting_on]
    for check, kind in (("observations", "source"), ("ci", "ci"), ("review", "review")):
        ids = [t.id for t in waiting if t.waiting_on and t.waiting_on.kind == kind]
        ids += [seen.ref for seen in state.observations.values() if _is_owed(state, seen, kind)]
        yield _check(2, check, tuple(ids), more=state.unproven.get(kind, 0))
    successors = [t for t in state.todos.values() if t.lineage_todo_ids and not t.finished]
    blocked = tuple(t.id for t in successors if t.status in ("blocked", "deferred"))
    runnable = tuple(t.id for t in successors if t.id not in blocked)
    yield _check(2, "runnable_successor", runnable)
    yield _check(2, "blocked_successor", blocked)
    yield _check(2, "acceptance", gaps(state, reads.seen))
    yield _check(2, "obligations", tuple(duty.id for duty in open_obligations(state)))
    yield _check(2, "gates", tuple(gate.id for gate in waiting_gates(state)))
    yield _check(2, "escalations", tuple(one.id for one in open_escalations(state)))
    open_turns = (turn.id for turn in state.turns.values() if turn.status == "open")
    yield _check(2, "turns_closed", tuple(open_turns))
    yield _check(2, "integrity", _integrity(state, reads))
    yield _check(2, "sources", _unread(state, sources))


def _unread(state: GoalState, sources: Iterable[SourceReading]) -> tuple[str, ...]:
    """Required sources without a good reading after the last change of work. Their age
    does not count here, so the verdict does not decay with the clock."""
    worked = worked_seq(state)
    return tuple(
        source.id
        for source in sources
        if source.required and source.enabled and not source.on_demand
        if source.last_success_at is None
        or source.read_status not in ("read", "no_change")
        or state.sources[source.id].seq < worked
    )


def _is_owed(state: GoalState, seen: Observation, kind: str) -> bool:
    return seen.kind == kind and is_unproven(state, seen)


def _integrity(state: GoalState, reads: Reads) -> tuple[str, ...]:
    lines = tuple(f"#{alert.seq}" for alert in state.alerts)
    drift = (f"drift:{state.goal_id}",) if reads.drift else ()
    tail = (f"tail since #{reads.verified_from}",) if reads.verified_from > 1 else ()
    return (*(item.path for item in reads.damage), *drift, *tail, *lines)


def _ids(todos: Iterable[Todo], status: str) -> tuple[str, ...]:
    return tuple(todo.id for todo in todos if todo.status == status)


def _check(gate: Literal[1, 2], name: str, ids: tuple[str, ...], *, more: int = 0) -> Check:
    count = len(ids) + more
    return Check(gate, name, not count, count, ids)
