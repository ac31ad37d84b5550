"""A page of text: its end was seen only where it was on the screen."""

from __future__ import annotations

import asyncio

import pytest
from textual.app import App

from loopx_tui.presentation.lines import Line
from loopx_tui.screens.page import Page
from loopx_tui.themes import DEFAULT, to_textual
from tests.patience import PATIENCE
from tests.tui.gates import until

LONG = [Line(f"line {number}") for number in range(100)]
SHORT = LONG[:3]


class Reading(App[None]):
    """A page of which a test says what it shows."""

    def __init__(self) -> None:
        super().__init__()
        self.register_theme(to_textual(DEFAULT))
        self.theme = "loopx-dark"
        self.page: Page[None] = Page("A page")
        self.armed = 0
        self.page.on_armed = self._note  # type: ignore[method-assign]

    def _note(self) -> None:
        self.armed += 1

    def on_mount(self) -> None:
        self.push_screen(self.page)


@pytest.mark.parametrize("first", [[], SHORT, LONG], ids=["nothing", "short", "long"])
async def test_the_end_of_a_long_text_is_not_seen_before_it_is_scrolled_to(
    first: list[Line],
) -> None:
    app = Reading()
    async with app.run_test(size=(80, 24)) as pilot:
        app.page.show(first)
        await pilot.pause()
        app.page.show([Line("another"), *LONG])
        # As where the page is painted for another reason before the text was laid out.
        app.page._note_end()
        assert not app.page.end_seen
        before = app.armed
        await until(pilot, lambda: app.armed > before)
        assert not app.page.end_seen
        app.page.action_scroll_bottom()
        await until(pilot, lambda: app.page.end_seen)


async def test_the_end_of_a_text_that_fits_is_seen_whatever_was_there_before() -> None:
    app = Reading()
    async with app.run_test(size=(80, 24)) as pilot:
        for text in (SHORT, LONG, [Line("another"), *SHORT], [Line("one more"), *SHORT]):
            app.page.show(text)
            async with asyncio.timeout(PATIENCE):
                while app.page.end_seen != (text is not LONG):
                    await pilot.pause(0.01)
