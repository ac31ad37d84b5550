"""What is finished leaves the state, and nobody who decides can tell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from loopx_kernel.domain import fold, hot
from loopx_kernel.domain.completion import derive
from loopx_kernel.domain.contract import should_run
from loopx_kernel.domain.gate import DecideGate, RequestGate, UseGate, WithdrawGate
from loopx_kernel.domain.needs_you import Reads
from loopx_kernel.domain.permission import Action, permission
from loopx_kernel.domain.propose import ProposeChange
from loopx_kernel.domain.quota import SpendSlot, VoidSlot, frees_at, is_exhausted, usage
from loopx_kernel.domain.records_of_work import Proposal
from loopx_kernel.domain.replan import RequestReplan, WithdrawReplan
from loopx_kernel.domain.state import GoalState, open_turn
from loopx_kernel.domain.turn import RecoverTurn
from loopx_kernel.domain.turn_state import unclosed_turns
from loopx_kernel.errors import Conflict, LoopxError, UsageError
from loopx_kernel.views.goal import goal_view

from tests.kernel.domain.build import (
    AGENTS,
    CLAUDE,
    CODEX,
    KERNEL,
    NOW,
    OWNER,
    Book,
    add,
    begin,
    claim,
    complete,
    evidence,
    opened,
    reading,
    refused,
    rules,
    settle,
    spend,
)

DAY = timedelta(days=1)
PUSHES = [Action(action="publish", command=f"git push {number}") for number in range(4)]


def finish(book: Book, count: int) -> list[str]:
    """So many todos added, claimed and done."""
    ids = []
    for _ in range(count):
        todo_id = f"T{book.do(add('Work')).next_todo - 1}"
        book.do(claim(todo_id))
        book.do(complete(todo_id, evidence("a.txt")))
        ids.append(todo_id)
    return ids


def test_the_latest_finished_todos_stay_and_the_others_are_counted() -> None:
    book = opened()
    ids = finish(book, hot.KEPT + 5)
    assert list(book.state.todos) == ids[5:]
    assert book.state.left == {"done": 5}
    view = goal_view(book.state, Reads(), reading(NOW))
    assert view.counts["total"] == view.counts["done"] == len(ids)
    assert (view.earlier, len(view.todos)) == (5, hot.KEPT)
    assert derive(book.state, Reads(), (), NOW).failing[0].gate == 2


def test_what_left_is_still_known_and_cannot_be_changed() -> None:
    book = opened()
    first = finish(book, hot.KEPT + 1)[0]
    book.do(add("More", depends_on=(first,), lineage=(first,)))
    assert should_run(book.state, Reads(), reading(NOW), CLAUDE.id, agents=AGENTS).answer == "run"
    refused(book, claim(first), UsageError, "illegal_transition")
    refused(book, claim("T999"), UsageError, "unknown_todo")
    for odd in ("T0", "T01", "T٣", "T-1", " T1", "T1 ", "t1", "T" + "9" * 40):
        refused(book, add("More", depends_on=(odd,)), UsageError, "unknown_todo")


def test_one_that_was_superseded_stays_until_its_successors_end() -> None:
    state = finished(opened(), hot.KEPT + 1)
    book = Book(state)
    old = next(iter(state.todos.values()))
    book.do(add("Instead"))
    new = f"T{book.state.next_todo - 1}"
    gone = old.model_copy(update={"status": "superseded", "superseded_by": new})
    book.state = book.state.with_todo(gone)
    finish(book, hot.KEPT + 1)
    assert old.id in book.state.todos
    book.do(claim(new))
    book.do(complete(new, evidence("a.txt")))
    finish(book, 1)
    assert old.id not in book.state.todos
    assert book.state.left["superseded"] == 1


def finished(book: Book, count: int) -> GoalState:
    finish(book, count)
    return book.state


def tight(allowed: int) -> Book:
    """A goal with so many slots in its day."""
    compute = f"{allowed / 1440:.6f}"
    book = opened(quota=rules().quota.model_copy(update={"compute": compute}))
    assert book.state.the_rules.quota.allowed == allowed
    return book


def test_spends_age_out_and_are_never_booked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot, "BATCH", 1)
    book = tight(3)
    for number in range(1, 8):
        spend(book, f"turn-{number:04}", at=NOW + number * DAY)
    kept = list(book.state.spends)
    assert kept == ["turn-0005", "turn-0006", "turn-0007"]
    aged = book.state.aged
    assert (aged.spends, aged.slots, aged.voids) == (4, 4, 0)
    assert usage(book.state, NOW + 7 * DAY).aged_out == 6
    later = NOW + 8 * DAY
    refused(book, SpendSlot(turn="turn-0002"), Conflict, "turn_closed", at=later)
    refused(book, SpendSlot(turn="turn-0006"), Conflict, "already_spent", at=later)
    void = VoidSlot(turn="turn-0002", reason="no")
    refused(book, void, Conflict, "turn_closed", actor=OWNER, at=later)
    refused(book, VoidSlot(turn="turn-0099", reason="no"), UsageError, "unknown_turn", actor=OWNER)


def test_the_spend_of_an_open_turn_stays_however_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot, "BATCH", 1)
    book = tight(3)
    book.do(add("Convert components"))
    book.do(begin("T1"), CODEX)
    book.do(SpendSlot(turn="turn-0001"), CODEX)
    for number in range(2, 8):
        spend(book, f"turn-{number:04}", at=NOW + number * DAY)
    later = NOW + 8 * DAY
    again = SpendSlot(turn="turn-0001")
    refused(book, again, Conflict, "already_spent", actor=CODEX, at=later)
    book.do(settle("turn-0001", "failed"), CODEX, later)
    voided = {"type": "spend.voided", "effect_ref": "turn-0001"}
    parts = book.lines[-1][0].payload["parts"]
    assert [part for part in parts if part.items() >= voided.items()]


def test_a_line_far_in_the_future_frees_no_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot, "BATCH", 1)
    book = tight(3)
    for number in range(1, 4):
        spend(book, f"turn-{number:04}")
    book.write("todo.added", {"todo_id": "T1", "title": "Forged"}, at=NOW + 900 * DAY)
    spend(book, "turn-0004")
    assert is_exhausted(book.state, NOW)


def test_a_gate_that_was_used_long_ago_is_known_and_decided() -> None:
    book = opened()
    for number in range(hot.KEPT + 2):
        action = Action(action="publish", command=f"git push {number}")
        book.do(RequestGate(action=action))
        book.do(DecideGate(gate_id=f"G{number + 1}", outcome="approved"), OWNER)
        book.do(UseGate(action=action))
    assert len(book.state.gates) == hot.KEPT
    again = DecideGate(gate_id="G1", outcome="approved")
    refused(book, again, Conflict, "already_decided", actor=OWNER)
    beyond = DecideGate(gate_id=f"G{hot.KEPT + 3}", outcome="approved")
    refused(book, beyond, UsageError, "unknown_gate", actor=OWNER)


def test_what_a_line_closes_is_there_after_it_however_long_it_was_open() -> None:
    book = opened()
    book.do(add("Work"))
    book.do(add("Other work"))
    book.do(RequestReplan(reason="x"), OWNER)
    away = Proposal(kind="cancel", todo_ids=("T1",), reason="x")
    book.do(ProposeChange(proposal=away))
    book.do(begin("T2"))
    for number in range(hot.KEPT + 1):
        book.do(RequestGate(action=PUSHES[0]), CODEX)
        book.do(WithdrawGate(gate_id=f"G{number + 2}"), CODEX)
        book.do(RequestReplan(reason="y"), OWNER)
        book.do(WithdrawReplan(obligation_id=f"O{number + 2}"), OWNER)
        book.do(add("Short work"))
        book.do(begin(f"T{book.state.next_todo - 1}"), CODEX)
        book.do(settle(f"turn-{number + 2:04}", "blocked"), CODEX)
    book.do(DecideGate(gate_id="G1", outcome="approved"), OWNER)
    assert book.state.gate("G1").status == "approved"
    book.do(WithdrawReplan(obligation_id="O1"), OWNER)
    assert book.state.obligations["O1"].status == "withdrawn"
    book.do(settle("turn-0001", "failed"))
    assert book.state.turns["turn-0001"].status == "settled"


@pytest.mark.parametrize("name", ["turn-00001", "turn-0000", "turn-1", "turn-0001 ", "Turn-0001"])
def test_a_turn_has_one_name(name: str) -> None:
    refused(opened(), SpendSlot(turn=name), UsageError, "unknown_turn")


@contextmanager
def keeping_everything() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fold, "let_go", lambda before, after, at: after)
        yield


class Twins(RuleBasedStateMachine):
    """Two readers of one journal, one of whom lets nothing go."""

    @initialize()
    def open(self) -> None:
        self.book, self.now, self.whole = tight(4), NOW, opened().state
        with keeping_everything():
            self.whole = self.book.replay()

    def attempt(self, command: Any, actor: Any = CLAUDE) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(hot, "KEPT", 2)
            patch.setattr(hot, "BATCH", 2)
            try:
                self.book.do(command, actor, self.now)
            except LoopxError:
                return
        with keeping_everything():
            self.whole = fold.evolve(self.whole, *self.book.lines[-1])

    @rule(hours=st.sampled_from([1, 5, 23, 30]))
    def wait(self, hours: int) -> None:
        self.now += timedelta(hours=hours)

    @rule(needs=st.sets(st.integers(1, 12), max_size=2), role=st.sampled_from(["agent", "human"]))
    def add(self, needs: set[int], role: str) -> None:
        ids = tuple(f"T{number}" for number in sorted(needs))
        self.attempt(add("Work", role=role, depends_on=ids))

    @rule(number=st.integers(1, 12))
    def finish(self, number: int) -> None:
        self.attempt(claim(f"T{number}"))
        self.attempt(complete(f"T{number}", evidence("a.txt")))

    @rule(number=st.integers(1, 12))
    def begin(self, number: int) -> None:
        self.attempt(begin(f"T{number}"))

    @rule(outcome=st.sampled_from(["done", "progress", "failed"]), slots=st.integers(0, 3))
    def settle(self, outcome: str, slots: int) -> None:
        turn = open_turn(self.book.state, CLAUDE.id)
        if turn is not None:
            files = (evidence("a.txt"),)
            self.attempt(settle(turn.id, outcome, evidence=files, slots=slots))

    @rule(number=st.integers(1, 30), slots=st.integers(1, 3))
    def spend(self, number: int, slots: int) -> None:
        turn = open_turn(self.book.state, CLAUDE.id)
        self.attempt(SpendSlot(turn=turn.id if turn else f"turn-{number:04}", slots=slots))

    @rule()
    def recover(self) -> None:
        for turn in unclosed_turns(self.book.state, reading(self.now)):
            self.attempt(RecoverTurn(turn_id=turn.id), KERNEL)

    @rule(number=st.integers(1, 30))
    def void(self, number: int) -> None:
        self.attempt(VoidSlot(turn=f"turn-{number:04}", reason="no"), OWNER)

    @rule(action=st.sampled_from(PUSHES), admitted=st.booleans())
    def gate(self, action: Action, admitted: bool) -> None:
        self.attempt(RequestGate(action=action, blocks=("T1",)))
        self.attempt(RequestGate(action=action))
        self.attempt(UseGate(action=action, admitted=admitted))

    @rule(back=st.integers(1, 6), outcome=st.sampled_from(["approved", "approved", "rejected"]))
    def decide(self, back: int, outcome: Any) -> None:
        gate_id = f"G{max(1, self.book.state.next_gate - back)}"
        self.attempt(DecideGate(gate_id=gate_id, outcome=outcome), OWNER)

    @rule(back=st.integers(1, 6))
    def withdraw(self, back: int) -> None:
        self.attempt(WithdrawGate(gate_id=f"G{max(1, self.book.state.next_gate - back)}"))

    @invariant()
    def they_answer_alike(self) -> None:
        little, whole = self.book.state, self.whole
        for action in PUSHES:
            allowed = [permission(state, action, self.now).allowed for state in (little, whole)]
            assert allowed[0] is allowed[1]
        for agent in (None, *AGENTS):
            answers = [
                should_run(state, Reads(), reading(self.now), agent, agents=AGENTS)
                for state in (little, whole)
            ]
            assert answers[0].quota == answers[1].quota
            assert answers[0] == answers[1]
        assert is_exhausted(little, self.now) == is_exhausted(whole, self.now)
        assert frees_at(little, self.now) == frees_at(whole, self.now)
        assert derive(little, Reads(), (), self.now) == derive(whole, Reads(), (), self.now)
        views = [goal_view(state, Reads(), reading(self.now)) for state in (little, whole)]
        assert views[0].counts == views[1].counts
        assert views[0].burn == views[1].burn

    @invariant()
    def little_is_kept(self) -> None:
        assert sum(todo.finished for todo in self.book.state.todos.values()) <= 2
        assert sum(turn.status != "open" for turn in self.book.state.turns.values()) <= 2
        spent = ("used", "withdrawn", "mooted")
        assert sum(gate.status in spent for gate in self.book.state.gates.values()) <= 2
        assert self.book.state.aged.spends + len(self.book.state.spends) == len(self.whole.spends)


Twins.TestCase.settings = settings(max_examples=60, stateful_step_count=60, deadline=None)
TestTwins = Twins.TestCase
