"""Every screen at every size, in the dark, in the light and without colour.

``GOLDEN=write`` writes ``tests/tui/golden``; ``PICTURES=FOLDER`` leaves a picture of each there,
to be looked at before.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from loopx_tui.theme_files import find
from loopx_tui.themes import to_textual
from tests.tui import scenes
from tests.tui.golden import Painted, Size, paint, written
from tests.tui.painting import painted

GOLDEN = Path(__file__).parent / "golden"
NO_COLOUR = "no colour"
MOST_LINES = 80


def wear(app: App[Any], name: str) -> None:
    """Dresses an app in a theme of ours."""
    theme, _ = find(name)
    assert theme is not None
    dress = to_textual(theme, in_colour=not app.no_color)
    app.register_theme(dress)
    app.theme = dress.name


async def at_rest(scene: scenes.Scene, pilot: Pilot[None]) -> Painted:
    """The screen once it is as it was before: what a new size or theme begins may come late."""
    seen: list[Painted] = []
    while len(seen) < 3 or seen[-1] != seen[-2]:
        await scene.settle(pilot)
        await painted(pilot)
        seen.append(paint(pilot.app))
    return seen[-1]


async def taken(
    scene: scenes.Scene, looks: Sequence[str], pictures: str | None
) -> dict[Size, dict[str, Painted]]:
    """The scene in each size and look."""
    found: dict[Size, dict[str, Painted]] = {}
    app = scene.make()
    async with app.run_test(size=scene.sizes[-1]) as pilot:
        await scene.open(pilot)
        for size in scene.sizes:
            await pilot.resize_terminal(*size)
            for look in looks:
                wear(app, "dark" if look == NO_COLOUR else look)
                found.setdefault(size, {})[look] = await at_rest(scene, pilot)
                if pictures:
                    path = Path(pictures, f"{scene.name}-{size[0]}-{look.replace(' ', '-')}.svg")
                    path.write_text(app.export_screenshot(), "utf-8")
    return found


@pytest.mark.parametrize("scene", scenes.SCENES, ids=lambda scene: scene.name)
async def test_it_looks_as_it_was_looked_at(
    scene: scenes.Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = os.environ.get("PICTURES")
    found = await taken(scene, [one for one in scene.looks if one != NO_COLOUR], pictures)
    if NO_COLOUR in scene.looks:
        monkeypatch.setenv("NO_COLOR", "1")
        for size, looks in (await taken(scene, [NO_COLOUR], pictures)).items():
            found[size] |= looks
    path, text = GOLDEN / f"{scene.name}.txt", written(found)
    if os.environ.get("GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    before = path.read_text("utf-8").splitlines()
    differences = list(difflib.unified_diff(before, text.splitlines(), "golden", "now", n=1))
    assert not differences, "\n".join(differences[:MOST_LINES])


def test_there_is_no_other_golden_screen() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == {scene.name for scene in scenes.SCENES}
