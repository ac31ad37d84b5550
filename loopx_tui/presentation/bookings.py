"""The quota tab: how the window stands, and every booking in it, the newest on top."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from loopx_kernel.text import safe

from loopx_tui import strings_goal as words
from loopx_tui.presentation import quota
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.chart import SMALLEST, Bars, chart, fitted
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.domain.records import Spend
    from loopx_kernel.views.goal import GoalView

    from loopx_tui.presentation.story import Story

COLUMNS = (
    Column("time", min=5, priority=6),
    Column("id", min=9, priority=10),
    Column("slots", align="right", priority=9),
    Column("by", min=6, max=16, flex=True, priority=5),
    Column("note", min=8, flex=True, priority=4),
)
_TALLEST = 18


def rows(story: Story, pen: Pen) -> list[Row]:
    """The bookings that the state still has."""
    spends = sorted(story.state.spends.values(), key=lambda spend: spend.at, reverse=True)
    return [_row(spend, pen) for spend in spends]


def _row(spend: Spend, pen: Pen) -> Row:
    void = spend.voided_at is not None
    note = f"void: {spend.void_reason}" if void else ""
    cells = (
        Cell(pen.clock(spend.at), "text-dim"),
        Cell(safe(spend.effect_ref), "text-dim"),
        Cell(str(spend.slots), "past" if void else "plot"),
        Cell(safe(spend.by)),
        Cell(safe(note), "past"),
    )
    return Row(spend.effect_ref, cells)


def plot(
    view: GoalView, pen: Pen, width: int, height: int, *, past: bool = False
) -> list[list[Cell]]:
    """The burn over the window with its axes and the even pace, then the figures in words."""
    usage, burn = view.contract.quota, view.burn
    every = figures = list(_figures(view, pen, width))
    part = timedelta(seconds=burn.bucket_seconds)
    pace = usage.allowed / len(burn.buckets) if burn.buckets else None
    bars = Bars(burn.buckets, part, usage.window_end, pace, words.THEN if past else words.NOW)
    if height < len(figures) + 2 + SMALLEST[1]:
        # The plot is what a person cannot read in the list.
        figures = [cells for cells in every if cells[0].text.startswith("rate")]
    lines = chart(bars, pen, width, min(height - len(figures) - 1, _TALLEST))
    if not lines:
        return every[:height]
    per = words.SLOTS_PER.format(width=_every(fitted(bars, width).width))
    sign = "." if pen.ascii_only else "┄"
    legend = [Cell(per, "plot"), Cell(f"   {sign * 2} {words.EVEN_PACE}", "text-dim")]
    gap: list[list[Cell]] = [[]] if height > len(lines) + len(figures) + 1 else []
    return [legend, *lines, *gap, *figures]


def heading(view: GoalView) -> Heading:
    """The burn over the named window."""
    return quota.heading(view)._replace(title=words.BURN)


def _every(part: timedelta) -> str:
    minutes = int(part.total_seconds()) // 60
    return f"{minutes} min" if minutes % 60 else f"{minutes // 60} h"


def _figures(view: GoalView, pen: Pen, width: int) -> Iterator[list[Cell]]:
    for row in quota.rows(view, pen):
        label, value = row.cells
        if label.text != "burn":
            yield [Cell(f"{label.text:<6}", "text-dim"), value]
