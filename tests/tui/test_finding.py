"""Jumping to anything by typing its id: what is read, and what only the journal knows."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path

import pytest

from loopx_tui.app import LoopxApp, Options
from loopx_tui.knowing import look_up
from loopx_tui.presentation.facts import Facts, Subject
from loopx_tui.presentation.finding import MOST, NAMED, find
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene
from loopx_tui.presentation.story import Story
from loopx_tui.screens.detail import DetailScreen
from loopx_tui.screens.goal import GoalScreen
from loopx_tui.screens.palette import PaletteScreen
from tests.tui import fixtures, stories
from tests.tui.fixtures import NOW
from tests.tui.gates import AGENT, GOAL, House, build, until
from tests.tui.matters import add
from tests.tui.test_app import screen_text

PEN = Pen(NOW, zone=UTC)
VIEWS = [fixtures.view(stories.state()), *fixtures.goals()[1:]]
SCENE = Scene(fixtures.workspace(VIEWS), "dark-mode", tuple(fixtures.events()))
STORY = Scene(SCENE.view, "dark-mode", story=Story(stories.state(), tuple(fixtures.events())))


def texts(facts: Facts) -> str:
    return "\n".join(f"{fact.label}: {fact.value.text}" for fact in facts)


@pytest.mark.parametrize(
    ("typed", "kind", "goal_id", "name"),
    [
        ("T5", "todo", "dark-mode", "T5"),
        ("t5 ", "todo", "dark-mode", "T5"),
        ("g4", "gate", "dark-mode", "G4"),
        ("chat-a", "source", "dark-mode", "chat-a"),
        ("fix-checkout", "goal", "fix-checkout", "fix-checkout"),
        ("fix-c", "goal", "fix-checkout", "fix-checkout"),
        ("#406", "event", "dark-mode", "event-406"),
        ("event-406", "event", "dark-mode", "event-406"),
        ("turn-0044", NAMED, "dark-mode", "turn-0044"),
        ("#12", NAMED, "dark-mode", "#12"),
    ],
)
def test_what_is_typed_names_an_object(typed: str, kind: str, goal_id: str, name: str) -> None:
    assert find(typed, SCENE)[0].subject == Subject(kind, goal_id, name)


def test_the_goals_own_screen_knows_turns_and_duties_too() -> None:
    assert find("turn-0081", STORY)[0].subject.kind == "turn"
    assert find("O2", STORY)[0].subject.kind == "replan"
    assert find("E1", STORY)[0].subject.kind == "escalation"


def test_the_selected_goal_comes_first_and_there_are_never_too_many() -> None:
    found = find("T3", SCENE)
    assert [one.subject.goal_id for one in found] == ["dark-mode", "fix-checkout"]
    assert find("T3", Scene(SCENE.view, "fix-checkout"))[0].subject.goal_id == "fix-checkout"
    many = {f"T{n}": fixtures.todo(n, "x") for n in range(100, 200)}
    view = fixtures.view(stories.state().model_copy(update={"todos": many}))
    assert len(find("T1", Scene(fixtures.workspace([view]), "dark-mode"))) == MOST


@pytest.mark.parametrize("typed", ["", "  ", "theme", "\x1b[2J", "a b 1", "x" * 300 + "1"])
def test_what_is_no_id_finds_nothing(typed: str) -> None:
    assert [one for one in find(typed, SCENE) if one.subject.kind == NAMED] == []


def test_titles_from_outside_are_made_safe() -> None:
    nasty = fixtures.todo(9, "\x1b]0;gone\x07")
    state = stories.state().with_todo(nasty)
    (found,) = find("T9", Scene(fixtures.workspace([fixtures.view(state)]), "dark-mode"))
    assert "\x1b" not in found.words


async def test_the_palette_opens_what_is_typed() -> None:
    app = stories.app(theme="dark")
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: app.main.settled)
        await pilot.press("colon", *"T5")
        await until(pilot, lambda: "Open the pull request" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, DetailScreen))
        assert isinstance(app.screen, DetailScreen) and app.screen.subject.id == "T5"
        await pilot.press("escape", "colon", *"docs-refresh", "enter")
        await until(pilot, lambda: isinstance(app.screen, GoalScreen))
        assert isinstance(app.screen, GoalScreen) and app.screen.goal_id == "docs-refresh"
        await pilot.press("colon", *"fix-checkout", "enter")
        await until(pilot, lambda: getattr(app.screen, "goal_id", "") == "fix-checkout")
        assert len(app.screen_stack) == 3
        await pilot.press("colon", *"zoom", "enter")
        await until(pilot, lambda: not isinstance(app.screen, PaletteScreen))
        assert isinstance(app.screen, GoalScreen) and app.screen.board.zoomed is not None


@pytest.fixture
def house(tmp_path: Path) -> House:
    made = build(tmp_path / "w", tmp_path / "key")
    add(made, "Choose the colours", write_scope=("src/theme/**",))
    turn = made.open().turns.begin(GOAL, AGENT).turn
    assert turn is not None
    (made.root / "notes.md").write_text("midnight blue\n", "utf-8")
    settled = {"outcome": "done", "evidence": ("notes.md",), "note": "midnight blue it is"}
    made.open().turns.settle(GOAL, AGENT, turn.id, **settled)  # type: ignore[arg-type]
    return made


def test_a_turn_is_told_with_its_brief_its_receipt_and_its_evidence(house: House) -> None:
    told = texts(look_up(house.open, Subject("turn", GOAL, "turn-0001"), PEN))
    assert "told: Choose the colours" in told and "writes: src/theme/**" in told
    assert "note: midnight blue it is" in told and "evidence: notes.md (file, 14 bytes)" in told


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("T1", "title: Choose the colours"),
        ("t1", "turn.settled by codex"),
        ("turn-0001", "turn: turn-0001 of codex on T1"),
        ("#1", "type: goal.opened"),
        ("#999", "Nothing here is called #999"),
        ("nobody-9", "There is no event nobody-9"),
        ("T99", "There is no todo T99"),
    ],
)
def test_whatever_has_a_name_in_the_journal_is_looked_up(
    house: House, name: str, says: str
) -> None:
    assert says in texts(look_up(house.open, Subject(NAMED, GOAL, name), PEN))


async def test_a_line_long_past_opens_by_its_number(house: House) -> None:
    app = LoopxApp(Options(house.root))
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: app.main.settled)
        await pilot.press("colon", *"turn-0001", "enter")
        await until(pilot, lambda: isinstance(app.screen, DetailScreen))
        await until(pilot, lambda: "midnight blue it is" in screen_text(app))
        assert "gone since" not in screen_text(app)
