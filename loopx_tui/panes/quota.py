"""The pane Quota: what is used, how fast, and until when it lasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_tui import strings
from loopx_tui.panes.pane import GoalPane, Picture
from loopx_tui.presentation import quota
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView


class QuotaPane(GoalPane):
    """What is used, how fast, and until when it lasts."""

    TITLE = strings.QUOTA
    COLUMNS = quota.COLUMNS
    EMPTY = strings.NO_QUOTA

    def of_goal(self, goal: GoalView, scene: Scene, pen: Pen) -> Picture:
        return Picture(quota.heading(goal), quota.rows(goal, pen))
