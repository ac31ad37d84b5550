"""A document as lines of text, safe for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from loopx_kernel.text import safe, safe_block
from loopx_kernel.views.columns import (
    GAP,
    cells_of,
    lines_of_row,
    padded,
    stacked,
    widths_of,
    wrapped,
)
from loopx_kernel.views.document import (
    Block,
    Document,
    Excerpt,
    Facts,
    Figures,
    Lines,
    Plot,
    Section,
    Series,
    Style,
    Table,
)
from loopx_kernel.views.envelope import head_lines

NARROW = 40
"""Cells below which nothing is fitted any further."""
_BAR = " ▁▂▃▄▅▆▇█"


class TextLine(NamedTuple):
    """One line that is safe to print, and how it is meant."""

    text: str = ""
    style: Style = "plain"


def plain_text(document: Document) -> str:
    """The whole document as text, with a newline at its end."""
    head = [TextLine(safe(text)) for text in head_lines(document.envelope)]
    return "".join(f"{line.text}\n" for line in [*head, *plain_lines(document)])


def plain_lines(document: Document, width: int | None = None) -> Iterator[TextLine]:
    """The lines after the envelope's own, fitted into ``width`` cells if that is given."""
    yield from _wrapped(safe(document.title), width)
    if document.subtitle:
        yield from _wrapped(safe(document.subtitle), width)
    for section in document.sections:
        yield TextLine()
        yield TextLine(safe(section.title).upper())
        yield from section_lines(section, width)


def section_lines(section: Section, width: int | None = None) -> Iterator[TextLine]:
    """The lines of one section below its title."""
    room = max(width - len(GAP), NARROW) if width else None
    if section.basis:
        yield from _indented(_wrapped(f"basis: {safe(section.basis)}", room, "dim"))
    for block in section.blocks:
        yield from _indented(_block(block, room))


def _indented(lines: Iterable[TextLine]) -> Iterator[TextLine]:
    for line in lines:
        yield line._replace(text=GAP + line.text if line.text else "")


def _wrapped(text: str, room: int | None, style: Style = "plain") -> Iterator[TextLine]:
    for number, part in enumerate(wrapped(text, room) if room else [text]):
        yield TextLine(GAP + part if number and room else part, style)


def _block(block: Block, room: int | None) -> Iterator[TextLine]:
    match block:
        case Lines(items, style):
            for text in items:
                yield from _wrapped(safe(text), room and room - len(GAP), style)
        case Facts(pairs) | Figures(pairs):
            yield from _facts([(safe(name), safe(value)) for name, value in pairs], room)
        case Table():
            yield from _table(block, room)
        case Excerpt(title, text, left_out):
            yield from _wrapped(safe(title), room and room - len(GAP), "dim")
            yield from (TextLine(f"| {line}") for line in safe_block(text).splitlines())
            if left_out:
                yield TextLine(f"| {safe(left_out)}", "dim")
        case Plot():
            yield from _plot(block)


def _facts(shown: Sequence[tuple[str, str]], room: int | None) -> Iterator[TextLine]:
    width = max((cells_of(name) for name, _ in shown), default=0)
    if room is not None and width > room // 2:
        # A command can be pasted: it stays in one piece, and what it does stands below.
        for name, value in shown:
            yield TextLine(name)
            yield from _indented(_wrapped(value, room - 2 * len(GAP), "dim"))
        return
    for name, value in shown:
        parts = wrapped(value, room - width - len(GAP)) if room else [value]
        for number, part in enumerate(parts):
            yield TextLine(f"{padded('' if number else name, width)}{GAP}{part}")


def _table(block: Table, room: int | None) -> Iterator[TextLine]:
    if block.left_out:
        yield TextLine(f"{block.left_out} more rows are counted and not shown", "dim")
    if not block.rows:
        yield TextLine("none", "dim")
        return
    rows = [block.columns, *(tuple(map(safe, row)) for row in block.rows)]
    widths = widths_of(rows, room)
    if widths is not None:
        for number, row in enumerate(rows):
            style: Style = "plain" if number else "dim"
            yield from (TextLine(text, style) for text in lines_of_row(row, widths))
        return
    assert room is not None
    yield TextLine(GAP.join(filter(None, block.columns[:2])), "dim")
    for row in rows[1:]:
        for number, text in enumerate(stacked(block.columns, row, room)):
            yield TextLine(text, "dim" if number else "plain")


def _plot(plot: Plot) -> Iterator[TextLine]:
    yield TextLine(f"{safe(plot.title)} ({safe(plot.unit)}): {safe(plot.told)}")
    if not plot.labels:
        return
    names = [safe(series.name) for series in plot.series]
    width = max(map(cells_of, names))
    tops = [max(series.values, default=0) for series in plot.series]
    for name, series, own in zip(names, plot.series, tops, strict=True):
        # Steps count towards one another; bars are of different sizes.
        most = max(tops) if plot.kind == "steps" else own
        yield TextLine(f"{padded(name, width)}{GAP}{_bars(series, most)}{GAP}most {own}")
    first, last = safe(plot.labels[0]), safe(plot.labels[-1])
    ends = f"from {first} to {last}, {len(plot.labels)} parts"
    yield TextLine(f"{'':<{width}}{GAP}{ends}", "dim")


def _bars(series: Series, most: int) -> str:
    if most == 0:
        return "·" * len(series.values)
    # Whatever is there is seen, however small it is beside the largest.
    return "".join(_BAR[-(-value * 8 // most)] if value else "·" for value in series.values)
