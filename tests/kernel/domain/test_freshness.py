"""Sources: an attempt is not a success, and being enabled is neither."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.domain.freshness import (
    ENABLED_STATE_IMPLIES_FRESHNESS,
    SourceReading,
    judge,
    turns_stale_at,
)
from loopx_kernel.domain.rules import SourceRule
from loopx_kernel.domain.source import AddSource, BindSource, ReadSource
from loopx_kernel.errors import Conflict, Denied, UsageError
from loopx_kernel.views.envelope import (
    Coverage,
    Envelope,
    Omission,
    head_lines,
    ledger_row,
    seal,
    source_row,
)

from tests.kernel.domain.build import KERNEL, NOW, Book, opened, refused

DAY = timedelta(days=1)
CHAT = SourceRule(id="chat", provider="slack", required=True, window_seconds=3 * 86400)


def bound(rule: SourceRule = CHAT) -> Book:
    book = opened(sources=(rule,))
    book.do(BindSource(source_id=rule.id), KERNEL)
    return book


def read(book: Book, status: str = "read", at: Any = NOW, **counts: int) -> SourceReading:
    book.do(ReadSource(source_id="chat", status=status, **counts), KERNEL, at)  # type: ignore[arg-type]
    return judge(book.state.source("chat"), at)


def sealed(*readings: SourceReading, coverage: Coverage | None = None) -> Envelope:
    return seal(
        "status",
        observed_at=NOW,
        served_at=NOW,
        sources=[ledger_row(NOW, NOW, ()), *map(source_row, readings)],
        coverage=coverage or Coverage("goal", 1, 1),
    )


def test_a_good_reading_is_fresh() -> None:
    reading = read(bound(), items=12, unreadable=0)
    assert (reading.status, reading.read_status, reading.alert) == ("fresh", "read", False)
    envelope = sealed(reading)
    assert (envelope.fresh, envelope.complete, envelope.alert) == (True, True, False)


def test_incident_1_a_reading_of_nine_days_ago() -> None:
    book = bound()
    read(book, at=NOW - 9 * DAY, items=12, unreadable=0)
    reading = judge(book.state.source("chat"), NOW)
    assert (reading.status, reading.staleness_seconds) == ("stale", 777600)
    envelope = sealed(reading)
    assert not envelope.fresh
    assert [(r.code, r.ids) for r in envelope.alert_reasons] == [("stale_sources", ("chat",))]
    assert head_lines(envelope)[1] == "alerts: stale_sources=chat"


def test_incident_2_a_required_source_that_was_never_bound() -> None:
    reading = judge(opened(sources=(CHAT,)).state.source("chat"), NOW)
    assert reading.enabled
    assert not reading.bound
    assert (reading.read_status, reading.status) == ("not_read", "never_read")
    envelope = sealed(reading)
    assert (envelope.fresh, envelope.complete) == (False, False)
    assert [r.code for r in envelope.alert_reasons] == ["missing_required_sources"]
    assert ENABLED_STATE_IMPLIES_FRESHNESS is False


def test_incident_3_failures_after_a_success() -> None:
    book = bound()
    read(book, at=NOW - DAY, items=1, unreadable=0)
    for _ in range(3):
        reading = read(book, "failed")
    assert (reading.read_status, reading.failure_streak) == ("failed", 3)
    assert reading.last_success_at == NOW - DAY
    assert reading.checked_at == NOW
    assert read(book, items=1, unreadable=0).failure_streak == 0


def test_incident_4_a_reading_in_which_nothing_could_be_read() -> None:
    reading = read(bound(), items=12, unreadable=12)
    assert (reading.read_status, reading.last_success_at) == ("partially_unreadable", None)
    envelope = sealed(reading)
    assert (envelope.fresh, envelope.complete) == (False, False)
    assert "unreadable_sources" in [r.code for r in envelope.alert_reasons]


def test_fresh_is_not_enough_for_complete() -> None:
    book = bound()
    read(book, at=NOW - DAY, items=12, unreadable=0)
    reading = read(book, items=12, unreadable=1)
    envelope = sealed(reading)
    assert reading.status == "fresh"
    assert (envelope.fresh, envelope.complete, envelope.alert) == (True, False, True)


def test_incident_5_one_registry_of_48() -> None:
    coverage = Coverage("global", 48, 1, (Omission("outside_current_registry", 47),))
    envelope = sealed(coverage=coverage)
    assert (envelope.fresh, envelope.complete, envelope.alert) == (True, False, True)
    assert head_lines(envelope) == (
        "projection: observed_at=2026-09-16T22:50:00Z coverage=1/48 scope=global",
        "alerts: incomplete_coverage omitted=outside_current_registry=47",
    )


def test_a_queue_that_does_not_move_is_stalled_and_not_cleared() -> None:
    book = bound()
    read(book, items=5, unreadable=0, pending=1000)
    reading = read(book, at=NOW + 4 * DAY, items=5, unreadable=0)
    assert (reading.queue, reading.pending_count, reading.cursor) == ("stalled", 1000, None)
    assert read(book, items=5, unreadable=0, pending=0).queue == "empty"


def test_a_success_without_counts_is_unverified() -> None:
    reading = read(bound())
    assert (reading.read_status, reading.last_success_at) == ("unverified", None)
    envelope = sealed(reading)
    assert (envelope.fresh, envelope.complete) == (False, False)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ({"items": 3, "unreadable": 0}, "no_change"),
        ({"items": 3, "unreadable": 2}, "partially_unreadable"),
        ({}, "unverified"),
        (None, "unverified"),
    ],
)
def test_no_change_says_nothing_better_than_before(
    before: dict[str, int] | None, expected: str
) -> None:
    book = bound()
    if before is not None:
        read(book, at=NOW - DAY, **before)  # type: ignore[arg-type]
    reading = read(book, "no_change")
    assert reading.read_status == expected
    assert (reading.last_success_at == NOW) is (expected == "no_change")


def test_a_source_read_on_demand_only_asks_for_nothing() -> None:
    rule = SourceRule(id="chat", provider="wiki", on_demand=True)
    reading = judge(opened(sources=(rule,)).state.source("chat"), NOW)
    assert (reading.status, reading.alert) == ("not_scanned", False)
    # Nobody looked, so nobody can say that it is fresh.
    assert not sealed(reading).fresh


def test_source_commands_that_are_refused() -> None:
    book = opened(sources=(CHAT,))
    refused(book, AddSource(rule=CHAT), Conflict, "exists", actor=KERNEL)
    odd = AddSource(rule=SourceRule(id="No", provider="x"))
    refused(book, odd, UsageError, "invalid_value", actor=KERNEL)
    unread = ReadSource(source_id="chat", status="read", items=1, unreadable=0)
    refused(book, unread, Denied, "not_verified", actor=KERNEL)
    refused(book, BindSource(source_id="no"), UsageError, "unknown_source", actor=KERNEL)
    book.do(BindSource(source_id="chat"), KERNEL)
    refused(book, BindSource(source_id="chat"), Conflict, "exists", actor=KERNEL)
    more = ReadSource(source_id="chat", status="read", items=1, unreadable=2)
    refused(book, more, UsageError, "invalid_value", actor=KERNEL)
    refused(book, unread, Denied, "not_a_person")


def test_what_alerts_are_about_damage() -> None:
    envelope = seal(
        "doctor",
        observed_at=NOW,
        served_at=NOW,
        sources=[ledger_row(NOW, NOW, ("#7",))],
        coverage=Coverage("goal", 1, 1),
        integrity=("#7",),
    )
    assert not envelope.complete
    assert head_lines(envelope)[1] == "alerts: integrity=#7"


def test_complete_is_not_said_of_a_tail() -> None:
    envelope = seal(
        "status",
        observed_at=NOW - DAY,
        served_at=NOW,
        sources=[ledger_row(NOW - DAY, NOW, ())],
        coverage=Coverage("goal", 1, 1),
        verified=False,
    )
    assert not envelope.complete
    assert (envelope.observed_at, envelope.served_at) == (NOW - DAY, NOW)
    assert envelope.sources[0].staleness_seconds == 86400


@given(st.integers(0, 10 * 86400))
def test_a_source_turns_stale_one_moment_after_its_window(age: int) -> None:
    book = bound()
    read(book, items=1, unreadable=0)
    source = book.state.source("chat")
    edge = turns_stale_at(source)
    assert edge is not None
    now = NOW + timedelta(seconds=age)
    assert (judge(source, now).status == "fresh") is (now <= edge)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["read", "no_change", "failed"]),
            st.integers(0, 3) | st.none(),
            st.integers(0, 3) | st.none(),
        ),
        max_size=8,
    )
)
def test_last_success_is_a_reading_in_which_everything_was_read(
    attempts: list[tuple[str, int | None, int | None]],
) -> None:
    book = bound()
    good = None
    whole = False
    for number, (status, items, unreadable) in enumerate(attempts):
        if (unreadable or 0) > (items or 0):
            continue
        at = NOW + timedelta(minutes=number)
        if status == "read":
            whole = items is not None and unreadable == 0
        if status != "failed" and whole:
            good = at
        command = ReadSource(
            source_id="chat",
            status=status,  # type: ignore[arg-type]
            items=items,
            unreadable=unreadable,
        )
        book.do(command, KERNEL, at)
        source = book.state.source("chat")
        assert source.checked_at == at
        assert source.last_success_at == good
