"""Taking work away: a todo is cancelled, or superseded by another. Nothing is deleted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from loopx_kernel.domain.endings import ENDS, check_parts, endings, refuse_finished
from loopx_kernel.domain.event import OWNER, Context, Draft, EventType, Facts
from loopx_kernel.domain.holding import check_next_version
from loopx_kernel.domain.record import Count, Line, Name, Record
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.state import GoalState, duty_of
from loopx_kernel.domain.withdrawal import WITHDRAWS, withdrawals
from loopx_kernel.errors import UsageError
from loopx_kernel.text import check_line
from loopx_kernel.value import Value


class CancelTodo(Value, kw_only=True):
    """Work is no longer wanted; signed."""

    todo_id: str
    reason: str


class SupersedeTodo(Value, kw_only=True):
    """The todo ``by``, which comes from this one, takes its place; signed."""

    todo_id: str
    by: str
    reason: str


class Cancelled(Record):
    todo_id: Name
    version: Count
    reason: Line
    parts: tuple[dict[str, Any], ...] = ()


class Superseded(Cancelled):
    superseded_by: Name


def decide(state: GoalState, command: CancelTodo | SupersedeTodo, context: Context) -> Draft:
    """The event that takes a todo away; raises when ``check`` would."""
    if isinstance(command, CancelTodo):
        part = cancelling(state, command.todo_id, command.reason)
    else:
        (part,) = superseding(state, [(command.todo_id, command.by)], command.reason)
    return Draft(part.pop("type"), part, command.todo_id)


def cancelling(state: GoalState, todo_id: str, reason: str) -> dict[str, Any]:
    """The part that cancels a todo. Raises ``unknown_todo``, ``illegal_transition``."""
    return _ending(state, state.todo(todo_id), "todo.cancelled", reason)


def superseding(
    state: GoalState, pairs: Iterable[tuple[str, str]], reason: str
) -> list[dict[str, Any]]:
    """The parts that put a successor, the second of each pair, in the place of a todo, the first.

    Each finds the state as those before it left it. Raises ``unknown_todo``,
    ``lineage_invalid``, ``illegal_transition``.
    """
    parts: list[dict[str, Any]] = []
    for old, new in pairs:
        todo = state.todo(old)
        part = _ending(state, todo, "todo.superseded", reason)
        parts.append(part | {"superseded_by": new})
        state = state.with_todo(todo.model_copy(update={"status": "superseded"}))
    return parts


def _ending(state: GoalState, todo: Todo, kind: str, reason: str) -> dict[str, Any]:
    return {
        "type": kind,
        "todo_id": todo.id,
        "version": todo.version + 1,
        "reason": reason,
        "parts": _follows(state, todo),
    }


def _follows(state: GoalState, todo: Todo) -> list[dict[str, Any]]:
    """What ends with work that is taken away, turns on it among that."""
    return [*endings(state, todo, finishes=True), *withdrawals(state, todo.id)]


def check_successor(state: GoalState, todo: Todo, successor_id: str) -> None:
    """The successor exists, is not finished, said at its adding that it comes from the todo, and
    needs nothing that waits for the todo.

    So lines of successors have no cycles: each successor was added after what it supersedes.
    Raises ``unknown_todo``, ``illegal_transition``, ``lineage_invalid``, ``dependency_cycle``.
    """
    if successor_id != todo.id:
        successor = state.todo(successor_id)
        refuse_finished(successor)
        if todo.id in successor.lineage_todo_ids and successor.kind != "replan":
            _refuse_circle(state, todo, successor)
            return
    raise UsageError(
        "lineage_invalid",
        f"{successor_id} cannot take the place of {todo.id}: it was not added as work that comes "
        "from it",
        next=f"loopx todo add 'What is to be done instead' --lineage {todo.id}",
        todo_id=todo.id,
        successor=successor_id,
    )


def _refuse_circle(state: GoalState, todo: Todo, new: Todo) -> None:
    seen: set[str] = set()
    waiting = [new]
    while waiting:
        one = waiting.pop()
        successor = (one.superseded_by,) if one.superseded_by else ()
        needed = {*one.depends_on, *successor} - seen
        if todo.id in needed:
            raise UsageError(
                "dependency_cycle",
                f"{new.id} cannot take the place of {todo.id}: it waits for {todo.id} itself",
                next=f"loopx todo show {new.id}",
                todo_id=todo.id,
                successor=new.id,
            )
        seen |= needed
        waiting += [state.todos[ref] for ref in needed if not state.has_ended(ref)]


def _check_ending(state: GoalState, payload: Cancelled) -> Todo:
    todo = state.todo(payload.todo_id)
    refuse_finished(todo)
    duty = duty_of(state, todo.id)
    if duty is not None:
        raise UsageError(
            "illegal_transition",
            f"{todo.id} is the replanning that {duty.id} asks for, and ends with it",
            next=f"loopx replan withdraw {duty.id}",
            todo_id=todo.id,
            obligation_id=duty.id,
        )
    check_next_version(todo, payload.version)
    check_line(payload.reason, "reason")
    return todo


def _check_cancelled(state: GoalState, payload: Cancelled, facts: Facts) -> None:
    todo = _check_ending(state, payload)
    check_parts(payload.parts, _follows(state, todo))


def _check_superseded(state: GoalState, payload: Superseded, facts: Facts) -> None:
    todo = _check_ending(state, payload)
    check_successor(state, todo, payload.superseded_by)
    check_parts(payload.parts, _follows(state, todo))


def _ended(state: GoalState, payload: Cancelled, facts: Facts, **update: Any) -> GoalState:
    todo = state.todo(payload.todo_id)
    values = {
        "version": payload.version,
        "reason": payload.reason,
        "waiting_on": None,
        "resume_at": None,
        "changed_at": facts.at,
        "done_at": facts.at,
        "done_seq": facts.seq,
        "seq": facts.seq,
    }
    return state.with_todo(todo.model_copy(update=values | update))


def _evolve_cancelled(state: GoalState, payload: Cancelled, facts: Facts) -> GoalState:
    return _ended(state, payload, facts, status="cancelled")


def _evolve_superseded(state: GoalState, payload: Superseded, facts: Facts) -> GoalState:
    by = payload.superseded_by
    return _ended(state, payload, facts, status="superseded", superseded_by=by)


_GIVEN = frozenset({"version"})
EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType(
        "todo.cancelled",
        Cancelled,
        OWNER,
        _check_cancelled,
        _evolve_cancelled,
        kernel_fields=_GIVEN,
        parts=ENDS | WITHDRAWS,
    ),
    EventType(
        "todo.superseded",
        Superseded,
        OWNER,
        _check_superseded,
        _evolve_superseded,
        kernel_fields=_GIVEN,
        parts=ENDS | WITHDRAWS,
    ),
)
