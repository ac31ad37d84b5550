"""The lines around the panes: header, tabs, footer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

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
        self._figures: dict[int, str] = {}

    def set_active(self, number: int) -> None:
        """Marks the shown pane."""
        self._active = number
        self.redraw()

    def set_figures(self, figures: Mapping[int, str]) -> None:
        """Shows a figure after these panes' titles, where there is room for all of them."""
        self._figures = dict(figures)
        self.redraw()

    def runs(self, width: int) -> Iterable[Cell]:
        return [Cell(" "), *(cell for _, cells in self._entries(width) for cell in cells)]

    def _entries(self, width: int) -> list[tuple[int, list[Cell]]]:
        """Number and cells of each entry, as much of all of them as fits."""
        entries: list[tuple[int, list[Cell]]] = []
        for detail in (2, 1, 0):
            entries = [(number, self._entry(number, detail)) for number, _ in self._titles]
            if length(cell for _, cells in entries for cell in cells) < width:
                break
        return entries

    def _entry(self, number: int, detail: int) -> list[Cell]:
        """``detail``: 0 names the shown pane alone, 1 all of them, 2 with their figures."""
        here = number == self._active
        style = "accent" if here else "text-dim"
        title = dict(self._titles)[number]
        cells = [Cell(f"{number} ", style)]
        if here or detail:
            cells.append(Cell(f"{title} ", style))
        if detail == 2 and self._figures.get(number):
            cells.append(Cell(f"{self._figures[number]}  ", "text" if here else "text-dim"))
        return cells

    def on_click(self, event: events.Click) -> None:
        left = 1
        for number, cells in self._entries(self.size.width):
            left += length(cells)
            if event.x < left:
                self.post_message(self.Picked(number))
                return


class AboutBar(Line):
    """What a screen is about, in one line."""

    def __init__(self, make: Callable[[int], Sequence[Cell]], *, id: str = "about") -> None:
        super().__init__(id=id)
        self._make = make

    def runs(self, width: int) -> Iterable[Cell]:
        return self._make(width)


class FooterBar(Line):
    """The keys that work now."""

    def __init__(self, keys: Callable[[], Sequence[tuple[str, str, bool]]]) -> None:
        super().__init__(id="footer")
        self._keys = keys

    def runs(self, width: int) -> Iterable[Cell]:
        return footer(self._keys(), width)
