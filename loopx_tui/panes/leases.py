"""The pane Leases: holder, epoch, version and countdown of what is held now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_tui import strings
from loopx_tui.panes.pane import GoalPane, Picture
from loopx_tui.presentation import leases
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView


class LeasesPane(GoalPane):
    """Holder, epoch, version and countdown of what is held now."""

    TITLE = strings.LEASES
    COLUMNS = leases.COLUMNS
    EMPTY = strings.NO_LEASES

    def of_goal(self, goal: GoalView, scene: Scene, pen: Pen) -> Picture:
        return Picture(leases.heading(goal), leases.rows(goal, pen))
