"""The pane Events: the tail of the selected goal's journal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from loopx_tui import strings
from loopx_tui.panes.pane import GoalPane, Picture
from loopx_tui.presentation import events
from loopx_tui.presentation.kept_rows import KeptRows
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.workspace import EventRow


class EventsPane(GoalPane):
    """The tail of the selected goal's journal."""

    TITLE = strings.EVENTS
    COLUMNS = events.COLUMNS
    EMPTY = strings.NO_EVENTS

    def __init__(self, make_pen: Callable[[], Pen], *, ascii_only: bool = False) -> None:
        super().__init__(make_pen, ascii_only=ascii_only)
        self._kept: KeptRows[EventRow] = KeptRows(lambda row: row.event.event_id, events.row)

    def rests_on(self, scene: Scene) -> tuple[object, ...]:
        return (*super().rests_on(scene), scene.events)

    def of_goal(self, goal: GoalView, scene: Scene, pen: Pen) -> Picture:
        return Picture(events.heading(goal), self._kept.rows(reversed(scene.events), pen))
