"""What the ledger knows of an object beyond the panes: files, statements, origins, turns."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.lease import ClaimTodo
from loopx_kernel.domain.records_of_work import Effort
from loopx_kernel.domain.todo import AddTodo

from loopx_tui.app import LoopxApp, Options
from loopx_tui.knowing import look_up
from loopx_tui.presentation import known, leases
from loopx_tui.presentation.facts import Facts, Subject
from loopx_tui.presentation.pen import Pen
from loopx_tui.screens.detail import DetailScreen
from tests.tui import fixtures
from tests.tui.gates import AGENT, GOAL, House, build, until

PEN = Pen(fixtures.NOW)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return build(tmp_path / "w", tmp_path / "key")


def finished(house: House, title: str = "Choose the colours", **more: Any) -> str:
    """A todo done on a file; its id."""
    ws = house.open()
    todo_id = ws.todos.add(GOAL, AGENT, AddTodo(title=title, **more)).object_id
    ws.todos.claim(GOAL, AGENT, ClaimTodo(todo_id=todo_id))
    (house.root / f"{todo_id}.md").write_text("midnight blue\n", "utf-8")
    ws.todos.update(GOAL, AGENT, todo_id, complete=True, evidence=(f"{todo_id}.md",))
    return todo_id


def told(facts: Facts) -> str:
    return "\n".join(f"{fact.label}: {fact.value.text}" for fact in facts)


def test_a_todo_shows_its_files_statement_and_where_it_comes_from(house: House) -> None:
    first = finished(house)
    second = finished(house, "Use them", lineage=(first,))
    text = told(look_up(house.open, Subject("todo", GOAL, second), PEN))
    assert "file: T2.md: as handed in; copy kept\n" in text
    assert "statement: unproven, " in text and "T2.md: no result (file, told)" in text
    assert "made by: #5 todo.added by codex" in text
    assert "comes from: T1 Choose the colours\n#2 todo.added by codex" in text


def test_a_file_that_changed_since_is_named_and_a_copy_that_is_gone_is_an_alarm(
    house: House,
) -> None:
    subject = Subject("todo", GOAL, finished(house))
    (house.root / "T1.md").write_text("black\n", "utf-8")
    changed = look_up(house.open, subject, PEN)[0]
    assert (changed.value.text, changed.value.style) == (
        "T1.md: changed since it was handed in; copy kept",
        "stale",
    )
    for copy in (house.root / f".loopx/runtime/{GOAL}/objects").iterdir():
        copy.unlink()
    gone = look_up(house.open, subject, PEN)[0]
    assert "COPY MISSING" in gone.value.text and gone.value.style == "alert"


def test_an_event_of_a_turn_shows_the_turn_from_brief_to_receipt(house: House) -> None:
    ws = house.open()
    ws.todos.add(GOAL, AGENT, AddTodo(title="Convert"))
    turn = ws.turns.begin(GOAL, AGENT).turn
    assert turn is not None
    (house.root / "notes.md").write_text("done\n", "utf-8")
    done = ws.turns.settle(
        GOAL, AGENT, turn.id, outcome="progress", evidence=("notes.md",), handoff="Half is done"
    )
    text = told(look_up(house.open, Subject("event", GOAL, done.receipt.event_id), PEN))
    assert f"turn: {turn.id} of {AGENT} on T1" in text
    assert f"brief: under contract {turn.contract_id}" in text
    assert "receipt: progress" in text and "holds: verified, state written, slots booked" in text
    assert "slots: 1 slot booked" in text and "progress: yes" in text


def test_of_other_things_and_without_a_workspace_nothing_more_is_known(
    house: House, tmp_path: Path
) -> None:
    from loopx_kernel.workspace import Workspace

    added = house.open().todos.add(GOAL, AGENT, AddTodo(title="Convert")).receipt
    for subject in (
        Subject("goal", GOAL, GOAL),
        Subject("need", GOAL, "G1"),
        Subject("source", GOAL, "T1"),
        Subject("event", GOAL, added.event_id),
    ):
        assert look_up(house.open, subject, PEN) == []
    nowhere = tmp_path / "nowhere"
    assert look_up(lambda: Workspace.open(nowhere), Subject("todo", GOAL, "T1"), PEN) == []
    unknown = look_up(house.open, Subject("todo", GOAL, "T99"), PEN)
    assert [fact.label for fact in unknown] == ["unread"]


def test_effort_is_shown_where_something_was_tried() -> None:
    assert known.of_effort(Effort()) == []
    facts = known.of_effort(Effort(turns=3, failed=2, streak=3, score="6", digests=("ab" * 32,)))
    assert told(facts) == (
        "attempts: 3 turns, 2 failed, 3 in a row without progress\nscore: 6\nresults: abababababab…"
    )


def test_a_lease_judged_by_the_wall_clock_says_so() -> None:
    holder = fixtures.lease(
        "codex", epoch=2, version=3, left=timedelta(minutes=9), scopes=("docs/**",)
    ).model_copy(update={"by_wall_clock": True})
    state = fixtures.goal("dark-mode", todos=fixtures.by_id([fixtures.held(1, "Describe", holder)]))
    (row,) = leases.rows(fixtures.view(state), PEN)
    assert row.cells[-1].text == "by wall clock docs/**"


async def test_the_window_shows_it_when_it_is_there_and_follows_a_change(house: House) -> None:
    finished(house)
    app = LoopxApp(Options(house.root))
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: app.main.settled)
        await pilot.press("3", "enter")
        await until(pilot, lambda: isinstance(app.screen, DetailScreen))

        def text() -> str:
            return str(app.screen.query_one("#detail-text").content)  # type: ignore[attr-defined]

        await until(pilot, lambda: "T1.md: as handed in; copy kept" in text())
        assert "made by" in text()
        await pilot.press("escape")
