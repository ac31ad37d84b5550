"""A text that is made anew for each width it gets."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content
from textual.widgets import Static


class Fitted(Static):
    """Shows what ``make`` gives for so many cells; what is equal is left alone."""

    def __init__(self, make: Callable[[int], Content], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._make = make

    def redraw(self) -> None:
        """Draws the text again where it differs."""
        width = self.size.width
        text = self._make(width) if width else Content()
        if text != self.content:
            self.update(text)

    def on_resize(self) -> None:
        self.call_after_refresh(self.redraw)
