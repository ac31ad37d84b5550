"""Scenario 40 for readers: board, report and review packet before and after a decision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.clock import ManualClock

from tests.cli.helpers import loopx, ok
from tests.cli.ledgers import AGENT, ask, stale

PAGE = Path(".loopx/goals/shop/ACTIVE_GOAL_STATE.md")
SINCE = ("--since", "2026-09-14T00:00:00Z")


@pytest.fixture
def clock() -> ManualClock:
    """A stale source, a superseded todo, and a gate that waits beside one that was decided."""
    clock = stale()
    ok("todo", "add", "Convert otherwise", "--lineage", "T3", *AGENT, clock=clock)
    ok("todo", "supersede", "T3", "--by", "T4", "--reason", "simpler", clock=clock)
    ask("npm publish", clock)
    clock.advance(minutes=1)
    return clock


def gates(clock: ManualClock) -> dict[str, str]:
    found: list[dict[str, Any]] = ok("board", clock=clock)["gates"]
    return {row["id"]: row["status"] for row in found}


def approve(clock: ManualClock) -> dict[str, Any]:
    decided = ok("gate", "approve", "G2", "--reason", "as seen", clock=clock)
    clock.advance(minutes=1)
    event: dict[str, Any] = ok("event", "show", decided["receipt"]["event_id"])["event"]
    return event


def test_scenario_40_board_and_report_follow_the_signed_decision(clock: ManualClock) -> None:
    board = ok("board", clock=clock)
    assert [need["id"] for need in board["needs_you"]] == ["G2"]
    assert gates(clock) == {"G1": "approved", "G2": "pending"}
    assert board["todos"]["superseded"] == 1
    for command in (("board",), ("report", *SINCE), ("review-packet", "G2")):
        lines = loopx(*command, clock=clock).out.splitlines()
        assert lines[1] == "alerts: stale_sources=tickets", command
    report = ok("report", *SINCE, clock=clock)
    (change,) = report["changes"]["rows"]
    assert (change["what"], change["reason"]) == ("T3 superseded by T4", "simpler")
    assert report["decisions"]["rows"][-1]["about"] == "T3"

    event = approve(clock)
    assert gates(clock) == {"G1": "approved", "G2": "approved"}
    assert ok("board", clock=clock)["needs_you"] == []
    decision = ok("report", *SINCE, clock=clock)["decisions"]["rows"][-1]
    assert (decision["event_id"], decision["about"]) == (event["event_id"], "G2")
    assert (decision["place"]["by"], decision["signature_ok"]) == ("huang", True)
    evidence = ok("report", *SINCE, clock=clock)["evidence"]["rows"]
    packet = ok("review-packet", "G2", clock=clock)["evidence"]
    assert {row["sha256"] for row in evidence} == {row["sha256"] for row in packet} != set()


def test_scenario_40_what_is_written_into_a_rendering_decides_nothing(clock: ManualClock) -> None:
    approved = loopx("board", clock=clock).out.replace("pending ", "approved")
    Path("board.txt").write_text(approved, "utf-8")
    assert gates(clock)["G2"] == "pending"
    before = PAGE.read_text("utf-8")
    PAGE.write_text(before.replace("superseded by T4", "done, the owner said so"), "utf-8")
    ok("refresh-state", "--handoff", "Chose variables.", *AGENT, clock=clock)
    page = PAGE.read_text("utf-8")
    assert page.index("superseded by T4") < page.index("the owner said so")
    assert "T3** Convert components\n  - *note* superseded by T4\n" in page
    assert ok("todo", "show", "T3", clock=clock)["todo"]["status"] == "superseded"
