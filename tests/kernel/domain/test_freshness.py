"""Sources: an attempt is not a success, and being enabled is neither."""

from __future__ import annotations

import contextlib
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.domain.freshness import (
    ENABLED_STATE_IMPLIES_FRESHNESS,
    HostReading,
    SourceReading,
    judge,
    judge_host,
    turns_stale_at,
)
from loopx_kernel.domain.rules import SourceRule
from loopx_kernel.domain.source import (
    AddSource,
    BindSource,
    PauseSource,
    ReadSource,
    SettleSource,
)
from loopx_kernel.domain.source_host import ReportHost
from loopx_kernel.errors import Conflict, Denied, LoopxError, UsageError
from loopx_kernel.views.envelope import (
    Coverage,
    Envelope,
    Omission,
    head_lines,
    host_row,
    lacking,
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


def test_an_unverified_reading_is_not_fresh_even_after_a_good_one() -> None:
    book = bound()
    read(book, at=NOW - DAY, items=12, unreadable=0)
    reading = read(book)
    assert (reading.status, reading.staleness_seconds) == ("stale", 86400)
    assert reading.alert_reasons == ("unverified_sources",)


def test_a_failed_look_alerts_though_the_last_good_one_is_still_fresh() -> None:
    book = bound()
    read(book, at=NOW - DAY, items=12, unreadable=0)
    reading = read(book, "failed")
    assert (reading.status, reading.alert_reasons) == ("fresh", ("unreadable_sources",))
    envelope = sealed(reading)
    assert (envelope.fresh, envelope.complete) == (True, False)


def test_a_time_that_has_not_come_yet_proves_nothing() -> None:
    book = bound()
    read(book, at=NOW + 400 * DAY, items=1, unreadable=0, pending=4)
    settle(book, "batch-1", at=NOW + 400 * DAY)
    reading = judge(book.state.source("chat"), NOW)
    assert (reading.status, reading.staleness_seconds) == ("stale", None)
    assert reading.queue == "stalled"
    near = read(book, at=NOW + timedelta(minutes=4), items=1, unreadable=0)
    assert judge(book.state.source("chat"), NOW).status == near.status == "fresh"


def test_what_is_left_out_is_said_and_makes_it_incomplete() -> None:
    whole = sealed()
    assert lacking(whole, 3, ()) is whole
    damaged = seal(
        "events",
        observed_at=NOW,
        served_at=NOW + DAY,
        sources=[ledger_row(NOW, NOW, ("#7",))],
        coverage=Coverage("goal", 1, 1),
        integrity=("#7",),
    )
    for before in (whole, damaged):
        found = lacking(before, 3, (Omission("quarantined", 2),))
        assert (found.coverage.expected_count, found.coverage.included_count) == (5, 3)
        assert (found.complete, found.alert) == (False, True)
        codes = {reason.code: reason.ids for reason in found.alert_reasons}
        assert codes.pop("incomplete_coverage") == ("quarantined=2",)
        assert codes == {reason.code: reason.ids for reason in before.alert_reasons}
        assert (found.sources, found.observed_at, found.served_at) == (
            *(before.sources, before.observed_at, before.served_at),
        )


# Queues


def settle(book: Book, cursor: str, *, at: Any = NOW, pending: int | None = None) -> SourceReading:
    book.do(SettleSource(source_id="chat", cursor=cursor, pending=pending), KERNEL, at)
    return judge(book.state.source("chat"), at)


def test_settling_moves_the_cursor_and_is_no_reading() -> None:
    book = bound()
    before = read(book, items=5, unreadable=0, pending=1000)
    reading = settle(book, "batch-1", at=NOW + 5 * DAY)
    assert (reading.cursor, reading.cursor_moved_at) == ("batch-1", NOW + 5 * DAY)
    assert (reading.queue, reading.pending_count) == ("moving", 1000)
    assert reading.last_success_at == before.last_success_at
    assert reading.status == "stale"
    assert settle(book, "batch-2", at=NOW + 6 * DAY, pending=0).queue == "empty"


def test_a_queue_is_late_when_it_has_not_moved_for_a_window() -> None:
    book = bound()
    reading = read(book, items=5, unreadable=0, pending=9)
    assert (reading.queue, reading.queue_seconds, reading.queue_is_late) == ("stalled", 0, False)
    reading = read(book, at=NOW + 4 * DAY, items=5, unreadable=0, pending=7)
    assert (reading.queue_seconds, reading.queue_is_late) == (4 * 86400, True)
    assert reading.needs_look
    reading = settle(book, "batch-1", at=NOW + 5 * DAY)
    assert (reading.queue_seconds, reading.queue_is_late) == (0, False)
    reading = settle(book, "batch-2", at=NOW + 5 * DAY, pending=0)
    assert (reading.queue, reading.queue_seconds) == ("empty", None)
    reading = read(book, at=NOW + 9 * DAY, items=5, unreadable=0, pending=1)
    assert (reading.queue_seconds, reading.queue_is_late) == (0, False)


def test_a_settled_source_counts_for_completion_as_when_it_was_read() -> None:
    book = bound()
    read(book, items=5, unreadable=0)
    seq = book.state.source("chat").seq
    settle(book, "batch-1")
    book.do(PauseSource(source_id="chat", paused=True), KERNEL)
    assert book.state.source("chat").seq == seq


def test_a_paused_queue_is_called_so_and_the_source_ages_on() -> None:
    book = bound()
    read(book, items=5, unreadable=0, pending=3)
    book.do(PauseSource(source_id="chat", paused=True, reason="not replayable"), KERNEL)
    reading = judge(book.state.source("chat"), NOW + 4 * DAY)
    assert (reading.queue, reading.pending_count) == ("paused", 3)
    assert reading.alert_reasons == ("stale_sources",)
    assert read(book, at=NOW + 4 * DAY, items=5, unreadable=0).queue == "paused"
    book.do(PauseSource(source_id="chat", paused=False), KERNEL, NOW + 4 * DAY)
    assert judge(book.state.source("chat"), NOW + 4 * DAY).queue == "stalled"


def test_settling_and_pausing_that_are_refused() -> None:
    book = bound()
    first = SettleSource(source_id="chat", cursor="batch-1")
    refused(book, first, Denied, "not_verified", actor=KERNEL)
    read(book, "failed")
    refused(book, first, Denied, "not_verified", actor=KERNEL)
    read(book, items=5, unreadable=0, pending=3)
    more = SettleSource(source_id="chat", cursor="batch-1", pending=4)
    refused(book, more, UsageError, "invalid_value", actor=KERNEL)
    odd = SettleSource(source_id="chat", cursor="two\nlines")
    refused(book, odd, UsageError, "invalid_value", actor=KERNEL)
    refused(book, first, Denied, "not_a_person")
    book.do(first, KERNEL)
    refused(book, first, Conflict, "exists", actor=KERNEL)
    pause = PauseSource(source_id="chat", paused=True)
    refused(book, PauseSource(source_id="chat", paused=False), Conflict, "exists", actor=KERNEL)
    book.do(pause, KERNEL)
    refused(book, pause, Conflict, "exists", actor=KERNEL)
    later = SettleSource(source_id="chat", cursor="batch-2")
    refused(book, later, UsageError, "illegal_transition", actor=KERNEL)
    nobody = SettleSource(source_id="no", cursor="x")
    refused(book, nobody, UsageError, "unknown_source", actor=KERNEL)


LOOKS = st.sampled_from(["read", "no_change", "failed", "settle", "pause", "resume", "host"])
Step = tuple[str, str, int, int]
STEPS = st.lists(
    st.tuples(LOOKS, st.sampled_from(["a", "b"]), st.integers(0, 2), st.integers(0, 96)),
    max_size=12,
)


def attempt(book: Book, step: Step, number: int) -> None:
    what, ref, count, hours = step
    commands = {
        "settle": SettleSource(source_id=ref, cursor=f"batch-{count}"),
        "pause": PauseSource(source_id=ref, paused=True),
        "resume": PauseSource(source_id=ref, paused=False),
        "host": ReportHost(
            provider=f"of-{ref}", status="failed" if count else "ok", expires_seconds=60
        ),
    }
    look = ReadSource(
        source_id=ref,
        status=what,  # type: ignore[arg-type]
        items=2,
        unreadable=count,
        pending=count,
    )
    at = NOW + timedelta(hours=hours, seconds=number)
    with contextlib.suppress(LoopxError):
        book.do(commands.get(what, look), KERNEL, at)


@given(STEPS)
def test_what_happens_to_one_source_changes_no_other(
    steps: list[tuple[str, str, int, int]],
) -> None:
    rules = [SourceRule(id=ref, provider=f"of-{ref}") for ref in ("a", "b")]
    book = opened(sources=tuple(rules))
    for ref in ("a", "b"):
        book.do(BindSource(source_id=ref), KERNEL)
    for number, step in enumerate(steps):
        other = "b" if step[1] == "a" else "a"
        before = book.state
        attempt(book, step, number)
        after = book.state
        assert after.sources[other] == before.sources[other]
        assert after.hosts.get(f"of-{other}") == before.hosts.get(f"of-{other}")
        one, was = after.sources[step[1]], before.sources[step[1]]
        reads = ("checked_at", "last_read_at", "last_success_at", "failure_streak", "read_status")
        if step[0] in ("settle", "pause", "resume", "host"):
            assert [getattr(one, key) for key in reads] == [getattr(was, key) for key in reads]
        else:
            assert (one.cursor, one.cursor_moved_at) == (was.cursor, was.cursor_moved_at)
    assert book.replay() == book.state


# Hosts


def report(book: Book, status: str, *scanned: str, at: Any = NOW) -> HostReading:
    command = ReportHost(
        provider="slack",
        status=status,  # type: ignore[arg-type]
        scanned=scanned,
        expires_seconds=3600,
    )
    book.do(command, KERNEL, at)
    return judge_host(book.state.hosts["slack"], book.state.sources.values(), at)


def test_a_host_has_its_own_clocks_and_says_nothing_of_its_sources() -> None:
    book = bound()
    reading = report(book, "ok", "chat")
    assert (reading.report, reading.last_success_at, reading.alert) == ("ok", NOW, False)
    assert judge(book.state.source("chat"), NOW).status == "never_read"
    later = NOW + timedelta(minutes=5)
    reading = report(book, "failed", at=later)
    assert (reading.checked_at, reading.last_success_at) == (later, NOW)
    assert (reading.failure_streak, reading.alert_reasons) == (1, ("unreadable_sources",))
    assert report(book, "failed", at=later).failure_streak == 2
    assert report(book, "ok", at=later).failure_streak == 0


def test_a_full_run_names_what_it_did_not_scan() -> None:
    book = bound()
    book.do(AddSource(rule=SourceRule(id="wiki", provider="slack", on_demand=True)), KERNEL)
    assert report(book, "ok", "chat").not_scanned == ("wiki",)
    book.do(AddSource(rule=SourceRule(id="later", provider="slack")), KERNEL)
    reading = judge_host(book.state.hosts["slack"], book.state.sources.values(), NOW)
    assert reading.not_scanned == ("wiki", "later")


@pytest.mark.parametrize(("seconds", "word"), [(3599, "ok"), (3600, "expired"), (-400, "expired")])
def test_an_expired_report_is_no_report(seconds: int, word: str) -> None:
    book = bound()
    report(book, "ok", "chat")
    now = NOW + timedelta(seconds=seconds)
    reading = judge_host(book.state.hosts["slack"], book.state.sources.values(), now)
    assert reading.report == word
    row = host_row(reading)
    assert (row.id, row.required) == ("host:slack", True)
    expected = ("read", "fresh", ()) if word == "ok" else ("not_read", "stale", ("stale_sources",))
    assert (row.read_status, row.status, row.alert_reasons) == expected


def test_reports_of_hosts_that_are_refused() -> None:
    book = bound()
    book.do(AddSource(rule=SourceRule(id="wiki", provider="mediawiki")), KERNEL)
    nobody = ReportHost(provider="jira", status="ok", expires_seconds=60)
    refused(book, nobody, UsageError, "unknown_source", actor=KERNEL)
    foreign = ReportHost(provider="slack", status="ok", scanned=("wiki",), expires_seconds=60)
    refused(book, foreign, UsageError, "invalid_value", actor=KERNEL)
    unknown = ReportHost(provider="slack", status="ok", scanned=("no",), expires_seconds=60)
    refused(book, unknown, UsageError, "unknown_source", actor=KERNEL)
    short = ReportHost(provider="slack", status="ok", expires_seconds=0)
    refused(book, short, UsageError, "invalid_event", actor=KERNEL)
