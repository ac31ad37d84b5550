"""The end of a turn: what it leaves of its todo, and what it says of the work."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from loopx_kernel.domain.effort import Judged, judge_turn
from loopx_kernel.domain.event import AGENT, CODE, OWNER, EventType, Facts
from loopx_kernel.domain.holding import ended
from loopx_kernel.domain.record import Name, Record
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.records_of_work import Turn
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.verification import Results, score
from loopx_kernel.errors import UsageError
from loopx_kernel.value import Value

ENDS_TURN = frozenset({"todo.returned", "escalation.raised"})
"""The types of part that the end of any turn may carry."""


class Returned(Record):
    todo_id: Name


class Closed(Record):
    turn_id: Name
    parts: tuple[dict[str, Any], ...] = ()


class Seen(Value):
    """What code saw of a turn that ends: ``results`` of acceptance items that are not in the
    state yet, the ``confidence`` of the judge, and the rules and actions without approval
    (``high_risk``) that its hand-in shows."""

    results: Results = ()
    confidence: str | None = None
    high_risk: tuple[tuple[str, str], ...] = ()


NOTHING = Seen()


def judged(state: GoalState, turn: Turn, at: datetime, seen: Seen) -> Judged | None:
    """What the end of ``turn``, as it ends, says of the effort put into its todo; nothing where
    the todo left the state. Of a todo that is done there is nothing to ask."""
    todo = state.todos.get(turn.todo_id)
    if todo is None:
        return None
    found = judge_turn(
        state,
        todo,
        outcome=turn.outcome or "failed",
        progress=turn.progress,
        result_digest=turn.result_digest,
        score=score(_ran(state, turn, todo, seen.results)),
        at=at,
        confidence=seen.confidence,
        high_risk=seen.high_risk,
        recovered=turn.status == "recovered",
    )
    is_over = todo.finished or turn.outcome == "done"
    return replace(found, cause=None) if is_over and not found.whole_goal else found


def _ran(state: GoalState, turn: Turn, todo: Todo, results: Results) -> Results:
    kept = [state.results[ref] for ref in todo.acceptance if ref in state.results]
    known = {one.item_id: one.model_dump() for one in kept if one.seq > turn.opened_seq}
    return list((known | {one["item_id"]: dict(one) for one in results}).values())


def ending_parts(
    state: GoalState, turn: Turn, at: datetime, *, gives_back: bool, seen: Seen = NOTHING
) -> list[dict[str, Any]]:
    """What follows from the end of ``turn``, as it ends: with ``gives_back`` its todo is open
    again, and work that leads nowhere is taken out of the loop."""
    from loopx_kernel.domain.escalation import raised_parts

    back = [{"type": "todo.returned", "todo_id": turn.todo_id}] if gives_back else []
    found = judged(state, turn, at, seen)
    if found is None:
        return back
    return [*back, *raised_parts(state, found, turn_id=turn.id, todo_id=turn.todo_id)]


def with_end(state: GoalState, turn: Turn, facts: Facts, seen: Seen = NOTHING) -> GoalState:
    """The state with ``turn`` closed, and with what that says of the effort."""
    found = judged(state, turn, facts.at, seen)
    state = state.with_turn(turn)
    if found is None:
        return state
    todo = state.todos[turn.todo_id]
    if not todo.finished:
        state = state.with_todo(todo.model_copy(update={"effort": found.effort}))
    return state.model_copy(update={"failures": found.failures})


def closed(turn: Turn, at: datetime, seq: int) -> Turn:
    """The turn with its receipt."""
    return turn.model_copy(update={"status": "settled", "closed_at": at, "seq": seq})


def closing(
    state: GoalState, turn: Turn, at: datetime, *, held: bool, seen: Seen = NOTHING
) -> list[dict[str, Any]]:
    """The part that closes a turn whose last missing piece is handed in; else nothing."""
    if not (turn.handed_in and turn.state_written and turn.slots_booked):
        return []
    last = closed(turn, at, 0)
    parts = ending_parts(state, last, at, gives_back=held, seen=seen)
    return [{"type": "turn.closed", "turn_id": turn.id, "parts": parts}]


def _check_closed(state: GoalState, payload: Closed, facts: Facts) -> None:
    """The event it is a part of compares all of it with what follows from the third piece."""


def _evolve_closed(state: GoalState, payload: Closed, facts: Facts) -> GoalState:
    turn = state.turns[payload.turn_id]
    return with_end(state, closed(turn, facts.at, facts.seq), facts)


def _check_returned(state: GoalState, payload: Returned, facts: Facts) -> None:
    todo = state.todo(payload.todo_id)
    if todo.lease is None or todo.lease.status != "active":
        raise UsageError("invalid_event", f"Nobody holds {todo.id}, so nobody can give it back")


def _evolve_returned(state: GoalState, payload: Returned, facts: Facts) -> GoalState:
    todo = state.todo(payload.todo_id)
    return state.with_todo(
        todo.model_copy(
            update={
                "status": "open",
                "version": todo.version + 1,
                "lease": ended(todo.lease, "ended", todo.version + 1, facts.seq),
                "changed_at": facts.at,
                "seq": facts.seq,
            }
        )
    )


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType(
        "turn.closed",
        Closed,
        AGENT,
        _check_closed,
        _evolve_closed,
        parts=ENDS_TURN,
        part_only=True,
    ),
    EventType(
        "todo.returned",
        Returned,
        AGENT | CODE | OWNER,
        _check_returned,
        _evolve_returned,
        part_only=True,
    ),
)
