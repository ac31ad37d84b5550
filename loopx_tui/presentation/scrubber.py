"""The line that says which moment of a goal's history is shown, and what happened there."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from loopx_kernel.text import safe

from loopx_tui import strings_goal as words
from loopx_tui.presentation.ages import progress_bar
from loopx_tui.presentation.cells import Cell
from loopx_tui.presentation.events import object_of, type_style
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.workspace import EventRow

_BAR = 16


class Moment(NamedTuple):
    """Line ``seq`` of ``last``, written ``at`` (UTC); ``target`` is where it goes from there, and
    ``problem`` why it could not."""

    seq: int
    last: int
    target: int
    at: datetime | None = None
    row: EventRow | None = None
    part: float | None = None
    problem: str = ""


def badge(moment: Moment, pen: Pen) -> Cell:
    """The mark of the past, for header and borders."""
    return Cell(f"{pen.glyph('past')} {words.PAST} #{moment.seq}", "past")


def scrubber(moment: Moment, pen: Pen, width: int) -> list[Cell]:
    """The line in ``width`` cells: where in the journal, when, and what happened."""
    cells = [Cell(" "), badge(moment, pen), Cell(f" of #{moment.last}  ", "past")]
    if width >= 60:
        part = moment.seq / moment.last if moment.last else 1.0
        cells.append(Cell(f"{progress_bar(part, _BAR, ascii_only=pen.ascii_only)}  ", "past"))
    if moment.problem:
        return [*cells, Cell(safe(moment.problem), "alert")]
    if moment.target != moment.seq:
        text = words.GOING.format(seq=moment.target)
        if moment.part is not None:
            text += f" {moment.part:.0%}"
        return [*cells, Cell(text, "wait")]
    if moment.at is not None:
        cells.append(Cell(f"{pen.clock(moment.at, seconds=True)}  ", "text"))
    return [*cells, *_happened(moment.row)]


def _happened(row: EventRow | None) -> list[Cell]:
    if row is None:
        return []
    event = row.event
    style = type_style(event.event_type) if row.effective else "forged"
    return [
        Cell(f"{safe(event.event_type)}  ", style),
        Cell(f"{object_of(event.payload)}  "),
        Cell(safe(event.actor_agent_id), "accent" if event.actor_kind == "owner" else "text-dim"),
    ]
