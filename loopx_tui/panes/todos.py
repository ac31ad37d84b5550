"""The pane Todos: the selected goal's work by state."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from loopx_tui import strings
from loopx_tui.panes.pane import GoalPane, Picture
from loopx_tui.presentation import todos
from loopx_tui.presentation.kept_rows import KeptRows
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene
from loopx_tui.widgets.row_list import LIMIT

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView, TodoRow


class TodosPane(GoalPane):
    """The selected goal's work by state."""

    TITLE = strings.TODOS
    COLUMNS = todos.COLUMNS
    EMPTY = strings.NO_TODOS

    def __init__(self, make_pen: Callable[[], Pen], *, ascii_only: bool = False) -> None:
        super().__init__(make_pen, ascii_only=ascii_only)
        self._kept: KeptRows[TodoRow] = KeptRows(lambda row: row.todo.id, todos.row)

    def of_goal(self, goal: GoalView, scene: Scene, pen: Pen) -> Picture:
        from loopx_kernel.views.goal import row_of_finished

        story = scene.story
        here = {row.todo.id for row in goal.todos}
        finished = (story.finished or ()) if story else ()
        earlier = (row_of_finished(todo) for todo in finished if todo.id not in here)
        # A filter is for finding any of them.
        shown = todos.in_order(goal, earlier)[: None if self.rows.needle else LIMIT]
        rows = self._kept.rows(shown, pen)
        return Picture(
            todos.heading(goal, pen), rows, more=len(goal.todos) + goal.earlier - len(rows)
        )
