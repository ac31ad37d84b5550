"""Gates: asked once, decided by a person, used once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from loopx_kernel.clock import format_time
from loopx_kernel.domain.gate import DecideGate, RequestGate, UseGate, WithdrawGate
from loopx_kernel.domain.needs_you import Reads, needs_you
from loopx_kernel.domain.permission import Action, permission
from loopx_kernel.domain.rules import Limits, parse_gate_rule
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import Busy, Conflict, Denied, UsageError

from tests.kernel.domain.build import CODEX, NOW, OWNER, Book, claim, dark_mode, opened, refused

HOUR = timedelta(hours=1)
PUBLISH = Action(action="publish", command="npm publish @mall/theme")
ASK = RequestGate(action=PUBLISH, blocks=("T3",))


def asked() -> Book:
    book = dark_mode()
    book.do(ASK)
    return book


def decided(outcome: str, **values: object) -> Book:
    book = asked()
    book.do(DecideGate(gate_id="G1", outcome=outcome, **values), OWNER)  # type: ignore[arg-type]
    return book


def test_a_request_waits_for_a_person_and_says_what_for() -> None:
    gate = asked().state.gate("G1")
    assert gate.status == "pending"
    assert gate.question == "Allow publish: npm publish @mall/theme?"
    assert gate.digest == PUBLISH.digest
    assert gate.blocks == ("T3",)


def test_a_long_command_gets_a_question_on_one_line() -> None:
    book = dark_mode()
    command = "cat <<'END'\n" + "publish everything\n" * 200 + "END"
    book.do(RequestGate(action=Action(action="publish", command=command)))
    question = book.state.gate("G1").question
    assert "\n" not in question
    assert len(question) < 400
    assert book.state.gate("G1").command == command


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (RequestGate(action=Action(action="publish"), question="May I?"), "vague_gate"),
        (RequestGate(action=Action(action="publish", command="  ")), "vague_gate"),
        (RequestGate(action=Action(action="", command="x")), "vague_gate"),
        (RequestGate(action=Action(action="do it", command="x")), "vague_gate"),
        (RequestGate(action=Action(action="ПУБЛ", command="x")), "vague_gate"),
        (RequestGate(action=Action(action="write", paths=("../x",))), "invalid_scope"),
        (RequestGate(action=Action(action="write", paths=("infra/*",))), "invalid_scope"),
        (RequestGate(action=PUBLISH, question="a\nb"), "invalid_value"),
        (RequestGate(action=PUBLISH, blocks=("T9",)), "unknown_todo"),
    ],
)
def test_requests_that_stop_nothing_are_refused(command: RequestGate, code: str) -> None:
    refused(dark_mode(), command, UsageError, code)


def test_one_pending_gate_for_one_action() -> None:
    refused(asked(), ASK, Conflict, "exists", actor=CODEX)
    refused(decided("deferred", until=NOW + HOUR), ASK, Conflict, "exists")
    refused(decided("approved"), ASK, Conflict, "exists")
    refused(decided("rejected"), ASK, Conflict, "already_decided")
    other = RequestGate(action=Action(action="publish", command="npm publish @mall/icons"))
    book = asked()
    book.do(other)
    assert set(book.state.gates) == {"G1", "G2"}


def test_an_agent_has_a_limit_of_gates() -> None:
    book = opened(limits=Limits(pending_gates_per_agent=2))
    for number in (1, 2):
        book.do(RequestGate(action=Action(action="publish", command=f"v{number}")))
    third = RequestGate(action=Action(action="publish", command="v3"))
    refused(book, third, Busy, "limit")
    book.do(third, CODEX)
    assert len(book.state.gates) == 3


def test_an_approval_is_used_once() -> None:
    book = asked()
    refused(book, UseGate(action=PUBLISH), Denied, "gate_required")
    book.do(DecideGate(gate_id="G1", outcome="approved", reason="go"), OWNER)
    decision = book.state.gate("G1").decision
    assert decision is not None
    assert (decision.by, decision.level, decision.reason) == ("huang", "passphrase", "go")
    assert permission(book.state, PUBLISH, NOW).allowed
    book.do(UseGate(action=PUBLISH), CODEX)
    assert book.state.gate("G1").status == "used"
    assert book.state.gate("G1").used_by == "codex"
    assert not permission(book.state, PUBLISH, NOW).allowed
    refused(book, UseGate(action=PUBLISH), Denied, "gate_required")
    book.do(ASK)
    assert book.state.gate("G2").status == "pending"


@pytest.mark.parametrize(
    "other",
    [
        Action(action="publish", command="npm publish @mall/theme --tag next"),
        Action(action="publish", command="npm  publish @mall/theme"),
        Action(action="publish", command="npm publish @mall/theme", paths=("dist/x",)),
    ],
)
def test_an_approval_is_for_these_very_words(other: Action) -> None:
    book = decided("approved")
    assert not permission(book.state, other, NOW).allowed
    refused(book, UseGate(action=other), Denied, "gate_required")


def test_an_approval_expires() -> None:
    book = decided("approved", expires_at=NOW + HOUR)
    gate = book.state.gate("G1")
    assert gate.status_at(NOW + HOUR - timedelta(seconds=1)) == "approved"
    assert gate.status_at(NOW + HOUR) == "expired"
    refused(book, UseGate(action=PUBLISH), Denied, "gate_required", at=NOW + HOUR)
    book.do(ASK, at=NOW + HOUR)
    assert book.state.gate("G2").status == "pending"


def test_a_deferral_comes_back() -> None:
    book = decided("deferred", until=NOW + HOUR)
    assert needs_you(book.state, Reads(), NOW) == ()
    (need,) = needs_you(book.state, Reads(), NOW + HOUR)
    assert (need.kind, need.id) == ("gate", "G1")
    assert book.state.gate("G1").status_at(NOW + HOUR) == "pending"
    book.do(DecideGate(gate_id="G1", outcome="approved"), OWNER, NOW + 2 * HOUR)
    assert book.state.gate("G1").status == "approved"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (DecideGate(gate_id="G9", outcome="approved"), "unknown_gate"),
        (DecideGate(gate_id="G1", outcome="deferred"), "invalid_value"),
        (DecideGate(gate_id="G1", outcome="deferred", until=NOW), "invalid_value"),
        (DecideGate(gate_id="G1", outcome="approved", expires_at=NOW), "invalid_value"),
        (DecideGate(gate_id="G1", outcome="rejected", reason="a\nb"), "invalid_value"),
    ],
)
def test_decisions_that_are_refused(command: DecideGate, code: str) -> None:
    refused(asked(), command, UsageError, code, actor=OWNER)


@pytest.mark.parametrize("outcome", ["approved", "rejected"])
def test_what_is_decided_stays_decided(outcome: str) -> None:
    book = decided(outcome)
    for again in ("approved", "rejected"):
        command = DecideGate(gate_id="G1", outcome=again)
        refused(book, command, Conflict, "already_decided", actor=OWNER)
    refused(book, WithdrawGate(gate_id="G1"), Conflict, "already_decided")


def test_only_who_asked_withdraws() -> None:
    book = asked()
    refused(book, WithdrawGate(gate_id="G1"), Denied, "gate_required", actor=CODEX)
    book.do(WithdrawGate(gate_id="G1"))
    assert book.state.gate("G1").status == "withdrawn"
    book.do(ASK)


def test_permission_needs_a_rule_to_say_no() -> None:
    state = opened(gates=(parse_gate_rule("write@infra/**"),)).state
    inside = Action(action="write", paths=("src/theme/a.css",))
    assert permission(state, inside, NOW).allowed
    outside = Action(action="write", paths=("src/theme/a.css", "infra/x.tf"))
    assert not permission(state, outside, NOW).allowed
    assert permission(state, Action(action="network", command="curl x"), NOW).allowed


def test_a_use_without_a_rule_has_nothing_to_use() -> None:
    command = UseGate(action=Action(action="network", command="curl x"))
    refused(opened(), command, Denied, "gate_required")


def test_a_gate_blocks_until_a_person_spoke() -> None:
    book = opened()
    book.do(AddTodo(title="Publish"))
    book.do(RequestGate(action=PUBLISH, blocks=("T1",)))
    refused(book, claim("T1"), Denied, "gate_required")
    book.do(DecideGate(gate_id="G1", outcome="rejected"), OWNER)
    book.do(claim("T1"))
    assert book.todo("T1").status == "claimed"


def test_who_asks_again_reads_when_it_was_decided_as_times_are_written_everywhere() -> None:
    book = decided("rejected")
    with pytest.raises(Conflict, match=f"decided by .* at {format_time(NOW)}$"):
        book.do(ASK)
