"""New rules: laid by a person as a whole, and what was known under the old ones."""

from __future__ import annotations

from typing import Any

import pytest
from loopx_kernel.domain.event import Actor
from loopx_kernel.domain.patched_rules import PatchRules
from loopx_kernel.domain.records_of_work import AcceptedByHand, ItemResult
from loopx_kernel.domain.rules import (
    AcceptanceItem,
    Coordination,
    GoalRules,
    JudgeRule,
    QuotaRule,
    SourceRule,
    parse_gate_rule,
)
from loopx_kernel.domain.source import AddSource, BindSource, ReadSource
from loopx_kernel.errors import Denied, UsageError

from tests.kernel.domain.build import (
    CLAUDE,
    HASH,
    KERNEL,
    NOW,
    OWNER,
    Book,
    add,
    dark_mode,
    opened,
    refused,
)

ONE = AcceptanceItem(id="one", kind="cmd", value="true")
TWO = AcceptanceItem(id="two", kind="cmd", value="false")
NEWS, MAIL = SourceRule(id="news", provider="rss"), SourceRule(id="mail", provider="imap")


def patched(book: Book, **values: Any) -> PatchRules:
    rules = GoalRules.model_validate(book.state.the_rules.model_dump() | values)
    return PatchRules(rules=rules, reason="as it turned out")


def known(book: Book) -> None:
    """Each item passed, and a person accepted the work."""
    results = {
        item.id: ItemResult(
            item_id=item.id, result="passed", repo_state=HASH, digest=HASH, at=NOW, seq=1
        )
        for item in book.state.the_rules.acceptance
    }
    accepted = AcceptedByHand(
        by="huang", at=NOW, reason="x", repo_state=HASH, level="passphrase", seq=1
    )
    book.state = book.state.model_copy(update={"results": results, "accepted": accepted})


def test_new_rules_count_from_then_on() -> None:
    book = dark_mode()
    assert book.state.rules_seq == 1
    gates = (parse_gate_rule("publish:git push*"),)
    book.do(patched(book, gates=gates, quota=QuotaRule(compute="0.5")), OWNER)
    state = book.state
    assert (state.the_rules.gates, state.the_rules.quota.allowed) == (gates, 720)
    assert (state.rules_seq, state.goal_seq, state.registry_seq) == (state.seq,) * 3
    assert book.replay() == state


@pytest.mark.parametrize("actor", [CLAUDE, KERNEL])
def test_only_a_person_lays_rules(actor: Actor) -> None:
    book = dark_mode()
    refused(book, patched(book, domain="other"), Denied, "unsigned", actor=actor)


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({}, "invalid_value"),
        ({"repo": "elsewhere"}, "invalid_value"),
        ({"state_file": "other.md"}, "invalid_value"),
        ({"display_name": ""}, "invalid_value"),
        ({"acceptance": (TWO,)}, "invalid_value"),
        ({"acceptance": (ONE, ONE)}, "invalid_value"),
        ({"sources": (MAIL, MAIL)}, "invalid_value"),
        ({"coordination": Coordination(write_scope=("/etc",))}, "invalid_scope"),
    ],
)
def test_rules_that_cannot_be_laid(values: dict[str, Any], code: str) -> None:
    book = opened(acceptance=(ONE,), sources=(NEWS,))
    book.do(add("Work", acceptance=("one",)))
    refused(book, patched(book, **values), UsageError, code, actor=OWNER)


def test_results_hold_as_long_as_their_item_and_its_judge() -> None:
    for values, left in (
        ({"domain": "other"}, {"one", "two"}),
        ({"acceptance": (ONE, TWO.model_copy(update={"value": "true"}))}, {"one"}),
        ({"acceptance": (TWO,)}, {"two"}),
        ({"judge": JudgeRule(command="./judge")}, set()),
    ):
        book = opened(acceptance=(ONE, TWO))
        known(book)
        book.do(patched(book, **values), OWNER)
        assert set(book.state.results) == left, values
        assert (book.state.accepted is None) is ("acceptance" in values)


def test_sources_follow_the_rules_and_keep_what_was_read() -> None:
    book = opened(sources=(NEWS, MAIL))
    book.do(AddSource(rule=SourceRule(id="wiki", provider="http")), KERNEL)
    book.do(BindSource(source_id="news"), KERNEL)
    book.do(ReadSource(source_id="news", status="read", items=1, unreadable=0), KERNEL)
    longer = NEWS.model_copy(update={"window_seconds": 60, "required": True})
    book.do(patched(book, sources=(longer,)), OWNER)
    assert set(book.state.sources) == {"news", "wiki"}
    news = book.state.sources["news"]
    assert (news.window_seconds, news.required, news.read_status) == (60, True, "read")
    book.do(patched(book, sources=(SourceRule(id="news", provider="other"),)), OWNER)
    assert book.state.sources["news"].last_read_at is None
    assert book.replay() == book.state
