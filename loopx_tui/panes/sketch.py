"""Lines of coloured cells, of which only those that differ are drawn again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rich.segment import Segment
from textual.geometry import Region
from textual.strip import Strip

from loopx_tui.panes.line import Line, clip
from loopx_tui.presentation.cells import Cell, one_line


class Sketch(Line):
    """Draws the lines that ``make`` gives for so many cells and lines."""

    DEFAULT_CSS = """
    Sketch { height: 1fr; }
    """

    def __init__(
        self, make: Callable[[int, int], Sequence[Sequence[Cell]]], *, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._make = make
        self._lines: list[tuple[Cell, ...]] = []

    def redraw(self) -> None:
        old, self._lines = self._lines, self._made()
        for y in range(max(len(old), len(self._lines))):
            if old[y : y + 1] != self._lines[y : y + 1]:
                self.refresh(Region(0, y, self.size.width, 1))

    def on_resize(self) -> None:
        self._lines = self._made()
        self.refresh()

    def runs(self, width: int) -> Iterable[Cell]:
        return ()

    def render_line(self, y: int) -> Strip:
        ground = self.rich_style
        cells = self._lines[y] if y < len(self._lines) else ()
        segments = [Segment(cell.text, ground + self._colour(cell.style)) for cell in cells]
        return Strip(segments).adjust_cell_length(self.size.width, ground)

    def _made(self) -> list[tuple[Cell, ...]]:
        width, height = self.size
        if not width or not height:
            return []
        made = self._make(width, height)
        return [
            clip([Cell(one_line(cell.text), cell.style) for cell in line], width) for line in made
        ]
