"""Cells and rows: what a pane shows, as text and the name of a style.

A style is the name of one of the theme's colours (``run``, ``text-dim``, …).
Text that came from outside has passed ``loopx_kernel.text.safe`` before it
becomes a cell.
"""

from __future__ import annotations

import unicodedata
from typing import Literal, NamedTuple

from rich.cells import cell_len, chop_cells, split_graphemes

Align = Literal["left", "right"]

_JOINER = "\u200d"
_BREAKING = frozenset(("Cc", "Cs", "Zl", "Zp"))


BADGE = "!"
"""Before a style's name: on a ground of that colour, for the one thing not to overlook."""


class Cell(NamedTuple):
    """One text on the screen: what it says, its colour's name, and the side it keeps to."""

    text: str = ""
    style: str = "text"
    align: Align = "left"


class Row(NamedTuple):
    """One line of a pane.

    ``key`` names the object shown and is unique within its pane; selection,
    scroll and filter hold on to it. ``cells`` stand in the order of the pane's
    columns. ``mark`` is a glyph of one cell at the left edge, where the cursor
    is drawn when it is on this row.
    """

    key: str
    cells: tuple[Cell, ...]
    mark: Cell = Cell()

    @property
    def haystack(self) -> str:
        """The row's text as a filter looks at it: all cells, case folded."""
        return " ".join(cell.text for cell in self.cells).casefold()


def fit(text: str, cells: int, align: Align = "left", ellipsis: str = "…") -> str:
    """``text`` in exactly ``cells`` terminal cells.

    Padded with spaces on the side away from ``align``; cut with ``ellipsis``
    (one cell wide) at the end, never inside a wide or combined character.
    """
    if cells <= 0:
        return ""
    text = one_line(text)
    width = cell_len(text)
    if width > cells:
        text, width = _cut(text, cells - 1)
        text, width = text + ellipsis, width + 1
    padding = " " * (cells - width)
    return padding + text if align == "right" else text + padding


def one_line(text: str) -> str:
    """``text`` with every character that could break its line shown as ``�``."""
    if text.isprintable():
        return text
    text = "".join("�" if unicodedata.category(one) in _BREAKING else one for one in text)
    # A joiner with nothing on one side would take in the character next to the cell.
    inner = text.strip(_JOINER)
    return text if len(inner) == len(text) else f"�{inner}�"


def wrap(text: str, cells: int) -> list[str]:
    """``text`` as lines of at most ``cells`` terminal cells, broken between words if it can be."""
    if cells <= 0:
        return []
    lines: list[str] = []
    for word in one_line(text).split(" "):
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= cells:
            lines[-1] += f" {word}"
        else:
            lines.extend(chop_cells(word, cells) or [""])
    return lines


def _cut(text: str, cells: int) -> tuple[str, int]:
    spans, _ = split_graphemes(text)
    width = 0
    for start, _, size in spans:
        if width + size > cells:
            return text[:start], width
        width += size
    return text, width
