"""Completion is derived: every book must stand at zero at once. Nothing can write it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from loopx_kernel.domain.freshness import SourceReading
from loopx_kernel.domain.needs_you import Reads
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.state import GoalState, waiting_gates

SOURCE = "validated_goal_closure"
ListSource = Literal["journal", "prose"]


@dataclass(frozen=True, slots=True)
class Check:
    """One condition of completion; ``count`` and ``ids`` say what stands in the way."""

    gate: Literal[1, 2]
    check: str
    ok: bool
    count: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Completion:
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
    finished = sum(todo.finished for todo in todos)
    loose = tuple(t.id for t in todos if t.status == "superseded" and not _ends_well(state, t))
    unfinished = tuple(t.id for t in todos if not t.finished)
    yield _check(1, "list_source", () if source == "journal" else (source,))
    yield _check(1, "list_declared", () if state.rules is not None else ("absent",))
    yield Check(
        1, "count_total", finished == len(todos) and not loose, len(unfinished), unfinished + loose
    )
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
        ids = (t.id for t in waiting if t.waiting_on and t.waiting_on.kind == kind)
        yield _check(2, check, tuple(ids))
    successors = [t for t in state.todos.values() if t.lineage_todo_ids and not t.finished]
    blocked = tuple(t.id for t in successors if t.status in ("blocked", "deferred"))
    runnable = tuple(t.id for t in successors if t.id not in blocked)
    yield _check(2, "runnable_successor", runnable)
    yield _check(2, "blocked_successor", blocked)
    yield _check(2, "acceptance", _acceptance_gaps(state))
    yield _check(2, "gates", tuple(gate.id for gate in waiting_gates(state)))
    yield _check(2, "integrity", _integrity(state, reads))
    yield _check(2, "sources", _unread(state, sources))


def _unread(state: GoalState, sources: Iterable[SourceReading]) -> tuple[str, ...]:
    """Required sources without a good reading after the last change of work. Their age
    does not count here, so the verdict does not decay with the clock."""
    worked = max((todo.seq for todo in state.todos.values()), default=0)
    return tuple(
        source.id
        for source in sources
        if source.required and source.enabled and not source.on_demand
        if source.last_success_at is None
        or source.last_success_at != source.checked_at
        or state.sources[source.id].seq < worked
    )


def _acceptance_gaps(state: GoalState) -> tuple[str, ...]:
    """Items without a pass. Passing needs the kernel's own run or a person's signature,
    and neither is recorded yet; a goal without a required item waits for a signature."""
    items = state.rules.acceptance if state.rules is not None else ()
    required = tuple(item.id for item in items if not item.optional)
    return required or ("by_hand",)


def _integrity(state: GoalState, reads: Reads) -> tuple[str, ...]:
    lines = tuple(f"#{alert.seq}" for alert in state.alerts)
    drift = (f"drift:{state.goal_id}",) if reads.drift else ()
    tail = (f"tail since #{reads.verified_from}",) if reads.verified_from > 1 else ()
    return (*(item.path for item in reads.damage), *drift, *tail, *lines)


def _ends_well(state: GoalState, todo: Todo) -> bool:
    seen = set()
    while todo.status == "superseded" and todo.superseded_by and todo.id not in seen:
        seen.add(todo.id)
        todo = state.todos[todo.superseded_by]
    return todo.status in ("done", "cancelled")


def _ids(todos: Iterable[Todo], status: str) -> tuple[str, ...]:
    return tuple(todo.id for todo in todos if todo.status == status)


def _check(gate: Literal[1, 2], name: str, ids: tuple[str, ...]) -> Check:
    return Check(gate, name, not ids, len(ids), ids)
