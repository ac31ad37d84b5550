"""Setting a todo aside: blocked, waiting for an outside fact, put off to a date; and reopening."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal

from loopx_kernel.clock import Reading
from loopx_kernel.domain.endings import ENDS, check_parts, endings, refuse_finished
from loopx_kernel.domain.event import AGENT, OWNER, Context, Draft, EventType, Facts
from loopx_kernel.domain.holding import check_next_version
from loopx_kernel.domain.landing import LONGEST_REF, look_command, looked_since
from loopx_kernel.domain.record import Count, Line, Name, Record, Time
from loopx_kernel.domain.records import Todo, WaitingOn
from loopx_kernel.domain.state import GoalState, is_live
from loopx_kernel.errors import Denied, Fenced, UsageError
from loopx_kernel.text import check_line
from loopx_kernel.value import Value


class SetAside(Value, kw_only=True):
    """Block a todo, wait for an outside fact, or put it off to a date."""

    todo_id: str
    status: Literal["blocked", "waiting", "deferred"]
    reason: str = ""
    until: datetime | None = None
    waiting_on: WaitingOn | None = None


class ReopenTodo(Value, kw_only=True):
    """Put a blocked, waiting or deferred todo back to open; by a person with a ``reason``,
    signed."""

    todo_id: str
    reason: str = ""


class Aside(Record):
    todo_id: Name
    version: Count
    reason: Line = ""
    resume_at: Time | None = None
    waiting_on: WaitingOn | None = None
    parts: tuple[dict[str, Any], ...] = ()


class Reopened(Record):
    todo_id: Name
    version: Count
    reason: Line = ""


def decide(state: GoalState, command: SetAside | ReopenTodo, context: Context) -> Draft:
    """The event for setting aside or reopening; raises when ``check`` would."""
    todo = state.todo(command.todo_id)
    payload: dict[str, Any] = {"todo_id": todo.id, "version": todo.version + 1}
    if isinstance(command, ReopenTodo):
        payload["reason"] = command.reason
        return Draft("todo.reopened", payload, todo.id)
    payload |= {
        "reason": command.reason,
        "resume_at": command.until,
        "waiting_on": command.waiting_on,
        "parts": endings(state, todo, finishes=False),
    }
    return Draft(f"todo.{command.status}", payload, todo.id)


def _check_aside(state: GoalState, payload: Aside, facts: Facts) -> Todo:
    todo = state.todo(payload.todo_id)
    refuse_finished(todo)
    check_next_version(todo, payload.version)
    lease = todo.lease
    if lease is not None and lease.owner != facts.actor.id and is_live(lease, Reading(facts.at)):
        raise Fenced(
            "not_holder",
            f"{todo.id} is held by {lease.owner}, not by {facts.actor.id}",
            next="loopx lease list",
            todo_id=todo.id,
            holder=lease.owner,
        )
    if payload.reason:
        check_line(payload.reason, "reason")
    if payload.waiting_on is None or not _waits_for_the_same(todo, payload.waiting_on):
        _refuse_unseen(state, todo)
    check_parts(payload.parts, endings(state, todo, finishes=False))
    return todo


def _waits_for_the_same(todo: Todo, other: WaitingOn) -> bool:
    wait = todo.waiting_on
    return wait is not None and (wait.kind, wait.ref) == (other.kind, other.ref)


def _refuse_unseen(state: GoalState, todo: Todo) -> None:
    """A worker ends a wait only after a look at the fact: else whatever is frozen could be thawed
    by saying so, and the fact would be missing from what completion counts."""
    wait = todo.waiting_on
    if todo.status != "waiting" or wait is None or looked_since(state, todo):
        return
    raise Denied(
        "quota_frozen",
        f"{todo.id} waits for {wait.fact}, and nobody looked at that since",
        next=look_command(state, todo, wait),
        todo_id=todo.id,
        waiting_on=wait.model_dump(mode="json"),
    )


def _refuse_given(*others: WaitingOn | datetime | None) -> None:
    """What ends a todo's being set aside is of one kind: an answer, a fact or a date."""
    if any(other is not None for other in others):
        raise UsageError("invalid_event", "A todo is set aside for one thing")


def _check_blocked(state: GoalState, payload: Aside, facts: Facts) -> None:
    _check_aside(state, payload, facts)
    _refuse_given(payload.waiting_on, payload.resume_at)
    check_line(payload.reason, "reason")


def _check_waiting(state: GoalState, payload: Aside, facts: Facts) -> None:
    todo = _check_aside(state, payload, facts)
    _refuse_given(payload.resume_at)
    if payload.waiting_on is None:
        raise UsageError(
            "invalid_event", f"{todo.id} must wait for something", next="loopx todo wait --help"
        )
    if payload.waiting_on.ref:
        check_line(payload.waiting_on.ref, "ref", limit=LONGEST_REF)
    if payload.waiting_on.kind == "source":
        state.source(payload.waiting_on.ref)


def _check_deferred(state: GoalState, payload: Aside, facts: Facts) -> None:
    todo = _check_aside(state, payload, facts)
    _refuse_given(payload.waiting_on)
    if payload.resume_at is None or payload.resume_at <= facts.at:
        raise UsageError(
            "invalid_value",
            f"{todo.id} can only be put off to a time in the future",
            next=f"loopx todo defer {todo.id} --until 2026-09-17T09:00:00Z",
            todo_id=todo.id,
        )


def _evolve_aside(status: str) -> Callable[[GoalState, Aside, Facts], GoalState]:
    def evolve(state: GoalState, payload: Aside, facts: Facts) -> GoalState:
        todo = state.todo(payload.todo_id)
        return state.with_todo(
            todo.model_copy(
                update={
                    "status": status,
                    "version": payload.version,
                    "reason": payload.reason,
                    "resume_at": payload.resume_at,
                    "waiting_on": payload.waiting_on,
                    "changed_at": facts.at,
                    "seq": facts.seq,
                }
            )
        )

    return evolve


def _check_reopened(state: GoalState, payload: Reopened, facts: Facts) -> None:
    todo = state.todo(payload.todo_id)
    check_next_version(todo, payload.version)
    if todo.status not in ("blocked", "waiting", "deferred"):
        raise UsageError(
            "illegal_transition",
            f"{todo.id} is {todo.status}; only what was set aside is reopened",
            next=f"loopx todo show {todo.id}",
            todo_id=todo.id,
            status=todo.status,
        )
    if facts.actor.kind == "owner":
        check_line(payload.reason, "reason")
    elif payload.reason:
        raise UsageError("invalid_event", f"{todo.id} is reopened with a reason by people only")
    if facts.actor.kind == "agent":
        _refuse_unseen(state, todo)


def _evolve_reopened(state: GoalState, payload: Reopened, facts: Facts) -> GoalState:
    back = Aside(todo_id=payload.todo_id, version=payload.version, reason=payload.reason)
    return _evolve_aside("open")(state, back, facts)


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType("todo.blocked", Aside, AGENT, _check_blocked, _evolve_aside("blocked"), parts=ENDS),
    EventType("todo.waiting", Aside, AGENT, _check_waiting, _evolve_aside("waiting"), parts=ENDS),
    EventType(
        "todo.deferred", Aside, AGENT, _check_deferred, _evolve_aside("deferred"), parts=ENDS
    ),
    EventType(
        "todo.reopened",
        Reopened,
        AGENT | OWNER,
        _check_reopened,
        _evolve_reopened,
        kernel_fields=frozenset({"version"}),
    ),
)
