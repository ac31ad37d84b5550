"""The pane Needs you: everything over all goals that waits for a person."""

from __future__ import annotations

from loopx_tui import strings
from loopx_tui.panes.pane import Pane, Picture
from loopx_tui.presentation import needs
from loopx_tui.presentation.goals import is_loading
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene


class NeedsPane(Pane):
    """The exact question, who asked, how long ago, and what it blocks."""

    TITLE = strings.NEEDS
    COLUMNS = needs.COLUMNS
    EMPTY = strings.NO_NEEDS

    def on_mount(self) -> None:
        self.rows.set_empty(strings.LOADING)

    def picture(self, scene: Scene, pen: Pen) -> Picture:
        if scene.view is None:
            return Picture(Heading(self.TITLE), (), strings.LOADING)
        empty = strings.LOADING if is_loading(scene.view) else ""
        return Picture(needs.heading(scene.view, pen), needs.rows(scene.view, pen), empty)
