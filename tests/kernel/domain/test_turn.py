"""Turns: begun once, progress only by all three, closed once, never a success without a receipt."""

from __future__ import annotations

from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest
from loopx_kernel.domain.aside import SetAside
from loopx_kernel.domain.brief import brief_for
from loopx_kernel.domain.event import Actor
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.handin import UpdateTodo
from loopx_kernel.domain.handoff import WriteHandoff
from loopx_kernel.domain.hot import KEPT
from loopx_kernel.domain.lease import ReleaseLease, RenewLease
from loopx_kernel.domain.quota import SpendSlot, VoidSlot, is_exhausted, usage
from loopx_kernel.domain.records import EvidenceRef
from loopx_kernel.domain.records_of_work import Turn
from loopx_kernel.domain.rules import QuotaRule, parse_acceptance
from loopx_kernel.domain.turn import RecoverTurn
from loopx_kernel.domain.turn_state import missing, unclosed_turns
from loopx_kernel.domain.verification import contradicts
from loopx_kernel.errors import Conflict, Denied, Fenced, UsageError

from tests.kernel.domain.build import (
    CLAUDE,
    CODEX,
    HASH,
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
    settle,
)

MINUTE = timedelta(minutes=1)
LATE = NOW + 16 * MINUTE
ID = "turn-0001"
FILE = (evidence("a.txt"),)
GREEN, RED = (evidence("a.xml", "passed"),), (evidence("a.xml", "failed"),)


def begun(**values: Any) -> Book:
    """T1 in turn-0001 of claude-code, T2 beside it."""
    book = opened(**values)
    book.do(add("Convert", "src/**", acceptance=tuple(one.id for one in acceptance(values))))
    book.do(add("Test", "tests/**"))
    book.do(begin("T1", "c-77"))
    return book


def acceptance(values: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(values.get("acceptance", ()))


def turn(book: Book, ref: str = ID) -> Turn:
    return book.state.turns[ref]


def result(outcome: str, item: str = "tests", **more: Any) -> dict[str, Any]:
    """What running an acceptance item gave."""
    found = {"item_id": item, "result": outcome, "repo_state": HASH, "digest": HASH}
    return found | more


class TestBeginning:
    def test_it_takes_the_lease_and_holds_a_slot(self) -> None:
        book = begun()
        todo = book.todo("T1")
        assert (todo.status, todo.version, todo.lease_epoch) == ("claimed", 1, 1)
        assert (turn(book).contract_id, turn(book).lease_epoch) == ("c-77", 1)
        found = usage(book.state, NOW)
        assert (found.reserved, found.used, found.attempts) == (1, 0, 1)
        assert found.remaining == found.allowed - 1

    def test_an_own_lease_is_kept(self) -> None:
        book = opened()
        book.do(add("Convert"))
        book.do(claim("T1"))
        held = book.todo("T1").lease
        book.do(begin("T1"))
        assert book.todo("T1").lease == held
        assert "parts" not in book.lines[-1][0].payload or not book.lines[-1][0].payload["parts"]

    def test_an_agent_has_one_open_turn(self) -> None:
        book = begun()
        refused(book, begin("T2"), Conflict, "turn_open")
        book.do(begin("T2"), CODEX)
        assert [one.agent_id for one in book.state.turns.values()] == [CLAUDE.id, CODEX.id]

    def test_not_while_the_goal_is_paused(self) -> None:
        book = begun()
        book.do(ChangeGoalStatus(to="paused", reason="x"), OWNER)
        refused(book, begin("T2"), Denied, "goal_paused", actor=CODEX)
        book.do(settle(ID, evidence=FILE, handoff="next"))
        assert turn(book).progress

    def test_the_last_slot_is_for_one(self) -> None:
        book = opened(quota=QuotaRule(compute="0.1", window_hours=1, slot_minutes=6))
        book.do(add("Convert"))
        book.do(add("Test"))
        book.do(begin("T1"))
        assert is_exhausted(book.state, NOW)
        refused(book, begin("T2"), Denied, "quota_exhausted", actor=CODEX)
        refused(book, claim("T2"), Denied, "quota_exhausted", actor=CODEX)
        book.do(settle(ID, "failed"))
        book.do(begin("T2"), CODEX)

    def test_a_todo_of_another_is_not_begun(self) -> None:
        refused(begun(), begin("T1"), Conflict, "lease_held", actor=CODEX)


class TestSettling:
    @pytest.mark.parametrize(
        ("asked", "files", "tests", "outcome", "status"),
        [
            ("done", FILE, None, "done", "done"),
            ("done", GREEN, "passed", "done", "done"),
            ("done", RED, "passed", "failed", "open"),
            ("done", RED, None, "failed", "open"),
            ("done", GREEN, "failed", "failed", "open"),
            ("done", FILE, "failed", "failed", "open"),
            ("progress", FILE, None, "progress", "open"),
            ("progress", RED, "failed", "progress", "open"),
            ("progress", RED, "passed", "failed", "open"),
            ("blocked", (), None, "blocked", "blocked"),
            ("blocked", RED, "passed", "blocked", "blocked"),
            ("failed", (), None, "failed", "open"),
            ("failed", GREEN, "passed", "failed", "open"),
        ],
    )
    def test_what_becomes_of_the_turn_and_its_todo(
        self, asked: str, files: tuple[EvidenceRef, ...], tests: Any, outcome: str, status: str
    ) -> None:
        book = begun()
        proven = files == GREEN and tests == "passed"
        book.do(settle(ID, asked, evidence=files, tests=tests, proven=proven, handoff="next"))
        closed, todo = turn(book), book.todo("T1")
        assert (closed.status, closed.outcome, todo.status) == ("settled", outcome, status)
        assert todo.lease is not None and todo.lease.status == "ended"
        assert todo.evidence == files
        assert closed.progress is (outcome in ("done", "progress"))
        assert closed.slots_booked == (0 if outcome == "failed" else 1)
        assert (ID in book.state.spends) is (outcome != "failed")
        assert bool(closed.reason) is (outcome == "failed" and asked != "failed")
        assert book.state.handoff is not None and book.state.handoff.text == "next"

    @pytest.mark.parametrize("outcome", ["done", "progress"])
    @pytest.mark.parametrize(
        ("given", "lacks"),
        [
            ({"evidence": (), "handoff": "next"}, "verified"),
            ({"evidence": FILE}, "state_written"),
            ({"evidence": FILE, "handoff": "next", "slots": 0}, "slots_booked"),
        ],
    )
    def test_scenario_27_two_of_three_are_no_progress(
        self, outcome: str, given: dict[str, Any], lacks: str
    ) -> None:
        book = begun()
        if (outcome, lacks) == ("done", "verified"):
            refused(book, settle(ID, outcome, **given), Denied, "missing_evidence")
            return
        book.do(settle(ID, outcome, **given))
        assert missing(turn(book)) == (lacks,)
        assert not turn(book).progress

    def test_a_failed_receipt_takes_back_what_was_booked(self) -> None:
        book = begun()
        book.do(SpendSlot(turn=ID, slots=3))
        book.do(settle(ID, evidence=RED, tests="passed", handoff="next"))
        assert book.state.spends[ID].voided_at is not None
        found = usage(book.state, NOW)
        assert (found.used, found.voids, found.attempts, found.reserved) == (0, 1, 1, 0)

    def test_failed_turns_are_attempts(self) -> None:
        book = begun()
        book.do(settle(ID, "failed"))
        book.do(begin("T1"))
        book.do(settle("turn-0002", evidence=FILE))
        assert (usage(book.state, NOW).attempts, usage(book.state, NOW).spends) == (2, 1)

    def test_a_closed_turn_is_closed(self) -> None:
        book = begun()
        book.do(settle(ID, evidence=FILE))
        for command in (
            settle(ID, evidence=FILE),
            WriteHandoff(text="next", turn=ID),
            RecoverTurn(turn_id=ID),
        ):
            refused(book, command, Conflict, "turn_closed")

    def test_whose_turn_it_is(self) -> None:
        book = begun()
        refused(book, settle(ID, "failed"), Fenced, "not_holder", actor=CODEX)
        refused(book, SpendSlot(turn=ID), Fenced, "not_holder", actor=CODEX)
        refused(book, settle("turn-0009", "failed"), UsageError, "unknown_turn")

    def test_acceptance_items_of_the_todo_pass_now_or_it_failed(self) -> None:
        items = (parse_acceptance("tests=cmd:pytest", 1),)
        for outcome in ("failed", "inconclusive", "passed"):
            book = begun(acceptance=items)
            book.do(settle(ID, results=(result(outcome),), handoff="next"))
            passed = outcome == "passed"
            assert turn(book).outcome == ("done" if passed else "failed")
            assert turn(book).progress is passed and not turn(book).unproven
            assert book.state.results["tests"].result == outcome
        book = begun(acceptance=items)
        book.do(settle(ID, evidence=FILE))
        assert "tests did not pass" in turn(book).reason
        foreign = settle(ID, "progress", results=(result("passed"), result("passed")))
        refused(begun(acceptance=items), foreign, UsageError, "invalid_event")

    def test_items_of_another_todo_prove_nothing(self) -> None:
        book = opened(acceptance=(parse_acceptance("tests=cmd:pytest", 1),))
        book.do(add("Convert"))
        book.do(begin("T1"))
        foreign = settle(ID, "progress", results=(result("passed"),), handoff="next")
        refused(book, foreign, UsageError, "invalid_event")
        half = UpdateTodo(todo_id="T1", turn_id=ID, results=(result("passed"),))
        refused(book, half, Denied, "not_verified")

    def test_prose_alone_is_unproven(self) -> None:
        book = begun()
        book.do(settle(ID, evidence=FILE))
        assert turn(book).verified and turn(book).unproven
        book.do(begin("T2"))
        book.do(settle("turn-0002", evidence=GREEN, tests="passed", proven=True))
        assert turn(book, "turn-0002").verified and not turn(book, "turn-0002").unproven

    def test_a_required_statement_is_required(self) -> None:
        book = opened()
        book.do(add("Convert", requires_statement=True))
        book.do(begin("T1"))
        book.do(settle(ID, evidence=FILE))
        assert (turn(book).outcome, book.todo("T1").status) == ("failed", "open")

    def test_work_that_was_given_up_is_no_success(self) -> None:
        book = begun()
        book.do(ReleaseLease(todo_id="T1", version=1, epoch=1))
        refused(book, settle(ID, evidence=FILE), Conflict, "lease_required")
        book.do(settle(ID, "failed", note="gave it up"))
        assert book.todo("T1").status == "open"

    def test_after_somebody_took_over_nothing_is_handed_in(self) -> None:
        book = begun()
        book.do(claim("T1"), CODEX, LATE)
        refused(book, settle(ID, evidence=FILE), Fenced, "stale_epoch", at=LATE)
        assert book.todo("T1").lease_epoch == 2

    def test_a_late_receipt_counts_while_nobody_took_over(self) -> None:
        book = begun()
        book.do(settle(ID, evidence=FILE, handoff="next"), at=LATE)
        assert turn(book).progress

    def test_risk_and_doubt_come_before_success(self) -> None:
        book = begun()
        book.do(settle(ID, evidence=FILE, high_risk=(("write@infra/**", "infra/a.tf"),)))
        assert (turn(book).outcome, book.todo("T1").status) == ("failed", "open")
        assert [one.cause for one in book.state.escalations.values()] == ["high_risk"]

    def test_three_turns_without_progress_are_put_before_a_person(self) -> None:
        book = begun()
        for number in range(1, 4):
            assert not book.state.escalations
            book.do(settle(f"turn-{number:04}", "progress", slots=0))
            if number < 3:
                book.do(begin("T1"))
        raised = book.state.escalations["E1"]
        assert (raised.cause, raised.todo_id, raised.turn_id) == (
            *("no_progress", "T1", "turn-0003"),
        )


class TestOneByOne:
    """The same three, each in a line of its own."""

    PARTS = {
        "verified": UpdateTodo(todo_id="T1", complete=True, evidence=FILE, turn_id=ID),
        "state_written": WriteHandoff(text="next", turn=ID),
        "slots_booked": SpendSlot(turn=ID),
    }

    @pytest.mark.parametrize("order", permutations(PARTS))
    def test_in_any_order_the_third_closes(self, order: tuple[str, ...]) -> None:
        book = begun()
        for number, part in enumerate(order, 1):
            assert turn(book).status == "open"
            book.do(self.PARTS[part])
            assert set(missing(turn(book))) == set(order[number:])
            assert turn(book).progress is (number == 3)
        assert (turn(book).status, turn(book).outcome) == ("settled", "done")
        assert book.todo("T1").status == "done"

    @pytest.mark.parametrize("order", permutations(PARTS))
    def test_progress_gives_the_todo_back(self, order: tuple[str, ...]) -> None:
        book = begun()
        half = UpdateTodo(todo_id="T1", evidence=FILE, turn_id=ID)
        for part in order:
            assert book.todo("T1").status == "claimed"
            book.do(half if part == "verified" else self.PARTS[part])
        assert (turn(book).outcome, turn(book).progress) == ("progress", True)
        assert book.todo("T1").status == "open"
        assert book.todo("T1").effort.turns == 1

    def test_a_result_that_is_not_verified_is_refused(self) -> None:
        book = begun()
        bare = UpdateTodo(todo_id="T1", complete=True, turn_id=ID)
        refused(book, bare, Denied, "missing_evidence")
        items = (parse_acceptance("tests=cmd:pytest", 1),)
        book = begun(acceptance=items)
        done = UpdateTodo(
            todo_id="T1", complete=True, evidence=FILE, turn_id=ID, results=(result("failed"),)
        )
        refused(book, done, Denied, "not_verified")

    def test_a_turn_is_on_one_todo(self) -> None:
        book = begun()
        book.do(claim("T2"))
        other = UpdateTodo(todo_id="T2", evidence=FILE, turn_id=ID)
        refused(book, other, UsageError, "illegal_transition")

    def test_a_receipt_finishes_what_was_handed_in_by_parts(self) -> None:
        book = begun()
        book.do(self.PARTS["verified"])
        refused(book, settle(ID, "failed"), UsageError, "illegal_transition")
        book.do(settle(ID, "done", handoff="next"))
        assert turn(book).progress
        assert book.todo("T1").version == 2

    def test_a_booking_that_a_person_took_back_is_no_progress(self) -> None:
        book = begun()
        book.do(settle(ID, evidence=FILE, handoff="next"))
        book.do(VoidSlot(turn=ID, reason="wrong"), OWNER)
        assert missing(turn(book)) == ("slots_booked",)
        assert usage(book.state, NOW).attempts == 1


class TestRecovering:
    def test_scenario_26_a_turn_without_a_receipt_is_a_failure_once(self) -> None:
        book = begun()
        book.do(SpendSlot(turn=ID))
        book.do(WriteHandoff(text="half of it", turn=ID))
        assert unclosed_turns(book.state, reading(NOW)) == []
        refused(book, RecoverTurn(turn_id=ID), Conflict, "turn_open", actor=KERNEL)
        assert [one.id for one in unclosed_turns(book.state, reading(LATE))] == [ID]
        book.do(RecoverTurn(turn_id=ID), KERNEL, LATE)
        closed = turn(book)
        assert (closed.status, closed.outcome, closed.progress) == ("recovered", "failed", False)
        assert (book.todo("T1").status, book.state.failures) == ("open", (LATE,))
        assert usage(book.state, LATE).used == 0
        refused(book, RecoverTurn(turn_id=ID), Conflict, "turn_closed", actor=KERNEL)
        refused(book, settle(ID, evidence=FILE), Conflict, "turn_closed", at=LATE)

    def test_a_renewal_moves_the_deadline(self) -> None:
        book = begun()
        book.do(RenewLease(todo_id="T1", version=1, epoch=1), at=NOW + 10 * MINUTE)
        assert unclosed_turns(book.state, reading(LATE)) == []
        assert unclosed_turns(book.state, reading(NOW + 25 * MINUTE)) != []

    @pytest.mark.parametrize(
        "give_up",
        [
            ReleaseLease(todo_id="T1", version=1, epoch=1),
            SetAside(todo_id="T1", status="blocked", reason="x"),
            complete("T1", *FILE),
        ],
    )
    def test_a_lease_given_up_outside_the_turn_ends_it(self, give_up: Any) -> None:
        book = begun()
        book.do(give_up)
        before = book.todo("T1")
        assert [one.id for one in unclosed_turns(book.state, reading(NOW))] == [ID]
        book.do(RecoverTurn(turn_id=ID), KERNEL)
        after = book.todo("T1")
        assert (after.status, after.version) == (before.status, before.version)

    def test_a_result_handed_in_leaves_time_for_the_rest(self) -> None:
        book = begun()
        book.do(TestOneByOne.PARTS["verified"])
        assert unclosed_turns(book.state, reading(NOW)) == []
        book.do(RecoverTurn(turn_id=ID), KERNEL, LATE)
        assert (book.todo("T1").status, turn(book).progress) == ("done", False)

    def test_by_the_kernel_alone(self) -> None:
        book = begun()
        for actor in (CLAUDE, OWNER):
            refused(book, RecoverTurn(turn_id=ID), Denied, "not_a_person", actor=actor, at=LATE)


def test_closed_turns_leave_and_their_numbers_go_on() -> None:
    book = opened()
    book.do(add("Convert"))
    for number in range(1, KEPT + 3):
        book.do(begin("T1"), at=NOW + number * 24 * 60 * MINUTE)
        closing = settle(f"turn-{number:04}", "progress", evidence=FILE, handoff="next")
        book.do(closing, at=NOW + number * 24 * 60 * MINUTE)
    assert len(book.state.turns) == KEPT
    assert (min(book.state.turns), book.state.next_turn) == ("turn-0003", KEPT + 3)
    refused(book, SpendSlot(turn="turn-0001"), Conflict, "already_spent")
    refused(book, settle("turn-0001", "failed"), Conflict, "turn_closed")
    assert book.replay() == book.state


@pytest.mark.parametrize(
    ("tests", "results", "expected"),
    [
        ("passed", ("passed",), False),
        ("passed", ("passed", "failed"), True),
        ("passed", (None,), False),
        ("failed", ("passed",), True),
        ("failed", ("passed", "failed"), False),
        ("failed", (None,), False),
        (None, ("failed",), False),
    ],
)
def test_what_contradicts_a_claim(tests: Any, results: tuple[Any, ...], expected: bool) -> None:
    files = [evidence(f"{n}.xml", one) for n, one in enumerate(results)]
    assert contradicts(files, tests) is expected


@pytest.mark.parametrize("actor", [CLAUDE, CODEX])
def test_the_brief_names_the_commands_that_are_next(actor: Actor) -> None:
    book = begun()
    todo = book.todo("T1")
    commands = brief_for(book.state, todo, actor.id).commands
    if actor == CODEX:
        assert commands == ("loopx turn begin --goal dark-mode --agent codex",)
        return
    who = "--goal dark-mode --agent claude-code"
    assert commands[0].startswith(f"loopx turn settle {who} --turn {ID} --outcome done ")
    book.do(TestOneByOne.PARTS["verified"])
    assert brief_for(book.state, book.todo("T1"), actor.id).commands == (
        f"loopx refresh-state {who} --turn {ID} --handoff-file PATH",
        f"loopx quota spend-slot {who} --turn {ID}",
    )
