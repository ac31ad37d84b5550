"""The table of actions, the person's own keys, and the lists made from the table."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App
from textual.binding import Binding
from textual.widgets import OptionList

from loopx_tui import keymap
from loopx_tui.cases.table import CASES
from loopx_tui.commands import (
    BY_ID,
    COMMANDS,
    DECISIONS,
    MOVING,
    Situation,
    bindings_for,
    commands_for,
    shown_keys,
)
from loopx_tui.screens.help import HelpScreen
from loopx_tui.screens.palette import PaletteScreen
from loopx_tui.screens.review import ReviewScreen
from loopx_tui.themes import DEFAULT, to_textual
from loopx_tui.widgets.rows import Rows
from tests.tui.gates import until

GATE = Situation(goal_id="dark-mode", object_id="G4", kind="gate", next="loopx gate approve G4")


def test_ids_are_unique_and_every_action_says_what_it_does() -> None:
    assert [name for name, count in Counter(c.id for c in COMMANDS).items() if count > 1] == []
    assert all(c.title and c.help.endswith(".") for c in COMMANDS)
    assert all(c.action for c in COMMANDS if c.keys)
    without = [c for c in COMMANDS if c.action and not c.keys]
    assert all(
        (c.human_only and c.id in CASES) or c.id in ("owners", "owner.trust") for c in without
    )


def test_default_keys_do_not_clash_and_use_nothing_that_terminals_keep() -> None:
    assert keymap.check({}) == keymap.Keymap({})
    for scopes in keymap.TOGETHER:
        keys = [key for c in commands_for(*scopes) for key in c.keys.split(",") if key]
        assert [key for key, count in Counter(keys).items() if count > 1] == []
    every = {key for c in COMMANDS for key in c.keys.split(",")}
    assert not every & {"ctrl+a", "ctrl+b", "ctrl+left", "ctrl+right"}
    assert not any(key.startswith("alt+") for key in every)
    deciding = {key for name in DECISIONS for key in BY_ID[name].keys.split(",")}
    assert not deciding & MOVING


def test_lists_bind_what_the_table_says() -> None:
    bound = {b.id: (b.key, b.action) for b in Rows.BINDINGS if isinstance(b, Binding)}
    assert bound == {c.id: (c.keys, c.action) for c in commands_for("rows")}


def test_every_action_of_the_review_exists() -> None:
    for binding in bindings_for("review"):
        assert hasattr(ReviewScreen, f"action_{binding.action.partition('(')[0]}")


def test_equivalent_commands_are_filled_in_and_quoted() -> None:
    approve = BY_ID["review.approve"].loopx
    assert approve(GATE) == "loopx gate approve G4 --goal dark-mode"
    nasty = Situation(goal_id="a; rm -rf /", object_id="$(x)", kind="gate")
    assert approve(nasty) == "loopx gate approve '$(x)' --goal 'a; rm -rf /'"


@pytest.mark.parametrize(
    ("situation", "part"),
    [
        (GATE, ""),
        (Situation(kind="gate", object_id="G4", read_only=True), ""),
        (Situation(kind="gate", object_id="G4", history=True), "past"),
        (Situation(), "Nothing under the cursor"),
        (Situation(kind="drift", next="loopx state check"), ""),
        (Situation(kind="todo", object_id="T1"), "Nothing under the cursor"),
    ],
)
def test_deciding_says_why_not(situation: Situation, part: str) -> None:
    reason = BY_ID["decide"].disabled_reason(situation)
    assert (part in reason) if part else reason == ""


@pytest.mark.parametrize(
    ("situation", "part"),
    [
        (Situation(), ""),
        (Situation(read_only=True), "read-only"),
        (Situation(history=True), "past"),
        (Situation(key_problem="No key"), "No key"),
    ],
)
def test_signing_says_why_not(situation: Situation, part: str) -> None:
    reason = BY_ID["review.approve"].disabled_reason(situation)
    assert (part in reason) if part else reason == ""


def test_keys_are_shown_as_people_write_them() -> None:
    assert shown_keys("colon,ctrl+p") == ": ctrl+p"
    assert shown_keys("question_mark") == "?"


def load(tmp_path: Path, text: str | bytes) -> keymap.Keymap:
    path = tmp_path / "keys.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return keymap.load(path)


def test_own_keys_are_taken(tmp_path: Path) -> None:
    found = load(tmp_path, "\ufeffdecide: o\r\nzoom: [Z, f5]\r\nfilter: '?'\nhelp: /\npane.1: 0\n")
    assert found.notices == ()
    assert found.keys == {
        "decide": "o",
        "zoom": "Z,f5",
        "filter": "question_mark",
        "help": "slash",
        "pane.1": "0",
    }


def test_no_file_is_no_news(tmp_path: Path, home: Path) -> None:
    assert keymap.load(tmp_path / "none.yaml") == keymap.Keymap({})
    assert keymap.load() == keymap.Keymap({})
    assert keymap.location() == home / ".config" / "loopx" / "keys.yaml"
    assert not keymap.location().parent.exists()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("decide: [", id="unclosed"),
        pytest.param("- a\n- b", id="a list"),
        pytest.param("decide: o\ndecide: p", id="twice"),
        pytest.param(b"\xff\xfe", id="not UTF-8"),
        pytest.param("x: " + "[" * 5000, id="deep"),
        pytest.param("\tdecide: o", id="tab"),
        pytest.param("#" * 70_000, id="large"),
    ],
)
def test_malformed_file_leaves_the_defaults_and_one_notice(tmp_path: Path, text: Any) -> None:
    found = load(tmp_path, text)
    assert found.keys == {} and len(found.notices) == 1
    assert found.notices[0].startswith("keys.yaml ")


@pytest.mark.parametrize(
    ("wanted", "part"),
    [
        ({"review.approve": "j"}, "moves, and can decide nothing"),
        ({"review.reject": "enter"}, "can decide nothing"),
        ({"sign": ["ctrl+s", "space"]}, "can decide nothing"),
        ({"nonsense": "x"}, "no such action"),
        ({7: "x"}, "no such action"),
        ({"goal.pause": "P"}, "no such action"),
        ({"zoom": "alt+z"}, "not a key"),
        ({"zoom": "ctrl+"}, "not a key"),
        ({"zoom": "a,b"}, "not a key"),
        ({"zoom": None}, "a key is a text"),
        ({"zoom": []}, "a key is a text"),
    ],
)
def test_wrong_entry_keeps_its_default_and_is_named(wanted: dict[Any, Any], part: str) -> None:
    found = keymap.check(wanted)
    assert found.keys == {} and len(found.notices) == 1
    assert part in found.notices[0] and str(next(iter(wanted))) in found.notices[0]


def test_clash_is_one_sentence_that_names_both() -> None:
    found = keymap.check({"theme": "z"})
    assert found.keys == {}
    assert found.notices == (
        "z is both theme (theme) and zoom (zoom); theme keeps its default key",
    )
    assert keymap.check({"theme": "z", "zoom": "t"}).notices == ()
    assert keymap.check({"review.edit": "d"}).notices == ()


_KEYS = st.sampled_from([key for c in COMMANDS for key in c.keys.split(",") if key] + ["o", "f5"])


@given(st.dictionaries(st.sampled_from([c.id for c in COMMANDS]), _KEYS, max_size=12))
def test_whatever_is_wanted_no_two_actions_share_a_key(wanted: dict[str, str]) -> None:
    found = keymap.check(wanted)
    for scopes in keymap.TOGETHER:
        keys = [
            key
            for c in commands_for(*scopes)
            for key in found.keys.get(c.id, c.keys).split(",")
            if key
        ]
        assert len(keys) == len(set(keys))
    for name in DECISIONS & found.keys.keys():
        assert not set(found.keys[name].split(",")) & MOVING


class ListApp(App[None]):
    def __init__(self, screen: Any) -> None:
        super().__init__()
        self.register_theme(to_textual(DEFAULT))
        self.theme = "loopx-dark"
        self.listed = screen
        self.result: Any = "open"

    def on_mount(self) -> None:
        self.push_screen(self.listed, lambda result: setattr(self, "result", result))

    @property
    def entries(self) -> list[str]:
        options = self.listed.query_one(OptionList)
        return [str(option.prompt) for option in options.options]

    @property
    def note(self) -> str:
        return str(self.listed.query_one("#dialog-note").content)


async def test_palette_shows_commands_and_copies_the_chosen_one() -> None:
    app = ListApp(PaletteScreen(GATE))
    async with app.run_test(size=(120, 40)) as pilot:
        assert any("loopx gate approve G4" in entry for entry in app.entries)
        await pilot.press(*"verify")
        await until(pilot, lambda: len(app.entries) == 1)
        assert "loopx event verify --goal dark-mode" in app.entries[0]
        await pilot.press("down", "y")
        await until(pilot, lambda: "OSC 52" in app.note)
        assert app.clipboard == "loopx event verify --goal dark-mode"
        await pilot.press("enter")
        await until(pilot, lambda: "on the command line" in app.note)
        assert app.result == "open"
        await pilot.press("escape")
        await until(pilot, lambda: app.result is None)


async def test_palette_runs_what_is_chosen_and_letters_are_filter_text() -> None:
    app = ListApp(PaletteScreen(GATE))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(*"qyjk")
        await until(pilot, lambda: app.entries == [])
        assert "No action matches qyjk" in app.note and app.result == "open"
        await pilot.press(*["backspace"] * 4, *"theme", "enter")
        await until(pilot, lambda: app.result != "open")
    assert app.result is BY_ID["theme"]


async def test_palette_greys_what_cannot_be_done_with_the_reason() -> None:
    app = ListApp(PaletteScreen(Situation(kind="todo", next="loopx todo show '[red]T1[/]'")))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(*"review", "enter")
        await until(pilot, lambda: "Nothing under the cursor waits" in app.note)
        assert "'[red]T1[/]'" in app.entries[0]
        assert app.result == "open"


async def test_help_lists_live_keys_and_can_be_filtered() -> None:
    app = ListApp(HelpScreen(GATE, "main", "rows", keys={"zoom": "Z"}))
    async with app.run_test(size=(120, 40)) as pilot:
        assert any(entry.startswith("Z ") and "zoom" in entry for entry in app.entries)
        assert any(entry.startswith("↑ k") for entry in app.entries)
        await pilot.press(*"whole screen to", "enter")
        await until(pilot, lambda: app.result != "open")
    assert app.result is BY_ID["zoom"]
