"""The doctor and the quarantine, over a real workspace."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from loopx_kernel.workspace.findings import Finding
from loopx_kernel.workspace.quarantined import Unreadable
from textual.pilot import Pilot

from loopx_tui.app import LoopxApp, Options
from loopx_tui.presentation import findings, quarantine
from loopx_tui.presentation.pen import Pen
from loopx_tui.screens.listed import DoctorScreen, QuarantineScreen
from tests.tui.fixtures import NOW
from tests.tui.gates import GOAL, House, build, until
from tests.tui.matters import add
from tests.tui.test_app import screen_text

PEN = Pen(NOW, zone=UTC)


@pytest.fixture
def house(tmp_path: Path) -> House:
    made = build(tmp_path / "w", tmp_path / "key")
    add(made, "Choose the colours")
    return made


async def opened(pilot: Pilot[None], app: LoopxApp, key: str) -> None:
    await until(pilot, lambda: app.main.settled)
    await pilot.press(key)
    await until(pilot, lambda: app.screen is not app.main)


async def test_the_doctor_says_each_layer_apart_and_how_to_help(house: House) -> None:
    lease = house.root / f".loopx/runtime/{GOAL}/task-leases/T1.json"
    lease.write_text("no longer JSON", "utf-8")
    app = LoopxApp(Options(house.root))
    async with app.run_test(size=(140, 40)) as pilot:
        await opened(pilot, app, "exclamation_mark")
        screen = app.screen
        assert isinstance(screen, DoctorScreen)
        await until(pilot, lambda: not screen.pane.under_way)
        await pilot.pause()
        text = screen_text(app)
        assert "not well" in text and f"{GOAL}: files" in text and f"{GOAL}: journal" in text
        first = screen.pane.rows.shown[0]
        assert first.cells[1].style == "alert"
        assert "loopx " in text.split("fix", 1)[1]
        await pilot.press("slash", *"owner huang", "enter")
        await until(pilot, lambda: len(screen.pane.rows.shown) == 1)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_the_quarantine_shows_what_it_hides_and_how_it_begins(house: House) -> None:
    journal = house.root / f".loopx/runtime/{GOAL}/events.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:-1], b'{"half\x1b]0;x\x07[red]\n']))
    app = LoopxApp(Options(house.root))
    async with app.run_test(size=(140, 40)) as pilot:
        await opened(pilot, app, "Q")
        screen = app.screen
        assert isinstance(screen, QuarantineScreen)
        await until(pilot, lambda: bool(screen.pane.rows.shown))
        await until(pilot, lambda: "in the way" in screen_text(app))
        text = screen_text(app)
        assert "1 line from #" in text and "[red]" in text and "\x1b" not in text
        assert f"loopx repair journal --goal {GOAL}" in text


async def test_an_empty_quarantine_says_so_and_small_screens_open_what_is_beside(
    house: House,
) -> None:
    app = LoopxApp(Options(house.root))
    async with app.run_test(size=(46, 16)) as pilot:
        await opened(pilot, app, "Q")
        await until(pilot, lambda: "Nothing is set aside" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await opened(pilot, app, "exclamation_mark")
        screen = app.screen
        assert isinstance(screen, DoctorScreen)
        await until(pilot, lambda: not screen.pane.under_way)
        await pilot.press("enter")
        await until(pilot, lambda: "found" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: screen.board.zoomed is None)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


def test_findings_that_are_not_well_come_first() -> None:
    found = [Finding("a", True, "well"), Finding("b", True, "software", warns=True),
             Finding("c", False, "\x1bbad", "loopx connect")]  # fmt: skip
    rows = findings.rows(found, PEN)
    assert [row.cells[0].text for row in rows] == ["c", "b", "a"]
    assert [row.key for row in rows] == ["2", "1", "0"]
    assert "\x1b" not in rows[0].cells[2].text
    told = {fact.label: fact.value.text for fact in findings.facts(found[2], PEN)}
    assert told["fix"] == "loopx connect"
    assert "1 not well" in findings.heading(found, PEN, under_way=False).figure[0].text
    assert "looking" in findings.heading(found[:1], PEN, under_way=True).figure[0].text
    assert "healthy" in findings.heading(found[:1], PEN, under_way=False).figure[0].text


def test_what_is_in_the_way_is_told_from_what_was_set_aside() -> None:
    found = [
        Unreadable("g", "events.jsonl", "its hash is wrong", "3 lines", "{", 11, command="loopx x"),
        Unreadable("g", "q/1", "torn", "nothing", size=8, at=datetime(2026, 9, 16, tzinfo=UTC)),
    ]
    waiting, aside = quarantine.rows(found, PEN)
    assert waiting.cells[3].text == "events.jsonl:11" and "in the way" in waiting.cells[1].text
    assert aside.cells[2].text == "22h" and "set aside" in aside.cells[1].text
    told = {fact.label: fact.value.text for fact in quarantine.facts(found[1], PEN)}
    assert told["begins"] == "there is nothing there" and told["size"] == "8 bytes"
