"""Five incidents in which everything looked well: each must be seen, through the public command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.clock import ManualClock, parse_time

from tests.cli.helpers import loopx, ok, start

GOOD = ("--status", "read", "--items", "12", "--unreadable", "0")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(parse_time("2026-09-16T22:40:00Z"))


def source(name: str, clock: ManualClock, *more: str) -> None:
    """A source of jira's that is bound."""
    ok("source", "add", name, "--provider", "jira", *more, clock=clock)
    ok("source", "bind", name, clock=clock)


def read(name: str, clock: ManualClock, *how: str) -> Any:
    return ok("source", "read", name, *(how or GOOD), clock=clock)["source"]


def envelope(clock: ManualClock, *words: str) -> Any:
    return ok(*(words or ("status",)), clock=clock)["projection_envelope"]


def reasons(found: Any) -> dict[str, list[str]]:
    return {one["code"]: one["ids"] for one in found["alert_reasons"]}


def red(clock: ManualClock) -> list[str]:
    """The layers of sources and hosts that the doctor finds not well, each with what helps."""
    found = loopx("doctor", "--json", clock=clock)
    checks = [check for check in found.json["checks"] if not check["ok"]]
    assert found.status == (1 if checks else 0)
    assert all(check["fix"].startswith("loopx ") for check in checks)
    return [check["name"].removeprefix("shop: ") for check in checks]


def row(clock: ManualClock, name: str = "tickets") -> Any:
    return next(s for s in ok("source", "list", clock=clock)["sources"] if s["id"] == name)


def alerts(clock: ManualClock, *words: str) -> str:
    """The second line that people read."""
    return loopx(*(words or ("status",)), clock=clock).out.splitlines()[1]


def test_incident_1_a_key_source_last_read_nine_days_ago(clock: ManualClock) -> None:
    start(clock)
    source("tickets", clock, "--required", "--window", "3d")
    read("tickets", clock)
    assert envelope(clock)["alert"] is False
    clock.advance(days=9)

    found = envelope(clock)
    assert (found["fresh"], reasons(found)) == (False, {"stale_sources": ["tickets"]})
    assert row(clock)["staleness_seconds"] == 777600
    assert ok("source", "list", clock=clock)["enabled_state_implies_freshness"] is False
    assert alerts(clock) == "alerts: stale_sources=tickets"
    assert red(clock) == ["source tickets: fresh"]


def test_incident_1_turns_by_the_clock_alone(clock: ManualClock) -> None:
    start(clock)
    source("tickets", clock, "--window", "3d")
    read("tickets", clock)
    clock.advance(days=3)
    assert envelope(clock)["fresh"] is True
    clock.advance(seconds=1)
    assert envelope(clock)["fresh"] is False


def test_incident_2_a_required_source_that_is_enabled_and_was_never_bound(
    clock: ManualClock,
) -> None:
    start(clock, "shop", "--source", "tickets=jira,required")

    found = envelope(clock)
    assert (found["fresh"], found["complete"]) == (False, False)
    assert reasons(found) == {"missing_required_sources": ["tickets"]}
    tickets = row(clock)
    assert (tickets["enabled"], tickets["bound"]) == (True, False)
    assert (tickets["read_status"], tickets["status"]) == ("not_read", "never_read")
    layers = "bound checked succeeded fresh complete".split()
    assert red(clock) == [f"source tickets: {layer}" for layer in layers]
    doctor = loopx("doctor", "--json", clock=clock).json
    assert doctor["enabled_state_implies_freshness"] is False
    configured = next(c for c in doctor["checks"] if c["name"].endswith("tickets: configured"))
    assert configured["ok"] and "says nothing of its age" in configured["detail"]


def test_incident_3_a_host_that_runs_and_a_provider_that_fails(clock: ManualClock) -> None:
    start(clock)
    for name in ("tickets", "wiki"):
        source(name, clock)
        read(name, clock)
    ok("source", "add", "archive", "--provider", "jira", "--on-demand", clock=clock)
    clock.advance(hours=1)
    ok("source", "host", "jira", "--status", "ok", "--scanned", "tickets", clock=clock)
    for _ in range(3):
        read("tickets", clock, "--status", "failed")

    failing = row(clock)
    assert (failing["read_status"], failing["failure_streak"]) == ("failed", 3)
    assert failing["last_success_at"] == "2026-09-16T22:40:00Z" < failing["checked_at"]
    assert failing["status"] == "fresh"
    assert reasons(envelope(clock)) == {"unreadable_sources": ["tickets"]}
    (host,) = ok("source", "list", clock=clock)["hosts"]
    assert (host["report"], host["not_scanned"]) == ("ok", ["wiki", "archive"])
    assert row(clock, "archive")["status"] == "not_scanned"
    listed = envelope(clock, "source", "list")
    assert listed["coverage"]["omitted"] == [{"reason": "not_scanned", "count": 1}]
    assert (listed["coverage"]["included_count"], listed["coverage"]["expected_count"]) == (2, 3)
    assert listed["complete"] is False
    archive = "bound checked succeeded fresh complete".split()
    expected = ["source tickets: succeeded", *(f"source archive: {one}" for one in archive)]
    assert red(clock) == [*expected, "host jira"]
    assert row(clock, "wiki")["alert"] is False


def test_incident_3_a_report_that_expired_is_no_report(clock: ManualClock) -> None:
    start(clock)
    source("tickets", clock)
    read("tickets", clock)
    report = ("source", "host", "jira", "--scanned", "tickets", "--expires", "1h")
    ok(*report, "--status", "ok", clock=clock)
    assert red(clock) == []
    clock.advance(minutes=59)
    ok(*report, "--status", "failed", clock=clock)
    (host,) = ok("source", "list", clock=clock)["hosts"]
    assert (host["report"], host["failure_streak"]) == ("failed", 1)
    assert host["last_success_at"] == "2026-09-16T22:40:00Z"
    assert reasons(envelope(clock)) == {"unreadable_sources": ["host:jira"]}
    clock.advance(hours=1)
    assert ok("source", "list", clock=clock)["hosts"][0]["report"] == "expired"
    assert reasons(envelope(clock)) == {"stale_sources": ["host:jira"]}
    assert red(clock) == ["host jira"]


def test_incident_4_a_reading_of_twelve_items_of_which_none_can_be_read(
    clock: ManualClock,
) -> None:
    start(clock)
    source("tickets", clock, "--required")
    read("tickets", clock)
    clock.advance(hours=1)
    read("tickets", clock, "--status", "read", "--items", "12", "--unreadable", "12")

    tickets = row(clock)
    assert (tickets["read_status"], tickets["unreadable_count"]) == ("partially_unreadable", 12)
    found = envelope(clock)
    assert (found["fresh"], found["complete"]) == (True, False)
    assert reasons(found) == {"unreadable_sources": ["tickets"]}
    assert red(clock) == ["source tickets: succeeded", "source tickets: complete"]


def test_incident_4_a_success_that_reports_no_counts(clock: ManualClock) -> None:
    start(clock)
    source("tickets", clock, "--required")
    read("tickets", clock, "--status", "read")

    assert (row(clock)["read_status"], row(clock)["status"]) == ("unverified", "stale")
    found = reasons(envelope(clock))
    assert found == {"stale_sources": ["tickets"], "unverified_sources": ["tickets"]}


def test_incident_5_one_of_48_is_never_everything(clock: ManualClock, folder: Path) -> None:
    start(clock)
    for number in range(47):
        elsewhere = folder / f"gone-{number:02}"
        (elsewhere / ".loopx").mkdir(parents=True)
        ok("workspace", "add", elsewhere)

    found = envelope(clock, "board", "--scope", "global")
    coverage = found["coverage"]
    assert (found["complete"], found["alert"]) == (False, True)
    assert (coverage["included_count"], coverage["expected_count"]) == (1, 48)
    assert sum(one["count"] for one in coverage["omitted"]) == 47
    lines = loopx("board", "--scope", "global", clock=clock).out.splitlines()
    assert "coverage=1/48 scope=global" in lines[0]
    assert lines[1].startswith("alerts: incomplete_coverage omitted=")


def test_a_backlog_that_does_not_move_is_named_and_not_tidied(clock: ManualClock) -> None:
    start(clock)
    source("tickets", clock)
    read("tickets", clock, *GOOD, "--pending", "1000")
    clock.advance(days=4)
    for _ in range(2):
        read("tickets", clock, *GOOD)
    stalled = row(clock)
    assert (stalled["queue"], stalled["pending_count"], stalled["cursor"]) == (
        "stalled",
        1000,
        None,
    )
    assert red(clock) == ["source tickets: queue"]
    ok("source", "settle", "tickets", "--cursor", "batch-1", clock=clock)
    assert (row(clock)["queue"], row(clock)["pending_count"]) == ("moving", 1000)
    assert red(clock) == []


def test_lines_that_a_repair_set_aside_are_omissions(clock: ManualClock) -> None:
    start(clock)
    for title in ("First", "Second", "Third"):
        ok("todo", "add", title, "--agent", "claude-code", clock=clock)
    journal = Path(".loopx/runtime/shop/events.jsonl")
    lines = journal.read_text("utf-8").splitlines(keepends=True)
    journal.write_text("".join((*lines[:2], "no line\n", *lines[3:])), "utf-8")

    found = envelope(clock, "event", "list")
    assert found["coverage"]["omitted"] == [{"reason": "unreachable", "count": 2}]
    assert set(reasons(found)) == {"incomplete_coverage", "integrity"}
    ok("repair", "journal", clock=clock)
    for words in (("event", "list"), ("event", "list", "--limit", "1")):
        found = envelope(clock, *words)
        assert found["coverage"]["omitted"] == [{"reason": "quarantined", "count": 2}]
        assert found["coverage"]["expected_count"] == found["coverage"]["included_count"] + 2
        assert found["complete"] is False
    assert alerts(clock, "event", "list") == "alerts: incomplete_coverage omitted=quarantined=2"
    assert envelope(clock)["alert"] is False
