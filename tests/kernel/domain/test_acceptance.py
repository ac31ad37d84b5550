"""Acceptance: what a run proves, for how long, and what a person's word is worth."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.domain import fold
from loopx_kernel.domain.acceptance import AcceptByHand, RecordRun
from loopx_kernel.domain.event import Facts
from loopx_kernel.domain.items import check_judge, worker_in
from loopx_kernel.domain.judging import verdict, vote_of
from loopx_kernel.domain.rules import AcceptanceItem, JudgeRule, parse_acceptance
from loopx_kernel.domain.standing import gaps, is_accepted, standing, worked_seq
from loopx_kernel.errors import Conflict, Denied, LoopxError, UsageError

from tests.kernel.domain.build import (
    CLAUDE,
    GOOD,
    HASH,
    KERNEL,
    NOW,
    OWNER,
    Book,
    add,
    claim,
    complete,
    line,
    opened,
    refused,
    rules,
    signed_for,
)

TESTS = parse_acceptance("tests=cmd:npm test", 1)
TEXT = parse_acceptance("text=rubric:reads well>=8", 2)
LINT = parse_acceptance("?lint=cmd:npm run lint", 3)
MINUTE = timedelta(minutes=1)


def goal(*finished: str, items: tuple[AcceptanceItem, ...] = (TESTS, TEXT, LINT)) -> Book:
    """Todos that are done, each with these items of acceptance."""
    book = opened(acceptance=items)
    for number, ref in enumerate(finished, 1):
        book.do(add(f"Work {number}", acceptance=tuple(filter(None, [ref]))))
        book.do(claim(f"T{number}"))
        book.do(complete(f"T{number}"))
    return book


def one(item_id: str, result: str = "passed", **values: Any) -> dict[str, Any]:
    """What one item gave, as code reports it."""
    return {"item_id": item_id, "result": result, "repo_state": HASH, "digest": HASH, **values}


def ran(book: Book, *results: dict[str, Any], **values: Any) -> RecordRun:
    """A run that began on the state as it is."""
    seen = tuple({"worked_seq": worked_seq(book.state), **each} for each in results)
    return RecordRun(results=seen, **values)


def standings(book: Book) -> dict[str, str]:
    return {i.id: standing(book.state, i) for i in book.state.the_rules.acceptance}


PASSED = (one("tests"), one("text", score=8))


def test_what_passed_stands_until_work_changes() -> None:
    book = goal("tests")
    assert gaps(book.state) == ("tests", "text")
    book.do(ran(book, *PASSED), KERNEL)
    assert standings(book) == {"tests": "passed", "text": "passed", "lint": "unchecked"}
    assert gaps(book.state) == ()
    book.do(add("More"))
    assert set(standings(book).values()) == {"unchecked"}
    assert gaps(book.state) == ("tests", "text")
    assert book.replay() == book.state


def test_only_passed_passes() -> None:
    book = goal("tests")
    book.do(ran(book, one("tests", "inconclusive"), one("text", "failed", score=7)), KERNEL)
    assert standings(book) == {"tests": "inconclusive", "text": "failed", "lint": "unchecked"}
    assert gaps(book.state) == ("tests", "text")


def test_optional_items_alone_never_pass() -> None:
    book = goal("lint", items=(LINT,))
    book.do(ran(book, one("lint")), KERNEL)
    assert gaps(book.state) == ("by_hand",)


def test_work_that_changed_while_it_ran_was_not_looked_at() -> None:
    book = goal("tests")
    before = ran(book, *PASSED)
    book.do(add("More"))
    book.do(before, KERNEL)
    assert gaps(book.state) == ("tests", "text")
    assert standing(book.state, TESTS) == "unchecked"


def test_the_result_of_the_latest_run_counts() -> None:
    book = goal("tests")
    book.do(ran(book, *PASSED), KERNEL)
    book.do(ran(book, one("tests", "inconclusive")), KERNEL)
    assert standings(book) == {"tests": "inconclusive", "text": "passed", "lint": "unchecked"}


# -- the fix ----------------------------------------------------------------------------------


def test_a_failure_with_nothing_left_to_do_adds_one_todo_to_mend_it() -> None:
    book = goal("tests", "")
    book.do(ran(book, one("lint", "failed"), one("tests", "failed", detail="1 failed")), KERNEL)
    fix = book.todo("T3")
    assert (fix.kind, fix.priority, fix.title) == ("fix", "P0", "Make acceptance pass: tests")
    assert (fix.acceptance, fix.lineage_todo_ids) == (("tests",), ("T1",))
    assert fix.write_scope == ("src/theme/**", "tests/theme/**")
    assert (fix.origin.actor_kind, fix.origin.event_id) == ("code", book.lines[-1][0].event_id)
    assert standing(book.state, TESTS) == "failed"
    book.do(ran(book, one("tests", "failed")), KERNEL)
    assert book.state.next_todo == 4, "a second one while the first is open"
    book.do(claim("T3"))
    book.do(complete("T3"))
    book.do(ran(book, one("tests", "failed")), KERNEL)
    assert book.todo("T4").lineage_todo_ids == ("T1", "T3")
    assert book.replay() == book.state


def work_left(book: Book) -> None:
    book.do(add("More"))


def nothing(book: Book) -> None:
    """As it is."""


@pytest.mark.parametrize(
    ("finished", "before", "results"),
    [
        (("tests",), work_left, (one("tests", "failed"),)),
        ((), nothing, (one("tests", "failed"),)),
        (("tests",), nothing, (one("tests"), one("text", score=9))),
        (("tests",), nothing, (one("lint", "failed"),)),
        (("tests",), nothing, (one("text", "inconclusive"),)),
    ],
)
def test_no_fix_where_something_is_left_or_nothing_failed(
    finished: tuple[str, ...], before: Callable[[Book], None], results: tuple[dict[str, Any], ...]
) -> None:
    book = goal(*finished)
    before(book)
    number = book.state.next_todo
    book.do(ran(book, *results), KERNEL)
    assert book.state.next_todo == number


# -- lines written by hand --------------------------------------------------------------------

FIX = {
    "type": "todo.added",
    "todo_id": "T2",
    "title": "Make acceptance pass: tests",
    "kind": "fix",
    "priority": "P0",
    "write_scope": ["src/theme/**", "tests/theme/**"],
    "acceptance": ["tests"],
    "lineage_todo_ids": ["T1"],
}
FAILED = [one("tests", "failed")]
FORGED = {
    "no item": {"results": []},
    "an unknown item": {"results": [one("nope")]},
    "an item twice": {"results": [one("tests"), one("tests")]},
    "a failure without its fix": {"results": FAILED},
    "other work in place of the fix": {"results": FAILED, "parts": [FIX | {"title": "Rest"}]},
    "a fix for what passed": {"results": [one("tests")], "parts": [FIX]},
    "two fixes": {"results": FAILED, "parts": [FIX, FIX | {"todo_id": "T3"}]},
    "a rubric passed without a vote": {"results": [one("text")]},
    "a rubric passed below": {"results": [one("text", score=7)]},
    "a vote beyond the scale": {"results": [one("text", score=11)]},
    "a look at what is to come": {"results": [one("tests", worked_seq=99)]},
    "a detail of two lines": {"results": [one("tests", detail="a\nb")]},
    "a repo of no digest": {"results": [one("tests") | {"repo_state": "HEAD"}]},
    "an unknown todo": {"results": [one("tests")], "todo_id": "T9"},
    "another result": {"results": [one("tests", "accepted")]},
}


@pytest.mark.parametrize("payload", FORGED.values(), ids=FORGED)
def test_a_line_by_hand_does_nothing_a_run_could_not(payload: dict[str, Any]) -> None:
    book = goal("tests")
    book.write("acceptance.ran", payload, KERNEL)
    assert book.state.alert_count == 1
    assert (book.state.results, book.state.next_todo) == ({}, 2)


def test_the_same_line_as_the_kernel_writes_it_counts() -> None:
    book = goal("tests")
    book.write("acceptance.ran", {"results": FAILED, "parts": [FIX]}, KERNEL)
    assert book.state.alert_count == 0
    assert book.todo("T2").kind == "fix"


@pytest.mark.parametrize("actor", [CLAUDE, OWNER])
def test_only_code_records_a_run(actor: Any) -> None:
    book = goal("tests")
    before = book.state
    with pytest.raises(Denied):
        book.do(ran(book, *PASSED), actor)
    assert book.state == before
    book.write("acceptance.ran", {"results": [one("tests")]}, CLAUDE)
    assert book.state.results == {}


# -- by hand ----------------------------------------------------------------------------------

BY_HAND = AcceptByHand(reason="looked at it", repo_state=HASH)


def test_a_person_accepts_finished_work_until_it_changes() -> None:
    book = goal("tests")
    book.do(BY_HAND, OWNER)
    assert is_accepted(book.state)
    assert gaps(book.state) == ()
    assert book.state.accepted is not None
    assert (book.state.accepted.by, book.state.accepted.level) == (OWNER.id, "passphrase")
    assert book.state.results == {}
    book.do(add("More"))
    assert not is_accepted(book.state)
    assert gaps(book.state) == ("tests", "text")
    assert book.replay() == book.state


def test_a_person_accepts_the_items_of_one_todo() -> None:
    book = goal("tests", "text")
    book.do(AcceptByHand(reason="no machine can", repo_state=HASH, todo_id="T2"), OWNER)
    assert book.state.results["text"].detail == "accepted by hand by huang"
    assert gaps(book.state) == ("tests",)
    assert book.state.accepted is None


def test_what_is_not_finished_is_not_accepted() -> None:
    book = goal("tests")
    book.do(add("More", acceptance=("tests",)))
    refused(book, BY_HAND, UsageError, "illegal_transition", actor=OWNER)
    for_one = AcceptByHand(reason="x", repo_state=HASH, todo_id="T2")
    refused(book, for_one, UsageError, "illegal_transition", actor=OWNER)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (AcceptByHand(reason="", repo_state=HASH), "invalid_value"),
        (AcceptByHand(reason="two\nlines", repo_state=HASH), "invalid_value"),
        (AcceptByHand(reason="x", repo_state="HEAD"), "invalid_event"),
        (AcceptByHand(reason="x", repo_state=HASH, todo_id="T9"), "unknown_todo"),
        (AcceptByHand(reason="x", repo_state=HASH, todo_id="T2"), "invalid_value"),
    ],
)
def test_what_cannot_be_accepted(command: AcceptByHand, code: str) -> None:
    refused(goal("tests", ""), command, UsageError, code, actor=OWNER)


@pytest.mark.parametrize("actor", [CLAUDE, KERNEL])
def test_nobody_but_a_person_accepts(actor: Any) -> None:
    book = goal("tests")
    refused(book, BY_HAND, Denied, "unsigned", actor=actor)
    book.write(
        "work.accepted",
        {"reason": "x", "repo_state": HASH, "worked_seq": worked_seq(book.state)},
        actor,
    )
    assert book.state.accepted is None


def test_a_word_about_work_that_changed_since_is_stale() -> None:
    book = goal("tests")
    seen = {"reason": "x", "repo_state": HASH, "worked_seq": worked_seq(book.state)}
    book.do(add("More"))
    book.do(claim("T2"))
    book.do(complete("T2"))
    signed = signed_for(book.state, "dark-mode", NOW)
    event = line(book.state, "work.accepted", seen, OWNER, NOW + MINUTE, signed=signed)
    book.take(event, GOOD)
    assert book.state.alerts[-1].message.startswith("Work changed after it was looked at")
    assert book.state.accepted is None


def test_stale_is_the_code_of_it() -> None:

    from tests.kernel.domain.build import GOOD

    book = goal("tests")
    payload = {"reason": "x", "repo_state": HASH, "worked_seq": worked_seq(book.state) - 1}
    signed = signed_for(book.state, "dark-mode", NOW)
    facts = Facts(OWNER, NOW, book.state.seq + 1, "e", signed, GOOD)
    with pytest.raises(Conflict) as caught:
        fold.check(book.state, "work.accepted", payload, facts)
    assert caught.value.code == "stale_decision"


# -- the judge --------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["", "x", "08", "8 ", " 8", "11", "-1", "8.0", "+8", "８", None])
def test_a_word_that_is_no_vote(word: str | None) -> None:
    assert vote_of(word) is None


def test_the_votes() -> None:
    assert [vote_of(str(number)) for number in range(11)] == list(range(11))


@given(st.lists(st.none() | st.integers(0, 10), min_size=1, max_size=25), st.integers(1, 10))
def test_a_strict_majority_of_all_votes(votes: list[int | None], threshold: int) -> None:
    found = verdict(votes, threshold)
    yes = sum(vote is not None and vote >= threshold for vote in votes)
    assert (found.result == "passed") is (yes > len(votes) - yes)
    if found.score is not None:
        assert (found.result == "passed") is (found.score >= threshold)
    assert 0 <= float(found.confidence) <= 1
    assert (found.score is None) is all(vote is None for vote in votes)


@pytest.mark.parametrize(
    ("command", "worker"),
    [
        ("codex", "codex"),
        ("/usr/local/bin/Codex exec --json", "codex"),
        ("sh -c 'cat | codex -q'", "codex"),
        ("codex.sh", "codex"),
        ("env X=1 claude-code", "claude-code"),
        ("judges/codex-free", None),
        ("anticodex", None),
        ("python judge.py", None),
    ],
)
def test_a_judge_is_no_worker(command: str, worker: str | None) -> None:
    agents = ("claude-code", "codex")
    assert worker_in(command, agents) == worker
    with_judge = rules(judge=JudgeRule(command=command))
    if worker is None:
        check_judge(with_judge, agents)
        return
    with pytest.raises(UsageError) as caught:
        check_judge(with_judge, agents)
    assert caught.value.code == "invalid_value"


# -- items ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [
        {"kind": "cmd"},
        {"kind": "cmd", "value": " "},
        {"kind": "cmd", "value": "x", "path": "y"},
        {"kind": "cmd", "value": "x", "command": "y"},
        {"kind": "junit"},
        {"kind": "junit", "path": "../out.xml"},
        {"kind": "junit", "path": "/tmp/out.xml"},
        {"kind": "json", "path": "#/a", "value": "1"},
        {"kind": "json", "path": "../a.json#/a", "value": "1"},
        {"kind": "regex", "path": "a"},
        {"kind": "rubric", "value": "reads well"},
        {"kind": "rubric", "value": "reads well", "threshold": 0},
        {"kind": "rubric", "value": "reads well", "threshold": 11},
        {"kind": "cmd", "value": "x", "threshold": 5},
    ],
)
def test_no_goal_is_opened_with_an_item_that_cannot_be_run(values: dict[str, Any]) -> None:
    item = AcceptanceItem.model_validate({"id": "a", **values})
    with pytest.raises(LoopxError) as caught:
        opened(acceptance=(item,))
    assert caught.value.code in ("invalid_value", "invalid_scope")
