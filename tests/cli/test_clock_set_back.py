"""An agent whose clock is set back hides nothing of what it spent or failed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.clock import ManualClock

from tests.cli.governing import AGENT
from tests.cli.helpers import loopx, ok, start

NOW = datetime(2026, 9, 16, 22, 40, tzinfo=UTC)
ONE_SLOT = ("--compute", "0.01", "--window-hours", "1")
DAYS = timedelta(days=3)


def turn(number: int, outcome: str, clock: ManualClock) -> None:
    name = f"turn-{number:04}"
    handing = ("--evidence", "notes.md") if outcome == "progress" else ()
    ok("turn", "begin", *AGENT, clock=clock)
    Path("notes.md").write_text(f"what was found in {name}", "utf-8")
    settle = ("turn", "settle", "--turn", name, "--outcome", outcome, "--handoff", "h")
    ok(*settle, *handing, *AGENT, clock=clock)


def quota(clock: ManualClock) -> dict[str, Any]:
    return dict(ok("quota", "status", clock=clock)["quota"])


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


def test_a_booking_with_a_clock_set_back_counts_from_the_line_before_it(clock: ManualClock) -> None:
    start(clock, "shop", *ONE_SLOT)
    for title in ("First", "Second"):
        ok("todo", "add", title, *AGENT, clock=clock)
    turn(1, "progress", ManualClock(NOW - DAYS))
    clock.advance(minutes=5)
    assert (quota(clock)["used"], quota(clock)["aged_out"]) == (1, 0)
    refused = loopx("turn", "begin", *AGENT, "--json", clock=clock)
    assert (refused.status, refused.json["reasons"][0]["code"]) == (11, "quota_exhausted")
    clock.advance(minutes=54)
    assert quota(clock)["used"] == 1
    clock.advance(minutes=2)
    assert (quota(clock)["used"], quota(clock)["aged_out"]) == (0, 1)
    ok("refresh-state", *AGENT, clock=clock)
    assert ok("event", "verify", "--deep", clock=clock)["ok"]


def test_nor_do_more_lines_of_that_clock_help(clock: ManualClock) -> None:
    start(clock, "shop", *ONE_SLOT)
    back = ManualClock(NOW - DAYS)
    for number in range(20):
        ok("todo", "add", f"Todo {number}", *AGENT, clock=back)
    turn(1, "progress", back)
    assert quota(clock)["used"] == 1


def test_a_failure_with_a_clock_set_back_counts_too(clock: ManualClock) -> None:
    start(clock, "shop")
    for title in ("First", "Second"):
        ok("todo", "add", title, *AGENT, clock=clock)
    rules = Path("rules.yaml")
    rules.write_text("limits: {failed_turns_per_window: 2}", "utf-8")
    ok("goal", "edit", "--from", "rules.yaml", "--reason", "few", clock=clock)
    turn(1, "failed", clock)
    turn(2, "failed", ManualClock(NOW - DAYS))
    (one,) = ok("escalation", "list", clock=clock)["escalations"]
    assert (one["cause"], one["todo_id"]) == ("capped", None)


def test_a_clock_that_was_ahead_is_told_until_a_person_decides_something(
    clock: ManualClock,
) -> None:
    start(clock, "shop", *ONE_SLOT)
    ok("todo", "add", "Work", *AGENT, clock=ManualClock(NOW + 1000 * DAYS))
    ok("todo", "add", "More", *AGENT, clock=clock)
    turn(1, "progress", clock)
    clock.advance(hours=2)
    assert quota(clock)["used"] == 1
    reasons = ok("status", clock=clock)["projection_envelope"]["alert_reasons"]
    assert reasons == [{"code": "integrity", "ids": ["clock"]}]
    ok("objective", "patch", "--text", "Less", "--reason", "smaller", clock=clock)
    assert ok("status", clock=clock)["projection_envelope"]["alert_reasons"] == []
    ok("quota", "void-slot", "--turn", "turn-0001", "--reason", "clock", clock=clock)
    assert quota(clock)["used"] == 0
    turn(2, "progress", clock)
    clock.advance(hours=2)
    assert quota(clock)["used"] == 0
