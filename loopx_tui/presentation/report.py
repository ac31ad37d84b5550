"""The kernel's report on a goal, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from loopx_tui import strings_goal as words
from loopx_tui.presentation.cells import Cell, Row, wrap
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.heading import Heading

if TYPE_CHECKING:
    from loopx_kernel.views.render_plain import TextLine

COLUMNS = (Column("text", min=10, flex=True, priority=1),)
_STYLES = {"plain": "text", "dim": "text-dim", "ask": "ask", "alert": "alert"}
_PLOT = frozenset("▁▂▃▄▅▆▇█")


def heading(lines: Sequence[TextLine]) -> Heading:
    """The report's own title."""
    return Heading(lines[0].text if lines else words.REPORT)


def rows(lines: Sequence[TextLine], width: int) -> list[Row]:
    """Its lines in ``width`` cells; headings stand out, sentences go on in the next line."""
    found: list[Row] = []
    for number, line in enumerate(lines[1:]):
        style = _STYLES[line.style]
        if line.text and not line.text.startswith(" "):
            style = "accent"
        elif _PLOT & set(line.text):
            style = "plot"
        for part, text in enumerate(_wrapped(line.text, width)):
            found.append(Row(f"{number}.{part}", (Cell(text, style),)))
    return found[1:] if found and not found[0].cells[0].text else found


def _wrapped(text: str, width: int) -> list[str]:
    """A sentence on several lines, each as far in as its first; a row of a table on one."""
    inner = text.lstrip(" ")
    lead = " " * (len(text) - len(inner))
    if "  " in inner or len(text) <= width:
        return [text]
    return [lead + part for part in wrap(inner, max(width - len(lead), 1))]
