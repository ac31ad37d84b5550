"""A goal's own screen as a person meets it: tabs, what stands beside them, decisions, following."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from loopx_kernel.domain.records import Todo
from loopx_kernel.errors import Storage
from textual.pilot import Pilot

from loopx_tui.app import LoopxApp
from loopx_tui.feed import Told
from loopx_tui.insight import Patience
from loopx_tui.presentation.facts import Subject
from loopx_tui.presentation.finding import NAMED
from loopx_tui.presentation.story import Story
from loopx_tui.screens.detail import DetailScreen
from loopx_tui.screens.goal import GoalScreen
from loopx_tui.screens.review import ReviewScreen
from tests.tui import fixtures, stories
from tests.tui.gates import until
from tests.tui.test_app import feed, notices, screen_text

WIDE, MEDIUM, NARROW = (120, 36), (80, 24), (46, 19)


@asynccontextmanager
async def opened(
    told: Told | None = None, size: tuple[int, int] = WIDE, **options: Any
) -> AsyncIterator[tuple[LoopxApp, GoalScreen, Pilot[None]]]:
    app = stories.app(told, theme="dark", **options)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: app.main.settled)
        await pilot.press("1", "enter")
        await until(pilot, lambda: isinstance(app.screen, GoalScreen))
        screen = app.screen
        assert isinstance(screen, GoalScreen)
        await until(pilot, lambda: screen.scene.story is not None)
        yield app, screen, pilot


TABS = {
    "1": "Convert the shop's",
    "2": "CSS variables do not reach",
    "3": "turn-0081",
    "4": "✘ gates",
    "5": "slots per",
    "6": "chat-a",
    "7": "gate.requested",
    "8": "chat-a was last read 9 days ago",
}


def shows(app: LoopxApp, text: str) -> bool:
    return text in screen_text(app)


@pytest.mark.parametrize("size", [WIDE, MEDIUM], ids=["120", "80"])
async def test_each_tab_shows_its_part(size: tuple[int, int]) -> None:
    async with opened(size=size) as (app, screen, pilot):
        for key, says in TABS.items():
            await pilot.press(key)
            await until(pilot, partial(shows, app, says))
            assert screen.board.number == int(key)
            assert screen.board.focused is screen.board.front


async def test_brackets_turn_through_the_tabs_and_escape_leaves() -> None:
    async with opened() as (app, screen, pilot):
        await pilot.press("left_square_bracket")
        assert screen.board.number == 8
        await pilot.press("right_square_bracket", "right_square_bracket")
        assert screen.board.number == 2
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_every_object_opens() -> None:
    titles = {
        "1": "todo T7",
        "2": "replan O2",
        "3": "turn turn-0081",
        "4": "goal dark-mode",
        "5": "spend turn-0000",
        "6": "source chat-a",
        "7": "event event-412",
    }
    async with opened() as (app, screen, pilot):
        for key, title in titles.items():
            await pilot.press(key)
            await until(pilot, lambda: screen.board.front.rows.cursor_key is not None)
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, DetailScreen))
            assert title in screen_text(app)
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is screen)


async def test_beside_the_list_stands_the_row_under_the_cursor() -> None:
    async with opened() as (app, screen, pilot):
        assert screen.board.side.subject == ("todo", "dark-mode", "T7")
        await pilot.press("j")
        await until(pilot, lambda: "todo T3" in screen_text(app))
        await pilot.press("tab")
        assert screen.board.focused is screen.board.side
        await pilot.press("z")
        assert not screen.board.front.region.area and screen.board.side.region.area
        await pilot.press("z")
        assert screen.board.front.region.area


async def test_d_decides_the_gate_that_stops_the_todo_under_the_cursor() -> None:
    async with opened() as (app, screen, pilot):
        screen.board.front.rows.select("T6")
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        assert isinstance(app.screen, ReviewScreen) and app.screen.object_id == "G4"


async def test_d_says_where_nothing_waits() -> None:
    async with opened() as (app, screen, pilot):
        screen.board.front.rows.select("T3")
        await pilot.press("d")
        await until(pilot, lambda: bool(notices(app)))
        assert "Nothing under the cursor waits for a decision" in notices(app)
        assert app.screen is screen


async def test_it_follows_the_ledger_and_reads_only_where_that_differs() -> None:
    async with opened() as (app, _, pilot):
        asked: list[str] = app.asked  # type: ignore[attr-defined]
        before = len(asked)
        feed(app).tell(stories.told())
        await pilot.pause()
        assert len(asked) == before
        views = fixtures.goals()
        later = stories.state().model_copy(update={"seq": 413, "head": "ab" * 32})
        views[0] = fixtures.view(later)
        feed(app).tell(fixtures.told(views))
        await until(pilot, lambda: len(asked) == before + 1)
        assert "#413" in screen_text(app)


async def test_versions_and_the_report_are_read_when_they_are_looked_at() -> None:
    async with opened() as (app, _, pilot):
        asked: list[str] = app.asked  # type: ignore[attr-defined]
        assert asked == ["now"]
        await pilot.press("8")
        await until(pilot, lambda: "report" in asked)
        assert "versions" not in asked and "turns" not in asked


async def test_a_report_is_read_once_each_time_its_tab_is_turned_to() -> None:
    async with opened() as (app, screen, pilot):
        asked: list[str] = app.asked  # type: ignore[attr-defined]
        await pilot.press("8")
        await until(pilot, lambda: asked.count("report") == 1 and not screen._reading)
        views = fixtures.goals()
        views[0] = fixtures.view(stories.state().model_copy(update={"head": "ab" * 32}))
        feed(app).tell(fixtures.told(views))
        await pilot.pause()
        assert asked.count("report") == 1
        await pilot.press("1", "8")
        await until(pilot, lambda: asked.count("report") == 2)


async def test_the_end_of_the_lines_brings_earlier_ones() -> None:
    class Long(stories.StillKnowing):
        def now(self, events: int) -> Story:
            self.asked.append(f"now {events}")
            return super().now(events)

    async with opened() as (_, screen, pilot):
        long = screen._knowing = Long()
        await pilot.press("7", "end")
        await until(pilot, lambda: "now 1000" in long.asked)


async def test_the_end_of_the_todos_brings_those_that_left_the_state_and_they_open() -> None:
    old = [fixtures.todo(900 + n, f"Old work {n}", status="done", seq=n) for n in range(1, 4)]

    class Long(stories.StillKnowing):
        def finished(self, most: int) -> tuple[Todo, ...]:
            self.asked.append(f"finished {most}")
            return tuple(old[-most:])

    views = fixtures.goals()
    views[0] = fixtures.view(stories.state().model_copy(update={"left": {"done": 3}}))
    async with opened(fixtures.told(views)) as (app, screen, pilot):
        long = screen._knowing = Long()
        assert shows(app, "… 3 more") and not shows(app, "Old work")
        await pilot.press("end")
        await until(pilot, lambda: shows(app, "Old work 1") and not shows(app, "more"))
        assert [one for one in long.asked if one.startswith("finished")] == ["finished 3"]
        await pilot.press("end", "enter")
        await until(pilot, lambda: isinstance(app.screen, DetailScreen))
        assert app.screen.subject == Subject(NAMED, "dark-mode", "T901")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        views[0] = replace(views[0], head="ab" * 32)
        feed(app).tell(fixtures.told(views))
        await pilot.pause()
        assert shows(app, "Old work 1") and long.asked.count("finished 3") == 1


async def test_the_panes_of_completion_and_quota_open_their_tabs() -> None:
    async with opened() as (app, _, pilot):
        await pilot.press("escape")
        await pilot.press("8", "enter")
        await until(pilot, lambda: isinstance(app.screen, GoalScreen))
        assert isinstance(app.screen, GoalScreen) and app.screen.board.number == 5


async def test_what_cannot_be_read_is_said_and_the_rest_stays() -> None:
    class Broken(stories.StillKnowing):
        def report(self) -> Any:
            raise Storage("io_error", "The journal cannot be read")

    async with opened() as (app, screen, pilot):
        screen._knowing = Broken()
        await pilot.press("8")
        await until(pilot, lambda: "The journal cannot be read" in screen_text(app))
        await pilot.press("1")
        assert "Convert the shop's" in screen_text(app)


async def test_keys_work_while_a_long_reading_is_under_way_and_its_part_is_shown() -> None:
    hold, begun = threading.Event(), threading.Event()

    class Slow(stories.StillKnowing):
        def report(self) -> Any:
            begun.set()
            hold.wait()
            return super().report()

    async with opened() as (app, screen, pilot):
        screen._knowing = Slow()
        await pilot.press("8")
        await until(pilot, begun.is_set)
        screen._tell_progress(0.34)
        await until(pilot, lambda: "34%" in screen_text(app))
        await pilot.press("3")
        await until(pilot, lambda: "turn-0081" in screen_text(app))
        hold.set()
        await until(pilot, lambda: not screen._reading and screen.part is None)
        assert isinstance(screen.scene.story, Story) and screen.scene.story.report


async def test_nothing_is_drawn_again_for_an_equal_reading() -> None:
    async with opened() as (app, screen, pilot):
        await app.workers.wait_for_complete()
        await pilot.pause()
        drawn: list[object] = []
        for one in screen.board:
            one.rows.refresh = lambda *regions, **how: drawn.append(regions)  # type: ignore[method-assign]
            one.head.refresh = lambda *regions, **how: drawn.append(regions)  # type: ignore[method-assign]
        feed(app).tell(stories.told())
        await pilot.pause()
        assert drawn == []


async def test_every_size_has_a_screen() -> None:
    async with opened() as (app, screen, pilot):
        for size in ((20, 6), (20, 5), (30, 8), NARROW, (250, 70)):
            await pilot.resize_terminal(*size)
            await pilot.press("3", "5")
            await pilot.pause()
            assert screen_text(app).strip() and app.screen is screen


def test_progress_is_told_only_of_what_takes_long() -> None:
    told: list[float] = []
    now = [0.0]
    patience = Patience(told.append, lambda: now[0])
    for now[0] in (0.1, 0.4, 0.6, 0.7, 0.9):
        patience.progress(int(now[0] * 10), 10)
    assert told == [0.6, 0.9]
    patience.begin()
    patience.progress(1, 2)
    assert told == [0.6, 0.9]
