"""Every screen at every size, and text of every width."""

from __future__ import annotations

import pytest

from tests.tui import fixtures
from tests.tui.test_app import screen_text

SIZES = ((20, 5), (1, 1), (46, 19), (400, 100), (120, 36))
OPENING = ("d", "slash", "colon", "question_mark", "H", "W", "O", "z")
WIDE_TEXTS = (
    "漢" * 200,
    "👩‍👩‍👧 ⚠️ 🇵🇱 " * 20,
    "e\u0301" * 300,
    "مرحبا بالعالم " * 20,
    "a\tb\u200bc",
)


@pytest.mark.parametrize("key", OPENING)
async def test_a_storm_of_sizes_over_any_screen_ends_in_a_whole_one(key: str) -> None:
    app = fixtures.app(theme="dark")
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        await pilot.pause()
        await pilot.press(key)
        await pilot.pause()
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await pilot.pause()
        for _ in range(3):
            await pilot.press("escape")
            await pilot.pause()
        if app.main.board.zoomed is not None:
            await pilot.press("z")
        await pilot.pause()
        assert app.screen is app.main
        assert "Changes and events" in screen_text(app)


@pytest.mark.parametrize("size", [(20, 6), (46, 19), (80, 24), (120, 36)])
async def test_text_of_any_width_fills_every_line_to_the_cell(size: tuple[int, int]) -> None:
    todos = fixtures.by_id([fixtures.todo(n, text) for n, text in enumerate(WIDE_TEXTS, 1)])
    gates = fixtures.by_id([fixtures.gate(n, text) for n, text in enumerate(WIDE_TEXTS, 1)])
    state = fixtures.dark_mode().model_copy(update={"todos": todos, "gates": gates})
    app = fixtures.app(fixtures.told([fixtures.view(state)]), theme="dark")
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.pause()
        for keys in ((), ("3",), ("2", "enter")):
            await pilot.press(*keys)
            await pilot.pause()
            strips = app.screen._compositor.render_strips()
            assert {strip.cell_length for strip in strips} == {size[0]}
