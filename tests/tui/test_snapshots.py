"""Golden screens. A change is looked at as a picture before it is taken over."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from loopx_tui.feed import Told
from tests.tui import fixtures
from tests.tui.painting import painted

WIDE = (120, 36)
PLUGIN_FOLDER = "TEXTUAL_SNAPSHOT_TEMPDIR"
_FOLDER = os.environ.get(PLUGIN_FOLDER)


@pytest.fixture(autouse=True)
def plugin_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plugin's own variable, which a clean environment has lost."""
    if _FOLDER is not None:
        monkeypatch.setenv(PLUGIN_FOLDER, _FOLDER)


@pytest.mark.parametrize("theme", ["dark", "light", "high-contrast", "colour-blind", "sixteen"])
def test_overview(snap_compare: Any, theme: str) -> None:
    app = fixtures.app(theme=theme)
    assert snap_compare(app, terminal_size=WIDE, run_before=painted)


@pytest.mark.parametrize("size", [(80, 24), (46, 19), (20, 5)], ids=lambda size: f"{size[0]}")
def test_smaller(snap_compare: Any, size: tuple[int, int]) -> None:
    app = fixtures.app(theme="dark")
    assert snap_compare(app, terminal_size=size, run_before=painted)


def test_no_colour(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = fixtures.app(theme="dark")
    assert snap_compare(app, terminal_size=WIDE, run_before=painted)


def test_ascii(snap_compare: Any) -> None:
    app = fixtures.app(theme="dark", ascii_only=True)
    assert snap_compare(app, terminal_size=WIDE, run_before=painted)


def test_empty(snap_compare: Any) -> None:
    app = fixtures.app(fixtures.told([]), theme="dark")
    assert snap_compare(app, terminal_size=WIDE, run_before=painted)


def test_missing(snap_compare: Any) -> None:
    missing = "There is no .loopx in /home/huang/mall-frontend or above it"
    app = fixtures.app(Told(fixtures.told().root, missing=missing), theme="dark")
    assert snap_compare(app, terminal_size=(100, 24), run_before=painted)


def test_damaged(snap_compare: Any) -> None:
    app = fixtures.app(fixtures.told([fixtures.damaged()]), theme="dark")
    assert snap_compare(app, terminal_size=WIDE, run_before=painted)


def test_detail(snap_compare: Any) -> None:
    async def open_gate(pilot: Pilot[None]) -> None:
        await painted(pilot)
        await pilot.press("enter")
        await painted(pilot)

    app = fixtures.app(theme="dark")
    assert snap_compare(app, terminal_size=WIDE, run_before=open_gate)
