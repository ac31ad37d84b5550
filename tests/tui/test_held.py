"""What a screen draws on it holds: it may be asked to draw before it is shown, and after."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import loopx_tui
from loopx_tui.told import Snapshot
from tests.tui import fixtures
from tests.tui.test_app import running

SOURCES = sorted(Path(loopx_tui.__file__).parent.rglob("*.py"))
LOOKED_UP = re.compile(r"\b(self|app|screen|main)\.query(_one|_exactly_one|_ancestor)\(")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_nothing_is_looked_up_on_a_screen(path: Path) -> None:
    assert not LOOKED_UP.search(path.read_text("utf-8"))


async def test_a_reading_that_comes_while_the_app_ends_does_no_harm() -> None:
    async with running() as (app, pilot):
        main = app.main
        await main.query("*").remove()
        main.take(Snapshot(fixtures.told(fixtures.goals()[:1]), "live", ""))
        await pilot.pause()
