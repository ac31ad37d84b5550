"""The one use of an approval, or of a judge's word where nobody watches."""

from __future__ import annotations

import shlex
from datetime import datetime
from typing import Any, Literal

from loopx_kernel.domain.admission import Asked, admitted, check_admitted, with_admitted
from loopx_kernel.domain.event import AGENT, Draft, EventType, Facts
from loopx_kernel.domain.permission import Action, Permission, permission, weaker
from loopx_kernel.domain.record import Hex, Name, Record
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Denied


class Used(Record):
    gate_id: Name
    digest: Hex
    basis: Literal["judge"] | None = None
    asked: Asked | None = None


def using(state: GoalState, action: Action, now: datetime, *, admitted_by_judge: bool) -> Draft:
    """The event that takes the use; ``gate_required`` where there is none at ``now`` (UTC)."""
    if admitted_by_judge:
        used = admitted(state, action)
        return Draft("gate.used", used, used["gate_id"])
    found = permission(state, action, now)
    if found.gate is None or not found.allowed:
        raise gate_required(found, action)
    return Draft(
        "gate.used", {"gate_id": found.gate.id, "digest": found.gate.digest}, found.gate.id
    )


def gate_required(found: Permission, action: Action) -> Denied:
    """The error that there is no approval to use, and what to do about it."""
    ask = f"loopx gate request --action {action.action}{_named(action)}"
    if found.allowed:
        sentence = "No rule covers this action, so there is no approval to use"
        step = "do it; what no rule covers needs no approval"
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


def _named(action: Action) -> str:
    """The command and the paths of an action, as they are typed."""
    command = [f" --command {shlex.quote(action.command)}"] if action.command else []
    return "".join([*command, *(f" --path {shlex.quote(path)}" for path in action.paths)])


def _check_used(state: GoalState, payload: Used, facts: Facts) -> None:
    if payload.basis == "judge":
        check_admitted(state, payload.gate_id, payload.digest, payload.asked, facts)
        return
    gate = state.gate(payload.gate_id)
    status = state.gate_status(gate, facts.at)
    wanted = weaker(state, gate)
    if gate.digest != payload.digest or status != "approved" or wanted:
        status_now = status + state.ran_out_by(gate, facts.at)
        status_now += f" below level {wanted}" if wanted and status == "approved" else ""
        raise Denied(
            "gate_required",
            f"{gate.id} is {status_now}; there is no approval to use",
            next=f"loopx gate show {gate.id}",
            gate_id=gate.id,
        )


def _evolve_used(state: GoalState, payload: Used, facts: Facts) -> GoalState:
    if payload.basis == "judge" and payload.asked is not None:
        return with_admitted(state, payload.gate_id, payload.digest, payload.asked, facts)
    gate = state.gate(payload.gate_id)
    update = {
        "status": "used",
        "used_by": facts.actor.id,
        "used_at": facts.at,
        "seq": facts.seq,
    }
    return state.with_gate(gate.model_copy(update=update))


USED: EventType[GoalState, Any] = EventType("gate.used", Used, AGENT, _check_used, _evolve_used)
