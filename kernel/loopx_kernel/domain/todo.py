"""Todos: adding work."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from loopx_kernel.domain.event import AGENT, Context, Draft, EventType, Facts
from loopx_kernel.domain.record import Flag, Line, Name, Record, Time
from loopx_kernel.domain.records import Origin, Priority, Role, Todo, TodoKind
from loopx_kernel.domain.scope import check_scope
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Busy, UsageError
from loopx_kernel.text import check_line
from loopx_kernel.value import Value


class AddTodo(Value, kw_only=True):
    """New work, with where it comes from."""

    title: str
    role: Role = "agent"
    kind: TodoKind = "work"
    priority: Priority = "P2"
    write_scope: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    acceptance: tuple[str, ...] = ()
    lineage: tuple[str, ...] = ()
    requires_statement: bool = False
    resume_at: datetime | None = None
    next_check_at: datetime | None = None


class Added(Record):
    todo_id: Name
    title: Line
    role: Role = "agent"
    kind: TodoKind = "work"
    priority: Priority = "P2"
    write_scope: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    acceptance: tuple[str, ...] = ()
    lineage_todo_ids: tuple[str, ...] = ()
    requires_statement: Flag = False
    resume_at: Time | None = None
    next_check_at: Time | None = None


def decide(state: GoalState, command: AddTodo, context: Context) -> Draft:
    """The event for new work; raises when ``check`` would."""
    values = asdict(command)
    values["lineage_todo_ids"] = values.pop("lineage")
    todo_id = f"T{state.next_todo}"
    return Draft("todo.added", {"todo_id": todo_id, **values}, todo_id)


def _known(state: GoalState, ids: Sequence[str], code: str, what: str) -> None:
    for ref in ids:
        if not state.knows(ref):
            raise UsageError(
                code,
                f"{what} names {ref}, which is not a todo of {state.goal_id}",
                next=f"loopx todo list --goal {state.goal_id} --all",
                todo_id=ref,
            )


def _check_added(state: GoalState, payload: Added, facts: Facts) -> None:
    expected = f"T{state.next_todo}"
    if payload.todo_id != expected:
        raise UsageError(
            "invalid_event",
            f"The next todo is {expected}, not {payload.todo_id}",
            next="loopx todo list --all",
            todo_id=payload.todo_id,
        )
    check_line(payload.title, "title")
    if facts.actor.kind == "agent":
        _refuse_flood(state, facts.actor.id, payload.role)
    for scope in payload.write_scope:
        check_scope(scope)
    _known(state, payload.depends_on, "unknown_todo", "--depends-on")
    _known(state, payload.lineage_todo_ids, "lineage_invalid", "--lineage")
    known_items = {item.id for item in state.the_rules.acceptance}
    for item in payload.acceptance:
        if item not in known_items:
            raise UsageError(
                "invalid_value",
                f"{item!r} is not an acceptance item of {state.goal_id}",
                next=f"loopx goal show --goal {state.goal_id}",
                item=item,
            )


def _refuse_flood(state: GoalState, agent_id: str, role: Role) -> None:
    """``limit`` where as much of what an agent added is unfinished as may be; for people it may be
    as much as an agent may ask them."""
    limits, people = state.the_rules.limits, role == "human"
    limit = limits.pending_gates_per_agent if people else limits.unfinished_todos_per_agent
    if len(state.todos) < limit:
        return
    mine = sum(
        not todo.finished
        and (todo.origin.actor_kind, todo.origin.actor_agent_id) == ("agent", agent_id)
        and (todo.role == "human" or not people)
        for todo in state.todos.values()
    )
    if mine >= limit:
        what = "todos for people" if people else "todos"
        raise Busy(
            "limit",
            f"{mine} {what} that {agent_id} added are not finished; {limit} is the limit",
            next=f"loopx todo list --goal {state.goal_id}",
            unfinished=mine,
            limit=limit,
        )


def _evolve_added(state: GoalState, payload: Added, facts: Facts) -> GoalState:
    values = payload.model_dump(exclude={"todo_id"})
    todo = Todo(
        id=payload.todo_id,
        **values,
        origin=Origin(
            actor_kind=facts.actor.kind, actor_agent_id=facts.actor.id, event_id=facts.event_id
        ),
        status="deferred" if payload.resume_at else "open",
        added_at=facts.at,
        changed_at=facts.at,
        seq=facts.seq,
    )
    return state.with_todo(todo).model_copy(update={"next_todo": state.next_todo + 1})


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType("todo.added", Added, AGENT, _check_added, _evolve_added),
)
