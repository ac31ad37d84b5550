"""Gates: asking for a decision; deciding is ``gate_decide``, the one use ``gate_use``."""

from __future__ import annotations

from textwrap import shorten
from typing import Any

from loopx_kernel.domain.admission import refuse_of_itself
from loopx_kernel.domain.asking import (
    already_decided,
    check_next,
    refuse_many,
    refuse_repeated,
)
from loopx_kernel.domain.endings import refuse_finished
from loopx_kernel.domain.event import AGENT, OWNER, Context, Draft, EventType, Facts
from loopx_kernel.domain.gate_decide import DECIDED, DecideGate, deciding
from loopx_kernel.domain.gate_use import USED, using
from loopx_kernel.domain.permission import Action, check_action
from loopx_kernel.domain.record import Flag, Hex, Line, Name, Record
from loopx_kernel.domain.records import Gate
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Denied, UsageError
from loopx_kernel.text import check_line
from loopx_kernel.value import Value


class RequestGate(Value, kw_only=True):
    """Ask a person to decide one concrete action; ``judged`` where a judge did not admit it."""

    action: Action
    question: str = ""
    blocks: tuple[str, ...] = ()
    irreversible: bool = False
    unattended: bool = False
    judged: bool = False


class UseGate(Value, kw_only=True):
    """Take the one use of a matching approval, just before the action; or, where the judge
    ``admitted`` it, the use that this gives."""

    action: Action
    admitted: bool = False


class WithdrawGate(Value, kw_only=True):
    """The asker no longer needs a decision."""

    gate_id: str


class Requested(Record):
    gate_id: Name
    action: Name
    command: Line = ""
    paths: tuple[str, ...] = ()
    question: Line
    blocks: tuple[str, ...] = ()
    irreversible: Flag = False
    unattended: Flag = False
    judged: Flag = False
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
            return using(state, command.action, context.now, admitted_by_judge=command.admitted)
        case WithdrawGate():
            gate = state.gate(command.gate_id)
            return Draft("gate.withdrawn", {"gate_id": gate.id}, gate.id)
        case DecideGate():
            return deciding(state, command)


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
        "unattended": command.unattended,
        "judged": command.judged,
        "digest": action.digest,
    }
    return Draft("gate.requested", payload, gate_id)


def _check_requested(state: GoalState, payload: Requested, facts: Facts) -> None:
    check_next(state, payload.gate_id)
    if payload.action.startswith("propose-"):
        raise UsageError(
            "vague_gate",
            f"{payload.action} is the kernel's word for a proposal; nothing would be carried out",
            next="loopx propose --help",
            action=payload.action,
        )
    action = Action(action=payload.action, command=payload.command, paths=payload.paths)
    check_action(action)
    refuse_of_itself(payload.action, payload.unattended)
    if payload.digest != action.digest:
        raise UsageError("invalid_event", "The digest is not that of the action")
    check_line(payload.question, "question", limit=1000)
    for ref in payload.blocks:
        refuse_finished(state.todo(ref))
    refuse_repeated(state, payload.digest, facts.at)
    refuse_many(state, facts.actor.id)


def _evolve_requested(state: GoalState, payload: Requested, facts: Facts) -> GoalState:
    values = payload.model_dump(exclude={"gate_id", "unattended"})
    gate = Gate(
        id=payload.gate_id,
        status="pending",
        requested_by=facts.actor.id,
        requested_at=facts.at,
        seq=facts.seq,
        **values,
    )
    return state.with_gate(gate).model_copy(update={"next_gate": state.next_gate + 1})


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
    *DECIDED,
    USED,
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
