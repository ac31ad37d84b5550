"""May this todo be worked on now? One answer for claims, should-run and the screen."""

from __future__ import annotations

from datetime import datetime

from loopx_kernel.clock import Reading, to_the_second
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.state import (
    GoalState,
    is_live,
    open_escalations,
    open_obligations,
    pending_gates_on,
)
from loopx_kernel.value import Value


class Hindrance(Value):
    """Why a todo cannot be worked on. ``code`` is one of the contract's reason codes,
    or ``finished``, ``dependency`` or ``blocked``. ``until`` is when it may end by itself."""

    code: str
    message: str
    ids: tuple[str, ...] = ()
    until: datetime | None = None


def hindrance(
    state: GoalState, todo: Todo, reading: Reading, agent_id: str | None
) -> Hindrance | None:
    """What stops ``agent_id`` (or anyone) from working on this todo, or ``None``."""
    return (
        _by_status(todo, reading)
        or _by_escalation(state, todo)
        or _by_obligation(state, todo)
        or _by_dependency(state, todo)
        or _by_gate(state, todo, reading.now)
        or _by_role(todo)
        or _by_lease(todo, reading, agent_id)
    )


def _by_status(todo: Todo, reading: Reading) -> Hindrance | None:
    if todo.finished:
        return Hindrance("finished", f"{todo.id} is {todo.status}")
    if todo.status == "blocked":
        return Hindrance("blocked", f"{todo.id} is blocked: {todo.reason}")
    if todo.status == "waiting" and todo.waiting_on is not None:
        return Hindrance("quota_frozen", f"{todo.id} waits for {todo.waiting_on.fact}")
    due = todo.resume_at if todo.status == "deferred" else todo.next_check_at
    if due is not None and reading.now < due:
        return Hindrance("not_due", f"{todo.id} is due at {to_the_second(due)}", until=due)
    return None


def _by_escalation(state: GoalState, todo: Todo) -> Hindrance | None:
    raised = open_escalations(state, todo.id)
    if not raised:
        return None
    ids = tuple(one.id for one in raised)
    return Hindrance("escalated", f"{todo.id} waits for an answer to {', '.join(ids)}", ids)


def _by_obligation(state: GoalState, todo: Todo) -> Hindrance | None:
    duties = tuple(duty.id for duty in open_obligations(state) if todo.id in duty.todo_ids)
    if not duties:
        return None
    return Hindrance("replan_due", f"{todo.id} is to be replanned: {', '.join(duties)}", duties)


def _by_role(todo: Todo) -> Hindrance | None:
    if todo.role == "human":
        return Hindrance("human_todo", f"{todo.id} is for a person: {todo.title}")
    return None


def _by_dependency(state: GoalState, todo: Todo) -> Hindrance | None:
    missing = tuple(ref for ref in todo.depends_on if not state.has_ended(ref))
    if missing:
        return Hindrance("dependency", f"{todo.id} needs {', '.join(missing)} first", missing)
    return None


def _by_gate(state: GoalState, todo: Todo, now: datetime) -> Hindrance | None:
    gates = pending_gates_on(state, todo.id)
    if not gates:
        return None
    ids = tuple(gate.id for gate in gates)
    back = [gate.until for gate in gates if gate.until is not None and gate.until > now]
    # With one of them before a person already, no date is what the todo waits for.
    until = min(back) if len(back) == len(gates) else None
    return Hindrance("gate_pending", f"{todo.id} is gated by {', '.join(ids)}", ids, until)


def _by_lease(todo: Todo, reading: Reading, agent_id: str | None) -> Hindrance | None:
    lease = todo.lease
    if lease is None or not is_live(lease, reading) or lease.owner == agent_id:
        return None
    return Hindrance(
        "lease_held",
        f"{lease.owner} holds {todo.id} until {to_the_second(lease.expires_at)}",
        until=lease.expires_at,
    )
