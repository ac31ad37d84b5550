"""The hand-over: what one turn leaves for the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from loopx_kernel.domain.event import AGENT, Context, Draft, EventType, Facts
from loopx_kernel.domain.record import Record
from loopx_kernel.domain.records import Handoff
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import UsageError

LONGEST = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteHandoff:
    """Write back what was chosen, what was tried and dropped, and what is next."""

    text: str


class HandoffWritten(Record):
    text: Annotated[str, Field(max_length=LONGEST)]


def decide(state: GoalState, command: WriteHandoff, context: Context) -> Draft:
    """The event for a hand-over; raises when ``check`` would."""
    return Draft("handoff.written", {"text": command.text}, state.goal_id)


def _check(state: GoalState, payload: HandoffWritten, facts: Facts) -> None:
    forbidden = [c for c in payload.text if ord(c) < 32 and c not in "\n\t"]
    if not payload.text.strip() or forbidden:
        raise UsageError(
            "invalid_value",
            "A hand-over is text without control characters, and not empty",
            next="loopx refresh-state --handoff-file NOTES.md",
        )


def _evolve(state: GoalState, payload: HandoffWritten, facts: Facts) -> GoalState:
    handoff = Handoff(
        text=payload.text,
        replaces=state.handoff.text if state.handoff else "",
        by=facts.actor.id,
        at=facts.at,
        seq=facts.seq,
    )
    return state.model_copy(update={"handoff": handoff})


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType(
        "handoff.written",
        HandoffWritten,
        AGENT,
        _check,
        _evolve,
        changes_work=False,
    ),
)
