"""What every gate must pass before it asks a person, and the word for one that was decided."""

from __future__ import annotations

from datetime import datetime

from loopx_kernel.clock import format_time
from loopx_kernel.domain.permission import weaker
from loopx_kernel.domain.records import Gate
from loopx_kernel.domain.state import GoalState, waiting_gates
from loopx_kernel.errors import Busy, Conflict, UsageError


def check_next(state: GoalState, gate_id: str) -> None:
    """``invalid_event`` unless this is the id of the next gate."""
    if gate_id != f"G{state.next_gate}":
        raise UsageError(
            "invalid_event",
            f"The next gate is G{state.next_gate}, not {gate_id}",
            next="loopx gate list",
        )


def refuse_many(state: GoalState, agent_id: str) -> None:
    """``limit`` where an agent has as many gates without a decision as it may have."""
    mine = sum(1 for gate in waiting_gates(state) if gate.requested_by == agent_id)
    limit = state.the_rules.limits.pending_gates_per_agent
    if mine >= limit:
        raise Busy(
            "limit",
            f"{agent_id} has {mine} gates without a decision; {limit} is the limit",
            next="loopx gate list",
            pending=mine,
            limit=limit,
        )


def refuse_repeated(state: GoalState, wanted: str, at: datetime) -> None:
    """``exists`` or ``already_decided`` where the same was asked before."""
    for gate in state.gates.values():
        if gate.digest != wanted:
            continue
        status = state.gate_status(gate, at)
        if status == "approved" and weaker(state, gate):
            continue
        if gate.status in ("pending", "deferred") or status == "approved":
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
