"""The doctor's findings: each layer apart, what is not well first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from loopx_kernel.text import safe

from loopx_tui import strings_goal as words
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.facts import Fact, Facts, plain
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.workspace.findings import Finding

COLUMNS = (
    Column("layer", min=12, max=44, flex=True, priority=9),
    Column("state", min=6, priority=10),
    Column("detail", min=12, flex=True, priority=5),
)


def heading(findings: Sequence[Finding], pen: Pen, *, under_way: bool) -> Heading:
    """Whether all is well, or how much is not; and that it is still being looked."""
    bad = sum(not one.ok for one in findings)
    figure = [Cell(words.LOOKING + " ", "wait")] if under_way else []
    if bad:
        text = words.UNHEALTHY.format(count=bad)
        figure.append(Cell(f"{pen.glyph('missing')} {text}", "alert"))
    elif findings and not under_way:
        figure.append(Cell(f"{pen.glyph('held')} {words.HEALTHY}", "verified"))
    return Heading(words.DOCTOR, figure=tuple(figure))


def rows(findings: Sequence[Finding], pen: Pen) -> list[Row]:
    """What is not well first, then what only looks safe, then the rest as it was looked at."""
    numbered = sorted(enumerate(findings), key=lambda pair: _rank(pair[1]))
    return [_row(str(number), one, pen) for number, one in numbered]


def facts(finding: Finding, pen: Pen) -> Facts:
    """Everything about one finding."""
    told = [Fact("state", _state(finding, pen)), plain("found", finding.detail)]
    if finding.fix and not finding.ok:
        told.append(plain("fix", finding.fix, "accent"))
    return told


def _rank(one: Finding) -> int:
    return 0 if not one.ok else 1 if one.warns else 2


def _state(one: Finding, pen: Pen) -> Cell:
    if not one.ok:
        return Cell(f"{pen.glyph('missing')} {words.NOT_WELL}", "alert")
    if one.warns:
        return Cell(f"{pen.glyph('alert')} {words.WEAK}", "alert")
    return Cell(f"{pen.glyph('held')} {words.WELL}", "fresh")


def _row(key: str, one: Finding, pen: Pen) -> Row:
    style = "text-dim" if one.ok and not one.warns else "text"
    cells = (Cell(safe(one.name), "text"), _state(one, pen), Cell(safe(one.detail), style))
    return Row(key, cells)
