"""The person's own files: taken over as they are saved, and never a reason to fail."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from loopx_tui import keymap, preferences
from loopx_tui.agenda import Begin, Wait, Wish
from loopx_tui.app import LoopxApp
from loopx_tui.cases.case import Field
from loopx_tui.feed import Feed
from loopx_tui.flags import LONGEST_LABEL, Flag, flag_of, read_flag
from loopx_tui.notices import wish
from loopx_tui.personal import PersonalApp
from loopx_tui.presentation.header import Place, header
from loopx_tui.presentation.pen import Pen
from loopx_tui.screens.form import FormScreen
from loopx_tui.screens.goal import GoalScreen
from loopx_tui.screens.history import HistoryScreen
from loopx_tui.screens.review import ReviewScreen
from loopx_tui.theme_files import choose
from loopx_tui.themes import DEFAULT
from loopx_tui.told import OwnFiles, Snapshot
from loopx_tui.watching import Change
from tests.patience import PATIENCE
from tests.tui import fixtures, stories
from tests.tui.gates import until
from tests.tui.test_themes import write


@pytest.fixture(autouse=True)
def in_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal for which the default theme is the fitting one."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")


@pytest.fixture
def own(home: Path) -> Path:
    """The person's folder, empty."""
    folder = home / ".config" / "loopx"
    folder.mkdir(parents=True)
    return folder


@asynccontextmanager
async def running(**options: Any) -> AsyncIterator[tuple[LoopxApp, Pilot[None]]]:
    app = fixtures.app(**options)
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: app.screen is app.main and app.main.settled)
        await pilot.app.workers.wait_for_complete()
        yield app, pilot


def said(app: PersonalApp) -> str:
    return "\n".join(str(one.message) for one in app._notifications)


async def saved(app: LoopxApp, pilot: Pilot[None], *paths: Path) -> None:
    """The feed says that these files differ, and everything that follows was done."""
    app.post_message(OwnFiles(frozenset(paths)))
    await pilot.pause()
    await app.workers.wait_for_complete()
    await pilot.pause()


# Themes


async def test_a_theme_is_worn_as_it_is_saved(own: Path) -> None:
    write(own / "themes", "mine", label="Mine")
    async with running(theme="mine") as (app, pilot):
        write(own / "themes", "mine", label="Mine", accent="#ffffff")
        await saved(app, pilot, own / "themes" / "mine.yaml")
        assert app.theme_variables["accent"] == "#ffffff"
        assert [name for name in app.available_themes if name.startswith("loopx-")] == [app.theme]
        assert said(app) == ""


async def test_a_theme_that_is_spoilt_meanwhile_changes_nothing_and_is_one_sentence(
    own: Path,
) -> None:
    mine = write(own / "themes", "mine", label="Mine", accent="#ffffff")
    async with running(theme="mine") as (app, pilot):
        write(own / "themes", "mine", accent="blurple", run="green")
        await saved(app, pilot, own / "themes" / "mine.yaml")
        assert app.theme_variables["accent"] == mine.accent
        (sentence,) = said(app).splitlines()
        for part in ("'blurple'", "'green'", "the screen stays as it was"):
            assert part in sentence
        (own / "themes" / "mine.yaml").unlink()
        await saved(app, pilot, own / "themes" / "mine.yaml")
        assert app.theme_variables["accent"] == mine.accent


async def test_another_file_of_the_folder_changes_nothing(own: Path) -> None:
    async with running(theme="light") as (app, pilot):
        theme = app.theme
        write(own / "themes", "other", accent="#ffffff")
        await saved(app, pilot, own / "themes" / "other.yaml", own / "known_workspaces")
        assert app.theme == theme and said(app) == ""


async def test_the_chosen_theme_is_kept_for_the_next_start(home: Path) -> None:
    async with running() as (app, pilot):
        assert app.theme_variables["background"] == DEFAULT.background
        await pilot.press("t")
        chosen = app.theme_variables["background"]
    assert chosen != DEFAULT.background
    async with running() as (app, _):
        assert app.theme_variables["background"] == chosen
    async with running(theme="dark") as (app, _):
        assert app.theme_variables["background"] == DEFAULT.background
    async with running(demo=True) as (app, pilot):
        assert app.theme_variables["background"] == DEFAULT.background
        await pilot.press("t", "t")
    async with running() as (app, _):
        assert app.theme_variables["background"] == chosen


@pytest.mark.parametrize("content", [b"", b"\xff", b"../dark\n", b"x" * 9999, b"nope\n"])
async def test_a_spoilt_preference_is_the_default(home: Path, content: bytes) -> None:
    folder = preferences.state_folder()
    folder.mkdir(parents=True)
    (folder / "theme").write_bytes(content)
    async with running() as (app, _):
        assert app.theme_variables["background"] == DEFAULT.background


# Panes


async def test_hidden_panes_stay_hidden_at_the_next_start(home: Path) -> None:
    async with running() as (app, pilot):
        await pilot.press("6", "minus", "7", "minus", "2", "minus")
        assert app.main.board.hidden == ("needs", "leases", "sources")
    async with running(demo=True) as (app, pilot):
        assert app.main.board.hidden == ()
        await pilot.press("9", "minus")
    async with running() as (app, pilot):
        assert app.main.board.hidden == ("needs", "leases", "sources")
        assert not app.main.query_one("#pair").region.area
        assert app.main.board.focused is not None
        await pilot.press("6", "2")
    async with running() as (app, pilot):
        assert app.main.board.hidden == ("sources",)
        await pilot.press("plus")
    async with running() as (app, _):
        assert app.main.board.hidden == ()


EVERY_PANE = b"goals needs todos beat completion leases sources quota events"


@pytest.mark.parametrize("content", [b"", b"\xff", b"nope ../alerts alerts\n", EVERY_PANE])
async def test_no_preference_hides_what_no_key_brings_back(home: Path, content: bytes) -> None:
    folder = preferences.state_folder()
    folder.mkdir(parents=True)
    (folder / "hidden").write_bytes(content)
    async with running() as (app, _):
        assert app.main.board.hidden == ()


# Keys


async def test_keys_are_live_as_they_are_saved_and_stand_in_the_footer(own: Path) -> None:
    async with running() as (app, pilot):
        (own / "keys.yaml").write_text("quit: f10\nhelp: [f1, ctrl+p]\n")
        await saved(app, pilot, own / "keys.yaml")
        footer = "".join(cell.text for cell in app.main._footer._drawn)
        assert "f10 quit" in footer and "q quit" not in footer
        assert "ctrl+p is both" in said(app)
        await pilot.press("f10")
        assert app._exit


async def test_new_keys_stand_in_the_footer_of_a_goals_screens_at_once(own: Path) -> None:
    app = stories.app()
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: app.main.settled)
        await pilot.press("1", "enter", "H")
        await until(pilot, lambda: isinstance(app.screen, HistoryScreen))
        below = app.screen_stack[-2]
        (own / "keys.yaml").write_text("goal.close: f9\n")
        await saved(app, pilot, own / "keys.yaml")
        for screen in (app.screen, below):
            assert isinstance(screen, GoalScreen)
            footer = "".join(cell.text for cell in screen._footer._drawn)
            assert "f9 leave" in footer


async def test_keys_of_dialogs_are_the_persons_too(own: Path) -> None:
    (own / "keys.yaml").write_text("form.keep: f2\ndialog.close: f3\n")
    async with running() as (app, pilot):
        kept: list[object] = []
        for key in ("f2", "f3"):
            form = FormScreen("A form", (Field("text", "text", "text"),), {"text": "written"}, {})
            app.push_screen(form, kept.append)
            await until(pilot, lambda form=form: bool(form.query("#dialog-hint")))  # type: ignore[misc]
            await pilot.pause()
            hint = str(form.query_one("#dialog-hint", Static).content)
            assert "f2 keep" in hint and "f3 cancel" in hint and "ctrl+o" not in hint
            await pilot.press("ctrl+o", "escape", key)
            await until(pilot, lambda: app.screen is app.main)
        assert kept == [{"text": "written"}, None]


# What a person calls a workspace

CONFIG = {"~/mall": {"label": "PRODUCTION", "colour": "alert", "theme": "light"}, "/x": "Test"}


@pytest.mark.parametrize(
    ("config", "flag", "part"),
    [
        ({}, Flag(), ""),
        ({"workspaces": CONFIG}, Flag("PRODUCTION", "alert", "light"), ""),
        ({"workspaces": {"~/mall/": "Mine"}}, Flag("Mine"), ""),
        ({"workspaces": {"~/other": {"label": 5}}}, Flag(), ""),
        ({"workspaces": {"~/mall": {"label": 5}}}, Flag(), "has a label, a colour, a theme"),
        ({"workspaces": {"~/mall": {"name": "x"}}}, Flag(), "name is nothing a folder has"),
        ({"workspaces": {"~/mall": {"colour": "red"}}}, Flag(), "'red' is no colour of a theme"),
        ({"workspaces": {"~/mall": ["x"]}}, Flag(), "has a label, a colour, a theme"),
        ({"workspaces": ["~/mall"]}, Flag(), "not a list of folders"),
        ({"workspaces": {"~nobody/x": "A", "\0": "B", 5: "C", "~/mall": "D"}}, Flag("D"), ""),
        ({"workspaces": {"~/mall": "a\x1b[2Jb  c\n\u202ed"}}, None, ""),
    ],
)
def test_a_flag_stands_in_the_persons_own_configuration(
    home: Path, config: dict[str, Any], flag: Flag | None, part: str
) -> None:
    (home / "mall").mkdir()
    found, problem = flag_of(home / "mall", config)
    assert part in problem and bool(part) == bool(problem)
    if flag is not None:
        assert found == flag
    assert found.label.isprintable() and len(found.label) <= LONGEST_LABEL


def test_a_folder_that_may_not_be_entered_is_a_sentence(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = home / ".config"
    for name in ("stat", "open"):
        real = getattr(Path, name)

        def refuse(path: Path, *words: Any, real: Any = real, **more: Any) -> Any:
            if path.is_relative_to(own):
                raise PermissionError(errno.EACCES, "Permission denied")
            return real(path, *words, **more)

        monkeypatch.setattr(Path, name, refuse)
    flag, problem = read_flag(home)
    assert flag == Flag() and "Permission denied" in problem
    assert wish()[1] != ""
    assert choose("mine").theme == DEFAULT
    assert preferences.theme(home) is None
    assert len(keymap.load().notices) == 1


def test_a_link_to_a_workspace_is_that_workspace(home: Path) -> None:
    (home / "mall").mkdir()
    (home / "link").symlink_to(home / "mall")
    assert flag_of(home / "link", {"workspaces": {"~/mall": "Mine"}})[0] == Flag("Mine")


async def test_production_looks_like_production_wherever_one_decides(own: Path) -> None:
    async with running() as (app, pilot):
        before = app.theme_variables["border"]
        (own / "config.yaml").write_text(
            f"workspaces: {{{fixtures.ROOT}: {{label: PRODUCTION, colour: alert}}}}\n"
        )
        await saved(app, pilot, own / "config.yaml")
        assert app.theme_variables["border"] == DEFAULT.alert != before
        assert app.theme_variables["border-focus"] == DEFAULT.alert
        badge = next(cell for cell in app.main._header._drawn if "PRODUCTION" in cell.text)
        assert badge.style == "!alert"
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        await pilot.pause()
        assert "PRODUCTION" in str(app.screen.query_one("#page-title").render())
        (own / "config.yaml").write_text("")
        await saved(app, pilot, own / "config.yaml")
        assert app.theme_variables["border"] == before


def test_the_label_is_the_last_to_give_way() -> None:
    place = Place("/srv/shop/production", "huang@host", label="PRODUCTION", colour="alert")
    for width in (120, 60, 40, 30):
        bar = header(
            place, None, None, mode="live", observed=None, pen=Pen(fixtures.NOW), width=width
        )
        assert " PRODUCTION " in [cell.text for cell in bar.left]


# From the disk


def test_own_files_are_told_apart_and_read_nothing_of_the_workspace(
    own: Path, tmp_path: Path
) -> None:
    heard: list[Snapshot | OwnFiles] = []
    feed = Feed(tmp_path, goal_id=None, read_only=False, own=own)
    feed._post = heard.append
    feed._mode = "live", ""
    agenda = feed._agenda
    for moment in (0.0, 1.0):
        agenda.did(agenda.next(moment, None), moment, moment, over=True)
    assert agenda.next(2.0, None) == Wait(None)
    feed.changed(Change("live", "", frozenset({own / "keys.yaml"})))
    assert agenda.next(3.0, None) == Wait(None)
    (message,) = heard
    assert isinstance(message, OwnFiles) and message.paths == {own / "keys.yaml"}
    feed.changed(Change("live", "", frozenset({tmp_path / ".loopx" / "registry.json"})))
    assert agenda.next(4.0, None) == Begin(Wish(everything=True)) and len(heard) == 1


async def test_a_theme_saved_in_a_folder_made_meanwhile_is_heard(
    home: Path, tmp_path: Path
) -> None:
    heard: list[Path] = []
    own = home / ".config" / "loopx"
    feed = Feed(tmp_path, goal_id=None, read_only=False, own=own)

    def post(message: Snapshot | OwnFiles) -> None:
        if isinstance(message, OwnFiles):
            heard.extend(message.paths)

    feed._post = post
    watching = asyncio.create_task(feed.watch())
    async with asyncio.timeout(PATIENCE):
        while feed._mode[0] == "start":
            await asyncio.sleep(0.01)
        write(own / "themes", "mine")
        while own / "themes" / "mine.yaml" not in heard:
            await asyncio.sleep(0.01)
    watching.cancel()
