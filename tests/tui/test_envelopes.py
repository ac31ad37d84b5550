"""Every projection of the terminal UI says how old and complete it is, and alerts come first."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from datetime import UTC, timedelta
from typing import Any

import pytest
from loopx_kernel.domain.records import SourceHost as Host
from loopx_kernel.views.envelope import Coverage, ledger_row, seal
from loopx_kernel.views.workspace import Unread
from textual.screen import Screen

from loopx_tui import screens as package
from loopx_tui.cases.table import CASES
from loopx_tui.desk import Desk
from loopx_tui.presentation import alerts, header
from loopx_tui.presentation.packet import as_of
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.review import review
from loopx_tui.screens.acting import ActingScreen
from loopx_tui.screens.boarded import BoardScreen
from loopx_tui.screens.deciding import DecidingPage
from loopx_tui.screens.detail import DetailScreen
from loopx_tui.screens.dialog import Dialog
from loopx_tui.screens.opening import OpeningScreen
from loopx_tui.screens.page import Page
from loopx_tui.screens.palette import ActionList
from loopx_tui.screens.review import ReviewScreen
from loopx_tui.screens.steady import SteadyScreen
from tests.tui import fixtures
from tests.tui.still import GOAL, StillLedger

ABOUT = {
    "gate": "G4",
    "escalation": "E1",
    "drift": "drift",
    "damage": "damage",
    "todo.finish": "T8",
    "todo.cancel": "T4",
    "todo.accept": "T4",
    "replan": "T4",
}
"""What each case is about; the others are about the goal."""


@pytest.mark.parametrize("width", [100, 60])
@pytest.mark.parametrize("name", CASES)
def test_every_review_says_how_old_and_complete_it_is_before_anything_else(
    name: str, width: int
) -> None:
    desk = Desk(StillLedger, CASES[name], GOAL, ABOUT.get(name, GOAL))
    look = desk.look()
    values = CASES[name].begin(look.matter)
    lines = review(CASES[name], look, values, width)

    read = "Read just now, at 2026-09-16 22:41:07 UTC: not every source is fresh; "
    assert lines[0].style == "stale" and lines[0].text in (
        f"{read}1/1 goal covered, something is missing",
        f"{read}4/4 goals of the workspace covered, something is missing",
    )
    stale = next(n for n, line in enumerate(lines) if line.text.startswith("▲ stale sources"))
    question = lines.index(next(filter(None, CASES[name].show(look.matter, values, width)))[0])
    assert stale < question
    again = desk.look()
    assert again.rest is look.rest


def test_an_old_reading_says_its_age_and_a_whole_and_fresh_one_is_quiet() -> None:
    ledger = ledger_row(fixtures.ago(minutes=5), fixtures.NOW, ())
    line = as_of(
        seal(
            "packet",
            observed_at=fixtures.ago(minutes=5),
            served_at=fixtures.NOW,
            sources=[ledger],
            coverage=Coverage("global", 3, 3),
        )
    )
    assert line == (
        "Read 5m ago, at 2026-09-16 22:36:07 UTC: every source is fresh; "
        "3/3 workspaces covered, nothing is missing",
        "text-dim",
    )


def test_whatever_the_envelope_alerts_of_stands_in_the_first_pane() -> None:
    failing = Host(
        provider="jira",
        status="failed",
        checked_at=fixtures.ago(minutes=3),
        expires_at=fixtures.NOW + timedelta(hours=1),
        failure_streak=3,
        seq=401,
    )
    quiet = fixtures.goal("docs", hosts={"jira": failing})
    goals = [*fixtures.goals(), fixtures.damaged(), fixtures.view(quiet)]
    for goal in goals:
        told = alerts.rows(fixtures.workspace([goal]), "")
        assert bool(told) == goal.envelope.alert, goal.goal_id
        shown = " ".join(cell.text for row in told for cell in row.cells)
        for reason in goal.envelope.alert_reasons:
            assert all(ref in shown for ref in reason.ids), (goal.goal_id, reason)
    assert goals[-1].envelope.alert


def test_the_header_counts_what_is_covered_and_says_as_of_when() -> None:
    lost = Unread("blog", "unreachable", "its journal is gone", "loopx doctor")
    view = fixtures.workspace(fixtures.goals(), [lost])
    place = header.Place("/home/huang/mall-frontend")
    pen = Pen(fixtures.NOW, zone=UTC)
    bar = header.header(place, view, None, mode="live", observed=fixtures.NOW, pen=pen, width=120)
    said = " ".join(cell.text for cell in (*bar.left, *bar.right))
    assert "4/5 goals" in said and "as of 22:41:07" in said


def screens() -> Iterator[type[Screen[Any]]]:
    """Every class of a screen there is."""
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(found.name)
        for one in vars(module).values():
            if isinstance(one, type) and issubclass(one, Screen) and one.__module__ == found.name:
                yield one


CARRY = (BoardScreen, ReviewScreen)
"""Screens that have the header, or begin with the envelope's own line."""
WINDOWS = (Dialog, ActionList, DetailScreen)
"""Windows over such a screen, whose header stays in sight."""
FIRST = (SteadyScreen, ActingScreen, Page, DecidingPage, OpeningScreen)
"""What others are made from, and the one before anything was read."""


def test_every_screen_carries_the_age_and_coverage_of_what_it_shows_or_lies_over_one() -> None:
    found = list(screens())
    assert len(found) > 15
    for one in found:
        assert issubclass(one, (*CARRY, *WINDOWS)) or one in FIRST, one.__name__


def test_a_packet_that_cannot_be_read_is_said_and_the_rest_is_shown() -> None:
    class Torn(StillLedger):
        def packet(self, goal_id: str, ref: str) -> object:
            from loopx_kernel.errors import Damaged

            raise Damaged("file_damaged", "its copy is damaged", next="loopx doctor")

    desk = Desk(Torn, CASES["gate"], GOAL, "G4")
    texts = [line.text for line in review(CASES["gate"], desk.look(), {}, 80)]
    assert any("cannot be read: its copy is damaged" in text for text in texts)
    assert any("npm publish" in text for text in texts)
