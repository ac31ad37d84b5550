"""The pane Goals: each goal's answer; its cursor selects the goal the other panes show."""

from __future__ import annotations

from loopx_tui import strings
from loopx_tui.panes.pane import Pane, Picture
from loopx_tui.presentation import goals
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene


class GoalsPane(Pane):
    """Each goal's answer as word, glyph and colour."""

    TITLE = strings.GOALS
    COLUMNS = goals.COLUMNS
    EMPTY = strings.NO_GOALS
    KEEPS_CURSOR = True

    def picture(self, scene: Scene, pen: Pen) -> Picture:
        if scene.view is None:
            return Picture(Heading(self.TITLE), (), strings.LOADING)
        return Picture(goals.heading(scene.view), goals.rows(scene.view, pen))
