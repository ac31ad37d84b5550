"""Zones: a window is real hours wherever the machine stands, and no time without a zone counts."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from loopx_kernel.clock import format_time
from loopx_kernel.domain.quota import SpendSlot
from loopx_kernel.domain.todo import AddTodo

from tests.cli.helpers import loopx
from tests.kernel.workspace.build import CLAUDE, GOAL, Place, connected, open_goal
from tests.kernel.workspace.forge import append_raw

DAY = timedelta(days=1)
ZONES = {
    "Europe/Warsaw": ("2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"),
    "America/New_York": ("2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z"),
    "Pacific/Auckland": ("2026-04-04T14:00:00Z", "2026-09-26T14:00:00Z"),
    "Asia/Kathmandu": ("2026-03-29T01:00:00Z",),
    "bogus": ("2026-03-29T01:00:00Z",),
}


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("zone", "night"),
    [(zone, night) for zone, nights in ZONES.items() for night in nights],
    indirect=["zone"],
)
@pytest.mark.usefixtures("zone")
def test_a_window_is_24_real_hours_also_when_the_clocks_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, night: str
) -> None:
    place = connected(tmp_path)
    place.clock.now = datetime.fromisoformat(night) - timedelta(hours=3)
    open_goal(place)
    place.ws.todos.add(GOAL, CLAUDE, AddTodo(title="Research styles"))
    place.ws.turns.begin(GOAL, CLAUDE)
    place.ws.quota.spend(GOAL, CLAUDE, SpendSlot(turn="turn-0001"))
    monkeypatch.chdir(place.root)
    spent = place.clock.now
    for later, used in ((DAY - timedelta(seconds=1), 1), (DAY, 0)):
        place.clock.now = spent + later
        told = loopx("quota", "status", "--json", clock=place.clock).json["quota"]
        assert told["used"] == used
        assert told["window"]["start"] == format_time(place.clock.now - DAY)
        assert place.again().view(GOAL).contract.quota.used == used


MOMENTS = {
    "2026-09-17T09:00:00Z": "2026-09-17T09:00:00Z",
    "2026-09-17T14:30:00+05:30": "2026-09-17T09:00:00Z",
    "2026-09-17t09:00:00.250z": "2026-09-17T09:00:00.250Z",
    "2026-09-17T09:00:00": None,
    "2026-09-17": None,
    "2026-03-29T02:30:00": None,
    "2026-09-17T09:00:00+25:00": None,
    "10000-01-01T00:00:00Z": None,
    "0001-01-01T00:00:00+14:00": None,
    "1789635600": None,
    "1789635600000": None,
    "0": None,
    "": None,
    "yesterday": None,
}


@pytest.mark.parametrize("text", MOMENTS)
def test_a_time_without_a_zone_is_refused_by_name_and_nothing_is_guessed(
    place: Place, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.chdir(place.root)
    lines = place.lines()
    told = loopx(
        "todo",
        "defer",
        "T3",
        f"--until={text}",
        "--agent",
        CLAUDE,
        "--reason",
        "later",
        "--json",
        clock=place.clock,
    )
    if MOMENTS[text] is None:
        assert (told.status, told.code) == (2, "invalid_value")
        assert place.lines() == lines
        return
    assert told.status == 0, told
    assert json.loads(place.lines()[-1])["payload"]["resume_at"] == MOMENTS[text]


@pytest.mark.parametrize(
    "text", ["2026-09-17T09:00:00", "2026-09-17", "yesterday", "", "2026-09-17T09:00:00+25:00"]
)
def test_a_line_whose_time_has_no_zone_is_no_event_and_is_named(place: Place, text: str) -> None:
    good = len(place.lines())
    last = json.loads(place.lines()[-1])
    append_raw(place.journal, last | {"event_id": "e-naive", "recorded_at": text})
    view = place.again().view(GOAL)
    assert view.seq == good
    assert [item.reason for item in view.reads.damage if f"line {good + 1}" in item.reason]
    assert view.contract.answer == "ask"
