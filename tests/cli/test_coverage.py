"""What a projection leaves out stands in its coverage, by reason: lines, goals, sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.clock import ManualClock, parse_time

from tests.cli.helpers import loopx, ok, start

AGENT = ("--agent", "claude-code")
OF_A_GOAL = (
    "status",
    "board",
    "report",
    "review-packet damage",
    "quota should-run",
    "quota status",
    "completion",
    "todo list",
    "lease list",
    "gate list",
    "turn list",
    "escalation list",
    "replan list",
    "source list",
    "objective history",
    "event list",
    "goal show",
    "state check",
)
OF_ITS_LINES = ("event list", "event show own-1", "report", "objective history")


@pytest.fixture
def clock() -> ManualClock:
    clock = ManualClock(parse_time("2026-09-16T22:40:00Z"))
    start(clock)
    ok("agent", "add", "codex", clock=clock)
    ok("todo", "add", "First", *AGENT, "--event-id", "own-1", clock=clock)
    for title in ("Second", "Third"):
        ok("todo", "add", title, *AGENT, clock=clock)
    clock.advance(minutes=1)
    return clock


def broken(line: int) -> None:
    """The goal's journal with garbage in the place of one line."""
    journal = Path(".loopx/runtime/shop/events.jsonl")
    lines = journal.read_text("utf-8").splitlines(keepends=True)
    lines[line - 1] = "garbage\n"
    journal.write_text("".join(lines), "utf-8")


def envelope(clock: ManualClock, words: str) -> Any:
    shown = loopx(*words.split(), "--json", clock=clock)
    assert shown.json["ok"], shown
    return shown.json["projection_envelope"]


@pytest.mark.parametrize("words", OF_A_GOAL)
def test_lines_behind_damage_are_left_out_of_everything_about_the_goal(
    words: str, clock: ManualClock
) -> None:
    broken(3)

    found = envelope(clock, words)
    assert found["coverage"]["included_count"] < found["coverage"]["expected_count"]
    assert found["coverage"]["omitted"] == [{"reason": "unreachable", "count": 2}]
    assert (found["complete"], found["alert"]) == (False, True)
    reasons = [one["code"] for one in found["alert_reasons"]]
    assert reasons == ["incomplete_coverage", "integrity"]
    lines = loopx(*words.split(), clock=clock).out.splitlines()
    assert lines[1].startswith("alerts: incomplete_coverage omitted=unreachable=2 integrity=")


@pytest.mark.parametrize("words", ["status --scope workspace", "board --scope workspace"])
def test_a_goal_read_in_part_is_shown_and_counted_as_missing(
    words: str, clock: ManualClock
) -> None:
    ok("start-goal", "--id", "blog", "--objective", "Write", clock=clock)
    assert envelope(clock, words)["coverage"]["complete"] is True
    broken(3)

    cover = envelope(clock, words)["coverage"]
    assert (cover["included_count"], cover["expected_count"]) == (1, 2)
    assert cover["omitted"] == [{"reason": "unreachable", "count": 1}]
    everywhere = envelope(clock, words.replace("workspace", "global"))["coverage"]
    assert (everywhere["included_count"], everywhere["expected_count"]) == (0, 1)
    assert everywhere["omitted"] == [{"reason": "unreachable", "count": 1}]
    assert loopx("status", "--line", "--goal", "shop", clock=clock).out.startswith(
        "#[fg=red]incomplete_coverage!"
    )


def test_lines_a_repair_set_aside_are_left_out_of_what_is_told_from_the_lines(
    clock: ManualClock,
) -> None:
    broken(3)
    ok("repair", "journal", clock=clock)
    clock.advance(minutes=1)

    for words in OF_ITS_LINES:
        found = envelope(clock, words)
        assert found["coverage"]["omitted"] == [{"reason": "quarantined", "count": 2}], words
        assert found["complete"] is False
    report = ok("report", clock=clock)
    assert any("2 lines after #2, set aside by the repair" in one for one in report["not_covered"])
    ok("todo", "add", "Fourth", *AGENT, clock=clock)
    clock.advance(minutes=1)
    later = ok("report", "--since", "2026-09-16T22:41:30Z", clock=clock)
    assert later["projection_envelope"]["coverage"]["complete"] is True
    # The state is what the person who signed the repair wanted: nothing is missing in it.
    assert envelope(clock, "status")["coverage"]["complete"] is True
    assert "ok  shop: set aside: 2 lines after #2, by the repair" in loopx("doctor").out


def test_sources_nobody_scanned_are_left_out_beside_lines_nobody_reads(clock: ManualClock) -> None:
    ok("source", "add", "wiki", "--provider", "wiki", "--on-demand", clock=clock)
    for title in ("Fourth", "Fifth"):
        ok("todo", "add", title, *AGENT, clock=clock)
    broken(6)

    found = envelope(clock, "source list")
    assert found["coverage"]["omitted"] == [
        *({"reason": "unreachable", "count": 2}, {"reason": "not_scanned", "count": 1}),
    ]
    assert found["complete"] is False
