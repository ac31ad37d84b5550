"""The quarantine: what could not be read, where, why, what it hides, and how it begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from loopx_kernel.text import safe

from loopx_tui import strings_goal as words
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.facts import Facts, plain, when
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.workspace.quarantined import Unreadable

COLUMNS = (
    Column("goal", min=8, max=18, flex=True, priority=8),
    Column("state", min=9, priority=10),
    Column("age", min=3, align="right", priority=6),
    Column("path", min=12, max=40, flex=True, priority=9),
    Column("why", min=12, flex=True, priority=7),
)


def heading(found: Sequence[Unreadable], pen: Pen) -> Heading:
    """How much stands in the way, and how much was set aside."""
    waiting = sum(not one.set_aside for one in found)
    figure = [Cell(f"{len(found) - waiting} {words.SET_ASIDE}", "text-dim")]
    if waiting:
        figure.insert(0, Cell(f"{pen.glyph('alert')} {waiting} {words.IN_THE_WAY} ", "alert"))
    return Heading(words.QUARANTINE, figure=tuple(figure))


def rows(found: Sequence[Unreadable], pen: Pen) -> list[Row]:
    """In the kernel's order: what stands in the way first."""
    return [_row(str(number), one, pen) for number, one in enumerate(found)]


def facts(one: Unreadable, pen: Pen) -> Facts:
    """Everything about one thing, with the beginning of it."""
    told = [
        plain("file", one.path),
        *([plain("line", f"#{one.line}")] if one.line is not None else []),
        plain("goal", one.goal_id),
        plain("why", one.reason, "text" if one.set_aside else "alert"),
        plain("hides", one.hides),
        *([plain("size", f"{one.size:,} bytes")] if one.size is not None else []),
        *when("set aside", one.at, pen),
        *([plain("way out", one.command, "accent")] if one.command else []),
    ]
    return [*told, plain("begins", one.excerpt or words.NO_BYTES, "text-dim")]


def _row(key: str, one: Unreadable, pen: Pen) -> Row:
    if one.at is None:
        state, age = Cell(f"{pen.glyph('alert')} {words.IN_THE_WAY}", "alert"), Cell()
    else:
        state = Cell(f"{pen.glyph('held')} {words.SET_ASIDE}", "text-dim")
        age = Cell(pen.age(one.at), "text-dim")
    name = "/".join(one.path.split("/")[-2:])
    place = f"{name}:{one.line}" if one.line is not None else name
    why = one.reason.rpartition(f"{one.path}, ")[2]
    cells = (
        Cell(safe(one.goal_id)),
        state,
        age,
        Cell(safe(place)),
        Cell(safe(why), "text-dim"),
    )
    return Row(key, cells)
