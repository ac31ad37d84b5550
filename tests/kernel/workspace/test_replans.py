"""Changes of mind through the façade: two people at once, lines by hand, and what is kept."""

from __future__ import annotations

from loopx_kernel.domain.cancel import CancelTodo
from loopx_kernel.domain.gate import DecideGate
from loopx_kernel.domain.objective import PatchObjective
from loopx_kernel.domain.propose import ProposeChange
from loopx_kernel.domain.records_of_work import Proposal
from loopx_kernel.domain.replan import FulfilReplan, RequestReplan
from loopx_kernel.domain.todo import AddTodo

from tests.kernel.workspace.build import CLAUDE, CODEX, GOAL, OWNER, SECOND, Place, refused
from tests.kernel.workspace.forge import append_raw, records

REPLAN = RequestReplan(reason="tests unstable", todo_ids=("T3",))
WORDS = PatchObjective(text="Shop only", reason="smaller", facts=("mail 7",))


def test_of_two_people_who_replan_at_once_the_second_looks_again(place: Place) -> None:
    replans = place.ws.replans
    first, second = (replans.request(GOAL, who, REPLAN) for who in (OWNER, SECOND))
    place.sign(first)
    with refused(place, "stale_decision"):
        place.sign(second)
    assert [*place.again().state(GOAL).obligations] == ["O1"]


def test_a_todo_handed_in_while_somebody_cancels_it_stays_done(place: Place) -> None:
    cancel = place.ws.replans.cancel(GOAL, OWNER, CancelTodo(todo_id="T3", reason="x"))
    place.ws.todos.update(GOAL, CLAUDE, "T3", complete=True, evidence=["dark-mode-notes.md"])
    with refused(place, "illegal_transition"):
        place.sign(cancel)
    assert place.again().state(GOAL).todos["T3"].status == "done"


def test_of_two_people_who_approve_a_proposal_the_first_carries_it_out(place: Place) -> None:
    proposal = Proposal(kind="cancel", todo_ids=("T3",), reason="x")
    gate_id = place.ws.replans.propose(GOAL, CODEX, ProposeChange(proposal=proposal)).object_id
    approve = DecideGate(gate_id=gate_id, outcome="approved")
    first, second = (place.ws.gates.decide(GOAL, who, approve) for who in (OWNER, SECOND))
    assert "Cancel T3" in first.preview
    place.sign(first)
    with refused(place, "already_decided"):
        place.sign(second)
    assert place.again().state(GOAL).todos["T3"].status == "cancelled"
    assert place.again().events.verify(GOAL).ok


def test_a_version_that_only_a_line_by_hand_tells_of_is_none(place: Place) -> None:
    place.sign(place.ws.objectives.patch(GOAL, OWNER, WORDS))
    patched = records(place.journal)[-1]
    payload = patched["payload"] | {"text": "Everything", "version": 3}
    append_raw(place.journal, patched | {"event_id": "e-forged", "payload": payload})
    versions = place.again().objectives.history(GOAL)
    assert [(one.version, one.text, one.facts) for one in versions] == [
        (1, "Add a dark mode to the shop", ()),
        (2, "Shop only", ("mail 7",)),
    ]
    assert place.again().view(GOAL).objective == "Shop only"


def test_a_duty_is_told_as_it_was_when_its_receipt_was_given(place: Place) -> None:
    asked = place.sign(place.ws.replans.request(GOAL, OWNER, REPLAN))
    new = place.ws.todos.add(GOAL, CODEX, AddTodo(title="Other way", lineage=("T3",))).object_id
    command = FulfilReplan(obligation_id="O1", supersede=(("T3", new),))
    done = place.ws.replans.fulfil(GOAL, CODEX, command, event_id="f-1")
    again = place.again().replans.fulfil(GOAL, CODEX, command, event_id="f-1")
    assert again.receipt.replayed
    assert again.receipt.seq == done.receipt.seq
    ws = place.again()
    assert ws.replans.obligation(GOAL, asked).status == "open"
    assert ws.replans.obligation(GOAL, again).status == "fulfilled"
    assert ws.history.todo(GOAL, "T3").superseded_by == new
