"""Leases: holder, epoch, version and countdown; expired and not released."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from loopx_kernel.text import safe

from loopx_tui import strings
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView, LeaseRow

COLUMNS = (
    Column("todo", min=3, priority=10),
    Column("owner", min=8, max=18, flex=True, priority=8),
    Column("lease", min=5, priority=5),
    Column("left", min=4, align="right", priority=9),
    Column("scope", min=8, flex=True, priority=2),
)
_HELD = ("active", "expired")
QUIET: Final = timedelta(minutes=20)
"""A holder who is silent for so long may be gone, though the lease is still theirs."""


def heading(view: GoalView) -> Heading:
    """How many are held, and how many ran out without being released."""
    active = sum(row.status == "active" for row in view.leases)
    expired = sum(row.status == "expired" for row in view.leases)
    figure = [Cell(f"{active} held", "run" if active else "text-dim")]
    if expired:
        figure.append(Cell(f" {expired} expired", "stale"))
    return Heading(strings.LEASES, figure=tuple(figure))


def rows(view: GoalView, pen: Pen) -> list[Row]:
    """Expired first, then the one that ends soonest. Released and ended ones are history."""
    held = [row for row in view.leases if row.status in _HELD]
    return [_row(row, pen) for row in sorted(held, key=lambda row: row.expires_at)]


def _scope(row: LeaseRow, pen: Pen) -> Cell:
    """What is written; before it, how long nobody renewed it, or that a wall clock judged it."""
    notes = [strings.WALL_CLOCK] if row.by_wall_clock else []
    if row.status == "active":
        pen.look_again(row.renewed_at + QUIET)
        if pen.now - row.renewed_at >= QUIET:
            ages = {"age": pen.age(row.renewed_at), "until": pen.clock(row.expires_at)}
            notes.append(strings.NOT_RENEWED.format(**ages))
    text = " ".join((*notes, *map(safe, row.write_scopes)))
    return Cell(text, "stale" if notes else "text-dim")


def _row(row: LeaseRow, pen: Pen) -> Row:
    if row.status == "expired":
        left = Cell(f"{pen.glyph('stale')} {pen.age(row.expires_at)} ago", "stale")
    else:
        left = Cell(pen.left(row.expires_at), "run")
    cells = (
        Cell(safe(row.todo_id), "text-dim"),
        Cell(safe(row.owner)),
        Cell(f"e{row.lease_epoch} v{row.version}", "text-dim"),
        left,
        _scope(row, pen),
    )
    return Row(row.todo_id, cells)
