"""Numbers over time as bars with axes, made of cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from loopx_tui import strings_goal as words
from loopx_tui.presentation.cells import Cell
from loopx_tui.presentation.pen import Pen

SMALLEST = (24, 5)
"""Cells and lines below which there is no chart."""
_STEPS = 8
_BLOCKS = " ▁▂▃▄▅▆▇█"
_LABEL_GAP = 2
_WIDEST = 4
_ROUND = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


class _Signs(NamedTuple):
    up: str
    tick: str
    corner: str
    along: str
    mark: str
    pace: str


_SIGNS = (_Signs("│", "┤", "└", "─", "┬", "┄"), _Signs("|", "+", "+", "-", "+", "."))


class _Grid(NamedTuple):
    """A plot of ``lines`` lines up to the value ``top``, so many cells for each value, and
    ``gutter`` cells for the numbers at its left."""

    top: int
    lines: int
    sizes: tuple[int, ...]
    gutter: int
    ascii_only: bool

    def label(self, number: int) -> str:
        """The value at a line, at the top and in the middle alone."""
        middle = self.lines // 2
        if number == 0:
            return f"{self.top:,}"
        if number != middle or self.lines < 4 or self.top == 1:
            return ""
        return f"{round(self.top * (self.lines - middle) / self.lines):,}"

    def line_of(self, value: float) -> int:
        """The line that a value ends in."""
        line = self.lines - math.ceil(value / self.top * self.lines)
        return min(max(line, 0), self.lines - 1)

    def glyph(self, value: int, number: int) -> str:
        """What is drawn of a value in a line."""
        below = (self.lines - 1 - number) * _STEPS
        eighths = min(max(math.ceil(value / self.top * self.lines * _STEPS) - below, 0), _STEPS)
        if self.ascii_only:
            return "#" if eighths > _STEPS // 2 else ":" if eighths else " "
        return _BLOCKS[eighths]


class Bars(NamedTuple):
    """What is drawn: ``values`` oldest first, each of ``width``, the last of which ends at ``end``
    (UTC), which ``last`` is the word for; ``pace`` is a line across, in the unit of the values."""

    values: Sequence[int]
    width: timedelta
    end: datetime
    pace: float | None = None
    last: str = words.NOW


def chart(bars: Bars, pen: Pen, width: int, height: int) -> list[list[Cell]]:
    """``height`` lines of ``width`` cells, the axis and its times included; nothing where that is
    too little. ``fitted`` says how wide a bar is then."""
    bars = fitted(bars, width)
    if width < SMALLEST[0] or height < SMALLEST[1] or not bars.values:
        return []
    top, lines = _ceiling(bars), height - 2
    gutter = len(f"{top:,}")
    grid = _Grid(top, lines, _sizes(len(bars.values), width - gutter - 2), gutter, pen.ascii_only)
    signs = _SIGNS[pen.ascii_only]
    marks = _marks(bars, grid, pen)
    along = "".join(signs.mark if at in marks else signs.along for at in range(sum(grid.sizes)))
    axis = [Cell(f"{'0':>{gutter}} {signs.corner}{along}", "text-dim")]
    times = [Cell(" " * (gutter + 2) + _times(marks, sum(grid.sizes), bars.last), "text-dim")]
    return [*(_line(bars, grid, number) for number in range(lines)), axis, times]


def fitted(bars: Bars, width: int) -> Bars:
    """As many values side by side as fit in a chart of ``width`` cells, merged where there are
    more."""
    room = max(width - len(f"{_ceiling(bars) * 10:,}") - 2, 1)
    merged = max(1, math.ceil(len(bars.values) / room))
    # The last one is whole: the oldest may be of fewer.
    values = [0] * (-len(bars.values) % merged) + list(bars.values)
    values = [sum(values[at : at + merged]) for at in range(0, len(values), merged)]
    pace = bars.pace * merged if bars.pace is not None else None
    return Bars(values, bars.width * merged, bars.end, pace, bars.last)


def _sizes(count: int, room: int) -> tuple[int, ...]:
    """The cells of each bar, together as many as there is room for."""
    room = min(room, count * _WIDEST)
    ends = [(place + 1) * room // count for place in range(count)]
    return tuple(end - start for start, end in zip([0, *ends], ends, strict=False))


def _ceiling(bars: Bars) -> int:
    """The value at the top: a round one that all values, and the pace, stay below."""
    most = max(1.0, *bars.values, bars.pace or 0)
    unit = 10.0 ** math.floor(math.log10(most))
    return next(math.ceil(step * unit) for step in _ROUND if step * unit >= most)


def _line(bars: Bars, grid: _Grid, number: int) -> list[Cell]:
    """One line of the plot; ``number`` counts from the top."""
    signs = _SIGNS[grid.ascii_only]
    label = grid.label(number)
    cells = [Cell(f"{label:>{grid.gutter}} {signs.tick if label else signs.up}", "text-dim")]
    paced = bars.pace is not None and grid.line_of(bars.pace) == number
    blank = signs.pace if paced else " "
    for one, size in zip(bars.values, grid.sizes, strict=True):
        glyph = grid.glyph(one, number)
        cells.append(Cell(blank * size, "text-dim") if glyph == " " else Cell(glyph * size, "plot"))
    return _joined(cells)


def _joined(cells: Sequence[Cell]) -> list[Cell]:
    """Neighbours of one colour as one cell."""
    joined: list[Cell] = []
    for cell in cells:
        if joined and joined[-1].style == cell.style:
            joined[-1] = Cell(joined[-1].text + cell.text, cell.style)
        else:
            joined.append(cell)
    return joined


def _marks(bars: Bars, grid: _Grid, pen: Pen) -> dict[int, str]:
    """Where times stand below the axis, and their texts: each quarter."""
    count = len(bars.values)
    whole = bars.width * count
    marks = {}
    for quarter in range(4):
        place = count * quarter // 4
        moment = bars.end - whole + bars.width * place
        marks[sum(grid.sizes[:place])] = pen.tick(moment, of=whole)
    return marks


def _times(marks: dict[int, str], room: int, last: str) -> str:
    text, end = "", room - len(last)
    for place, label in marks.items():
        fits = place >= len(text) + (_LABEL_GAP if text else 0)
        if fits and place + len(label) < end:
            text = text.ljust(place) + label
    return text.ljust(end) + last
