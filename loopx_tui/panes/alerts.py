"""The pane Alerts: only there while something could not be read, has no effect or is too old."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from loopx_tui import strings
from loopx_tui.panes.pane import Pane, Picture
from loopx_tui.presentation import alerts
from loopx_tui.presentation.cells import Row
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene

LASTING: Final = timedelta(seconds=2)
"""How long a file is not level before it is said: every writer leaves some so for a moment."""


class AlertsPane(Pane):
    """What could not be read, has no effect or is too old, and the command that helps.

    As high as what it says, up to three rows.
    """

    TITLE = strings.ALERTS
    COLUMNS = alerts.COLUMNS
    DEFAULT_CLASSES = "-empty"

    _first_seen: dict[str, datetime] | None = None

    def picture(self, scene: Scene, pen: Pen) -> Picture:
        if scene.view is None:
            return self._sized(Picture(Heading(self.TITLE), ()))
        found = alerts.rows(scene.view, scene.trouble)
        found += self._lasting(alerts.notes(scene.view), pen)
        return self._sized(Picture(alerts.heading(alerts.count(scene.view), pen), found))

    def _sized(self, picture: Picture) -> Picture:
        """The picture, for which the pane has now the room."""
        self.set_class(not picture.rows, "-empty")
        self.set_class(len(picture.rows) == 1, "-one")
        self.set_class(len(picture.rows) == 2, "-two")
        return picture

    def _lasting(self, notes: Sequence[Row], pen: Pen) -> list[Row]:
        """Those notes that have stood for a while; looks again when the others will have."""
        before = self._first_seen or {}
        self._first_seen = {row.key: before.get(row.key, pen.now) for row in notes}
        for since in self._first_seen.values():
            pen.look_again(since + LASTING)
        return [row for row in notes if pen.now - self._first_seen[row.key] >= LASTING]
