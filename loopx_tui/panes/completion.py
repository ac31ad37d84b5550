"""The pane Completion: which of the checks hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_tui import strings
from loopx_tui.panes.pane import GoalPane, Picture
from loopx_tui.presentation import completion
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView


class CompletionPane(GoalPane):
    """Which of the checks hold."""

    TITLE = strings.COMPLETION
    COLUMNS = completion.COLUMNS
    EMPTY = strings.NO_COMPLETION

    def of_goal(self, goal: GoalView, scene: Scene, pen: Pen) -> Picture:
        return Picture(completion.heading(goal), completion.rows(goal, pen))
