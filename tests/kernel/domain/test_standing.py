"""Acceptance and the files it saw: what is other than it was is unchecked, whoever changed it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from loopx_kernel.domain.acceptance import AcceptByHand, RecordRun
from loopx_kernel.domain.completion import derive
from loopx_kernel.domain.contract import Contract, should_run
from loopx_kernel.domain.gate import DecideGate, RequestGate
from loopx_kernel.domain.needs_you import NeedsYou, Reads, needs_you
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.rules import AcceptanceItem, parse_acceptance
from loopx_kernel.domain.standing import (
    RepoSeen,
    gaps,
    hinges_on_files,
    is_accepted,
    standing,
    to_run,
    worked_seq,
)

from tests.kernel.domain.build import (
    AGENTS,
    CLAUDE,
    KERNEL,
    NOW,
    OWNER,
    Book,
    add,
    claim,
    complete,
    opened,
    reading,
)

TESTS = parse_acceptance("tests=cmd:npm test", 1)
REPORT = parse_acceptance("report=junit:out.xml <- npm test", 2)
A, B, C, FILES, OTHERS = ("0" * 63 + digit for digit in "abcde")
DAY = timedelta(days=1)


def goal(*items: AcceptanceItem) -> Book:
    """T1 is done."""
    book = opened(acceptance=items)
    book.do(add("Work"))
    book.do(claim("T1"))
    book.do(complete("T1"))
    return book


def run(book: Book, before: str, after: str | None = None, **values: Any) -> None:
    """A run of all items that found the files as ``before`` and left them as ``after``."""
    left = after if after != before else None
    result = {"result": "passed", "repo_state": before, "left": left, "digest": A, **values}
    seen = {"worked_seq": worked_seq(book.state), **result}
    items = book.state.the_rules.acceptance
    book.do(RecordRun(results=tuple({"item_id": item.id, **seen} for item in items)), KERNEL)


def now(work: str, written: str = FILES) -> RepoSeen:
    return RepoSeen(work, written)


def ask(book: Book, seen: RepoSeen | None, at: Any = NOW) -> Contract:
    reads = Reads(seen=seen)
    return should_run(book.state, reads, reading(at), CLAUDE.id, agents=AGENTS, owners=["huang"])


def to_accept(book: Book, seen: RepoSeen | None) -> list[NeedsYou]:
    needs = needs_you(book.state, Reads(seen=seen), NOW)
    return [item for item in needs if item.kind == "acceptance"]


@pytest.mark.parametrize(
    ("written", "seen", "stands"),
    [
        (None, None, "passed"),
        (None, now(A), "passed"),
        (None, now(A, OTHERS), "passed"),
        (None, now(B), "unchecked"),
        (FILES, now(A, FILES), "passed"),
        (FILES, now(A, OTHERS), "unchecked"),
        (FILES, now(B, FILES), "unchecked"),
        (FILES, RepoSeen("", ""), "unchecked"),
        (None, RepoSeen("", ""), "unchecked"),
    ],
)
@pytest.mark.parametrize("result", ["passed", "failed", "inconclusive"])
def test_a_result_holds_for_the_files_it_saw(
    written: str | None, seen: RepoSeen | None, stands: str, result: str
) -> None:
    book = goal(TESTS)
    book.do(add("Open", acceptance=("tests",)))  # so that a failure adds no todo to mend it
    run(book, A, written=written, result=result)
    expected = result if stands == "passed" else stands
    assert standing(book.state, TESTS, seen) == expected
    assert gaps(book.state, seen) == (() if expected == "passed" else ("tests",))
    assert book.replay() == book.state


def test_only_what_is_finished_hinges_on_the_files() -> None:
    book = goal(TESTS)
    assert not hinges_on_files(book.state)
    run(book, A)
    assert hinges_on_files(book.state)
    book.do(add("More"))
    assert not hinges_on_files(book.state)
    assert not hinges_on_files(opened().state)
    by_hand = goal()
    by_hand.do(AcceptByHand(reason="x", repo_state=A), OWNER)
    assert hinges_on_files(by_hand.state)


def test_a_goal_is_closed_only_while_its_files_are_as_acceptance_saw_them() -> None:
    book = goal(TESTS, REPORT)
    run(book, A, written=FILES)
    for days in range(0, 366, 5):
        contract = ask(book, now(A), NOW + days * DAY)
        assert (contract.answer, contract.reasons[0].code) == ("quiet", "closed")
    for other in (now(B), now(A, OTHERS)):
        contract = ask(book, other)
        assert contract.repair is not None
        assert (contract.answer, contract.repair.kind) == ("repair", "acceptance")
        assert "tests, report" in contract.reasons[0].message
        assert contract.needs_you == ()
        failing = derive(book.state, Reads(seen=other), (), NOW).failing
        assert [(c.check, c.ids) for c in failing] == [("acceptance", ("tests", "report"))]
    run(book, B, written=FILES)
    assert ask(book, now(B)).reasons[0].code == "closed"


def test_what_closes_a_goal_later_does_not_close_it_over_other_files() -> None:
    book = goal(TESTS)
    book.do(RequestGate(action=Action(action="publish", command="npm publish")))
    run(book, A)
    book.do(DecideGate(gate_id="G1", outcome="rejected"), OWNER)
    assert ask(book, now(A)).reasons[0].code == "closed"
    assert ask(book, now(B)).answer == "repair"


def test_a_persons_word_holds_for_the_files_they_saw() -> None:
    book = goal()
    (before,) = to_accept(book, None)
    assert before.question == "all is finished, and only a person can accept it"
    book.do(AcceptByHand(reason="good", repo_state=A), OWNER)
    assert is_accepted(book.state, now(A)) and to_accept(book, now(A)) == []
    assert ask(book, now(A)).reasons[0].code == "closed"
    contract = ask(book, now(B))
    (need,) = contract.needs_you
    assert (contract.answer, need.id, need.kind) == ("quiet", "accept:dark-mode", "acceptance")
    assert need.question == "the files are not those any more that huang accepted"
    assert need.next in contract.reasons[0].message
    book.do(AcceptByHand(reason="good", repo_state=B), OWNER)
    assert ask(book, now(B)).reasons[0].code == "closed"


def test_a_person_is_asked_only_where_running_does_not_help() -> None:
    book = goal(TESTS)
    assert to_accept(book, None) == []
    run(book, A, result="inconclusive", detail="its command could not be started")
    (need,) = to_accept(book, now(A))
    assert need.question == "tests inconclusive: its command could not be started"
    contract = ask(book, now(A))
    assert (contract.answer, contract.reasons[0].code) == ("ask", "contradiction")
    assert contract.question == need.question
    assert (to_accept(book, now(B)), ask(book, now(B)).answer) == ([], "repair")
    book.do(add("More"))
    assert to_accept(book, now(A)) == []


RUNS: list[tuple[list[tuple[str, str]], str]] = [
    ([(A, A)], "closed"),
    ([(A, B)], "repair"),
    ([(A, B), (B, B)], "closed"),
    ([(A, B), (B, C)], "ask"),
    ([(A, A), (A, B)], "repair"),
    ([(A, C), (B, C)], "repair"),
    ([(A, B), (B, C), (C, C)], "closed"),
]


@pytest.mark.parametrize(("runs", "answer"), RUNS)
def test_a_run_that_changes_what_it_looks_at_is_made_again_once(
    runs: list[tuple[str, str]], answer: str
) -> None:
    book = goal(TESTS)
    for before, after in runs:
        run(book, before, after)
    contract = ask(book, now(runs[-1][1]))
    found = "closed" if contract.reasons[0].code == "closed" else contract.answer
    assert found == answer
    assert book.replay() == book.state
    if answer == "ask":
        assert "have git ignore what it writes" in (contract.question or "")
        assert to_run(book.state, now(A)) == ("tests",)
        book.do(AcceptByHand(reason="good", repo_state=C), OWNER)
        assert ask(book, now(C)).reasons[0].code == "closed"


def test_what_changed_since_the_last_run_is_looked_at_again_whatever_that_left() -> None:
    book = goal(TESTS)
    run(book, A, B)
    run(book, B, C)
    assert ask(book, now(A)).answer == "repair"
    book.do(add("More"))
    book.do(claim("T2"))
    book.do(complete("T2"))
    assert ask(book, now(C)).answer == "repair"


def test_a_run_that_left_the_files_as_they_were_does_not_say_that_it_did_not() -> None:
    book = goal(TESTS)
    result = {"item_id": "tests", "result": "passed", "repo_state": A, "left": A, "digest": A}
    book.write("acceptance.ran", {"results": [result]}, KERNEL)
    assert (book.state.results, book.state.alert_count) == ({}, 1)
