"""A person's decision about a gate, and what approving a proposal changes."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from loopx_kernel.domain.asking import already_decided
from loopx_kernel.domain.endings import check_parts
from loopx_kernel.domain.event import OWNER, Draft, EventType, Facts
from loopx_kernel.domain.levels import reaches
from loopx_kernel.domain.permission import level_wanted
from loopx_kernel.domain.record import Hex, Line, Name, Record, Time
from loopx_kernel.domain.records import Decision, Gate
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Conflict, Denied, UsageError
from loopx_kernel.text import check_line
from loopx_kernel.value import Value

Outcome = Literal["approved", "rejected", "deferred"]


class DecideGate(Value, kw_only=True):
    """A person's decision; ``expires_at`` limits an approval, ``until`` a deferral."""

    gate_id: str
    outcome: Outcome
    reason: str = ""
    expires_at: datetime | None = None
    until: datetime | None = None


class Decided(Record):
    gate_id: Name
    digest: Hex
    reason: Line = ""
    expires_at: Time | None = None
    until: Time | None = None


class Approved(Decided):
    parts: tuple[dict[str, Any], ...] = ()


def deciding(state: GoalState, command: DecideGate) -> Draft:
    """The event for a person's decision; raises when its check would."""
    gate = state.gate(command.gate_id)
    payload: dict[str, Any] = {
        "gate_id": gate.id,
        "digest": gate.digest,
        "reason": command.reason,
    }
    if command.expires_at is not None:
        payload["expires_at"] = command.expires_at
    if command.until is not None:
        payload["until"] = command.until
    if command.outcome == "approved":
        waits = gate.status in ("pending", "deferred")
        payload["parts"] = _change(state, gate) if waits else []
    return Draft(f"gate.{command.outcome}", payload, gate.id)


def _change(state: GoalState, gate: Gate) -> list[dict[str, Any]]:
    """What approving the gate changes besides. ``stale_decision`` where that no longer means
    what it meant when it was proposed."""
    if gate.proposal is None:
        return []
    # Few gates propose anything, and a decision must not wait for what that needs.
    from loopx_kernel.domain.proposal import applied, digest_of

    parts = applied(state, gate)
    if digest_of(state, gate.proposal) != gate.digest:
        raise Conflict(
            "stale_decision",
            f"What {gate.id} proposes to change is not what it was",
            next=f"loopx gate reject {gate.id} --reason 'it changed meanwhile'",
            gate_id=gate.id,
        )
    return parts


def _check_decided(state: GoalState, payload: Decided, facts: Facts) -> None:
    gate = state.gate(payload.gate_id)
    if gate.status not in ("pending", "deferred"):
        raise already_decided(gate)
    if payload.digest != gate.digest:
        raise Conflict(
            "stale_decision",
            f"{gate.id} is not about what was decided",
            next=f"loopx gate show {gate.id}",
            gate_id=gate.id,
            decided_digest=payload.digest,
            digest=gate.digest,
        )
    if payload.reason:
        check_line(payload.reason, "reason")
    for moment in (payload.expires_at, payload.until):
        if moment is not None and moment <= facts.at:
            raise UsageError(
                "invalid_value",
                "The time given is not in the future",
                next=f"loopx gate show {gate.id}",
            )


def _check_approved(state: GoalState, payload: Approved, facts: Facts) -> None:
    _check_decided(state, payload, facts)
    gate = state.gate(payload.gate_id)
    if gate.proposal is not None and payload.expires_at is not None:
        raise UsageError(
            "invalid_value",
            f"{gate.id} proposes a change, which is carried out at once and does not run out",
            next=f"loopx gate approve {gate.id}",
            gate_id=gate.id,
        )
    wanted = level_wanted(state, gate)
    if not reaches(facts.verdict.level, wanted):
        raise Denied(
            "presence_required",
            f"{gate.id} is approved with a signature of level {wanted} or above; this one's is "
            f"{facts.verdict.level}",
            next="loopx owner list",
            gate_id=gate.id,
            level=facts.verdict.level,
            at_least=wanted,
        )
    check_parts(payload.parts, _change(state, gate))


def _check_deferred(state: GoalState, payload: Decided, facts: Facts) -> None:
    _check_decided(state, payload, facts)
    if payload.until is None:
        raise UsageError(
            "invalid_value",
            "A deferral names the time at which to ask again",
            next=f"loopx gate defer {payload.gate_id} --until 2026-09-17T09:00:00Z",
        )


def _evolve_decided(outcome: Outcome) -> Any:
    def evolve(state: GoalState, payload: Decided, facts: Facts) -> GoalState:
        gate = state.gate(payload.gate_id)
        decision = Decision(
            outcome=outcome,
            by=facts.verdict.signer or facts.actor.id,
            key=facts.verdict.fingerprint or "",
            level=facts.verdict.level,
            at=facts.at,
            event_id=facts.event_id,
            reason=payload.reason,
        )
        return state.with_gate(
            gate.model_copy(
                update={
                    "status": outcome,
                    "decision": decision,
                    "expires_at": payload.expires_at,
                    "until": payload.until,
                    "seq": facts.seq,
                }
            )
        )

    return evolve


DECIDED: tuple[EventType[GoalState, Any], ...] = (
    EventType(
        "gate.approved",
        Approved,
        OWNER,
        _check_approved,
        _evolve_decided("approved"),
        parts=frozenset(
            {"todo.cancelled", "todo.superseded", "replan.requested", "objective.patched"}
        ),
    ),
    EventType("gate.rejected", Decided, OWNER, _check_decided, _evolve_decided("rejected")),
    EventType("gate.deferred", Decided, OWNER, _check_deferred, _evolve_decided("deferred")),
)
