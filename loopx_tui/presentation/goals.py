"""Goals: each one's answer as word, glyph and colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from loopx_kernel.text import safe

from loopx_tui import strings
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.views.workspace import Unread, WorkspaceView

COLUMNS = (
    Column("goal", min=8, flex=True, priority=9),
    Column("needs", align="right", priority=3),
    Column("answer", min=8, priority=8),
)
NOT_LOADED = "not_loaded"
_STYLES = {"retired": "quiet"}
_GLYPHS = {"retired": "quiet"}


def answer_cell(word: str, pen: Pen) -> Cell:
    """An answer as glyph, word and colour."""
    return Cell(f"{pen.glyph(_GLYPHS.get(word, word))} {word}", _STYLES.get(word, word))


def heading(view: WorkspaceView) -> Heading:
    """How many of the workspace's goals were read."""
    cover = view.envelope.coverage
    style = "text-dim" if cover.complete else "alert"
    figure = Cell(f"{cover.included_count}/{cover.expected_count}", style)
    return Heading(strings.GOALS, figure=(figure,))


def rows(view: WorkspaceView, pen: Pen) -> list[Row]:
    """One row a goal, in the order they were opened; then those that could not be read."""
    return [
        *(_row(goal, pen) for goal in view.goals),
        *(_unread(item, pen) for item in view.unread),
    ]


def is_loading(view: WorkspaceView) -> bool:
    """Whether a goal was not read yet, so that nothing is said of the whole."""
    return any(item.reason == NOT_LOADED for item in view.unread)


def names(views: Sequence[GoalView]) -> dict[str, str]:
    """Goal ids to their display names, safe to show."""
    return {view.goal_id: safe(view.display_name) for view in views}


def _row(view: GoalView, pen: Pen) -> Row:
    count = len(view.needs_you)
    needs = Cell(f"{pen.glyph('need')}{count}", "ask") if count else Cell()
    answer = answer_cell(view.display_answer, pen)
    return Row(view.goal_id, (Cell(safe(view.goal_id)), needs, answer))


def _unread(item: Unread, pen: Pen) -> Row:
    if item.reason == NOT_LOADED:
        cells = (Cell(safe(item.goal_id), "text-dim"), Cell(), Cell(safe(item.message), "text-dim"))
    else:
        word = Cell(f"{pen.glyph('alert')} unread", "alert")
        cells = (Cell(safe(item.goal_id)), Cell(), word)
    return Row(item.goal_id, cells)
