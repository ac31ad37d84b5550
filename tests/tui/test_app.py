"""The app as a person meets it: keys, sizes, selection, and what never happens."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from loopx_kernel.domain.needs_you import Reads
from textual.pilot import Pilot

from loopx_tui import strings
from loopx_tui.app import LoopxApp
from loopx_tui.feed import Told
from loopx_tui.panes.pane import Pane
from loopx_tui.screens.detail import DetailScreen
from loopx_tui.screens.review import ReviewScreen
from tests.tui import fixtures
from tests.tui.fixtures import NOW, StillFeed

WIDE, MEDIUM, NARROW, TINY = (120, 36), (80, 24), (46, 19), (20, 5)


@asynccontextmanager
async def running(
    told: Told | None = None, size: tuple[int, int] = WIDE, **options: Any
) -> AsyncIterator[tuple[LoopxApp, Pilot[None]]]:
    app = fixtures.app(told, theme="dark", **options)
    async with app.run_test(size=size, notifications=True) as pilot:
        await pilot.pause()
        await pilot.pause()
        yield app, pilot


def feed(app: LoopxApp) -> StillFeed:
    assert isinstance(app.feed, StillFeed)
    return app.feed


def pane(app: LoopxApp, name: str) -> Pane:
    return app.main.board.query_one(f"#{name}", Pane)


def screen_text(app: LoopxApp) -> str:
    """Everything that is drawn, line by line."""
    width, height = app.size
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text for strip in strips[:height] if width)


def notices(app: LoopxApp) -> list[str]:
    return [notice.message for notice in app._notifications]


async def test_the_five_questions_are_answered_without_a_key() -> None:
    async with running() as (app, _):
        text = screen_text(app)
        for answer in (
            "~/mall-frontend",
            "#412 ✔ verified",
            "Publish @mall/theme",
            "T3 Convert the shop's",
            "212/576",
            "✘ gates",
            "gate.approved",
            "as of 22:41:07",
        ):
            assert answer in text, answer


async def test_needs_you_has_the_focus_at_the_start_and_nothing_takes_it() -> None:
    async with running() as (app, pilot):
        assert app.main.board.focused is pane(app, "needs")
        await pilot.press("3")
        views = fixtures.goals()
        gate = fixtures.gate(5, "Delete the old theme?", requested_at=NOW)
        views[0] = fixtures.view(fixtures.dark_mode().with_gate(gate))
        feed(app).tell(fixtures.told(views))
        await pilot.pause()
        assert "⚑ 3 need you" in screen_text(app)
        assert app.main.board.focused is pane(app, "todos")


async def test_the_cursor_of_goals_selects_what_the_other_panes_show() -> None:
    async with running() as (app, pilot):
        await pilot.press("1", "j")
        await pilot.pause()
        assert feed(app).selected == ["fix-checkout"]
        assert "Fix the rounding" in screen_text(app)
        assert pane(app, "events").rows.shown == []
        feed(app).tell(fixtures.told())
        await pilot.pause()
        assert app.main.scene.goal_id == "fix-checkout"
        assert pane(app, "goals").rows.cursor_key == "fix-checkout"


async def test_selection_stays_on_its_object_when_rows_come_above_it() -> None:
    async with running() as (app, pilot):
        await pilot.press("2")
        assert pane(app, "needs").rows.cursor_key == "dark-mode/G4"
        older = fixtures.gate(3, "An older question?", requested_at=fixtures.ago(hours=5))
        views = fixtures.goals()
        views[0] = fixtures.view(fixtures.dark_mode().with_gate(older))
        feed(app).tell(fixtures.told(views))
        await pilot.pause()
        assert pane(app, "needs").rows.cursor_key == "dark-mode/G4"
        assert app.main.situation().object_id == "G4"


async def test_a_selected_row_that_goes_away_says_so() -> None:
    async with running() as (app, pilot):
        views = fixtures.goals()
        views[0] = fixtures.view(fixtures.dark_mode().model_copy(update={"gates": {}}))
        feed(app).tell(fixtures.told(views))
        await pilot.pause()
        assert "G4 is no longer in Needs you" in notices(app)


async def test_an_equal_reading_draws_nothing() -> None:
    async with running() as (app, pilot):
        drawn: list[object] = []
        for one in app.main.board:
            one.rows.refresh = lambda *regions, **how: drawn.append(regions)  # type: ignore[method-assign]
            one.head.refresh = lambda *regions, **how: drawn.append(regions)  # type: ignore[method-assign]
        feed(app).tell(fixtures.told())
        await pilot.pause()
        assert drawn == []


@pytest.mark.parametrize(
    ("keys", "title", "says"),
    [
        (("2", "enter"), "G4", "npm publish @mall/theme"),
        (("3", "enter"), "todo T7", "Describe the tokens"),
        (("6", "enter"), "lease T7", "docs/**"),
        (("7", "enter"), "source chat-a", "4 in a row"),
        (("9", "enter"), "event event-412", "turn-0081"),
    ],
)
async def test_enter_opens_everything_known_and_escape_leaves_it(
    keys: tuple[str, ...], title: str, says: str
) -> None:
    async with running() as (app, pilot):
        await pilot.press(*keys)
        await pilot.pause()
        assert isinstance(app.screen, DetailScreen)
        assert title in screen_text(app)
        assert says in screen_text(app)
        await pilot.press("escape")
        assert app.screen is app.main


async def test_a_detail_follows_its_object_and_says_when_it_is_gone() -> None:
    async with running() as (app, pilot):
        await pilot.press("2", "enter")
        await pilot.pause()
        views = fixtures.goals()
        changed = fixtures.gate(4, "Publish 2.0 instead?", blocks=("T6",))
        views[0] = fixtures.view(fixtures.dark_mode().with_gate(changed))
        feed(app).tell(fixtures.told(views))
        await pilot.pause()
        await pilot.pause()
        assert "Publish 2.0 instead?" in screen_text(app)
        views[0] = fixtures.view(fixtures.dark_mode().model_copy(update={"gates": {}}))
        feed(app).tell(fixtures.told(views))
        await pilot.pause()
        assert strings.GONE in screen_text(app)
        assert "Publish 2.0 instead?" in screen_text(app)


async def test_d_opens_the_review_of_what_waits_under_the_cursor_and_of_nothing_else() -> None:
    async with running() as (app, pilot):
        await pilot.press("3", "d")
        assert "Nothing under the cursor waits for a decision" in notices(app)
        opened = []
        for keys in (("2", "j", "d"), ("k", "d")):
            await pilot.press(*keys)
            await pilot.pause()
            assert isinstance(app.screen, ReviewScreen)
            opened.append((app.screen.case.id, app.screen.object_id))
            await pilot.press("escape")
            await pilot.pause()
        assert opened == [("drift", "drift:fix-checkout"), ("gate", "G4")]


async def test_zoom_gives_the_screen_to_one_pane_and_takes_it_back() -> None:
    async with running() as (app, pilot):
        await pilot.press("9", "z")
        await pilot.pause()
        assert pane(app, "events").size.height == 34
        assert not pane(app, "todos").display
        await pilot.press("3")
        await pilot.pause()
        assert pane(app, "todos").size.height == 34
        await pilot.press("z")
        await pilot.pause()
        assert all(one.display for one in app.main.board if one.id != "alerts")


async def test_a_filter_is_text_that_stands_in_the_border_until_it_is_cleared() -> None:
    async with running() as (app, pilot):
        await pilot.press("3", "slash", *"theme q")
        assert not app._exit
        await pilot.press("backspace", "backspace", "enter")
        await pilot.pause()
        shown = {row.key for row in pane(app, "todos").rows.shown}
        assert shown == {"T2", "T3", "T4", "T6"}
        assert "/theme" in screen_text(app)
        assert "⚑ 2 need you" in screen_text(app)
        await pilot.press("slash", "escape")
        await pilot.pause()
        assert len(pane(app, "todos").rows.shown) == 8
        assert app.main.board.focused is pane(app, "todos")


async def test_theme_cycles_with_a_notice() -> None:
    async with running() as (app, pilot):
        before = app.theme
        await pilot.press("t")
        assert app.theme != before
        assert notices(app)[-1].startswith("Theme: ")


async def test_an_unknown_theme_or_goal_is_a_notice_and_not_an_end() -> None:
    async with running(goal_id="nope") as (app, _):
        assert "There is no goal nope; showing dark-mode" in notices(app)
    app = fixtures.app(theme="nope")
    async with app.run_test(notifications=True) as pilot:
        await pilot.pause()
        await pilot.pause()
        assert any("nope" in notice and "showing dark" in notice for notice in notices(app))


async def test_every_key_of_the_footer_works() -> None:
    for command in ("enter", "slash", "colon", "question_mark"):
        async with running() as (app, pilot):
            await pilot.press(command)
            await pilot.pause()
            assert app.screen is not app.main or app.main.query("#filter"), command
    async with running() as (app, pilot):
        await pilot.press("q")
        await pilot.pause()
        assert app._exit
    assert feed(app).stopped


# Sizes


async def test_eighty_columns_have_needs_you_on_top_and_the_rest_behind_tabs() -> None:
    async with running(size=MEDIUM) as (app, pilot):
        assert [one.id for one in app.main.board if one.display] == ["needs", "todos", "alerts"]
        for number, name in (("4", "beat"), ("7", "sources"), ("9", "events")):
            await pilot.press(number)
            await pilot.pause()
            assert pane(app, name).size.height > 5
            assert {one.id for one in app.main.board if one.region.area} == {
                "alerts",
                "needs",
                name,
            }
        await pilot.click("#tabs", offset=(2, 0))
        await pilot.pause()
        assert app.main.board.focused is pane(app, "goals")


async def test_a_small_screen_shows_the_list_and_one_detail() -> None:
    async with running(size=NARROW) as (app, pilot):
        text = screen_text(app)
        assert "Publish @mall/theme 1.0 to np" in text
        assert "loopx gate show G4" in text
        await pilot.press("j")
        await pilot.pause()
        await pilot.pause()
        assert "loopx state check" in screen_text(app)


async def test_the_smallest_screen_shows_the_count_and_how_to_leave() -> None:
    async with running(size=TINY) as (app, pilot):
        assert screen_text(app).split() == ["2", "need", "you", "q", "quit"]
        await pilot.press("q")
        assert app._exit


@pytest.mark.parametrize("size", [(1, 1), (19, 40), (20, 6), (99, 19), (100, 20), (400, 100)])
async def test_every_size_opens_and_quits(size: tuple[int, int]) -> None:
    async with running(size=size) as (app, pilot):
        await pilot.press("q")
        assert app._exit


async def test_a_storm_of_sizes_ends_in_a_whole_screen() -> None:
    async with running() as (app, pilot):
        for size in (TINY, WIDE, NARROW, (1, 1), MEDIUM, (300, 80), WIDE):
            await pilot.resize_terminal(*size)
        await pilot.pause()
        assert "Changes and events" in screen_text(app)
        assert "12m" in screen_text(app)


# What is not there, and what is wrong


async def test_no_workspace_explains_and_opens_by_itself() -> None:
    nothing = Told(fixtures.told().root, missing="There is no .loopx in /x or above it")
    async with running(nothing) as (app, pilot):
        text = screen_text(app)
        assert strings.NO_WORKSPACE in text
        assert "loopx connect" in text
        assert "loopx-tui demo" in text
        feed(app).tell(fixtures.told())
        await pilot.pause()
        assert "Publish @mall/theme" in screen_text(app)
        feed(app).tell(nothing)
        await pilot.pause()
        assert strings.NO_WORKSPACE in screen_text(app)


async def test_what_changed_behind_the_welcome_is_drawn_when_it_is_gone() -> None:
    nothing = Told(fixtures.told().root, missing="There is no .loopx in /x or above it")
    async with running(nothing) as (app, pilot):
        feed(app).tell(fixtures.told([]))
        await pilot.pause()
        await pilot.pause()
        assert "No goals yet" in screen_text(app)
        assert "loopx gate request" in screen_text(app)


async def test_an_empty_workspace_says_how_things_come() -> None:
    async with running(fixtures.told([])) as (app, _):
        assert "loopx start-goal --guided" in screen_text(app)
        assert "loopx gate request" in screen_text(app)


async def test_damage_stands_on_top_and_goes_away_by_itself() -> None:
    async with running(fixtures.told([fixtures.damaged()])) as (app, pilot):
        text = screen_text(app)
        assert "▲ 3 ─" in text
        assert "task-leases/T3.json" in text
        assert "not intact" in text
        feed(app).tell(fixtures.told())
        await pilot.pause()
        assert "task-leases/T3.json" not in screen_text(app) and "▲ 1 ─" in screen_text(app)


async def test_how_changes_are_noticed_is_said_with_its_reason() -> None:
    async with running() as (app, pilot):
        stale = feed(app)
        stale.mode, stale.reason = "polling", "The system's limit for watching files is used up"
        stale.tell(fixtures.told())
        await pilot.pause()
        assert "● polling" in screen_text(app)
        assert "The system's limit for" in screen_text(app)
        stale.reason += "; raise it with: sysctl fs.inotify.max_user_instances=1024"
        stale.tell(fixtures.told())
        await pilot.pause()
        rows = pane(app, "alerts").rows
        rows.focus()
        assert rows.select(rows.shown[0].key)
        await pilot.press("enter")
        assert stale.reason in notices(app)


async def test_countdowns_run_without_the_feed_and_stand_still_unseen() -> None:
    async with running() as (app, pilot):
        soon = fixtures.lease(
            "codex", epoch=1, version=1, left=timedelta(seconds=90), scopes=("a",)
        )
        state = fixtures.goal("dark-mode", todos=fixtures.by_id([fixtures.held(1, "x", soon)]))
        feed(app).tell(replace(fixtures.told([fixtures.view(state, Reads())]), events=()))
        await pilot.pause()
        assert "90s" in screen_text(app)
        due = app.main.board.due
        assert due is not None and due - NOW < timedelta(seconds=1.1)
        app.main._clock = lambda: NOW + timedelta(seconds=30)
        app.main.refocused()
        await pilot.pause()
        assert "60s" in screen_text(app)


HOSTILE = "[/x] [@click=app.quit]go[/] \x1b]0;pwn\x07"


async def test_text_from_outside_acts_nowhere() -> None:
    state = fixtures.dark_mode().with_gate(fixtures.gate(4, HOSTILE, requested_by=HOSTILE))
    views = [fixtures.view(state)]
    async with running(fixtures.told(views), size=(200, 40)) as (app, pilot):
        assert "[/x] [@click=app.quit]go[/]" in screen_text(app)
        assert "\x1b" not in screen_text(app)
        await pilot.press("enter")
        await pilot.pause()
        await pilot.click("#detail-text", offset=(25, 0))
        await pilot.pause()
        assert not app._exit
        assert "[@click=app.quit]go[/]" in screen_text(app)


async def test_a_file_that_is_not_level_is_said_only_when_it_stays_so() -> None:
    moment = [NOW]
    behind = fixtures.view(fixtures.goal("tiny"), Reads(behind_files=("spend.jsonl",)))
    app = fixtures.app(fixtures.told([behind]))
    app._clock = lambda: moment[0]
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        board = app.main.board
        assert not pane(app, "alerts").display
        moment[0] = NOW + timedelta(seconds=2)
        assert board.due is not None and board.due <= moment[0]
        board.tick(moment[0])
        await pilot.pause()
        assert "spend.jsonl: the next write" in screen_text(app)
        assert "▲" not in screen_text(app).splitlines()[0]
        feed(app).tell(fixtures.told([fixtures.view(fixtures.goal("tiny"))]))
        await pilot.pause()
        assert not pane(app, "alerts").display


# Hiding


async def test_a_pane_can_be_hidden_and_its_number_brings_it_back() -> None:
    async with running() as (app, pilot):
        await pilot.press("6", "minus")
        await pilot.pause()
        assert not pane(app, "leases").region.area and pane(app, "sources").region.area
        assert "Leases is hidden; 6 brings it back, + all of them" in notices(app)
        assert app.main.board.focused is not None
        await pilot.press("7", "minus")
        await pilot.pause()
        assert not app.main.query_one("#pair").region.area
        await pilot.press("6")
        await pilot.pause()
        assert pane(app, "leases").region.area and app.main.board.focused is pane(app, "leases")
        await pilot.press("plus")
        await pilot.pause()
        assert all(one.region.area for one in app.main.board if one.id != "alerts")


async def test_a_pane_that_shares_its_place_says_why_it_stays() -> None:
    async with running(size=MEDIUM) as (app, pilot):
        await pilot.press("3", "minus")
        await pilot.pause()
        assert pane(app, "todos").region.area
        assert "This pane shares its place; press the number of another" in notices(app)
        await pilot.press("2", "minus")
        await pilot.pause()
        assert not pane(app, "needs").region.area and "need you" in screen_text(app)


async def test_every_pane_can_be_zoomed() -> None:
    async with running() as (app, pilot):
        for number in range(1, 10):
            await pilot.press(str(number), "z")
            await pilot.pause()
            assert [one.id for one in app.main.board if one.region.area] == [
                app.main.board.focused.id if app.main.board.focused else ""
            ]
            await pilot.press("z")


async def test_an_alert_opens_what_it_is_about() -> None:
    async with running(fixtures.told([fixtures.damaged()])) as (app, pilot):
        rows = pane(app, "alerts").rows
        for what, screen, number in (
            ("damaged", "QuarantineScreen", None),
            ("no effect", "GoalScreen", 7),
            ("source", "GoalScreen", 6),
        ):
            rows.focus()
            assert rows.select(next(row.key for row in rows.shown if row.cells[0].text == what))
            await pilot.press("enter")
            await pilot.pause()
            assert type(app.screen).__name__ == screen
            assert number is None or app.screen.board.number == number  # type: ignore[attr-defined]
            await pilot.press("escape")
            await pilot.pause()
