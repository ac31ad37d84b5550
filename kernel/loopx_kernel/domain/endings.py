"""What ends together with a todo that is finished or set aside."""

from __future__ import annotations

from typing import Any

from loopx_kernel.domain.duties import rerouting
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.state import GoalState, duty_of, open_escalations, waiting_gates
from loopx_kernel.errors import Denied, UsageError

ENDS = frozenset({"lease.ended", "gate.mooted", "escalation.mooted"})
"""The types of part such an event may carry."""


def endings(state: GoalState, todo: Todo, *, finishes: bool) -> list[dict[str, Any]]:
    """What ends together with a todo that is finished or set aside: its lease, and,
    when it is finished, the gates that would block nothing any more and the question about it."""
    parts: list[dict[str, Any]] = []
    if todo.lease is not None and todo.lease.status == "active":
        parts.append({"type": "lease.ended", "todo_id": todo.id})
    if finishes:
        parts += [
            {"type": "gate.mooted", "gate_id": gate.id}
            for gate in waiting_gates(state)
            if todo.id in gate.blocks
            and all(ref == todo.id or state.is_finished(ref) for ref in gate.blocks)
        ]
        parts += [
            {"type": "escalation.mooted", "escalation_id": one.id}
            for one in open_escalations(state, todo.id)
        ]
    return parts


def refuse_finished(todo: Todo) -> None:
    if todo.finished:
        raise UsageError(
            "illegal_transition",
            f"{todo.id} is {todo.status} already",
            next=f"loopx todo show {todo.id}",
            todo_id=todo.id,
            status=todo.status,
        )


def refuse_unfulfilled(state: GoalState, todo: Todo) -> None:
    """``not_verified`` for a replanning whose duty is still open: nothing was replanned yet."""
    duty = duty_of(state, todo.id)
    if duty is None:
        return
    raise Denied(
        "not_verified",
        f"{todo.id} is done when {duty.id} is fulfilled, and it is open",
        next=rerouting(state, duty, f"--goal {state.goal_id}")[0],
        todo_id=todo.id,
        obligation_id=duty.id,
    )


def check_parts(parts: tuple[dict[str, Any], ...], expected: list[dict[str, Any]]) -> None:
    if list(parts) != expected:
        raise UsageError(
            "invalid_event",
            "The parts of this event are not what follows from it",
            next="loopx event verify",
        )
