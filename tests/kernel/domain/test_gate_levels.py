"""Rules that ask for a level: approvals below it give no leave, when given and on every reading."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.domain.event import Level, Verdict
from loopx_kernel.domain.gate import DecideGate, RequestGate, UseGate
from loopx_kernel.domain.levels import LEVELS, reaches
from loopx_kernel.domain.patched_rules import PatchRules
from loopx_kernel.domain.permission import Action, permission
from loopx_kernel.domain.risk import risks
from loopx_kernel.domain.rules import GateRule, parse_gate_rule
from loopx_kernel.errors import Conflict, Denied, UsageError

from tests.kernel.domain.build import GOOD, NOW, OWNER, Book, line, opened, refused, signed_for

PUSH = Action(action="publish", command="git push origin main")
ASK, USE = RequestGate(action=PUSH), UseGate(action=PUSH)
YES = DecideGate(gate_id="G1", outcome="approved")
ASKED_FOR = LEVELS[1:]


def goal(*rules: str) -> Book:
    return opened(gates=tuple(parse_gate_rule(text) for text in rules))


def at(level: Level) -> Verdict:
    return replace(GOOD, level=level)


@pytest.mark.parametrize("level", ASKED_FOR)
@pytest.mark.parametrize("rule", ["publish", "publish:git push*", "write@infra/**", "ops:x @y"])
def test_a_rule_says_its_level_behind_it(rule: str, level: str) -> None:
    parsed = parse_gate_rule(f"{rule}  level: {level}")
    assert (parsed.at_least, parsed.text) == (level, f"{rule} level:{level}")
    assert parse_gate_rule(parsed.text) == parsed
    assert replace_level(parsed, None) == parse_gate_rule(rule)


def replace_level(rule: GateRule, level: None) -> GateRule:
    return rule.model_copy(update={"at_least": level})


@pytest.mark.parametrize(
    "text", ["publish:x level:none", "publish:x level:root", "publish:x level"]
)
def test_what_is_no_level_is_part_of_the_command(text: str) -> None:
    rule = parse_gate_rule(text)
    assert (rule.at_least, rule.command) == (None, text.removeprefix("publish:"))


@pytest.mark.parametrize(
    "text",
    [
        "notify:x admit:judge level:presence",
        "notify:x level:presence admit:judge",
        "notify:x level:presence level:software",
        "notify:x admit:judge admit:judge",
    ],
)
def test_a_rule_says_one_of_them_once(text: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse_gate_rule(text)
    assert refusal.value.code == "invalid_value"


@given(st.sampled_from(LEVELS), st.sampled_from(ASKED_FOR))
def test_an_approval_has_the_level_its_rule_asks_for(given: Level, wanted: Level) -> None:
    book = goal(f"publish:git push* level:{wanted}", "publish level:software")
    book.do(ASK)
    if reaches(given, wanted):
        book.do(YES, OWNER, signed_with=at(given))
        assert permission(book.state, PUSH, NOW).allowed
        book.do(USE)
        assert book.state.gate("G1").status == "used"
    else:
        refused(book, YES, Denied, "presence_required", actor=OWNER, signed_with=at(given))
        assert book.state.gate("G1").status == "pending"


def test_a_line_written_by_hand_below_the_level_does_nothing() -> None:
    book = goal("publish level:presence")
    book.do(ASK)
    payload = {"gate_id": "G1", "digest": PUSH.digest}
    event = line(
        book.state, "gate.approved", payload, OWNER, signed=signed_for(book.state, "G1", NOW)
    )
    book.take(event, GOOD)
    assert book.state.gate("G1").status == "pending"
    assert book.state.alerts[-1].code == "presence_required"


@pytest.mark.parametrize("outcome", ["rejected", "deferred"])
def test_saying_no_takes_no_level(outcome: str) -> None:
    book = goal("publish level:presence")
    book.do(ASK)
    until = {"until": NOW.replace(year=2099)} if outcome == "deferred" else {}
    book.do(DecideGate(gate_id="G1", outcome=outcome, **until), OWNER)  # type: ignore[arg-type]
    assert book.state.gate("G1").status == outcome


def test_a_level_asked_for_later_takes_an_earlier_approval_away() -> None:
    book = goal("publish")
    book.do(ASK)
    book.do(YES, OWNER)
    assert permission(book.state, PUSH, NOW).allowed
    stricter = (parse_gate_rule("publish:git push* level:presence"),)
    rules = book.state.the_rules.model_copy(update={"gates": stricter})
    book.do(PatchRules(rules=rules, reason="safer"), OWNER)

    found = permission(book.state, PUSH, NOW)
    assert (found.allowed, found.gate and found.gate.id) == (False, "G1")
    assert "level presence" in found.reason
    refused(book, USE, Denied, "gate_required")
    (found_risk,) = risks(book.state, NOW, NOW, commands=[PUSH.command])
    assert found_risk == ("publish:git push* level:presence", f"publish: {PUSH.command}")
    used = line(book.state, "gate.used", {"gate_id": "G1", "digest": PUSH.digest})
    book.take(used)
    assert book.state.gate("G1").status == "approved"

    book.do(ASK)
    refused(book, ASK, Conflict, "exists")
    book.do(DecideGate(gate_id="G2", outcome="approved"), OWNER, signed_with=at("presence"))
    book.do(USE)
    assert (book.state.gate("G1").status, book.state.gate("G2").status) == ("approved", "used")


def test_a_weaker_key_cannot_take_the_rule_away() -> None:
    book = goal("publish level:confirmed")
    weaker = book.state.the_rules.model_copy(update={"gates": ()})
    patch = PatchRules(rules=weaker, reason="quicker")
    refused(book, patch, Denied, "presence_required", actor=OWNER)
    book.do(patch, OWNER, signed_with=at("presence"))
    assert book.state.the_rules.gates == ()
