"""Completion: every check with its count; it is derived and nothing can write it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_kernel.text import safe

from loopx_tui import strings
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.domain.completion import Check
    from loopx_kernel.views.goal import GoalView

COLUMNS = (
    Column("check", min=10, priority=3),
    Column("count", min=1, align="right", priority=2),
    Column("ids", min=6, flex=True, priority=1),
)
_MOST_IDS = 60
"""More than the widest screen shows; a check can name thousands."""


def heading(view: GoalView) -> Heading:
    """How many of the checks hold."""
    checks = view.completion.checks
    holding = len(checks) - len(view.completion.failing)
    style = "closed" if view.completion.complete else "text-dim"
    return Heading(strings.COMPLETION, figure=(Cell(f"{holding}/{len(checks)}", style),))


def rows(view: GoalView, pen: Pen) -> list[Row]:
    """The checks that fail first, with what stands in the way; then those that hold."""
    result = view.completion
    lines = [_row(check, pen) for check in sorted(result.checks, key=lambda check: check.ok)]
    if result.complete:
        text = f"derived{pen.dot}{result.source}"
        lines.insert(0, Row("derived", (Cell(text, "closed"), Cell(), Cell())))
    return lines


def name_of(check: Check) -> str:
    """A check's name for people."""
    return check.check.removesuffix("_zero").replace("_", " ")


def _row(check: Check, pen: Pen) -> Row:
    key = f"{check.gate}.{check.check}"
    if check.ok:
        held = Cell(f"{pen.glyph('held')} {name_of(check)}", "text-dim")
        return Row(key, (held, Cell(), Cell()))
    missing = Cell(f"{pen.glyph('missing')} {name_of(check)}", "repair")
    named = [safe(one) for one in check.ids[:_MOST_IDS]]
    if len(check.ids) > _MOST_IDS:
        named.append(pen.glyph("ellipsis"))
    ids = Cell(", ".join(named), "text-dim")
    return Row(key, (missing, Cell(str(check.count)), ids))
