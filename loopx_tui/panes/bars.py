"""The lines around the panes: header, tabs, footer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from textual import events
from textual.message import Message

from loopx_tui.panes.line import Line, length, spaced
from loopx_tui.presentation.cells import Cell
from loopx_tui.presentation.footer import footer
from loopx_tui.presentation.header import GAP, Bar


class HeaderBar(Line):
    """Where the ledger is, whether it holds, what waits, and how live the screen is."""

    def __init__(self, make: Callable[[int], Bar]) -> None:
        super().__init__(id="header")
        self._make = make

    def runs(self, width: int) -> Iterable[Cell]:
        bar = self._make(width)
        left, right = spaced(bar.left, GAP), spaced(bar.right, 2)
        room = width - 2 - length(left) - length(right)
        return [Cell(" "), *left, Cell(" " * max(room, 1)), *right, Cell(" ")]


class Tabs(Line):
    """The panes that share one place on a narrow screen, with the shown one marked."""

    class Picked(Message):
        """A person clicked the pane of this number."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    def __init__(self, titles: Sequence[tuple[int, str]], *, active: int) -> None:
        super().__init__(id="tabs")
        self._titles = titles
        self._active = active

    def set_active(self, number: int) -> None:
        """Marks the shown pane."""
        self._active = number
        self.redraw()

    def runs(self, width: int) -> Iterable[Cell]:
        yield Cell(" ")
        for number, title in self._titles:
            here = number == self._active
            yield Cell(f"{number} ", "accent" if here else "text-dim")
            yield Cell(f"{title} ", "accent" if here else "text-dim")

    def on_click(self, event: events.Click) -> None:
        left = 1
        for number, title in self._titles:
            left += length([Cell(f"{number} {title} ")])
            if event.x < left:
                self.post_message(self.Picked(number))
                return


class FooterBar(Line):
    """The keys that work now."""

    def __init__(self, keys: Callable[[], Sequence[tuple[str, str, bool]]]) -> None:
        super().__init__(id="footer")
        self._keys = keys

    def runs(self, width: int) -> Iterable[Cell]:
        return footer(self._keys(), width)
