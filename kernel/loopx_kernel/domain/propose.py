"""Proposing a change: a gate that asks a person, and whose approval carries the change out."""

from __future__ import annotations

from typing import Any

from loopx_kernel.domain.asking import check_next, refuse_many, refuse_repeated
from loopx_kernel.domain.event import AGENT, Context, Draft, EventType, Facts
from loopx_kernel.domain.proposal import check_proposal, digest_of, question_of
from loopx_kernel.domain.record import Hex, Line, Name, Record
from loopx_kernel.domain.records import Gate
from loopx_kernel.domain.records_of_work import Proposal
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import UsageError
from loopx_kernel.value import Value


class ProposeChange(Value, kw_only=True):
    """An agent asks for a change that only a person can make. It blocks the todos it would
    take away until somebody decided."""

    proposal: Proposal


class Proposed(Record):
    gate_id: Name
    proposal: Proposal
    question: Line
    digest: Hex


def decide(state: GoalState, command: ProposeChange, context: Context) -> Draft:
    """The event for a proposal; raises when ``check`` would."""
    gate_id = f"G{state.next_gate}"
    facts = Facts(context.actor, context.now, state.seq + 1, "")
    check_proposal(state, command.proposal, facts)
    payload = {
        "gate_id": gate_id,
        "proposal": command.proposal.model_dump(mode="json"),
        "question": question_of(state, command.proposal),
        "digest": digest_of(state, command.proposal),
    }
    return Draft("replan.proposed", payload, gate_id)


def _check_proposed(state: GoalState, payload: Proposed, facts: Facts) -> None:
    check_next(state, payload.gate_id)
    proposal = payload.proposal
    check_proposal(state, proposal, facts)
    given = (payload.question, payload.digest)
    if given != (question_of(state, proposal), digest_of(state, proposal)):
        raise UsageError(
            "invalid_event",
            "The question and digest of a proposal are not those of its change",
            next="loopx event verify",
        )
    refuse_repeated(state, payload.digest, facts.at)
    refuse_many(state, facts.actor.id)


def _evolve_proposed(state: GoalState, payload: Proposed, facts: Facts) -> GoalState:
    gate = Gate(
        id=payload.gate_id,
        status="pending",
        action=f"propose-{payload.proposal.kind}",
        question=payload.question,
        blocks=payload.proposal.todo_ids,
        digest=payload.digest,
        proposal=payload.proposal,
        requested_by=facts.actor.id,
        requested_at=facts.at,
        seq=facts.seq,
    )
    return state.with_gate(gate).model_copy(update={"next_gate": state.next_gate + 1})


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType("replan.proposed", Proposed, AGENT, _check_proposed, _evolve_proposed),
)
