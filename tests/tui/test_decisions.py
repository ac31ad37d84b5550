"""From a key to a signed append, as values: the steps, the guard of keys, the differences."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.errors import Conflict, Denied, LoopxError, Storage, UsageError

from loopx_tui.cases import gates
from loopx_tui.cases.case import differences
from loopx_tui.cases.table import CASES
from loopx_tui.cases.times import parse_until
from loopx_tui.decisions import TRIES, Course, Phase, Step
from loopx_tui.desk import Desk, explain, usable_keys, verify_command
from loopx_tui.key_guard import BURST_SECONDS, QUIET_SECONDS, KeyGuard
from loopx_tui.presentation.look_alikes import look_alikes
from tests.tui import fixtures

PHASES: tuple[Phase, ...] = get_args(Phase)
STEP_NAMES: tuple[Step, ...] = get_args(Step)

LEGAL = {
    ("looking", "arm"): "armed",
    ("looking", "settle"): "settled",
    ("armed", "disturb"): "looking",
    ("armed", "choose"): "fixing",
    ("armed", "ask"): "asking",
    ("armed", "settle"): "settled",
    ("asking", "answer"): "fixing",
    ("asking", "cancel"): "looking",
    ("asking", "settle"): "settled",
    ("fixing", "fix"): "fixed",
    ("fixing", "fix_irreversible"): "naming",
    ("fixing", "fail"): "failed",
    ("fixing", "cancel"): "looking",
    ("fixing", "settle"): "settled",
    ("naming", "name"): "fixed",
    ("naming", "cancel"): "looking",
    ("naming", "settle"): "settled",
    ("fixed", "unlock"): "unlocking",
    ("fixed", "cancel"): "looking",
    ("fixed", "settle"): "settled",
    ("unlocking", "retry"): "fixed",
    ("unlocking", "append"): "appending",
    ("unlocking", "fail"): "failed",
    ("unlocking", "cancel"): "looking",
    ("unlocking", "settle"): "settled",
    ("appending", "record"): "recorded",
    ("appending", "fail"): "failed",
    ("failed", "arm"): "armed",
    ("failed", "settle"): "settled",
}


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("step", STEP_NAMES)
def test_only_legal_steps_lead_anywhere(phase: Phase, step: Step) -> None:
    course = Course(phase, tries=1, note="before")
    after = course.step(step, note="after")
    wanted = LEGAL.get((phase, step))
    assert course.can(step) == (wanted is not None)
    assert (after.phase, after.note) == ((wanted, "after") if wanted else (phase, "before"))


@given(st.lists(st.sampled_from(STEP_NAMES), max_size=60))
def test_nothing_is_appended_without_the_whole_road(steps: list[Step]) -> None:
    course, taken = Course(), []
    for step in steps:
        after = course.step(step)
        if after is not course:
            taken.append(step)
        course = after
        if course.phase == "appending":
            begun = max(i for i, one in enumerate(taken) if one in ("choose", "ask"))
            road = taken[begun:]
            assert taken[begun - 1] == "arm"
            assert {"fix", "fix_irreversible"} & set(road)
            assert road[-2:] == ["unlock", "append"]
            assert "cancel" not in road and ("ask" not in road or "answer" in road)
            assert "fix_irreversible" not in road or "name" in road


@given(st.lists(st.sampled_from(STEP_NAMES), max_size=60))
def test_what_is_over_stays_over_and_what_is_written_cannot_be_called_back(
    steps: list[Step],
) -> None:
    course = Course()
    for step in steps:
        after = course.step(step)
        if course.over:
            assert after is course
        if course.writing:
            assert after.phase in ("appending", "recorded", "failed")
        course = after


def test_three_wrong_passphrases_end_it() -> None:
    course = Course("fixed")
    for left in range(TRIES - 1, 0, -1):
        course = course.step("unlock").wrong_passphrase("Wrong passphrase")
        assert (course.phase, course.note) == ("fixed", f"Wrong passphrase; {left} tries left")
    course = course.step("unlock").wrong_passphrase("Wrong passphrase")
    assert course.phase == "looking" and "nothing was written" in course.note
    again = course.step("arm").step("choose").step("fix").step("unlock")
    assert again.wrong_passphrase("Wrong").phase == "fixed"


def test_wrong_passphrase_after_cancelling_changes_nothing() -> None:
    course = Course("unlocking").step("cancel")
    assert course.wrong_passphrase("Wrong") is course


class Clock:
    def __init__(self) -> None:
        self.seconds = 10.0

    def __call__(self) -> float:
        return self.seconds


def painted_guard() -> tuple[KeyGuard, Clock]:
    clock = Clock()
    guard = KeyGuard(clock)
    guard.painted()
    return guard, clock


def test_no_key_counts_before_the_paint_nor_in_the_quiet_time() -> None:
    clock = Clock()
    guard = KeyGuard(clock)
    assert guard.quiet and guard.press(1e9) is None
    guard, clock = painted_guard()
    assert guard.press(10.0 + QUIET_SECONDS - 0.01) is None
    assert guard.press(10.0 + QUIET_SECONDS + 0.1) is not None


def test_late_handling_makes_no_early_press_count() -> None:
    guard, clock = painted_guard()
    clock.seconds += 5
    assert guard.press(10.1) is None


@pytest.mark.parametrize("end", ["press", "slower press", "cover", "paint", "paste"])
def test_held_key_is_void_after_anything_else(end: str) -> None:
    guard, clock = painted_guard()
    clock.seconds = 11.0
    ticket = guard.press(11.0)
    assert ticket is not None and guard.alone(ticket)
    if end == "press":
        guard.press(11.0 + BURST_SECONDS / 2)
    elif end == "slower press":
        guard.press(11.0 + BURST_SECONDS * 1.5)
    elif end == "cover":
        guard.cover()
    elif end == "paint":
        guard.painted()
    else:
        guard.pasted(11.0)
    assert not guard.alone(ticket)


def test_paste_begins_the_quiet_time_anew() -> None:
    guard, _ = painted_guard()
    guard.press(20.0)
    assert guard.press(20.01) is None
    assert guard.press(20.2) is None
    assert guard.press(20.01 + QUIET_SECONDS + 0.2) is not None


@given(st.lists(st.floats(0.0, 0.0299), min_size=1, max_size=40))
def test_no_key_of_a_burst_is_left_alone(gaps: list[float]) -> None:
    guard, clock = painted_guard()
    at = clock.seconds = 20.0
    tickets = [guard.press(at)]
    for gap in gaps:
        at += gap
        tickets.append(guard.press(at))
    assert tickets[1:] == [None] * len(gaps)
    assert tickets[0] is None or not guard.alone(tickets[0])


def test_differences_name_what_a_decision_is_about_and_nothing_else() -> None:
    gate = fixtures.gate(4, "Publish?")
    shown = gates.meaning(gate)
    assert differences(shown, gates.meaning(gate.model_copy(update={"seq": 99}))) == ()
    changed = gate.model_copy(update={"command": "npm publish x", "paths": ("a", "b")})
    assert list(differences(shown, gates.meaning(changed))) == [
        ("command", "npm publish @mall/theme", "npm publish x"),
        ("paths", "", "a, b"),
    ]


def key(**more: Any) -> Any:
    values = {"path": Path("k"), "owner": "huang", "problem": None, "usable": True}
    values["fingerprint"] = "SHA256:one"
    return SimpleNamespace(**{**values, **more})


def test_usable_keys_are_those_that_can_sign_else_the_reason_is_given() -> None:
    good = key()
    assert usable_keys([key(usable=False, problem="no"), good]) == ((good,), "")
    assert usable_keys([key(usable=False, problem="It is broken")]) == ((), "It is broken")
    assert "loopx connect" in usable_keys([])[1]
    assert "not enrolled here" in usable_keys([key(owner=None)])[1]
    assert usable_keys([good], "codex")[0] == ()
    assert "codex" in usable_keys([good], "codex")[1]


class FakeLedger:
    """A ledger of values: its gate can be changed between two looks."""

    def __init__(self, *gates: Any, usable: bool = True) -> None:
        self.looks = list(gates)
        self.read_only = False
        self.root = Path("/somewhere else")
        self.clock = SimpleNamespace(read=lambda: SimpleNamespace(now=fixtures.NOW))
        self.gates = SimpleNamespace(decide=self.decide)
        self.keys = SimpleNamespace(choices=lambda: (key(usable=usable, problem="Not yours"),))
        self.decided: list[Any] = []

    def view(self, goal_id: str) -> Any:
        gate = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        rows = [SimpleNamespace(gate=gate, status=gate.status)]
        return SimpleNamespace(gates=rows, envelope=None)

    def packet(self, goal_id: str, ref: str) -> Any:
        raise UsageError("unknown_gate", f"There is no packet on {ref}")

    def decide(self, goal_id: str, owner: str, command: Any) -> Any:
        self.decided.append(command)
        gate = self.looks[0]
        statement = {
            "object": {"id": gate.id, "version": gate.seq},
            "payload": {"digest": gate.digest},
        }
        return SimpleNamespace(statement=statement)


CASE = CASES["gate"]
APPROVE, REJECT, DEFER = CASE.ways


def desk_of(ledger: Any, gate_id: str = "G4") -> Desk:
    return Desk(lambda: ledger, CASE, "dark-mode", gate_id)


def shown_as(gate: Any) -> Any:
    return gates.matter_of("dark-mode", gate, gate.status)


def test_fix_makes_the_statement_of_what_was_shown() -> None:
    gate = fixtures.gate(4, "Publish?")
    ledger = FakeLedger(gate)
    values = {"reason": "later", "until": "3h"}
    unsigned, chosen = desk_of(ledger).fix(shown_as(gate), DEFER, values)
    assert unsigned.statement["object"]["id"] == "G4" and chosen.owner == "huang"
    command = ledger.decided[0]
    assert (command.outcome, command.reason) == ("deferred", "later")
    assert command.until == fixtures.NOW + timedelta(hours=3)


@pytest.mark.parametrize(
    "changed", [{"command": "npm publish prod"}, {"seq": 99}, {"digest": "b" * 64}]
)
def test_fix_refuses_what_is_not_as_it_was_shown(changed: dict[str, Any]) -> None:
    gate = fixtures.gate(4, "Publish?")
    ledger = FakeLedger(gate.model_copy(update=changed))
    with pytest.raises(Conflict) as caught:
        desk_of(ledger).fix(shown_as(gate), APPROVE, {})
    assert caught.value.code == "stale_decision"


def test_fix_without_a_key_and_look_without_a_gate_are_typed_errors() -> None:
    gate = fixtures.gate(4, "Publish?")
    with pytest.raises(Denied) as denied:
        desk_of(FakeLedger(gate, usable=False)).fix(shown_as(gate), APPROVE, {})
    assert denied.value.code == "no_key"
    with pytest.raises(UsageError) as unknown:
        desk_of(FakeLedger(gate), "G5").look()
    assert unknown.value.code == "unknown_gate"


def test_fix_signs_with_the_key_that_was_shown_or_not_at_all() -> None:
    gate = fixtures.gate(4, "Publish?")
    ledger = FakeLedger(gate)
    two = (key(), key(fingerprint="SHA256:two"))
    ledger.keys.choices = lambda: two
    desk, shown = desk_of(ledger), shown_as(gate)
    assert desk.fix(shown, APPROVE, {}, wanted=two[1])[1] is two[1]
    look = desk.look()
    assert look.key is two[0] and look.keys == two
    assert look.with_next_key().key is two[1]
    assert look.with_next_key().with_next_key().key is two[0]
    ledger.keys.choices = lambda: two[:1]
    with pytest.raises(Denied, match="cannot sign any more"):
        desk.fix(shown, APPROVE, {}, wanted=two[1])


@pytest.mark.parametrize(
    ("raised", "fate"),
    [
        (None, "recorded"),
        (Storage("durability_unknown", "Flushing failed"), "unknown"),
        (Conflict("already_decided", "Too late"), "not recorded"),
        (RuntimeError("a defect"), "unknown"),
    ],
)
def test_desk_knows_what_became_of_an_append(raised: Exception | None, fate: str) -> None:
    ledger = FakeLedger(fixtures.gate(4, "?"))
    desk = desk_of(ledger)
    seen = []

    def append(unsigned: Any, key: Any) -> str:
        seen.append(desk.fate)
        if raised is not None:
            raise raised
        return "done"

    ledger.append = append
    assert desk.fate == "not recorded"
    with suppress(LoopxError, RuntimeError):
        desk.append(None, None)
    assert (seen, desk.fate) == (["unknown"], fate)


def test_verify_command_quotes_what_comes_from_outside() -> None:
    unsigned = SimpleNamespace(owner="hu ang", goal_id="dark mode")
    text = verify_command(unsigned, "e; rm -rf x")  # type: ignore[arg-type]
    assert "--goal 'dark mode'" in text
    assert "'e; rm -rf x'" in text and "-I 'hu ang'" in text


def test_until_takes_durations_and_times() -> None:
    now = datetime(2026, 9, 16, 22, tzinfo=UTC)
    assert parse_until(" 10m ", now) == now + timedelta(minutes=10)
    assert parse_until("2026-09-17T09:00:00+02:00", now) == datetime(2026, 9, 17, 7, tzinfo=UTC)
    for wrong in ("soon", "", "2026-09-17 09:00"):
        with pytest.raises(UsageError):
            parse_until(wrong, now)


def test_errors_become_sentences_with_the_next_command() -> None:
    known = Denied("no_key", "There is no key", next="loopx doctor")
    assert explain(known) == "There is no key (next: loopx doctor)"
    unknown = explain(RuntimeError("secret\x1b[2J"))
    assert "RuntimeError" in unknown and "secret" not in unknown


def test_look_alike_letters_are_named_only_in_mixed_words() -> None:
    assert look_alikes("deploy prоd now") == ["prо⟨U+043E⟩d"]
    assert look_alikes("发布 привет production é naïve 10µs") == []
