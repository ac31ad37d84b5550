"""Runs that nobody watches: what may not be asked there, and what a judge may admit."""

from __future__ import annotations

from typing import Any

import pytest
from loopx_kernel.domain.admission import before_a_person, looks_secret, why_not
from loopx_kernel.domain.cancel import CancelTodo
from loopx_kernel.domain.gate import DecideGate, RequestGate, UseGate, WithdrawGate
from loopx_kernel.domain.permission import Action, permission
from loopx_kernel.domain.rules import NEVER_ADMITTED, GateRule, parse_gate_rule
from loopx_kernel.errors import Conflict, Denied, UsageError

from tests.kernel.domain.build import CLAUDE, CODEX, NOW, OWNER, Book, add, opened, refused

DIGEST = Action(action="notify", command="send-digest --to owner")
LOW = UseGate(action=DIGEST, admitted=True)


def goal(*rules: str) -> Book:
    """A goal in whose rules a judge may admit that the owner is sent a digest."""
    texts = rules or ("notify:send-digest* admit:judge", "publish:git push*", "write@infra/**")
    return opened(gates=tuple(map(parse_gate_rule, texts)))


@pytest.mark.parametrize("kind", sorted(NEVER_ADMITTED))
def test_some_kinds_no_judge_admits(kind: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_gate_rule(f"{kind}:x* admit:judge")
    assert caught.value.code == "invalid_value"
    with pytest.raises(UsageError):
        opened(gates=(GateRule(kind=kind, command="x*", admit="judge"),))


def test_a_rule_that_admits_is_written_as_it_is_read() -> None:
    rule = parse_gate_rule("notify:send * @out/**  admit: judge")
    assert (rule.command, rule.admit) == ("send * @out/**", "judge")
    assert parse_gate_rule(rule.text) == rule
    plain = parse_gate_rule("notify:say admit:judges")
    assert (plain.command, plain.admit) == ("say admit:judges", None)


def test_one_word_is_one_use() -> None:
    book = goal()
    refused(book, UseGate(action=DIGEST), Denied, "gate_required")
    gate = book.do(LOW).gate("G1")
    assert (gate.status, gate.basis, gate.used_by, gate.used_at) == (
        "used",
        "judge",
        "claude-code",
        NOW,
    )
    assert not permission(book.state, DIGEST, NOW).allowed
    refused(book, UseGate(action=DIGEST), Denied, "gate_required")
    assert book.do(LOW, CODEX).gate("G2").used_by == "codex"


def test_what_the_worker_asked_itself_is_used_up_with_it() -> None:
    book = goal()
    book.do(RequestGate(action=DIGEST))
    assert book.do(LOW).gate("G1").basis == "judge"
    assert list(book.state.gates) == ["G1"]


def decided(outcome: str | None) -> Book:
    book = goal()
    book.do(RequestGate(action=DIGEST, judged=outcome is None))
    if outcome is not None:
        until = NOW.replace(year=2027) if outcome == "deferred" else None
        book.do(DecideGate(gate_id="G1", outcome=outcome, until=until), OWNER)  # type: ignore[arg-type]
    return book


@pytest.mark.parametrize("outcome", [None, "rejected", "deferred"])
def test_what_is_before_a_person_or_refused_by_one_no_judge_admits(outcome: str | None) -> None:
    book = decided(outcome)
    found = before_a_person(book.state, DIGEST)
    assert found is not None
    refused(book, LOW, Denied, "gate_required")


def test_a_person_may_still_allow_what_the_judge_did_not() -> None:
    book = decided(None)
    book.do(DecideGate(gate_id="G1", outcome="approved"), OWNER)
    gate = book.do(UseGate(action=DIGEST)).gate("G1")
    assert (gate.status, gate.basis) == ("used", None)


@pytest.mark.parametrize(
    ("action", "why"),
    [
        (Action(action="publish", command="git push origin main"), "a person"),
        (Action(action="notify", command="mail owner"), "a person"),
        (Action(action="publish", command="send-digest"), "a person"),
        (Action(action="network", command="send-digest"), "a person"),
        (Action(action="notify", command="send-digest; git push origin main"), "simple"),
        (Action(action="notify", command="send-digest $(cat x)"), "simple"),
        (Action(action="notify", command="send-digest > infra/x"), "simple"),
        (Action(action="notify", command="send-digest --run git push origin"), "publish:git"),
        (Action(action="notify", command="send-digest", paths=("infra/x.tf",)), "write@infra"),
        (Action(action="notify", command="send-digest --api-key 1"), "secret"),
    ],
)
def test_what_no_judge_is_asked_about(action: Action, why: str) -> None:
    book = goal()
    assert why in (why_not(book.state, action) or "")
    refused(book, UseGate(action=action, admitted=True), Denied, "gate_required")


def test_every_rule_that_covers_it_must_say_so() -> None:
    book = goal("notify:send* admit:judge", "notify:*digest*")
    refused(book, LOW, Denied, "gate_required")
    assert why_not(goal("notify:send* admit:judge", "publish").state, DIGEST) is None


def test_where_a_path_really_leads_counts_too() -> None:
    state = goal("notify@out/** admit:judge", "notify@private/**").state
    action = Action(action="notify", paths=("out/link",))
    assert why_not(state, action) is None
    assert why_not(state, action, ("private/x",)) is not None


@pytest.mark.parametrize(
    "text",
    [
        "x --api-key 1",
        "x API_KEY=1",
        "x Api Key",
        "x --token t",
        "x -p PassWord",
        "x passwd",
        "x my-secret",
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        "x 'Authorization: Bearer y'",
        "x AKIAIOSFODNN7EXAMPLE",
        "x ghp_16C7e42F292c6912E7",
        "x https://user:pw@example.org",
        "x eyJhbGciOiJIUzI1NiJ9.e30",
        "x to\u200bken",
        "x ｔｏｋｅｎ",
        "x " + "a1" * 16,
    ],
)
def test_what_looks_like_a_secret(text: str) -> None:
    assert looks_secret(Action(action="notify", command=text))
    assert looks_secret(Action(action="notify", command="x", paths=(text,)))


@pytest.mark.parametrize(
    "text", ["send-digest --to owner", "send 'three todos done, one waits'", "ask-owner", "skip it"]
)
def test_what_does_not(text: str) -> None:
    assert not looks_secret(Action(action="notify", command=text))


@pytest.mark.parametrize("kind", ["self-schedule", "self-upgrade"])
def test_a_run_that_nobody_watches_does_not_ask_to_change_its_own_loop(kind: str) -> None:
    action = Action(action=kind, command="crontab -e")
    alone = RequestGate(action=action, unattended=True)
    refused(goal(), alone, Denied, "not_a_person")
    assert goal().do(RequestGate(action=action)).gate("G1").status == "pending"
    other = RequestGate(action=Action(action="notify", command="x"), unattended=True)
    assert goal().do(other).gate("G1").status == "pending"


@pytest.mark.parametrize(
    "changed",
    [
        {"asked": None},
        {"asked": {"action": "notify", "command": "send-digest --to all"}},
        {"digest": "0" * 64},
        {"gate_id": "G2"},
        {"basis": None},
        {"basis": "person"},
    ],
)
def test_a_line_written_by_hand_admits_nothing_else(changed: dict[str, Any]) -> None:
    book = goal()
    asked = {"action": "notify", "command": DIGEST.command}
    payload = {"gate_id": "G1", "digest": DIGEST.digest, "basis": "judge", "asked": asked}
    values = {key: value for key, value in (payload | changed).items() if value is not None}
    book.write("gate.used", values)
    assert book.state.gates == {}
    assert book.state.alert_count == 1
    book.write("gate.used", payload)
    assert book.state.gate("G1").basis == "judge"


# Everything that may be done with a gate, by how it stands. What is not named is refused.
LIFE = {
    "pending": {"approved", "rejected", "deferred", "withdrawn"},
    "deferred": {"approved", "rejected", "deferred", "withdrawn"},
    "approved": {"used"},
    "rejected": set[str](),
    "used": set[str](),
    "expired": set[str](),
    "withdrawn": set[str](),
    "mooted": set[str](),
}
LATER = NOW.replace(hour=23, minute=30)


def as_it_stands(status: str) -> Book:
    book = goal()
    book.do(add("Work"))
    book.do(RequestGate(action=DIGEST, blocks=("T1",)))
    steps: dict[str, list[tuple[Any, Any]]] = {
        "pending": [],
        "deferred": [(DecideGate(gate_id="G1", outcome="deferred", until=LATER), OWNER)],
        "approved": [(DecideGate(gate_id="G1", outcome="approved"), OWNER)],
        "rejected": [(DecideGate(gate_id="G1", outcome="rejected"), OWNER)],
        "expired": [(DecideGate(gate_id="G1", outcome="approved", expires_at=LATER), OWNER)],
        "withdrawn": [(WithdrawGate(gate_id="G1"), CLAUDE)],
        "mooted": [(CancelTodo(todo_id="T1", reason="x"), OWNER)],
    }
    steps["used"] = [*steps["approved"], (UseGate(action=DIGEST), CODEX)]
    for command, actor in steps[status]:
        book.do(command, actor)
    return book


@pytest.mark.parametrize("status", LIFE)
@pytest.mark.parametrize("step", ["approved", "rejected", "deferred", "withdrawn", "used"])
def test_the_whole_life_of_a_gate(status: str, step: str) -> None:
    book = as_it_stands(status)
    at = LATER if status == "expired" else NOW
    assert book.state.gate_status(book.state.gate("G1"), at) == status
    commands: dict[str, tuple[Any, Any]] = {
        "withdrawn": (WithdrawGate(gate_id="G1"), CLAUDE),
        "used": (UseGate(action=DIGEST), CODEX),
    }
    until = LATER.replace(day=20) if step == "deferred" else None
    ask = (DecideGate(gate_id="G1", outcome=step, until=until), OWNER)  # type: ignore[arg-type]
    command, actor = commands.get(step, ask)
    if step in LIFE[status]:
        book.do(command, actor, at)
        assert book.state.gate("G1").status == step
    elif step == "used":
        refused(book, command, Denied, "gate_required", actor=actor, at=at)
    else:
        refused(book, command, Conflict, "already_decided", actor=actor, at=at)


@pytest.mark.parametrize("status", LIFE)
def test_whether_the_same_may_be_asked_again(status: str) -> None:
    book = as_it_stands(status)
    at = LATER if status == "expired" else NOW
    again = RequestGate(action=DIGEST)
    if status in ("pending", "deferred", "approved"):
        refused(book, again, Conflict, "exists", at=at)
    elif status == "rejected":
        refused(book, again, Conflict, "already_decided", at=at)
    else:
        assert book.do(again, at=at).gate("G2").status == "pending"
