"""Sources: age of the last success against the window; looking is not succeeding."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from loopx_kernel.text import safe

from loopx_tui import strings
from loopx_tui.presentation.ages import age
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.domain.freshness import SourceReading
    from loopx_kernel.views.goal import GoalView

COLUMNS = (
    Column("id", min=6, max=18, flex=True, priority=10),
    Column("status", min=7, priority=9),
    Column("age", min=3, align="right", priority=8),
    Column("note", min=6, flex=True, priority=4),
)
_WORDS = {"stale": "STALE", "never_read": "never read", "not_scanned": "not scanned"}
_PLAIN = frozenset(("read", "no_change", "not_read"))


def heading(view: GoalView) -> Heading:
    """How many of the enabled sources are fresh."""
    enabled = [row for row in view.sources if row.enabled]
    fresh = sum(row.status == "fresh" for row in enabled)
    alerts = any(row.alert for row in enabled)
    text = f"{fresh}/{len(enabled)} fresh" if enabled else "0"
    return Heading(strings.SOURCES, figure=(Cell(text, "stale" if alerts else "text-dim"),))


def rows(view: GoalView, pen: Pen) -> list[Row]:
    """What raises an alert first, then by name."""
    return [_row(row, pen) for row in sorted(view.sources, key=lambda row: (not row.alert, row.id))]


def status_cell(row: SourceReading, pen: Pen) -> Cell:
    """The status as glyph, word and colour; loud only where it raises an alert."""
    word = _WORDS.get(row.status, row.status)
    if row.status == "fresh":
        return Cell(f"{pen.glyph('fresh')} {word}", "fresh")
    if row.alert:
        return Cell(f"{pen.glyph('stale')} {word}", "stale")
    return Cell(f"{pen.glyph('quiet')} {word.lower()}", "text-dim")


def _row(row: SourceReading, pen: Pen) -> Row:
    since = row.last_success_at
    cells = (
        Cell(safe(row.id)),
        status_cell(row, pen),
        Cell(pen.age(since) if since else "", "stale" if row.alert else "text-dim"),
        Cell(_note(row, pen), "alert" if row.read_status not in _PLAIN else "text-dim"),
    )
    return Row(row.id, cells)


def _note(row: SourceReading, pen: Pen) -> str:
    notes = []
    if row.read_status not in _PLAIN:
        notes.append(row.read_status.replace("_", " "))
    if row.failure_streak:
        notes.append(f"{row.failure_streak} failed")
    if row.unreadable_count:
        notes.append(f"{row.unreadable_count}/{row.item_count} unreadable")
    if row.queue == "stalled":
        notes.append(f"{row.pending_count} pending, stalled")
    notes.append(f"window {age(timedelta(seconds=row.window_seconds))}")
    if not row.required:
        notes.append("optional")
    return pen.dot.join(notes)
