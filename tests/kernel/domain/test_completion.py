"""Completion: every book at zero at once, and nothing that can write it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from loopx_kernel.domain import completion
from loopx_kernel.domain.aside import SetAside
from loopx_kernel.domain.completion import Completion, ListSource
from loopx_kernel.domain.freshness import judge
from loopx_kernel.domain.gate import RequestGate
from loopx_kernel.domain.needs_you import Damage, Difference, Reads
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.records import WaitingOn
from loopx_kernel.domain.rules import SourceRule, parse_acceptance
from loopx_kernel.domain.source import BindSource, ReadSource
from loopx_kernel.domain.state import GoalState

from tests.kernel.domain.build import KERNEL, NOW, Book, add, claim, complete, opened
from tests.kernel.domain.test_fold import kinds

HOUR = timedelta(hours=1)


def derive(
    book: Book,
    reads: Reads | None = None,
    source: ListSource = "journal",
    at: timedelta = timedelta(0),
) -> Completion:
    now = NOW + at
    readings = [judge(item, now) for item in book.state.sources.values()]
    return completion.derive(book.state, reads or Reads(), readings, now, source)


def failing(found: Completion) -> dict[str, tuple[str, ...]]:
    return {check.check: check.ids for check in found.failing}


def clean(*sources: SourceRule) -> Book:
    """Three todos, all done; only the acceptance is open, which nobody accepted."""
    book = opened(sources=sources)
    for number in (1, 2, 3):
        book.do(add(f"Work {number}"))
        book.do(claim(f"T{number}"))
        book.do(complete(f"T{number}"))
    return book


ACCEPTANCE = {"acceptance": ("by_hand",)}


def test_the_clean_case_waits_for_acceptance_only() -> None:
    found = derive(clean())
    assert failing(found) == ACCEPTANCE
    assert not found.complete
    assert (found.derived, found.source) == (True, "validated_goal_closure")


def test_it_is_complete_exactly_when_no_check_fails() -> None:
    checks = completion.derive(clean().state, Reads(), (), NOW).checks
    assert all(check.ok == (check.count == 0) == (not check.ids) for check in checks)


WAIT_CI = WaitingOn(kind="ci", ref="#812")
WAIT_REVIEW = WaitingOn(kind="review", ref="#812")
WAIT_SOURCE = WaitingOn(kind="source", ref="chat")
CHAT = SourceRule(id="chat", provider="slack")


@pytest.mark.parametrize(
    ("values", "aside", "expected"),
    [
        ({}, None, {"open_zero"}),
        ({"resume_at": NOW + HOUR}, None, {"deferred_zero"}),
        ({"next_check_at": NOW}, None, {"open_zero", "due_checked"}),
        ({"next_check_at": NOW + HOUR}, None, {"open_zero"}),
        ({}, {"status": "waiting", "waiting_on": WAIT_CI}, {"waiting_zero", "ci"}),
        ({}, {"status": "waiting", "waiting_on": WAIT_REVIEW}, {"waiting_zero", "review"}),
        ({}, {"status": "waiting", "waiting_on": WAIT_SOURCE}, {"waiting_zero", "observations"}),
        ({}, {"status": "blocked", "reason": "x"}, {"blocked_zero"}),
        ({"lineage": ("T1",)}, None, {"open_zero", "runnable_successor"}),
        (
            {"lineage": ("T1",)},
            {"status": "blocked", "reason": "x"},
            {"blocked_zero", "blocked_successor"},
        ),
    ],
)
def test_each_open_book_names_itself(
    values: dict[str, object], aside: dict[str, object] | None, expected: set[str]
) -> None:
    book = clean(CHAT)
    book.do(add("One more", **values))
    if aside is not None:
        book.do(SetAside(todo_id="T4", **aside))  # type: ignore[arg-type]
    found = failing(derive(book))
    assert set(found) == expected | {"count_total", "acceptance"}
    assert all(found[check] == ("T4",) for check in (*expected, "count_total"))


def test_a_claimed_todo_is_not_done() -> None:
    book = clean()
    book.do(add("One more"))
    book.do(claim("T4"))
    assert set(failing(derive(book))) == {"claimed_zero", "count_total", "acceptance"}


def test_prose_is_no_list() -> None:
    assert failing(derive(clean(), source="prose")) == {"list_source": ("prose",)} | ACCEPTANCE


def test_an_absent_list_is_not_an_empty_one() -> None:
    absent = completion.derive(GoalState(goal_id="dark-mode"), Reads(), (), NOW)
    assert "list_declared" in failing(absent)
    assert failing(derive(opened())) == ACCEPTANCE


def test_an_acceptance_item_without_a_pass_is_a_gap() -> None:
    items = (parse_acceptance("tests=cmd:npm test", 1), parse_acceptance("?lint=cmd:lint", 2))
    assert failing(derive(opened(acceptance=items))) == {"acceptance": ("tests",)}


def test_a_gate_without_a_decision_blocks() -> None:
    book = clean()
    book.do(RequestGate(action=Action(action="publish", command="npm publish")))
    assert failing(derive(book)) == {"gates": ("G1",)} | ACCEPTANCE


@pytest.mark.parametrize(
    ("reads", "ids"),
    [
        (Reads(damage=(Damage("registry.json", "edited"),)), ("registry.json",)),
        (Reads(drift=(Difference("ticked", "T3", 1, ""),)), ("drift:dark-mode",)),
        (Reads(verified_from=120), ("tail since #120",)),
    ],
)
def test_what_is_read_must_be_whole(reads: Reads, ids: tuple[str, ...]) -> None:
    assert failing(derive(clean(), reads)) == {"integrity": ids} | ACCEPTANCE


def test_a_line_without_effect_blocks() -> None:
    book = clean()
    book.write("goal.completed", {"complete": True})
    assert failing(derive(book)) == {"integrity": (f"#{book.state.seq}",)} | ACCEPTANCE


def test_a_required_source_counts_when_read_after_the_work() -> None:
    required = SourceRule(id="chat", provider="slack", required=True, window_seconds=3600)
    good = ReadSource(source_id="chat", status="read", items=3, unreadable=0)
    book = opened(sources=(required,))
    assert "sources" in failing(derive(book))
    book.do(BindSource(source_id="chat"), KERNEL)
    book.do(good, KERNEL)
    book.do(add("Work"))
    book.do(claim("T1"))
    book.do(complete("T1"))
    assert failing(derive(book))["sources"] == ("chat",)
    book.do(good, KERNEL)
    assert failing(derive(book)) == ACCEPTANCE
    # The verdict does not decay with the clock, though the reading turns stale.
    assert failing(derive(book, at=timedelta(days=30))) == ACCEPTANCE
    book.do(ReadSource(source_id="chat", status="failed"), KERNEL, NOW + HOUR)
    assert failing(derive(book))["sources"] == ("chat",)
    book.do(ReadSource(source_id="chat", status="read", items=3, unreadable=1), KERNEL, NOW + HOUR)
    assert failing(derive(book))["sources"] == ("chat",)


@pytest.mark.parametrize(
    "rule",
    [
        SourceRule(id="chat", provider="slack"),
        SourceRule(id="chat", provider="slack", required=True, on_demand=True),
    ],
)
def test_optional_and_on_demand_sources_never_block(rule: SourceRule) -> None:
    assert failing(derive(opened(sources=(rule,)))) == ACCEPTANCE


def test_no_event_writes_completion() -> None:
    for kind in kinds():
        assert not {"complete", "completed", "completion"} & set(kind.payload.model_fields)
        assert kind.name not in ("goal.completed", "goal.closed")
    assert "complete" not in GoalState.model_fields
