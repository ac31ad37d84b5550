"""The pane Sources: how fresh what the goal decides from is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_tui import strings
from loopx_tui.panes.pane import GoalPane, Picture
from loopx_tui.presentation import sources
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView


class SourcesPane(GoalPane):
    """How fresh what the goal decides from is."""

    TITLE = strings.SOURCES
    COLUMNS = sources.COLUMNS
    EMPTY = strings.NO_SOURCES

    def of_goal(self, goal: GoalView, scene: Scene, pen: Pen) -> Picture:
        return Picture(sources.heading(goal), sources.rows(goal, pen))
