"""Settling a turn: its receipt, with all that follows from it in one event."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, ValidationError

from loopx_kernel.domain import fold
from loopx_kernel.domain.endings import check_parts
from loopx_kernel.domain.event import AGENT, Context, Draft, EventType, Facts
from loopx_kernel.domain.holding import no_foreign_overlap
from loopx_kernel.domain.record import Count, Flag, Hex, Line, Name, Record
from loopx_kernel.domain.records import EvidenceRef
from loopx_kernel.domain.records_of_work import Outcome
from loopx_kernel.domain.state import GoalState, is_live
from loopx_kernel.domain.turn_end import ENDS_TURN, Seen, closed, with_end
from loopx_kernel.domain.turn_receipt import Receipt, SettleTurn, make_receipt, require_evidence
from loopx_kernel.domain.turn_result import results_in
from loopx_kernel.domain.turn_state import holds, open_turn_of
from loopx_kernel.domain.verification import Tests
from loopx_kernel.errors import UsageError

SHARE = r"^(0|1|0\.[0-9]{1,6}|1\.0{1,6})$"
"""A number between 0 and 1, as text."""


class Settled(Record):
    """``asked``, ``tests``, ``note`` and ``slots`` are the agent's words; the rest follows from
    them and from what was observed. ``reason`` says why a turn failed."""

    turn_id: Name
    todo_id: Name
    asked: Outcome
    tests: Tests | None = None
    note: Line = ""
    slots: Count
    result_digest: Hex | None = None
    confidence: Annotated[str, Field(pattern=SHARE)] | None = None
    high_risk: tuple[tuple[Line, Line], ...] = ()
    outcome: Outcome
    verified: Flag
    unproven: Flag
    state_written: Flag
    slots_booked: Count
    reason: Line = ""
    parts: tuple[dict[str, Any], ...] = ()


def decide(state: GoalState, command: SettleTurn, context: Context) -> Draft:
    """The event that closes a turn. A result that is not verified makes it a failure.

    Raises ``unknown_turn``, ``turn_closed``, ``stale_epoch``, ``lease_required``,
    ``missing_evidence``, ``invalid_value``, ``scope_overlap``.
    """
    facts = Facts(context.actor, context.now, state.seq + 1, "")
    turn = open_turn_of(state, command.turn_id, context.actor.id, facts.seq)
    todo = state.todos.get(turn.todo_id)
    if todo is not None and holds(todo, turn) and not is_live(todo.lease, context.reading):
        no_foreign_overlap(state, todo, context)
    receipt = make_receipt(state, turn, command, facts)
    require_evidence(state, receipt.turn)
    payload = _payload(command, receipt)
    return Draft("turn.settled", payload | {"parts": receipt.parts}, turn.id)


def _payload(command: SettleTurn, receipt: Receipt) -> dict[str, Any]:
    turn = receipt.turn
    return {
        "turn_id": turn.id,
        "todo_id": turn.todo_id,
        "asked": command.outcome,
        "tests": command.tests,
        "note": command.note,
        "slots": command.slots,
        "result_digest": command.result_digest,
        "confidence": command.confidence,
        "high_risk": command.high_risk,
        "outcome": turn.outcome,
        "verified": turn.verified,
        "unproven": turn.unproven,
        "state_written": turn.state_written,
        "slots_booked": turn.slots_booked,
        "reason": turn.reason,
    }


def _check_settled(state: GoalState, payload: Settled, facts: Facts) -> None:
    receipt, command = _again(state, payload, facts)
    expected = _payload(command, receipt)
    if {key: getattr(payload, key) for key in expected} != expected:
        raise UsageError(
            "invalid_event",
            f"The receipt of {payload.turn_id} does not follow from what it hands in",
            next="loopx event verify",
        )
    normal = fold.normalise("turn.settled", expected | {"parts": receipt.parts})
    check_parts(payload.parts, normal["parts"])
    require_evidence(state, receipt.turn)


def _again(state: GoalState, payload: Settled, facts: Facts) -> tuple[Receipt, SettleTurn]:
    """The receipt made once more from what the line hands in."""
    turn = open_turn_of(state, payload.turn_id, facts.actor.id, facts.seq)
    command = SettleTurn(
        turn_id=turn.id,
        outcome=payload.asked,
        tests=payload.tests,
        note=payload.note,
        slots=payload.slots,
        handoff=_text_in(payload.parts),
        results=results_in(payload.parts),
        result_digest=payload.result_digest,
        high_risk=payload.high_risk,
        **_files_in(payload.parts),
    )
    return make_receipt(state, turn, command, facts), command


def _text_in(parts: tuple[dict[str, Any], ...]) -> str | None:
    texts = [part.get("text") for part in parts if part.get("type") == "handoff.written"]
    return texts[0] if texts and isinstance(texts[0], str) else None


def _files_in(parts: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """The files a line hands in, and whether a machine could read the claim in them."""
    for part in parts:
        if part.get("type") in _HAND_IN:
            try:
                refs = tuple(map(EvidenceRef.model_validate, part.get("evidence", ())))
            except (TypeError, ValidationError):
                break
            return {"evidence": refs, "proven": part.get("proven") is True}
    return {}


def _evolve_settled(state: GoalState, payload: Settled, facts: Facts) -> GoalState:
    given = payload.model_dump(
        include={"outcome", "verified", "unproven", "state_written", "slots_booked", "reason"}
    )
    turn = state.turns[payload.turn_id].model_copy(
        update=given | {"handed_in": True, "result_digest": payload.result_digest}
    )
    seen = Seen(results_in(payload.parts), payload.confidence, payload.high_risk)
    return with_end(state, closed(turn, facts.at, facts.seq), facts, seen)


_HAND_IN = ("todo.completed", "todo.updated")
EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType(
        "turn.settled",
        Settled,
        AGENT,
        _check_settled,
        _evolve_settled,
        parts=ENDS_TURN.union(
            _HAND_IN,
            ("todo.blocked", "acceptance.ran", "handoff.written", "spend.booked", "spend.voided"),
        ),
    ),
)
