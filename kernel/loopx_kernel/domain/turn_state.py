"""Turns as they stand: which are open, until when, and what is missing of them."""

from __future__ import annotations

from datetime import datetime

from loopx_kernel.clock import Reading, to_the_second
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.records_of_work import Turn
from loopx_kernel.domain.state import GoalState, is_live
from loopx_kernel.domain.turn_id import is_turn_id, number_of
from loopx_kernel.errors import Conflict, Fenced, UsageError


def unclosed_turns(state: GoalState, reading: Reading) -> list[Turn]:
    """Open turns whose deadline passed without a receipt, oldest first."""
    return [
        turn
        for turn in state.turns.values()
        if turn.status == "open" and not is_within_deadline(state, turn, reading)
    ]


def deadline(state: GoalState, turn: Turn) -> datetime | None:
    """When the lease the turn was opened with ends (UTC); ``None`` where it is not known any
    more."""
    todo = state.todos.get(turn.todo_id)
    lease = todo.lease if todo else None
    if lease is None or lease.lease_epoch != turn.lease_epoch:
        return None
    return lease.expires_at


def is_within_deadline(state: GoalState, turn: Turn, reading: Reading) -> bool:
    """Whether the lease the turn was opened with still lasts.

    One that was given up, or ended without a hand-in of this turn, is over at once. One that
    ended because the result was handed in leaves its time for the rest of the turn.
    """
    todo = state.todos.get(turn.todo_id)
    lease = todo.lease if todo else None
    if lease is None or lease.lease_epoch != turn.lease_epoch:
        return False
    if lease.status == "ended" and turn.handed_in:
        lease = lease.model_copy(update={"status": "active"})
    return is_live(lease, reading)


def holds(todo: Todo | None, turn: Turn) -> bool:
    """Whether nobody took over or ended what the turn was opened with, run out or not."""
    lease = todo.lease if todo else None
    if lease is None or lease.lease_epoch != turn.lease_epoch:
        return False
    return lease.status == "active" and lease.owner == turn.agent_id


def missing(turn: Turn) -> tuple[str, ...]:
    """Which of the three parts of progress are not there, by their keys."""
    parts = {
        "verified": turn.verified,
        "state_written": turn.state_written,
        "slots_booked": turn.slots_booked > 0,
    }
    return tuple(name for name, there in parts.items() if not there)


def knows_turn(state: GoalState, turn_id: str) -> bool:
    """Whether there is, or was, such a turn: their numbers follow one another."""
    return is_turn_id(turn_id) and number_of(turn_id) < state.next_turn


def unknown_turn(state: GoalState, turn_id: str) -> UsageError:
    """The error for what names no turn of the goal."""
    return UsageError(
        "unknown_turn",
        f"There is no turn {turn_id!r} in {state.goal_id}",
        next=f"loopx turn list --goal {state.goal_id} --all",
        turn=turn_id,
    )


def turn_closed(turn_id: str, turn: Turn | None) -> Conflict:
    """The error for a turn that is over; ``None`` is for one that left the hot state."""
    next_step = f"loopx turn show {turn_id}"
    how: str = turn.status if turn else "it ended long ago"
    if turn is not None and turn.withdrawn_by is not None and turn.closed_at is not None:
        how = f"{turn.reason}, by {turn.withdrawn_by} at {to_the_second(turn.closed_at)}"
        next_step = "loopx turn begin"
    return Conflict("turn_closed", f"{turn_id} is closed: {how}", next=next_step, turn=turn_id)


def open_turn_of(state: GoalState, turn_id: str, agent_id: str, seq: int) -> Turn:
    """The turn, if it is open, or was closed by the line ``seq`` itself, and is this agent's.

    Raises ``unknown_turn``, ``turn_closed``, ``not_holder``.
    """
    turn = state.turns.get(turn_id)
    if turn is None and not knows_turn(state, turn_id):
        raise unknown_turn(state, turn_id)
    if turn is None or (turn.status != "open" and turn.seq != seq):
        raise turn_closed(turn_id, turn)
    if turn.agent_id != agent_id:
        raise Fenced(
            "not_holder",
            f"{turn_id} is {turn.agent_id}'s, not {agent_id}'s",
            next=f"loopx turn show {turn_id}",
            turn=turn_id,
            holder=turn.agent_id,
        )
    return turn
