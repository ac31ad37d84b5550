"""Which columns a pane shows at a width, and how wide each is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from loopx_tui.presentation.cells import Align, Row, one_line

GAP = 2


class Column(NamedTuple):
    """One column of a pane; widths are terminal cells.

    Only a ``flex`` column is ever cut to less than its text, down to ``min``;
    ids, ages and countdowns are not flexible. When the pane is still too
    narrow, columns vanish, the lowest ``priority`` first. The first flexible
    column without ``max`` takes the room that is left. Give columns that tick
    a ``min``, so that a shorter text does not move their neighbours.
    """

    name: str
    title: str = ""
    min: int = 0
    max: int | None = None
    align: Align = "left"
    priority: int = 0
    flex: bool = False


def measure(columns: Sequence[Column], row: Row) -> tuple[int, ...]:
    """How many cells the text of each column of ``row`` needs; 0 where it has none."""
    widths = [cell_len(one_line(cell.text)) for cell in row.cells[: len(columns)]]
    return (*widths, *[0] * (len(columns) - len(widths)))


def widest(columns: Sequence[Column], measured: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """The largest need of each column over all measured rows."""
    return tuple(map(max, zip((0,) * len(columns), *measured, strict=False)))


def titles(columns: Sequence[Column]) -> tuple[int, ...]:
    """How many cells the title of each column needs."""
    return tuple(cell_len(column.title) for column in columns)


def plan(columns: Sequence[Column], needs: Sequence[int], width: int) -> tuple[int, ...]:
    """The width of each column, 0 for one that is not shown.

    ``needs`` is what ``widest`` found. The widths and the gaps of ``GAP`` cells
    between shown columns never exceed ``width``.
    """
    wants = [_want(column, need, width) for column, need in zip(columns, needs, strict=True)]
    while (excess := _total(wants) - width) > 0:
        shrunk = _shrink(columns, wants, excess)
        if _total(shrunk) <= width:
            return tuple(shrunk)
        shown = [index for index, want in enumerate(wants) if want]
        if len(shown) == 1:
            wants[shown[0]] = max(width, 0)
            break
        wants[min(shown, key=lambda index: (columns[index].priority, -index))] = 0
    _spread(columns, wants, width - _total(wants))
    return tuple(wants)


def _want(column: Column, need: int, width: int) -> int:
    want = max(min(need, width) if column.flex else need, column.min)
    return want if column.max is None else min(want, column.max)


def _total(widths: Sequence[int]) -> int:
    shown = sum(1 for one in widths if one)
    return sum(widths) + GAP * max(shown - 1, 0)


def _shrink(columns: Sequence[Column], wants: Sequence[int], excess: int) -> list[int]:
    widths = list(wants)
    for _ in range(excess):
        able = [
            index
            for index, column in enumerate(columns)
            if column.flex and widths[index] > max(column.min, 1)
        ]
        if not able:
            break
        widths[max(able, key=lambda index: widths[index])] -= 1
    return widths


def _spread(columns: Sequence[Column], widths: list[int], room: int) -> None:
    for index, column in enumerate(columns):
        if room > 0 and column.flex and column.max is None and widths[index]:
            widths[index] += room
            return
