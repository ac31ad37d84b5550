"""Turns that end because their work was taken away: no receipt is owed, and nobody failed."""

from typing import Any

from loopx_kernel.domain.event import AGENT, OWNER, EventType, Facts
from loopx_kernel.domain.record import Name, Record
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import UsageError

WITHDRAWS = frozenset({"turn.withdrawn"})
"""The type of part that an event carries which takes the work of a turn away."""
RETURNS = frozenset({"todo.returned"})
"""The type of part that gives a held todo back."""


class Withdrawn(Record):
    turn_id: Name


def withdrawals(state: GoalState, todo_id: str | None = None) -> list[dict[str, Any]]:
    """The parts that end the open turns, oldest first: all, or those on one todo."""
    return [
        {"type": "turn.withdrawn", "turn_id": turn.id}
        for turn in state.turns.values()
        if turn.status == "open" and todo_id in (None, turn.todo_id)
    ]


def returns(state: GoalState) -> list[dict[str, Any]]:
    """The parts that end every lease, run out or not, and give its todo back."""
    return [
        {"type": "todo.returned", "todo_id": todo.id}
        for todo in state.todos.values()
        if todo.lease is not None and todo.lease.status == "active"
    ]


def _check_withdrawn(state: GoalState, payload: Withdrawn, facts: Facts) -> None:
    turn = state.turns.get(payload.turn_id)
    if turn is None or turn.status != "open":
        raise UsageError("invalid_event", f"{payload.turn_id} is not open, so nothing ends it")


def _evolve_withdrawn(state: GoalState, payload: Withdrawn, facts: Facts) -> GoalState:
    """What was handed in and booked stays as it is: the work was done until then."""
    turn = state.turns[payload.turn_id]
    todo = state.todos.get(turn.todo_id)
    gone = f"{todo.id} was {todo.status}" if todo and todo.finished else "the goal was retired"
    update = {
        "status": "withdrawn",
        "withdrawn_by": facts.actor.id,
        "closed_at": facts.at,
        "reason": gone,
        "seq": facts.seq,
    }
    return state.with_turn(turn.model_copy(update=update))


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType(
        "turn.withdrawn",
        Withdrawn,
        AGENT | OWNER,
        _check_withdrawn,
        _evolve_withdrawn,
        part_only=True,
    ),
)
