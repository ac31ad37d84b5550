"""should-run: escalations, turns without receipt, acceptance and replanning, each in its place."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from loopx_kernel.domain.aside import SetAside
from loopx_kernel.domain.needs_you import Difference, Reads
from loopx_kernel.domain.observation import Observe
from loopx_kernel.domain.records import WaitingOn
from loopx_kernel.domain.records_of_work import (
    Effort,
    Escalation,
    ItemResult,
    Obligation,
    Observation,
    Turn,
)
from loopx_kernel.domain.rules import parse_acceptance
from loopx_kernel.errors import UsageError

from tests.kernel.domain.build import (
    CLAUDE,
    CODEX,
    HASH,
    KERNEL,
    NOW,
    Book,
    add,
    claim,
    complete,
    opened,
    refused,
)
from tests.kernel.domain.test_contract import ask, codes

MINUTE = timedelta(minutes=1)
DRIFT = Reads(drift=(Difference("ticked", "T1", 7, "Work"),))
TESTS = parse_acceptance("tests=cmd:npm test", 1)


def two(**values: object) -> Book:
    """Two free todos."""
    book = opened(**values)
    book.do(add("First", "src/a"))
    book.do(add("Second", "src/b"))
    return book


def changed(book: Book, **update: object) -> Book:
    return Book(book.state.model_copy(update=update))


def escalated(book: Book, todo_id: str | None) -> Book:
    one = Escalation(
        id="E1", cause="no_progress", todo_id=todo_id, detail="three turns", at=NOW, seq=3
    )
    return changed(book, escalations={"E1": one})


def with_turn(book: Book, todo_id: str = "T1", epoch: int = 1) -> Book:
    turn = Turn(
        id="turn-0001",
        todo_id=todo_id,
        agent_id=CLAUDE.id,
        contract_id="c-1",
        lease_epoch=epoch,
        opened_at=NOW,
        opened_seq=4,
        seq=4,
    )
    return changed(book, turns={turn.id: turn})


def test_an_escalation_takes_only_its_todo_out_of_the_loop() -> None:
    book = escalated(two(), "T1")
    answer = ask(book)
    assert (answer.answer, answer.todo and answer.todo.id) == ("run", "T2")
    assert [(need.id, need.kind, need.blocks) for need in answer.needs_you] == [
        ("E1", "escalation", ("T1",))
    ]
    refused(book, claim("T1"), UsageError, "illegal_transition")
    book.do(claim("T2"))
    book.do(complete("T2"))
    alone = ask(book)
    assert (alone.answer, codes(alone)) == ("ask", ["escalated"])
    assert alone.question == "no progress: three turns"


@pytest.mark.parametrize("reads", [Reads(), DRIFT])
def test_an_escalation_of_the_goal_stops_all_of_it_even_before_drift(reads: Reads) -> None:
    answer = ask(escalated(two(), None), reads=reads)
    assert (answer.answer, codes(answer)) == ("ask", ["escalated"])


def test_a_turn_whose_lease_ended_is_recovered_before_anything_else() -> None:
    book = two()
    book.do(claim("T1"))
    book = with_turn(book)
    running = ask(book)
    assert (running.answer, codes(running)) == ("run", ["continue_own"])
    late = ask(book, CODEX, NOW + 20 * MINUTE)
    assert (late.answer, codes(late)) == ("repair", ["unclosed_turn"])
    assert late.repair is not None
    assert (late.repair.command, late.repair.by) == (
        "loopx turn recover --goal dark-mode",
        "agent",
    )
    assert codes(ask(book, reads=DRIFT, at=NOW + 20 * MINUTE)) == ["drift"]


def test_a_turn_whose_todo_was_taken_over_is_unclosed() -> None:
    book = two()
    book.do(claim("T1"))
    book.do(claim("T1"), CODEX, NOW + 20 * MINUTE)
    late = ask(with_turn(book), at=NOW + 20 * MINUTE)
    assert (late.answer, codes(late)) == ("repair", ["unclosed_turn"])


def all_done(*results: ItemResult, work: int = 1) -> Book:
    book = opened(acceptance=(TESTS,))
    for number in range(1, work + 1):
        book.do(add("Work"))
        book.do(claim(f"T{number}"))
        book.do(complete(f"T{number}"))
    return changed(book, results={result.item_id: result for result in results})


def ran(result: str, seq: int) -> ItemResult:
    return ItemResult.model_validate(
        {
            "item_id": "tests",
            "result": result,
            "detail": "1 failed",
            "repo_state": HASH,
            "digest": HASH,
            "at": NOW,
            "seq": seq,
        }
    )


def test_all_done_with_acceptance_open_is_a_contradiction_to_repair() -> None:
    answer = ask(all_done())
    assert (answer.answer, codes(answer)) == ("repair", ["contradiction"])
    assert answer.repair is not None
    assert answer.repair.command == "loopx accept run --goal dark-mode"
    assert "tests" in answer.reasons[0].message
    assert answer.brief is None


def unclosed() -> Book:
    book = two()
    book.do(claim("T1"))
    return with_turn(book)


@pytest.mark.parametrize("book", [unclosed, all_done])
def test_what_an_agent_repairs_itself_does_not_wait_for_the_ladder(
    book: Callable[[], Book],
) -> None:
    at = NOW + 20 * MINUTE
    answer = ask(book(), at=at)
    assert answer.repair is not None and answer.repair.by == "agent"
    hint = answer.scheduler_hint
    assert (hint.basis, hint.interval_seconds) == ("work_ready", 60)
    assert hint.next_wake_at == at + MINUTE


def test_a_result_from_before_the_last_work_is_run_again() -> None:
    assert codes(ask(all_done(ran("passed", 2)))) == ["contradiction"]


@pytest.mark.parametrize("result", ["failed", "inconclusive"])
def test_what_running_again_cannot_change_is_put_to_a_person(result: str) -> None:
    answer = ask(all_done(ran(result, 99)))
    assert (answer.answer, codes(answer)) == ("ask", ["contradiction"])
    assert answer.question == f"tests {result}: 1 failed"


def test_passed_after_the_last_work_closes_the_goal() -> None:
    answer = ask(all_done(ran("passed", 99)))
    assert (answer.answer, codes(answer)) == ("quiet", ["closed"])
    assert answer.completion.complete
    assert answer.scheduler_hint.next_wake_at is None


def test_what_keeps_a_finished_list_open_is_named() -> None:
    book = opened(acceptance=(TESTS,))
    book.do(add("Work"))
    wait = WaitingOn(kind="ci", ref="main")
    book.do(SetAside(todo_id="T1", status="waiting", waiting_on=wait))
    told = Observe(kind="ci", ref="main", status="fail", basis="told", by="codex")
    book.do(told, KERNEL)
    for todo_id in book.state.todos:
        book.do(claim(todo_id))
        book.do(complete(todo_id))
    answer = ask(changed(book, results={"tests": ran("passed", 99)}))
    assert (answer.answer, codes(answer)) == ("quiet", ["nothing_to_do"])
    assert "not complete: ci (main); see loopx completion" in answer.reasons[0].message


def test_nothing_begun_contradicts_nothing() -> None:
    answer = ask(opened(acceptance=(TESTS,)))
    assert (answer.answer, codes(answer)) == ("quiet", ["nothing_to_do"])


def replanning(book: Book) -> Book:
    book.do(add("Replan: tests unstable", kind="replan"))
    duty = Obligation(
        id="O1",
        reason="tests unstable",
        todo_ids=("T1",),
        replan_todo="T3",
        by="huang",
        at=NOW,
        seq=4,
    )
    return changed(book, obligations={"O1": duty})


def test_a_replan_comes_first_and_what_it_names_is_not_started() -> None:
    book = replanning(two())
    answer = ask(book)
    assert (answer.todo and answer.todo.id, codes(answer)) == ("T3", ["replan_due"])
    refused(book, claim("T1"), UsageError, "illegal_transition")
    book.do(claim("T3"), CODEX)
    other = ask(book)
    assert (other.todo and other.todo.id, codes(other)) == ("T2", ["work_ready"])


def test_work_without_progress_comes_after_what_was_not_tried() -> None:
    book = two()
    tired = book.state.todo("T1").model_copy(update={"effort": Effort(turns=2, streak=2)})
    book = Book(book.state.with_todo(tired))
    answer = ask(book)
    assert answer.todo is not None
    assert answer.todo.id == "T2"


def waiting(looked: timedelta | None) -> Book:
    book = opened()
    book.do(add("Open the pull request"))
    wait = WaitingOn(kind="ci", ref="#812", every_seconds=600)
    book.do(SetAside(todo_id="T1", status="waiting", waiting_on=wait))
    if looked is None:
        return book
    seen = Observation(
        kind="ci",
        ref="#812",
        status="pending",
        basis="ran",
        by="loopx",
        at=NOW + looked,
        event_id="e-9",
        todo_id="T1",
        seq=9,
    )
    return changed(book, observations={seen.key: seen})


@pytest.mark.parametrize(
    ("looked", "asked", "answer", "wake"),
    [
        (None, 0, "wait", 10),
        (None, 119, "wait", 120),
        (None, 120, "ask", None),
        (100, 120, "wait", 130),
        (100, 219, "wait", 220),
        (100, 220, "ask", None),
    ],
)
def test_a_wait_keeps_its_rhythm_from_the_last_look_and_then_asks(
    looked: int | None, asked: int, answer: str, wake: int | None
) -> None:
    book = waiting(None if looked is None else looked * MINUTE)
    found = ask(book, at=NOW + asked * MINUTE)
    assert (found.answer, codes(found)) == (answer, ["quota_frozen"])
    if wake is not None:
        assert found.scheduler_hint.next_wake_at == NOW + wake * MINUTE
        assert found.scheduler_hint.basis == "fact_rhythm"


def test_a_look_that_bears_a_time_to_come_puts_nothing_off() -> None:
    book = waiting(9_000_000 * MINUTE)
    found = ask(book, at=NOW + 5 * MINUTE)
    assert found.scheduler_hint.next_wake_at == NOW + 15 * MINUTE


def test_what_mends_comes_before_what_is_as_urgent_and_older() -> None:
    book = opened()
    book.do(add("Old", priority="P0"))
    book.do(add("Mend", priority="P0", kind="fix"))
    found = ask(book)
    assert found.todo is not None
    assert found.todo.id == "T2"


def test_an_open_turn_is_gone_on_with_before_another_lease() -> None:
    book = two()
    book.do(claim("T1"))
    book.do(claim("T2"))
    found = ask(with_turn(book, "T2"))
    assert (found.todo and found.todo.id, codes(found)) == ("T2", ["continue_own"])
