"""The pane Todos: the selected goal's work by state."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import on

from loopx_tui import strings
from loopx_tui.panes.pane import GoalPane, Picture
from loopx_tui.presentation import todos
from loopx_tui.presentation.kept_rows import KeptRows
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene
from loopx_tui.widgets.row_list import LIMIT
from loopx_tui.widgets.rows import Rows

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
        self._page = (0, "")
        """From which todo on, and of which goal."""

    def of_goal(self, goal: GoalView, scene: Scene, pen: Pen) -> Picture:
        from loopx_kernel.views.goal import row_of_finished

        story = scene.story
        here = {row.todo.id for row in goal.todos}
        finished = (story.finished or ()) if story else ()
        earlier = (row_of_finished(todo) for todo in finished if todo.id not in here)
        listed = todos.in_order(goal, earlier)
        start = self._start(goal.goal_id, len(listed))
        # A filter is for finding any of them.
        shown = listed if self.rows.needle else listed[start : start + LIMIT]
        rows = self._kept.rows(shown, pen)
        before = 0 if self.rows.needle else start
        more = len(goal.todos) + goal.earlier - before - len(rows)
        return Picture(todos.heading(goal, pen), rows, more=more, before=before)

    def _start(self, goal_id: str, count: int) -> int:
        start, of = self._page
        return min(start, max(count - 1, 0)) // LIMIT * LIMIT if of == goal_id else 0

    @on(Rows.PageWanted)
    def _page_wanted(self, event: Rows.PageWanted) -> None:
        goal, shown = self._scene.goal, self._picture
        if goal is not None and shown is not None:
            self._page = max(shown.before + event.step * LIMIT, 0), goal.goal_id
            self.turn(event.step)
