"""Needs you: the exact question, who asked, how long ago, and what it blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_kernel.text import safe

from loopx_tui import strings
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.goals import NOT_LOADED
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.domain.needs_you import NeedsYou
    from loopx_kernel.views.workspace import Unread, WorkspaceView

COLUMNS = (
    Column("id", priority=9),
    Column("kind", priority=4),
    Column("question", min=26, flex=True, priority=10),
    Column("goal", min=6, max=14, flex=True, priority=6),
    Column("age", min=3, align="right", priority=8),
    Column("blocks", min=9, max=12, flex=True, priority=3),
    Column("by", max=14, priority=2),
)
_WORDS = {"human_todo": "todo", "tick": "ticked"}
_STYLES = {"damage": "alert", "escalation": "alert", "drift": "repair", "tick": "repair"}


def key_of(item: NeedsYou) -> str:
    """The row's key: unique over all goals of a workspace."""
    return f"{item.goal_id}/{item.id}"


def count(view: WorkspaceView) -> int:
    """How many things wait for a person, goals that cannot be read included."""
    return len(view.needs_you) + len(unreadable(view))


def keys(view: WorkspaceView) -> frozenset[str]:
    """The keys of all rows."""
    items = {key_of(item) for item in view.needs_you}
    return frozenset(items | {unread_key(item) for item in unreadable(view)})


def unread_key(item: Unread) -> str:
    """The key of a goal's row while the goal cannot be read."""
    return f"{item.goal_id}/unread"


def heading(view: WorkspaceView, pen: Pen) -> Heading:
    """How many things wait for a person."""
    waiting = count(view)
    figure = Cell(f"{pen.glyph('need')} {waiting}", "ask") if waiting else Cell("0", "text-dim")
    return Heading(strings.NEEDS, figure=(figure,))


def rows(view: WorkspaceView, pen: Pen) -> list[Row]:
    """Goals that cannot be read first, then everything that waits, oldest first."""
    unread = [_unread_row(item, unread_words(item, view)) for item in unreadable(view)]
    return unread + [_row(item, pen) for item in view.needs_you]


def unreadable(view: WorkspaceView) -> list[Unread]:
    """The goals that cannot be read, those still loading aside."""
    return [item for item in view.unread if item.reason != NOT_LOADED]


def unread_words(item: Unread, view: WorkspaceView) -> str:
    """Why a goal cannot be read; a path as seen from the ledger, for the reason to be seen too."""
    return item.message.replace(f"{view.root}/.loopx/", "")


def _unread_row(item: Unread, words: str) -> Row:
    cells = (
        Cell("damage", "alert"),
        Cell("damage", "alert"),
        Cell(safe(words)),
        Cell(safe(item.goal_id), "text-dim"),
        Cell(),
        Cell("blocks the goal", "text-dim"),
        Cell(strings.APP, "text-dim"),
    )
    return Row(unread_key(item), cells)


def _row(item: NeedsYou, pen: Pen) -> Row:
    style = _STYLES.get(item.kind, "ask")
    blocks = f"blocks {', '.join(map(safe, item.blocks))}" if item.blocks else "blocks nothing"
    cells = (
        Cell(safe(item.id.partition(":")[0]), style),
        Cell(_WORDS.get(item.kind, item.kind), style),
        Cell(safe(item.question)),
        Cell(safe(item.goal_id), "text-dim"),
        Cell(pen.age(item.since) if item.since else "", "text-dim"),
        Cell(blocks, "text-dim"),
        Cell(safe(item.asked_by), "text-dim"),
    )
    return Row(key_of(item), cells)
