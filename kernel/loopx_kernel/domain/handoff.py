"""The hand-over: what one turn leaves for the next."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from loopx_kernel.domain.endings import check_parts
from loopx_kernel.domain.event import AGENT, Context, Draft, EventType, Facts
from loopx_kernel.domain.record import Name, Record
from loopx_kernel.domain.records import Handoff
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.turn_result import THIRD, third, with_state_written
from loopx_kernel.errors import UsageError
from loopx_kernel.value import Value

LONGEST = 100_000


class WriteHandoff(Value, kw_only=True):
    """Write back what was chosen, what was tried and dropped, and what is next; for a ``turn``
    that is one of its three parts."""

    text: str
    turn: str | None = None


class HandoffWritten(Record):
    text: Annotated[str, Field(max_length=LONGEST)]
    turn_id: Name | None = None
    parts: tuple[dict[str, Any], ...] | None = None


def decide(state: GoalState, command: WriteHandoff, context: Context) -> Draft:
    """The event for a hand-over; raises when ``check`` would."""
    payload: dict[str, Any] = {"text": command.text, "turn_id": command.turn}
    if last := _last(state, command.turn, Facts(context.actor, context.now, state.seq + 1, "")):
        payload["parts"] = last
    return Draft("handoff.written", payload, state.goal_id)


def _last(state: GoalState, turn_id: str | None, facts: Facts) -> list[dict[str, Any]]:
    """What closes the turn, if its state was the last that was missing."""
    if turn_id is None:
        return []
    turn = with_state_written(state, turn_id, facts.actor.id, facts.seq)
    return third(state, turn, facts.at)


def _check(state: GoalState, payload: HandoffWritten, facts: Facts) -> None:
    forbidden = [c for c in payload.text if ord(c) < 32 and c not in "\n\t"]
    if not payload.text.strip() or forbidden:
        raise UsageError(
            "invalid_value",
            "A hand-over is text without control characters, and not empty",
            next="loopx refresh-state --handoff-file NOTES.md",
        )
    check_parts(payload.parts or (), _last(state, payload.turn_id, facts))


def _evolve(state: GoalState, payload: HandoffWritten, facts: Facts) -> GoalState:
    handoff = Handoff(
        text=payload.text,
        replaces=state.handoff.text if state.handoff else "",
        by=facts.actor.id,
        at=facts.at,
        seq=facts.seq,
    )
    if payload.turn_id is not None:
        agent = facts.actor.id
        turn = with_state_written(state, payload.turn_id, agent, facts.seq)
        state = state.with_turn(turn)
    return state.model_copy(update={"handoff": handoff})


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType(
        "handoff.written",
        HandoffWritten,
        AGENT,
        _check,
        _evolve,
        changes_work=False,
        parts=THIRD,
    ),
)
