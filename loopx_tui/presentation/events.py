"""Changes and events: the journal's tail, and for signed lines who, whether, how strongly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from loopx_kernel.text import safe

from loopx_tui import strings
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.workspace import EventRow

COLUMNS = (
    Column("time", min=5, priority=7),
    Column("type", min=13, priority=9),
    Column("object", min=4, max=16, flex=True, priority=8),
    Column("actor", min=8, max=16, flex=True, priority=6),
    Column("note", min=10, flex=True, priority=5),
    Column("seq", align="right", priority=1),
)
_OBJECTS = ("todo_id", "gate_id", "escalation_id", "effect_ref", "source_id", "path", "goal_id")
_NOTES = ("title", "question", "note", "reason", "text", "status")
_STYLES = {
    "gate": "ask",
    "escalation": "ask",
    "goal": "accent",
    "spend": "plot",
    "source": "fresh",
    "file": "text-dim",
}
_VERBS = {"completed": "closed", "claimed": "run", "approved": "verified", "rejected": "repair"}
_FINGERPRINT = 14


def heading(view: GoalView) -> Heading:
    """Where the journal stands, and how many of its lines have no effect."""
    figure = [Cell(f"#{view.seq}", "text-dim")]
    if view.alerts:
        figure.insert(0, Cell(f"{len(view.alerts)} without effect ", "alert"))
    return Heading(strings.EVENTS, figure=tuple(figure))


def rows(events: Sequence[EventRow], pen: Pen) -> list[Row]:
    """The newest on top."""
    return [row(one, pen) for one in reversed(events)]


def object_of(payload: Mapping[str, Any]) -> str:
    """The id of what an event is about, safe to show; empty for the goal itself."""
    found = next((payload[name] for name in _OBJECTS if name in payload), "")
    return safe(str(found))


def signature_cell(row: EventRow, pen: Pen) -> Cell:
    """For a signed line: whether it verifies, with which key, how strongly."""
    if row.signature_ok:
        key = (row.fingerprint or "")[:_FINGERPRINT]
        return Cell(f"{pen.glyph('verified')} {key}… ({row.level})", "verified")
    return Cell(f"{pen.glyph('forged')} {safe(row.problem or 'bad signature')}", "forged")


def type_style(event_type: str) -> str:
    """The colour of an event's name: by what happened, else by the noun."""
    noun, _, verb = event_type.partition(".")
    return _VERBS.get(verb) or _STYLES.get(noun, "text")


def row(row: EventRow, pen: Pen) -> Row:
    """One line."""
    event = row.event
    cells = (
        Cell(pen.clock(event.recorded_at), "text-dim"),
        Cell(safe(event.event_type), type_style(event.event_type) if row.effective else "forged"),
        Cell(object_of(event.payload)),
        Cell(safe(event.actor_agent_id), "accent" if event.actor_kind == "owner" else "text"),
        _note(row, pen),
        Cell(f"#{event.seq}", "text-dim"),
    )
    return Row(event.event_id, cells)


def _note(row: EventRow, pen: Pen) -> Cell:
    if row.event.signed is not None:
        return signature_cell(row, pen)
    if not row.effective:
        return Cell(f"{pen.glyph('forged')} no effect: {safe(row.problem or '')}", "forged")
    payload = row.event.payload
    found = next((payload[name] for name in _NOTES if payload.get(name)), "")
    return Cell(safe(str(found)), "text-dim")
