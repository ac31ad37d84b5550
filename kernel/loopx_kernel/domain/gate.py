"""Gates: asking for a decision, deciding it, and taking the one use of an approval."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from textwrap import shorten
from typing import Any, Literal

from loopx_kernel.clock import format_time
from loopx_kernel.domain.event import AGENT, OWNER, Context, Draft, EventType, Facts
from loopx_kernel.domain.permission import Action, Permission, check_action, permission
from loopx_kernel.domain.record import Flag, Hex, Line, Name, Record, Time
from loopx_kernel.domain.records import Decision, Gate
from loopx_kernel.domain.state import GoalState, waiting_gates
from loopx_kernel.errors import Busy, Conflict, Denied, UsageError
from loopx_kernel.text import check_line

Outcome = Literal["approved", "rejected", "deferred"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestGate:
    """Ask a person to decide one concrete action."""

    action: Action
    question: str = ""
    blocks: tuple[str, ...] = ()
    irreversible: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UseGate:
    """Take the one use of a matching approval, just before the action."""

    action: Action


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawGate:
    """The asker no longer needs a decision."""

    gate_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideGate:
    """A person's decision; ``expires_at`` limits an approval, ``until`` a deferral."""

    gate_id: str
    outcome: Outcome
    reason: str = ""
    expires_at: datetime | None = None
    until: datetime | None = None


class Requested(Record):
    gate_id: Name
    action: Name
    command: Line = ""
    paths: tuple[str, ...] = ()
    question: Line
    blocks: tuple[str, ...] = ()
    irreversible: Flag = False
    digest: Hex


class Decided(Record):
    gate_id: Name
    digest: Hex
    reason: Line = ""
    expires_at: Time | None = None
    until: Time | None = None


class Used(Record):
    gate_id: Name
    digest: Hex


class OnGate(Record):
    gate_id: Name


def decide(
    state: GoalState, command: RequestGate | UseGate | WithdrawGate | DecideGate, context: Context
) -> Draft:
    """The event for a gate command; raises when ``check`` would."""
    match command:
        case RequestGate():
            return _decide_requested(state, command)
        case UseGate():
            found = permission(state, command.action, context.now)
            if found.gate is None or not found.allowed:
                raise _gate_required(found, command.action)
            payload = {"gate_id": found.gate.id, "digest": found.gate.digest}
            return Draft("gate.used", payload, found.gate.id)
        case WithdrawGate():
            gate = state.gate(command.gate_id)
            return Draft("gate.withdrawn", {"gate_id": gate.id}, gate.id)
        case DecideGate():
            gate = state.gate(command.gate_id)
            payload = {"gate_id": gate.id, "digest": gate.digest, "reason": command.reason}
            if command.expires_at is not None:
                payload["expires_at"] = command.expires_at  # type: ignore[assignment]
            if command.until is not None:
                payload["until"] = command.until  # type: ignore[assignment]
            return Draft(f"gate.{command.outcome}", payload, gate.id)


def _gate_required(found: Permission, action: Action) -> Denied:
    ask = f"loopx gate request --action {action.action}"
    if found.allowed:
        sentence, step = "No rule covers this action, so there is no approval to use", None
    elif found.gate is None or found.gate.status not in ("pending", "deferred", "rejected"):
        sentence, step = found.reason, ask
    else:
        sentence, step = found.reason, f"loopx gate show {found.gate.id}"
    return Denied(
        "gate_required",
        sentence,
        next=step,
        action=action.action,
        gate_id=found.gate.id if found.gate else None,
    )


def _decide_requested(state: GoalState, command: RequestGate) -> Draft:
    action = command.action
    check_action(action)
    gate_id = f"G{state.next_gate}"
    what = shorten(action.command or ", ".join(action.paths), 300, placeholder=" …")
    payload = {
        "gate_id": gate_id,
        "action": action.action,
        "command": action.command,
        "paths": action.paths,
        "question": command.question or f"Allow {action.action}: {what}?",
        "blocks": command.blocks,
        "irreversible": command.irreversible,
        "digest": action.digest,
    }
    return Draft("gate.requested", payload, gate_id)


def _check_requested(state: GoalState, payload: Requested, facts: Facts) -> None:
    if payload.gate_id != f"G{state.next_gate}":
        raise UsageError(
            "invalid_event",
            f"The next gate is G{state.next_gate}, not {payload.gate_id}",
            next="loopx gate list",
        )
    action = Action(action=payload.action, command=payload.command, paths=payload.paths)
    check_action(action)
    if payload.digest != action.digest:
        raise UsageError("invalid_event", "The digest is not that of the action")
    check_line(payload.question, "question", limit=1000)
    for ref in payload.blocks:
        state.todo(ref)
    _refuse_repeated(state, payload.digest, facts.at)
    mine = sum(1 for gate in waiting_gates(state) if gate.requested_by == facts.actor.id)
    limit = state.the_rules.limits.pending_gates_per_agent
    if mine >= limit:
        raise Busy(
            "limit",
            f"{facts.actor.id} has {mine} gates without a decision; {limit} is the limit",
            next="loopx gate list",
            pending=mine,
            limit=limit,
        )


def _refuse_repeated(state: GoalState, wanted: str, at: datetime) -> None:
    for gate in state.gates.values():
        if gate.digest != wanted:
            continue
        if gate.status in ("pending", "deferred") or gate.usable(at):
            raise Conflict(
                "exists",
                f"{gate.id} asks for the same action and is {gate.status}",
                next=f"loopx gate show {gate.id}",
                gate_id=gate.id,
                status=gate.status,
            )
        if gate.status == "rejected" and gate.decision is not None:
            raise already_decided(gate)


def already_decided(gate: Gate) -> Conflict:
    """The error that says who decided a gate, and when."""
    by = gate.decision.by if gate.decision else "nobody"
    at = format_time(gate.decision.at) if gate.decision else None
    return Conflict(
        "already_decided",
        f"{gate.id} is {gate.status}" + (f", decided by {by} at {at}" if gate.decision else ""),
        next=f"loopx gate show {gate.id}",
        gate_id=gate.id,
        status=gate.status,
        by=by,
        at=at,
    )


def _evolve_requested(state: GoalState, payload: Requested, facts: Facts) -> GoalState:
    values = payload.model_dump(exclude={"gate_id"})
    gate = Gate(
        id=payload.gate_id,
        status="pending",
        requested_by=facts.actor.id,
        requested_at=facts.at,
        seq=facts.seq,
        **values,
    )
    return state.with_gate(gate).model_copy(update={"next_gate": state.next_gate + 1})


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


def _check_used(state: GoalState, payload: Used, facts: Facts) -> None:
    gate = state.gate(payload.gate_id)
    at = state.not_before(facts.at)
    if gate.digest != payload.digest or not gate.usable(at):
        raise Denied(
            "gate_required",
            f"{gate.id} is {gate.status_at(at)}; there is no approval to use",
            next=f"loopx gate show {gate.id}",
            gate_id=gate.id,
        )


def _evolve_used(state: GoalState, payload: Used, facts: Facts) -> GoalState:
    gate = state.gate(payload.gate_id)
    update = {
        "status": "used",
        "used_by": facts.actor.id,
        "used_at": facts.at,
        "seq": facts.seq,
    }
    return state.with_gate(gate.model_copy(update=update))


def _check_withdrawn(state: GoalState, payload: OnGate, facts: Facts) -> None:
    gate = state.gate(payload.gate_id)
    if gate.status not in ("pending", "deferred"):
        raise already_decided(gate)
    if gate.requested_by != facts.actor.id:
        raise Denied(
            "gate_required",
            f"{gate.id} was asked by {gate.requested_by}; only they can withdraw it",
            next=f"loopx gate show {gate.id}",
            gate_id=gate.id,
        )


def _check_mooted(state: GoalState, payload: OnGate, facts: Facts) -> None:
    state.gate(payload.gate_id)


def _evolve_closed(status: str) -> Any:
    def evolve(state: GoalState, payload: OnGate, facts: Facts) -> GoalState:
        gate = state.gate(payload.gate_id)
        return state.with_gate(gate.model_copy(update={"status": status, "seq": facts.seq}))

    return evolve


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType("gate.requested", Requested, AGENT, _check_requested, _evolve_requested),
    EventType("gate.approved", Decided, OWNER, _check_decided, _evolve_decided("approved")),
    EventType("gate.rejected", Decided, OWNER, _check_decided, _evolve_decided("rejected")),
    EventType("gate.deferred", Decided, OWNER, _check_deferred, _evolve_decided("deferred")),
    EventType("gate.used", Used, AGENT, _check_used, _evolve_used),
    EventType("gate.withdrawn", OnGate, AGENT, _check_withdrawn, _evolve_closed("withdrawn")),
    EventType(
        "gate.mooted",
        OnGate,
        AGENT | OWNER,
        _check_mooted,
        _evolve_closed("mooted"),
        part_only=True,
    ),
)
