"""What an agent may propose: a change that only a person can make, and what it would do."""

from __future__ import annotations

from textwrap import shorten
from typing import Any

from loopx_kernel.domain import cancel, objective, replan
from loopx_kernel.domain.canonical import digest
from loopx_kernel.domain.event import Facts
from loopx_kernel.domain.records import Gate
from loopx_kernel.domain.records_of_work import Proposal
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import UsageError

_ROWS = {row.name: row for row in (*cancel.EVENTS, *objective.EVENTS, *replan.EVENTS)}
_MEANING = {"title", "role", "kind", "depends_on", "write_scope", "acceptance"}
_TITLE = 120
_NAMED = {
    "cancel": (1, 1),
    "supersede": (1, 1),
    "route": (0, replan.MOST_TODOS),
    "objective": (0, 0),
}
"""How many todos a proposal of a kind names."""


def changes(state: GoalState, proposal: Proposal) -> list[dict[str, Any]]:
    """The parts that carry out a proposal in this state. Raises where it names no todo that
    can be changed."""
    named, reason, facts = proposal.todo_ids, proposal.reason, proposal.facts
    match proposal.kind:
        case "cancel":
            return [cancel.cancelling(state, named[0], reason)]
        case "supersede":
            return cancel.superseding(state, [(named[0], proposal.successor or "")], reason)
        case "route":
            return [replan.requesting(state, reason, facts, named)]
        case "objective":
            return [objective.patching(state, proposal.text, reason, facts)]


def applied(state: GoalState, gate: Gate) -> list[dict[str, Any]]:
    """The parts of the approval of ``gate``; none where it proposes no change."""
    if gate.proposal is None:
        return []
    approved = gate.model_copy(update={"status": "approved"})
    return changes(state.with_gate(approved), gate.proposal)


def digest_of(state: GoalState, proposal: Proposal) -> str:
    """SHA-256 over the proposed change and the meaning of what it changes, as that stands."""
    named = (*proposal.todo_ids, *((proposal.successor,) if proposal.successor else ()))
    about: dict[str, Any] = {
        ref: state.todo(ref).model_dump(mode="json", include=_MEANING) for ref in named
    }
    if proposal.kind == "objective" and state.objective is not None:
        about["objective"] = state.objective.version
    return digest({"proposal": proposal.model_dump(mode="json"), "about": about})


def question_of(state: GoalState, proposal: Proposal) -> str:
    """What the person is asked, in the kernel's words and with the agent's reason."""
    named = [_named(state, ref) for ref in proposal.todo_ids[:3]]
    if len(proposal.todo_ids) > len(named):
        named.append(f"{len(proposal.todo_ids) - len(named)} more")
    match proposal.kind:
        case "cancel":
            what = f"Cancel {named[0]}"
        case "supersede":
            what = f"Put {_named(state, proposal.successor or '')} in the place of {named[0]}"
        case "route":
            what = f"Replan {', '.join(named) or 'the goal'}"
        case "objective":
            what = "Change the objective"
    return f"{what}? {proposal.reason}"


def _named(state: GoalState, todo_id: str) -> str:
    title = shorten(state.todo(todo_id).title, _TITLE, placeholder=" …")
    return f"{todo_id} “{title}”"


def check_proposal(state: GoalState, proposal: Proposal, facts: Facts) -> None:
    """The change is well formed and a person could make it now. Raises what that would raise."""
    fewest, most = _NAMED[proposal.kind]
    if (
        not fewest <= len(proposal.todo_ids) <= most
        or (proposal.kind == "supersede") is (proposal.successor is None)
        or (proposal.kind != "objective" and proposal.text)
        or (fewest and proposal.facts)
    ):
        raise UsageError(
            "invalid_event",
            f"This is no proposal of kind {proposal.kind}",
            next="loopx propose --help",
        )
    objective.check_grounds(proposal.reason, proposal.facts)
    for part in changes(state, proposal):
        row = _ROWS[part["type"]]
        values = {key: value for key, value in part.items() if key != "type"}
        row.check(state, row.payload.model_validate(values), facts)
