"""Fitting text into columns: cells of a terminal, not characters, are what there is room for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

GAP = "  "
_NARROWEST = 12
"""Cells below which a column of sentences cannot be read."""
_TALLEST = 4
"""Lines above which a row in columns is no row any more."""


def cells_of(text: str) -> int:
    """How many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def padded(text: str, width: int) -> str:
    """``text`` with spaces up to ``width`` cells."""
    return text + " " * (width - cells_of(text))


def wrapped(text: str, room: int) -> list[str]:
    """``text`` in lines of at most ``room`` cells, broken at spaces where there are any."""
    if cells_of(text) <= room:
        return [text]
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if cells_of(longer) <= room:
            line = longer
            continue
        if line:
            lines.append(line)
        *whole, line = _pieces(word, room)
        lines += whole
    return [*lines, line]


def _pieces(word: str, room: int) -> Iterator[str]:
    piece, used = "", 0
    for char in word:
        size = cells_of(char)
        if piece and used + size > room:
            yield piece
            piece, used = "", 0
        piece, used = piece + char, used + size
    yield piece


def lines_of_row(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """A row in columns of these widths; a cell that is wider goes on below."""
    cells = [wrapped(text, width) for text, width in zip(row, widths, strict=True)]
    for number in range(max(map(len, cells))):
        parts = (
            padded(cell[number] if number < len(cell) else "", width)
            for cell, width in zip(cells, widths, strict=True)
        )
        yield GAP.join(parts).rstrip()


def widths_of(rows: Sequence[Sequence[str]], room: int | None) -> list[int] | None:
    """The width of each column; ``None`` where the cells cannot well stand side by side in
    ``room`` cells. The widest columns give way first, none below its longest word."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(cells_of, column)) for column in columns]
    if room is None:
        return widths
    least = [min(width, _least(column)) for width, column in zip(widths, columns, strict=True)]
    gaps = len(GAP) * (len(widths) - 1)
    if sum(least) + gaps > room:
        return None
    while sum(widths) + gaps > room:
        slack = [w if w > low else 0 for w, low in zip(widths, least, strict=True)]
        widths[slack.index(max(slack))] -= 1
    lines = (wrapped(text, w) for row in rows for text, w in zip(row, widths, strict=True))
    return widths if max(map(len, lines)) <= _TALLEST else None


def _least(column: Sequence[str]) -> int:
    words = (word for cell in column for word in cell.split(" ") if word.isascii())
    return max(_NARROWEST, max(map(len, words), default=0))


def stacked(names: Sequence[str], row: Sequence[str], room: int) -> Iterator[str]:
    """A row that is too wide as a few lines: what it is about, then the rest with names."""
    first, *rest = wrapped(GAP.join(filter(None, row[:2])), room)
    yield first
    yield from (f"{GAP}{text}" for text in rest)
    pairs = [
        f"{name} {text}".strip() for name, text in zip(names[2:], row[2:], strict=True) if text
    ]
    inner = room - 2 * len(GAP)
    line = ""
    for pair in pairs:
        longer = f"{line}{GAP}{pair}" if line else pair
        if cells_of(longer) <= inner:
            line = longer
            continue
        if line:
            yield f"{GAP * 2}{line}"
        *whole, line = wrapped(pair, inner)
        yield from (f"{GAP * 2}{text}" for text in whole)
    if line:
        yield f"{GAP * 2}{line}"
