"""Quota: what of the window is used, how fast, and until when it lasts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from loopx_kernel.text import counted

from loopx_tui import strings
from loopx_tui.presentation.ages import age, progress_bar, sparkline
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.todos import waits_for

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView

COLUMNS = (
    Column("label", min=4, priority=1),
    Column("value", min=10, flex=True, priority=2),
)
PLOT = 24
_TIGHT = 0.8


def heading(view: GoalView) -> Heading:
    """Used against allowed in the named window."""
    usage = view.contract.quota
    window = age(timedelta(hours=usage.window_hours))
    style = _style(usage.used, usage.allowed)
    return Heading(strings.QUOTA, window, (Cell(f"{usage.used}/{usage.allowed}", style),))


def rows(view: GoalView, pen: Pen) -> list[Row]:
    """A bar, the burn over the window, the rate, what was taken back, and what is frozen."""
    usage = view.contract.quota
    part = usage.used / usage.allowed if usage.allowed else 1.0
    bar = progress_bar(part, PLOT - 5, ascii_only=pen.ascii_only)
    plot = sparkline(_merged(view.burn.buckets, PLOT), ascii_only=pen.ascii_only)
    lines = [
        ("used", Cell(f"{bar} {part:4.0%}", _style(usage.used, usage.allowed))),
        ("burn", Cell(plot, "plot")),
        ("rate", Cell(_rate(view, pen))),
        ("also", Cell(_also(view, pen), "text-dim")),
    ]
    frozen = [row.todo for row in view.todos if row.todo.status == "waiting"]
    if frozen:
        facts = ", ".join(f"{todo.id} {waits_for(todo)}" for todo in frozen)
        lines.append(("wait", Cell(facts, "wait")))
    return [Row(label, (Cell(label, "text-dim"), cell)) for label, cell in lines]


def _rate(view: GoalView, pen: Pen) -> str:
    burn, usage = view.burn, view.contract.quota
    if usage.remaining == 0:
        return "all slots are used"
    lasts = f"used up in {pen.left(burn.lasts_until)}" if burn.lasts_until else "enough"
    return f"{burn.last_hour}/h{pen.dot}{lasts}"


def _also(view: GoalView, pen: Pen) -> str:
    usage = view.contract.quota
    parts = [counted(usage.spends, "spend")]
    if usage.attempts != usage.spends:
        parts.append(counted(usage.attempts, "attempt"))
    if usage.voids:
        parts.append(counted(usage.voids, "void"))
    if usage.aged_out:
        parts.append(f"{usage.aged_out} aged out")
    return pen.dot.join(parts)


def _merged(buckets: Sequence[int], cells: int) -> list[int]:
    size = max(1, -(-len(buckets) // cells))
    return [sum(buckets[start : start + size]) for start in range(0, len(buckets), size)]


def _style(used: int, allowed: int) -> str:
    if used >= allowed:
        return "alert"
    return "ask" if used >= _TIGHT * allowed else "text"
