"""The pane Alerts: only there while something could not be read or has no effect."""

from __future__ import annotations

from loopx_tui import strings
from loopx_tui.panes.pane import Pane, Picture
from loopx_tui.presentation import alerts
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene


class AlertsPane(Pane):
    """What could not be read or has no effect, and what that hides."""

    TITLE = strings.ALERTS
    COLUMNS = alerts.COLUMNS
    DEFAULT_CLASSES = "-empty"

    def picture(self, scene: Scene, pen: Pen) -> Picture:
        found = alerts.rows(scene.view, scene.trouble) if scene.view else []
        self.set_class(not found, "-empty")
        heading = alerts.heading(len(found), pen) if found else Heading(self.TITLE)
        return Picture(heading, found)
