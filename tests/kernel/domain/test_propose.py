"""Proposals: an agent asks for a change, and a person's approval carries it out."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from loopx_kernel.domain import fold
from loopx_kernel.domain.brief import brief_for
from loopx_kernel.domain.cancel import CancelTodo
from loopx_kernel.domain.drift import AdoptDrift, Edit
from loopx_kernel.domain.drift import decide as decide_drift
from loopx_kernel.domain.event import Context
from loopx_kernel.domain.gate import DecideGate, RequestGate, UseGate, WithdrawGate
from loopx_kernel.domain.objective import PatchObjective
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.proposal import digest_of, question_of
from loopx_kernel.domain.propose import ProposeChange
from loopx_kernel.domain.records_of_work import Proposal
from loopx_kernel.domain.replan import RequestReplan
from loopx_kernel.domain.rules import Limits
from loopx_kernel.errors import Busy, Conflict, Denied, LoopxError, UsageError

from tests.kernel.domain.build import (
    CLAUDE,
    CODEX,
    GOOD,
    HASH,
    NOW,
    OWNER,
    Book,
    add,
    claim,
    complete,
    dark_mode,
    evidence,
    line,
    opened,
    reading,
    refused,
    signed_for,
)


def propose(kind: Any, *todo_ids: str, **values: Any) -> ProposeChange:
    return ProposeChange(
        proposal=Proposal(kind=kind, todo_ids=todo_ids, **{"reason": "tests unstable", **values})
    )


CANCEL = propose("cancel", "T3")
SUPERSEDE = propose("supersede", "T3", successor="T4")
ROUTE = propose("route", "T3", facts=("run 12 failed",))
OBJECTIVE = propose("objective", text="Dark mode,\nfor all", facts=("mail 7",))
ALL = [CANCEL, SUPERSEDE, ROUTE, OBJECTIVE]
APPROVE = DecideGate(gate_id="G1", outcome="approved")


def proposed(command: ProposeChange) -> Book:
    """T4 comes from T3; the proposal is G1."""
    book = dark_mode()
    book.do(add("Convert with variables", lineage=("T3",)))
    book.do(command)
    return book


@pytest.mark.parametrize("command", ALL)
def test_a_proposal_is_a_gate_and_changes_nothing(command: ProposeChange) -> None:
    before = dark_mode()
    before.do(add("Convert with variables", lineage=("T3",)))
    book = proposed(command)
    gate = book.state.gate("G1")
    assert gate.proposal == command.proposal
    assert (gate.status, gate.action) == ("pending", f"propose-{command.proposal.kind}")
    assert (gate.blocks, gate.requested_by) == (command.proposal.todo_ids, "claude-code")
    assert gate.question.endswith("? tests unstable")
    assert book.state.todos == before.state.todos
    assert book.state.objective == before.state.objective
    assert book.replay() == book.state


@pytest.mark.parametrize(
    ("command", "question"),
    [
        (CANCEL, "Cancel T3 “Convert components”?"),
        (SUPERSEDE, "Put T4 “Convert with variables” in the place of T3 “Convert components”?"),
        (ROUTE, "Replan T3 “Convert components”?"),
        (propose("route"), "Replan the goal?"),
        (OBJECTIVE, "Change the objective?"),
    ],
)
def test_the_question_is_the_kernels(command: ProposeChange, question: str) -> None:
    assert proposed(command).state.gate("G1").question == f"{question} tests unstable"


@pytest.mark.parametrize("command", ALL)
def test_approving_carries_the_change_out_in_one_line(command: ProposeChange) -> None:
    book = proposed(command)
    lines = len(book.lines)
    book.do(APPROVE, OWNER)
    state, proposal = book.state, command.proposal
    assert len(book.lines) == lines + 1
    assert (state.gate("G1").status, state.gate("G1").seq) == ("approved", state.seq)
    match proposal.kind:
        case "cancel":
            assert (state.todo("T3").status, state.todo("T3").reason) == (
                "cancelled",
                proposal.reason,
            )
        case "supersede":
            assert state.todo("T3").superseded_by == "T4"
        case "route":
            duty = state.obligations["O1"]
            assert (duty.todo_ids, duty.facts) == (("T3",), proposal.facts)
            assert (duty.by, state.todo(duty.replan_todo).kind) == ("huang", "replan")
        case "objective":
            assert state.objective is not None
            assert (state.objective.text, state.objective.version) == (proposal.text, 2)
            assert state.registry_seq == state.seq
    assert book.replay() == state
    refused(book, APPROVE, Conflict, "already_decided", actor=OWNER)


@pytest.mark.parametrize("command", ALL)
def test_rejecting_changes_nothing_and_stands_in_the_brief(command: ProposeChange) -> None:
    book = proposed(command)
    before = book.state
    book.do(DecideGate(gate_id="G1", outcome="rejected", reason="no"), OWNER)
    assert (book.state.todos, book.state.objective) == (before.todos, before.objective)
    assert book.state.obligations == {}
    told = brief_for(book.state, book.todo("T3")).refusals
    assert bool(told) is bool(command.proposal.todo_ids)
    refused(book, command, Conflict, "already_decided", actor=CODEX)


def test_a_deferred_proposal_is_carried_out_when_it_is_approved() -> None:
    book = proposed(CANCEL)
    until = NOW + timedelta(hours=1)
    book.do(DecideGate(gate_id="G1", outcome="deferred", until=until), OWNER)
    assert book.todo("T3").status == "claimed"
    book.do(APPROVE, OWNER, until)
    assert book.todo("T3").status == "cancelled"


def test_a_proposal_is_taken_back_by_its_author_and_mooted_with_its_todo() -> None:
    book = proposed(CANCEL)
    book.do(WithdrawGate(gate_id="G1"))
    refused(book, APPROVE, Conflict, "already_decided", actor=OWNER)
    book = proposed(CANCEL)
    book.do(complete("T3", evidence("a.txt")))
    assert book.state.gate("G1").status == "mooted"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (propose("cancel", "T9"), "unknown_todo"),
        (propose("cancel", "T1"), "illegal_transition"),
        (propose("cancel"), "invalid_event"),
        (propose("cancel", "T3", "T4"), "invalid_event"),
        (propose("cancel", "T3", successor="T4"), "invalid_event"),
        (propose("cancel", "T3", text="x"), "invalid_event"),
        (propose("cancel", "T3", facts=("x",)), "invalid_event"),
        (propose("cancel", "T3", reason=""), "invalid_value"),
        (propose("supersede", "T3"), "invalid_event"),
        (propose("supersede", "T3", successor="T9"), "unknown_todo"),
        (propose("supersede", "T3", successor="T3"), "lineage_invalid"),
        (propose("supersede", "T4", successor="T3"), "lineage_invalid"),
        (propose("route", "T3", "T3"), "invalid_value"),
        (propose("route", "T9"), "unknown_todo"),
        (propose("route", text="x"), "invalid_event"),
        (propose("route", facts=("a\nb",)), "invalid_value"),
        (propose("objective", text=""), "invalid_value"),
        (propose("objective", text="Add a dark mode to the shop"), "invalid_value"),
        (propose("objective", "T3", text="x"), "invalid_event"),
    ],
)
def test_what_cannot_be_proposed(command: ProposeChange, code: str) -> None:
    book = dark_mode()
    book.do(add("Convert with variables", lineage=("T3",)))
    refused(book, command, UsageError, code)


def test_only_agents_propose_once_and_not_without_end() -> None:
    refused(dark_mode(), CANCEL, Denied, "not_a_person", actor=OWNER)
    refused(proposed(CANCEL), CANCEL, Conflict, "exists", actor=CODEX)
    book = dark_mode(limits=Limits(pending_gates_per_agent=1))
    book.do(CANCEL)
    refused(book, OBJECTIVE, Busy, "limit")


def test_what_was_retitled_or_reworded_meanwhile_is_not_what_was_proposed() -> None:
    for command in (CANCEL, SUPERSEDE, ROUTE):
        book = proposed(command)
        edit = Edit(kind="retitled", todo_id="T3", line=3, title="Something else")
        adopt = AdoptDrift(path="a.md", digest=HASH, edits=(edit,))
        draft = decide_drift(book.state, adopt, Context(OWNER, reading(NOW)))
        payload = fold.normalise(draft.event_type, draft.payload)
        signed = signed_for(book.state, "dark-mode", NOW)
        book.take(line(book.state, draft.event_type, payload, OWNER, signed=signed), GOOD)
        assert book.todo("T3").title == "Something else"
        refused(book, APPROVE, Conflict, "stale_decision", actor=OWNER)
    book = proposed(OBJECTIVE)
    book.do(PatchObjective(text="Third", reason="x"), OWNER)
    refused(book, APPROVE, Conflict, "stale_decision", actor=OWNER)


def test_what_changed_without_changing_its_meaning_may_still_be_approved() -> None:
    book = proposed(CANCEL)
    later = NOW + timedelta(hours=2)
    book.do(add("Other work"))
    book.do(claim("T5"), CODEX, later)
    version = book.todo("T3").version
    book.do(APPROVE, OWNER, later)
    assert book.todo("T3").version == version + 1


def test_a_proposal_that_can_no_longer_be_carried_out_stays_undecided() -> None:
    book = proposed(SUPERSEDE)
    book.do(CancelTodo(todo_id="T4", reason="x"), OWNER)
    refused(book, APPROVE, UsageError, "illegal_transition", actor=OWNER)
    assert book.state.gate("G1").status == "pending"
    book.do(DecideGate(gate_id="G1", outcome="rejected"), OWNER)


def test_an_approved_proposal_allows_no_action_and_does_not_run_out() -> None:
    book = proposed(CANCEL)
    expires = DecideGate(gate_id="G1", outcome="approved", expires_at=NOW + timedelta(hours=1))
    refused(book, expires, UsageError, "invalid_value", actor=OWNER)
    book.do(APPROVE, OWNER)
    action = Action(action="propose-cancel", command="T3")
    with pytest.raises(LoopxError):
        book.do(UseGate(action=action))
    refused(book, RequestGate(action=action), UsageError, "vague_gate")


@pytest.mark.parametrize("command", ALL)
@pytest.mark.parametrize(
    "change", [{"parts": []}, {"parts": [{"type": "todo.cancelled", "todo_id": "T4"}]}]
)
def test_an_approval_by_hand_carries_out_what_was_proposed_or_nothing(
    command: ProposeChange, change: dict[str, Any]
) -> None:
    book, done = proposed(command), proposed(command)
    done.do(APPROVE, OWNER)
    event, verdict = done.lines[-1]
    before = book.state
    book.take(event.model_copy(update={"payload": event.payload | change}), verdict)
    assert book.state.alert_count == before.alert_count + 1
    assert (book.state.todos, book.state.gates) == (before.todos, before.gates)
    assert (book.state.objective, book.state.obligations) == (before.objective, {})


@pytest.mark.parametrize("command", ALL)
@pytest.mark.parametrize(
    "change", [{"digest": HASH}, {"question": "Nothing of importance?"}, {"gate_id": "G7"}]
)
def test_a_proposal_by_hand_says_what_it_does(
    command: ProposeChange, change: dict[str, Any]
) -> None:
    done = proposed(command)
    event, verdict = done.lines[-1]
    book = dark_mode()
    book.do(add("Convert with variables", lineage=("T3",)))
    book.take(event.model_copy(update={"payload": event.payload | change}), verdict)
    assert book.state.gates == {}
    assert book.state.alert_count == 1


@pytest.mark.parametrize(
    "command",
    [
        propose("supersede", "T4", successor="T3"),
        propose("cancel", "T1"),
        propose("cancel", "T3", reason="two\nlines"),
        propose("cancel", "T3", text="x"),
        propose("route", "T3", "T3"),
    ],
)
def test_nothing_is_proposed_by_hand_that_could_not_be_by_command(command: ProposeChange) -> None:
    book = dark_mode()
    book.do(add("Convert with variables", lineage=("T3",)))
    said = {
        "gate_id": "G1",
        "proposal": command.proposal.model_dump(mode="json", exclude_none=True),
        "question": question_of(book.state, command.proposal),
        "digest": digest_of(book.state, command.proposal),
    }
    book.write("replan.proposed", said)
    assert book.state.gates == {}
    assert book.state.alert_count == 1


def test_a_gate_without_a_proposal_carries_nothing_out() -> None:
    book = opened()
    book.do(add("Work"))
    book.do(RequestGate(action=Action(action="publish", command="git push")))
    book.do(APPROVE, OWNER)
    event, _ = book.lines[-1]
    assert event.payload["parts"] == []
    other = opened()
    other.do(add("Work"))
    other.do(RequestGate(action=Action(action="publish", command="git push")))
    cancelled = {"type": "todo.cancelled", "todo_id": "T1", "version": 1, "reason": "x"}
    other.take(event.model_copy(update={"payload": event.payload | {"parts": [cancelled]}}), GOOD)
    assert other.todo("T1").status == "open"
    assert other.state.gate("G1").status == "pending"


def test_a_route_proposed_by_its_worker_lets_it_hand_in() -> None:
    book = proposed(ROUTE)
    book.do(complete("T3", evidence("a.txt")), CLAUDE)
    assert book.todo("T3").status == "done"


def test_both_kinds_of_replanning_agree() -> None:
    """What a person asks for directly and what they approve make the same duty."""
    direct = dark_mode()
    direct.do(add("Convert with variables", lineage=("T3",)))
    reason, facts = ROUTE.proposal.reason, ROUTE.proposal.facts
    direct.do(RequestReplan(reason=reason, facts=facts, todo_ids=("T3",)), OWNER)
    book = proposed(ROUTE)
    book.do(APPROVE, OWNER)
    left_out = {"seq", "at"}
    one, two = direct.state.obligations["O1"], book.state.obligations["O1"]
    assert one.model_dump(exclude=left_out) == two.model_dump(exclude=left_out)
