"""A pane makes its picture only where what it is made of differs, or the clock moved a text."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from textual.app import App, ComposeResult

from loopx_tui.panes.board import _PANES
from loopx_tui.panes.pane import GoalPane, Pane, Picture
from loopx_tui.presentation import todos
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.kept_rows import KeptRows
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene
from tests.tui import fixtures
from tests.tui.fixtures import NOW


class Alone(App[None]):
    """One pane, and a clock that is moved by hand."""

    def __init__(self, kind: type[Pane]) -> None:
        super().__init__()
        self.now = NOW
        self.pane = kind(lambda: Pen(self.now))
        self.made = 0
        picture = self.pane.picture

        def counted(scene: Scene, pen: Pen) -> Picture:
            self.made += 1
            return picture(scene, pen)

        self.pane.picture = counted  # type: ignore[method-assign]

    def compose(self) -> ComposeResult:
        yield self.pane

    def shows(self, scene: Scene) -> bool:
        """Shows a scene; whether the picture was made for it."""
        before = self.made
        self.pane.show(scene)
        return self.made > before


@asynccontextmanager
async def alone(kind: type[Pane]) -> Any:
    app = Alone(kind)
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.pause()
        yield app


def scene(goals: list[fixtures.GoalView] | None = None) -> Scene:
    told = fixtures.told(goals)
    return Scene(told.view, told.goal_id, told.events)


@pytest.mark.parametrize("kind", _PANES)
async def test_the_same_values_in_another_reading_are_not_drawn_again(kind: type[Pane]) -> None:
    first = scene()
    assert first.view is not None
    again = replace(first, view=replace(first.view))
    async with alone(kind) as app:
        assert app.shows(first)
        assert not app.shows(first)
        assert not app.shows(again)


@pytest.mark.parametrize("kind", _PANES)
async def test_another_goal_is_drawn(kind: type[Pane]) -> None:
    goals = fixtures.goals()
    async with alone(kind) as app:
        app.shows(scene(goals))
        assert app.shows(replace(scene(goals), goal_id=goals[1].goal_id))
        assert app.shows(Scene())
        assert app.shows(scene(goals))


@pytest.mark.parametrize("kind", _PANES)
async def test_a_goal_that_is_not_selected_is_drawn_where_all_goals_are(kind: type[Pane]) -> None:
    goals = fixtures.goals()
    first = scene(goals)
    goals[1] = replace(goals[1], seq=goals[1].seq + 1)
    later = replace(scene(goals), events=first.events)
    async with alone(kind) as app:
        app.shows(first)
        assert app.shows(later) == (not issubclass(kind, GoalPane))


@pytest.mark.parametrize("kind", _PANES)
async def test_a_text_that_reads_differently_is_drawn_when_it_does(kind: type[Pane]) -> None:
    first = scene()
    async with alone(kind) as app:
        app.shows(first)
        due = app.pane.due
        if due is not None:
            app.now = due - timedelta(milliseconds=1)
            assert not app.shows(first)
            app.now = due
            assert app.shows(first)
        app.now = NOW - timedelta(minutes=5)  # Somebody put the clock back.
        assert app.shows(first)


async def test_what_else_it_is_made_of_is_drawn_on_request() -> None:
    async with alone(_PANES[0]) as app:
        app.shows(scene())
        made = app.made
        app.pane.again()
        assert app.made == made + 1


# Rows


def kept() -> tuple[KeptRows[tuple[str, int]], list[str]]:
    made: list[str] = []

    def row(thing: tuple[str, int], pen: Pen) -> Row:
        made.append(thing[0])
        text = pen.left(NOW + timedelta(seconds=thing[1])) if thing[1] else ""
        return Row(thing[0], (Cell(text),))

    return KeptRows(lambda thing: thing[0], row), made


def test_a_row_is_made_once_for_what_is_equal() -> None:
    rows, made = kept()
    first = rows.rows([("a", 0), ("b", 0)], Pen(NOW))
    second = rows.rows([("b", 0), ("a", 0)], Pen(NOW + timedelta(hours=1)))
    assert made == ["a", "b"]
    assert [row.key for row in second] == ["b", "a"]
    assert second[0] is first[1] and second[1] is first[0]


def test_a_row_that_counts_down_is_made_again_when_it_reads_differently() -> None:
    rows, made = kept()
    things, pen = [("a", 0), ("b", 90)], Pen(NOW)
    rows.rows(things, pen)
    due = pen.next_change
    assert due is not None
    early, late = Pen(due - timedelta(milliseconds=1)), Pen(due)
    rows.rows(things, early)
    assert early.next_change == due and made == ["a", "b"]
    (_, counted) = rows.rows(things, late)
    assert made == ["a", "b", "b"] and counted.cells[0].text == "89s"
    assert late.next_change is not None and late.next_change > due


def test_what_went_and_came_back_is_made_again() -> None:
    rows, made = kept()
    for things in ([("a", 0)], [], [("a", 0)], [("a", 5)]):
        rows.rows(things, Pen(NOW))
    assert made == ["a", "a", "a"]


MOMENTS: list[Callable[[datetime], datetime]] = [
    lambda now: now,
    lambda now: now + timedelta(seconds=31),
    lambda now: now + timedelta(minutes=14, seconds=1),
    lambda now: now - timedelta(minutes=2),
    lambda now: now + timedelta(days=1),
]


def test_kept_rows_say_what_new_ones_say_at_any_moment() -> None:
    view = fixtures.goals()[0]
    rows = KeptRows[Any](lambda row: row.todo.id, todos.row)
    for moment in MOMENTS:
        now = moment(NOW)
        assert rows.rows(todos.in_order(view), Pen(now)) == todos.rows(view, Pen(now))


def test_a_time_of_day_reads_differently_from_midnight_on() -> None:
    pen = Pen(NOW, zone=NOW.tzinfo)
    assert pen.clock(NOW) == "22:41"
    midnight = NOW.replace(hour=0, minute=0, second=0) + timedelta(days=1)
    assert pen.next_change == midnight
    assert Pen(midnight, zone=NOW.tzinfo).clock(NOW) == "09-16 22:41"
