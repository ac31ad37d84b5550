"""The pane Next beat: the answer to the next wake-up, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_tui import strings
from loopx_tui.panes.pane import GoalPane, Picture
from loopx_tui.presentation import beat
from loopx_tui.presentation.columns import GAP
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene
from loopx_tui.widgets.row_painter import EDGE

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView


class BeatPane(GoalPane):
    """The answer to the next wake-up, and why."""

    TITLE = strings.BEAT
    COLUMNS = beat.COLUMNS
    EMPTY = strings.NO_BEAT

    @property
    def _room(self) -> int:
        """Cells for a value; everything on one line before the pane has a size."""
        width = self.rows.scrollable_content_region.width
        return width - EDGE - beat.LABEL - GAP if width else 500

    def of_goal(self, goal: GoalView, scene: Scene, pen: Pen) -> Picture:
        return Picture(beat.heading(goal, pen), beat.rows(goal, pen, self._room))

    def on_resize(self) -> None:
        self.call_after_refresh(self.again)
