"""Golden screens of a goal and its history. A change is looked at before it is taken over."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from loopx_tui.screens.goal import GoalScreen
from loopx_tui.screens.history import HistoryScreen
from tests.tui import stories
from tests.tui.gates import until
from tests.tui.painting import painted
from tests.tui.test_snapshots import plugin_folder

__all__ = ["plugin_folder"]

SIZES = [(46, 19), (80, 24), (120, 36), (200, 60)]
Step = Callable[[Pilot[None]], Awaitable[None]]


def shown(*keys: str) -> Step:
    """Opens the goal and presses these keys; everything they set in motion is drawn."""

    async def press(pilot: Pilot[None]) -> None:
        app: Any = pilot.app
        await until(pilot, lambda: app.main.settled)
        await pilot.press("1", "enter")
        await until(pilot, lambda: isinstance(app.screen, GoalScreen))
        for key in keys:
            await pilot.press(key)
            await app.workers.wait_for_complete()
        await until(pilot, lambda: _is_read(app.screen))
        await app.workers.wait_for_complete()
        await painted(pilot)

    return press


def _is_read(screen: Any) -> bool:
    if isinstance(screen, HistoryScreen):
        return screen.moment.seq == screen.moment.target
    return screen.scene.story is not None


def by_size(size: tuple[int, int]) -> str:
    return f"{size[0]}"


@pytest.mark.parametrize("size", SIZES, ids=by_size)
def test_goal(snap_compare: Any, size: tuple[int, int]) -> None:
    assert snap_compare(stories.app(theme="dark"), terminal_size=size, run_before=shown())


@pytest.mark.parametrize("size", SIZES, ids=by_size)
def test_history(snap_compare: Any, size: tuple[int, int]) -> None:
    keys = ("H", "h", "h")
    assert snap_compare(stories.app(theme="dark"), terminal_size=size, run_before=shown(*keys))


@pytest.mark.parametrize("tab", "2345678")
def test_tabs(snap_compare: Any, tab: str) -> None:
    app = stories.app(theme="dark")
    assert snap_compare(app, terminal_size=(120, 36), run_before=shown(tab, "down"))


@pytest.mark.parametrize("tab", "25")
def test_tabs_at_eighty_columns(snap_compare: Any, tab: str) -> None:
    app = stories.app(theme="dark")
    assert snap_compare(app, terminal_size=(80, 24), run_before=shown(tab))


def test_light(snap_compare: Any) -> None:
    app = stories.app(theme="light")
    assert snap_compare(app, terminal_size=(120, 36), run_before=shown("2", "H", "h"))


def test_no_colour(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = stories.app(theme="dark")
    assert snap_compare(app, terminal_size=(120, 36), run_before=shown("5", "H", "h"))


def test_ascii(snap_compare: Any) -> None:
    app = stories.app(theme="dark", ascii_only=True)
    assert snap_compare(app, terminal_size=(120, 36), run_before=shown("5"))
