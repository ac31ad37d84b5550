"""What ends together with a todo that is finished or set aside."""

from __future__ import annotations

from typing import Any

from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.state import GoalState, waiting_gates
from loopx_kernel.errors import UsageError

ENDS = frozenset({"lease.ended", "gate.mooted"})
"""The types of part such an event may carry."""


def endings(state: GoalState, todo: Todo, *, finishes: bool) -> list[dict[str, Any]]:
    """What ends together with a todo that is finished or set aside: its lease, and,
    when it is finished, the gates that would block nothing any more."""
    parts: list[dict[str, Any]] = []
    if todo.lease is not None and todo.lease.status == "active":
        parts.append({"type": "lease.ended", "todo_id": todo.id})
    if finishes:
        parts += [
            {"type": "gate.mooted", "gate_id": gate.id}
            for gate in waiting_gates(state)
            if todo.id in gate.blocks
            and all(ref == todo.id or state.todos[ref].finished for ref in gate.blocks)
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


def check_parts(parts: tuple[dict[str, Any], ...], expected: list[dict[str, Any]]) -> None:
    if list(parts) != expected:
        raise UsageError(
            "invalid_event",
            "The parts of this event are not what follows from it",
            next="loopx event verify",
        )
