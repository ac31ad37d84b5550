"""Golden screens of first use. A change is looked at as a picture before it is taken over."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import TextArea

from loopx_tui import first_words as words
from loopx_tui.cases.opening import STEPS
from loopx_tui.cases.table import CASES
from loopx_tui.first_use import FIELDS
from loopx_tui.flags import Flag
from loopx_tui.presentation.lines import Line
from loopx_tui.screens.form import FormScreen
from loopx_tui.screens.guide import GuideScreen
from loopx_tui.screens.passphrase import NewPassphrase
from loopx_tui.screens.places import Known, PlacesScreen
from loopx_tui.screens.review import ReviewScreen
from loopx_tui.themes import DEFAULT, to_textual
from loopx_tui.told import Told
from tests.tui import fixtures
from tests.tui.painting import painted
from tests.tui.test_case_screens import StillLedger

SIZES = pytest.mark.parametrize(
    "size", [(120, 36), (80, 24), (46, 19)], ids=lambda size: f"{size[0]}"
)
PLUGIN_FOLDER = "TEXTUAL_SNAPSHOT_TEMPDIR"
_FOLDER = os.environ.get(PLUGIN_FOLDER)
MISSING = Told(
    fixtures.told().root, missing="There is no .loopx in /home/huang/mall-frontend or above it"
)
ANSWERS = {
    "objective": "Dark mode for the shop",
    "write_scope": "src/theme/**",
    "gates": "publish:git push*\nwrite@infra/**\nbe careful",
    "acceptance": "cmd:pytest -q",
    "compute": "0.4",
}
KEYS = [
    ("new", words.NEW_KEY),
    ("new-open", words.NEW_OPEN_KEY),
]


@pytest.fixture(autouse=True)
def plugin_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plugin's own variable, which a clean environment has lost."""
    if _FOLDER is not None:
        monkeypatch.setenv(PLUGIN_FOLDER, _FOLDER)


class Over(App[None]):
    """Shows one screen over an empty one."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, make: Callable[[], Screen[Any]], flag: Flag = Flag()) -> None:  # noqa: B008
        super().__init__()
        self.animation_level = "none"
        self.register_theme(to_textual(DEFAULT, frame=flag.colour))
        self.theme = "loopx-dark"
        self.flag = flag
        self._make = make

    def on_mount(self) -> None:
        self.push_screen(self._make())


def at_step(number: int) -> Callable[[Pilot[None]], Awaitable[None]]:
    """Presses on until this step of the guide is asked."""

    async def go(pilot: Pilot[None]) -> None:
        await painted(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, GuideScreen)
        while screen.step is not STEPS[number]:
            await pilot.press("ctrl+o")
            await painted(pilot)

    return go


@SIZES
def test_welcome(snap_compare: Any, size: tuple[int, int]) -> None:
    app = fixtures.app(MISSING, theme="dark")
    assert snap_compare(app, terminal_size=size, run_before=painted)


def test_welcome_in_light_and_without_colour(
    snap_compare: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = fixtures.app(MISSING, theme="light", ascii_only=True)
    assert snap_compare(app, terminal_size=(80, 24), run_before=painted)


@SIZES
def test_connecting(snap_compare: Any, size: tuple[int, int]) -> None:
    def form() -> FormScreen:
        return FormScreen(
            words.CONNECT.format(folder="mall-frontend"),
            FIELDS,
            {"owner": "huang", "key": "new"},
            {"key": KEYS},
            lines=[Line(words.CONNECT_TEXT.format(folder="/home/huang/mall-frontend"))],
        )

    assert snap_compare(Over(form), terminal_size=size, run_before=painted)


def test_new_passphrase(snap_compare: Any) -> None:
    told = words.NEW_PASSPHRASE_TEXT.format(path="~/.config/loopx/loopx_ed25519")
    app = Over(lambda: NewPassphrase(words.NEW_PASSPHRASE, [Line(told)]))
    assert snap_compare(app, terminal_size=(80, 24), run_before=painted)


@SIZES
def test_gates_are_read_back_as_they_are_written(snap_compare: Any, size: tuple[int, int]) -> None:
    def guide() -> GuideScreen:
        return GuideScreen(STEPS, ANSWERS, lambda values: "")

    assert snap_compare(Over(guide), terminal_size=size, run_before=at_step(2))


@pytest.mark.parametrize("number", [0, 1, 3, 4, 5])
def test_other_steps(snap_compare: Any, number: int) -> None:
    def guide() -> GuideScreen:
        given = ANSWERS | {"gates": "delete", "acceptance": ""}
        return GuideScreen(STEPS, given, lambda values: "")

    assert snap_compare(Over(guide), terminal_size=(80, 24), run_before=at_step(number))


def review(case: str, object_id: str, goal_id: str = "dark-mode") -> Callable[[], ReviewScreen]:
    def make() -> ReviewScreen:
        ledger = StillLedger()
        ledger.goal_ids = ("dark-mode",)  # type: ignore[attr-defined]
        return ReviewScreen(CASES[case], goal_id, object_id, lambda: ledger)  # type: ignore[arg-type,return-value]

    return make


@SIZES
def test_the_rules_in_the_form(snap_compare: Any, size: tuple[int, int]) -> None:
    async def shown(pilot: Pilot[None]) -> None:
        while not isinstance(pilot.app.screen, FormScreen):
            await pilot.pause(0.01)
        await painted(pilot)

    app = Over(review("goal.rules", "dark-mode"))
    assert snap_compare(app, terminal_size=size, run_before=shown)


def changed(**values: str) -> Callable[[Pilot[None]], Awaitable[None]]:
    """Writes these values into the form that opens first, and keeps them."""

    async def go(pilot: Pilot[None]) -> None:
        while not isinstance(pilot.app.screen, FormScreen):
            await pilot.pause(0.01)
        await painted(pilot)
        form = pilot.app.screen
        assert isinstance(form, FormScreen)
        for name, value in values.items():
            widget: Any = form.widgets[name]
            if isinstance(widget, TextArea):
                widget.text = value
            else:
                widget.value = value
        await pilot.press("ctrl+o")
        while pilot.app.screen is form:
            await pilot.pause(0.01)
        review = pilot.app.screen
        assert isinstance(review, ReviewScreen)
        while review.course.phase != "armed":
            await pilot.pause(0.05)
        await painted(pilot)

    return go


@SIZES
def test_a_quota_that_is_changed(snap_compare: Any, size: tuple[int, int]) -> None:
    app = Over(review("goal.quota", "dark-mode"))
    keep = changed(compute="0.2", reason="The nights are for others")
    assert snap_compare(app, terminal_size=size, run_before=keep)


def test_production_looks_like_production(snap_compare: Any) -> None:
    app = Over(review("goal.pause", "dark-mode"), Flag("PRODUCTION", "alert"))

    async def shown(pilot: Pilot[None]) -> None:
        review = pilot.app.screen
        assert isinstance(review, ReviewScreen)
        while review.course.phase != "armed":
            await pilot.pause(0.05)
        await painted(pilot)

    assert snap_compare(app, terminal_size=(80, 24), run_before=shown)


def test_production_overview(snap_compare: Any) -> None:
    app = fixtures.app(theme="dark")

    async def flown(pilot: Pilot[None]) -> None:
        await painted(pilot)
        await pilot.app.workers.wait_for_complete()
        app.take_flag(Flag("PRODUCTION", "alert"))
        await painted(pilot)

    assert snap_compare(app, terminal_size=(120, 36), run_before=flown)


def test_places(snap_compare: Any) -> None:
    known = [
        Known(Path("/srv/shop"), "PRODUCTION"),
        Known(Path("/home/huang/mall-frontend"), "", words.HERE),
        Known(Path("/home/huang/old"), "", words.GONE),
    ]
    app = Over(lambda: PlacesScreen(known))
    assert snap_compare(app, terminal_size=(80, 24), run_before=painted)
