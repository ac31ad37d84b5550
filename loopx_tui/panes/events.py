"""The pane Events: the tail of the selected goal's journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_tui import strings
from loopx_tui.panes.pane import GoalPane, Picture
from loopx_tui.presentation import events
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView


class EventsPane(GoalPane):
    """The tail of the selected goal's journal."""

    TITLE = strings.EVENTS
    COLUMNS = events.COLUMNS
    EMPTY = strings.NO_EVENTS

    def of_goal(self, goal: GoalView, scene: Scene, pen: Pen) -> Picture:
        return Picture(events.heading(goal), events.rows(scene.events, pen))
