"""History as a person meets it: step, jump, unmistakably past, nothing to decide."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.records import Objective
from loopx_kernel.errors import Damaged
from textual.pilot import Pilot

from loopx_tui import strings_goal as words
from loopx_tui.app import LoopxApp, Options
from loopx_tui.commands import COMMANDS
from loopx_tui.screens.detail import DetailScreen
from loopx_tui.screens.goal import GoalScreen
from loopx_tui.screens.history import HistoryScreen
from loopx_tui.screens.jump import JumpScreen
from loopx_tui.situation import PAST
from tests.tui import fixtures, stories
from tests.tui.gates import AGENT, GOAL, House, build, until
from tests.tui.matters import add
from tests.tui.test_app import feed, notices, screen_text

WIDE = (120, 36)


@asynccontextmanager
async def past(
    app: LoopxApp | None = None, size: tuple[int, int] = WIDE
) -> AsyncIterator[tuple[LoopxApp, HistoryScreen, Pilot[None]]]:
    app = app or stories.app(theme="dark")
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: app.main.settled)
        await pilot.press("H")
        await until(pilot, lambda: isinstance(app.screen, HistoryScreen))
        screen = app.screen
        assert isinstance(screen, HistoryScreen)
        await until(pilot, lambda: screen.moment.at is not None)
        yield app, screen, pilot


async def at(pilot: Pilot[None], screen: HistoryScreen, seq: int) -> None:
    await until(pilot, lambda: screen.moment.seq == seq)


async def test_it_steps_line_by_line_and_shows_what_stood_then() -> None:
    async with past() as (app, screen, pilot):
        assert screen.moment.seq == 412
        await pilot.press("h")
        await at(pilot, screen, 411)
        assert "todo.completed" in screen_text(app)
        await pilot.press("left", "left", "right")
        await at(pilot, screen, 410)
        # By the clock of that line the lease had not run out yet.
        assert "1 expired" not in screen_text(app) and "2 claimed" in screen_text(app)
        await pilot.press("$")
        await at(pilot, screen, 412)
        await pilot.press("l")
        assert words.AT_END in notices(app)
        await pilot.press("circumflex_accent")
        await at(pilot, screen, 1)
        assert "T3" not in screen_text(app)


async def test_it_is_unmistakably_past_and_the_count_of_what_waits_stays() -> None:
    async with past() as (app, screen, pilot):
        lines = screen_text(app).splitlines()
        assert "PAST #412" in lines[0] and "⚑ 2 need you" in lines[0]
        assert "PAST" in next(line for line in lines if "╭─" in line)
        assert screen.board.front.head.badge == words.PAST
        views = fixtures.goals()
        gate = fixtures.gate(5, "Delete the old theme?")
        views[0] = fixtures.view(stories.state().with_gate(gate))
        feed(app).tell(fixtures.told(views))
        await until(pilot, lambda: "⚑ 3 need you" in screen_text(app))
        assert "PAST #412" in screen_text(app)


async def test_no_later_objective_is_shown_than_there_was() -> None:
    class Older(stories.StillKnowing):
        def at(self, seq: int) -> Any:
            past, story = super().at(seq)
            objective = Objective(text=stories.VERSIONS[1].text, version=2)
            state = story.state.model_copy(update={"objective": objective})
            view = fixtures.view_at(state, past.at)
            return replace(past, view=view, state=state), replace(story, state=state)

    async with past() as (app, screen, pilot):
        await pilot.press("2")
        await until(pilot, lambda: "the checkout was forgotten" in screen_text(app))
        screen._knowing = Older()
        await pilot.press("h")
        await at(pilot, screen, 411)
        text = screen_text(app)
        assert "nobody finds the switch" in text and "the checkout was forgotten" not in text


async def test_no_decision_opens_from_the_past() -> None:
    async with past() as (app, screen, pilot):
        screen.board.front.rows.select("T6")
        assert screen.situation().history
        for key in ("d", "R", "O"):
            await pilot.press(key)
            await until(pilot, lambda: PAST in notices(app))
            app.clear_notifications()
            assert app.screen is screen
        deciding = [one for one in COMMANDS if one.human_only and one.scope == "main"]
        assert all(one.disabled_reason(screen.situation()) for one in deciding)
        assert any(not usable for _, title, usable in screen._footer_keys() if title == "decide")


async def test_a_window_over_the_past_says_so() -> None:
    async with past() as (app, _, pilot):
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, DetailScreen))
        assert words.AS_ONCE in screen_text(app)


@pytest.mark.parametrize(
    ("typed", "seq"),
    [("#404", 404), ("-4", 408), ("start", 1), ("22:36", 409), ("event-406", 406), ("G4", 409)],
)
async def test_it_jumps_to_a_line_a_time_an_event_or_an_object(typed: str, seq: int) -> None:
    async with past() as (app, screen, pilot):
        await pilot.press("J")
        await until(pilot, lambda: isinstance(app.screen, JumpScreen))
        await pilot.press(*typed, "enter")
        await at(pilot, screen, seq)
        assert app.screen is screen


async def test_where_there_is_nothing_to_jump_to_it_says_so() -> None:
    async with past() as (app, screen, pilot):
        await pilot.press("J", *"9999", "enter")
        await until(pilot, lambda: any("lines 1 to 412" in one for one in notices(app)))
        await pilot.press("J", *"nobody", "enter")
        await until(pilot, lambda: any("no event nobody" in one for one in notices(app)))
        await pilot.press("J", *"!", "enter")
        await until(pilot, lambda: "is no line, time or event" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        assert screen.moment.seq == 412


async def test_braces_go_along_the_lines_about_the_object_under_the_cursor() -> None:
    async with past() as (app, screen, pilot):
        screen.board.front.rows.select("T3")
        await pilot.press("left_curly_bracket")
        await at(pilot, screen, 405)
        await pilot.press("left_curly_bracket")
        await until(pilot, lambda: words.NOTHING_ABOUT.format(object="T3") in notices(app))


async def test_keys_that_come_while_a_line_is_folded_move_where_it_goes() -> None:
    hold, begun = threading.Event(), threading.Event()

    class Slow(stories.StillKnowing):
        def at(self, seq: int) -> Any:
            begun.set()
            hold.wait()
            return super().at(seq)

    async with past() as (app, screen, pilot):
        slow = screen._knowing = Slow()
        await pilot.press("h")
        await until(pilot, begun.is_set)
        await pilot.press(*"hhhh")
        screen._tell_progress(0.5)
        await until(pilot, lambda: "going to #407 … 50%" in screen_text(app))
        hold.set()
        await at(pilot, screen, 407)
        assert slow.asked == ["at 411", "at 407"]


async def test_a_line_that_cannot_be_folded_is_said_and_leaves_what_was_shown() -> None:
    class Broken(stories.StillKnowing):
        def at(self, seq: int) -> Any:
            raise Damaged("journal_damaged", "line 411 is damaged")

    async with past() as (app, screen, pilot):
        screen._knowing = Broken()
        await pilot.press("h")
        await until(pilot, lambda: "line 411 is damaged" in screen_text(app))
        assert screen.moment.seq == screen.moment.target == 412


async def test_from_an_event_it_begins_there_and_escape_goes_back() -> None:
    app = stories.app(theme="dark")
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: app.main.settled)
        await pilot.press("1", "enter")
        await until(pilot, lambda: isinstance(app.screen, GoalScreen))
        goal = app.screen
        assert isinstance(goal, GoalScreen)
        await pilot.press("7")
        await until(pilot, lambda: bool(goal.board.front.rows.shown))
        await pilot.press("j", "j", "H")
        await until(pilot, lambda: isinstance(app.screen, HistoryScreen))
        screen = app.screen
        assert isinstance(screen, HistoryScreen)
        await at(pilot, screen, 410)
        assert screen.board.number == 7
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is goal)


@pytest.fixture
def house(tmp_path: Path) -> House:
    made = build(tmp_path / "w", tmp_path / "key")
    add(made, "Choose the colours")
    add(made, "Write the provider")
    made.open().turns.begin(GOAL, AGENT)
    return made


async def test_over_a_real_journal(house: House) -> None:
    lines = house.lines
    async with past(LoopxApp(Options(house.root))) as (app, screen, pilot):
        assert screen.moment.last == lines and "claimed" in screen_text(app)
        await pilot.press("h")
        await at(pilot, screen, lines - 1)
        assert "2 free" in screen_text(app)
        await pilot.press("h", "h")
        await at(pilot, screen, lines - 3)
        assert "Choose the colours" not in screen_text(app)
        await pilot.press("2")
        await until(pilot, lambda: "Add a dark mode" in screen_text(app))
        await pilot.press("J", *"T1", "enter")
        await at(pilot, screen, lines)
        assert house.lines == lines
