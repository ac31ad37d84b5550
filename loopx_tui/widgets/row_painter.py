"""From a row to a strip of the screen: widths, colours, and which cells differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from loopx_tui.presentation.cells import Cell, Row, fit
from loopx_tui.presentation.columns import GAP, Column, measure, plan, titles, widest
from loopx_tui.presentation.glyphs import glyph

EDGE = 1
"""Cells at the left of every row, for the cursor or a mark."""


class RowPainter:
    """Lays rows out in columns and draws them as plain segments, never as markup."""

    def __init__(self, columns: Sequence[Column], *, show_header: bool, ascii_only: bool) -> None:
        self.columns = tuple(columns)
        self.width = 0
        self._show_header = show_header
        self._ellipsis = glyph("ellipsis", ascii_only=ascii_only)
        self._widths: tuple[int, ...] = ()
        self._measured: dict[str, tuple[Row, tuple[int, ...]]] = {}

    def lay_out(self, rows: Sequence[Row], width: int) -> bool:
        """Plans the columns for ``rows`` in ``width`` cells; true where anything moved."""
        needs = [titles(self.columns)] if self._show_header else []
        needs.extend(self._measure_all(rows))
        widths = plan(self.columns, widest(self.columns, needs), max(width - EDGE, 0))
        moved = (widths, width) != (self._widths, self.width)
        self._widths, self.width = widths, width
        return moved

    def same_needs(self, old: Row, new: Row) -> bool:
        """Whether putting ``new`` in the place of ``old`` cannot move a column."""
        return measure(self.columns, old) == measure(self.columns, new)

    def row(self, row: Row, edge: Cell, ground: Style, colour: Callable[[str], Style]) -> Strip:
        """One row on ``ground``; ``edge`` is drawn at its left."""
        segments = [Segment(fit(edge.text, EDGE), ground + colour(edge.style))]
        used = EDGE
        for width, column, cell in zip(self._widths, self.columns, row.cells, strict=False):
            if not width:
                continue
            lead = GAP if used > EDGE else 0
            align = cell.align if column.align == "left" else column.align
            text = " " * lead + fit(cell.text, width, align, self._ellipsis)
            segments.append(Segment(text, ground + colour(cell.style)))
            used += lead + width
        strip = Strip(_merge_blank_edge(segments), used)
        return strip.extend_cell_length(self.width, ground).crop(0, self.width)

    def header(self, ground: Style) -> Strip:
        """The columns' titles."""
        cells = tuple(Cell(column.title, align=column.align) for column in self.columns)
        return self.row(Row("", cells), Cell(), ground, lambda _: Style())

    def note(self, text: str, ground: Style) -> Strip:
        """A line that is no row."""
        line = " " * EDGE + fit(text, max(self.width - EDGE, 0), ellipsis=self._ellipsis)
        return Strip([Segment(line, ground)]).crop(0, self.width)

    def difference(self, old: Row, new: Row) -> tuple[int, int]:
        """Where two rows that share a layout differ: first cell, and number of cells."""
        first, last, left = self.width, 0, EDGE
        if old.mark != new.mark:
            first, last = 0, EDGE
        for width, before, after in zip(self._widths, old.cells, new.cells, strict=False):
            if not width:
                continue
            right = left + width + (GAP if left > EDGE else 0)
            if before != after:
                first, last = min(first, left), max(last, right)
            left = right
        if len(old.cells) != len(new.cells):
            return 0, self.width
        return first, max(last - first, 0)

    def _measure_all(self, rows: Sequence[Row]) -> list[tuple[int, ...]]:
        known, now = self._measured, {}
        for row in rows:
            entry = known.get(row.key)
            if entry is None or entry[0] != row:
                entry = (row, measure(self.columns, row))
            now[row.key] = entry
        self._measured = now
        return [needs for _, needs in now.values()]


def _merge_blank_edge(segments: list[Segment]) -> list[Segment]:
    """Fewer colour changes are fewer bytes: an edge that shows nothing takes the next colour."""
    if len(segments) < 2 or segments[0].text.strip():
        return segments
    edge, first, *rest = segments
    return [Segment(edge.text + first.text, first.style), *rest]
