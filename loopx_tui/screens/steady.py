"""A screen that is painted once where Textual would paint it twice."""

from __future__ import annotations

from textual.geometry import Size
from textual.screen import Screen

from loopx_tui.panes.steady import Steady


class SteadyScreen(Steady, Screen[None]):
    """Where a layout and a repaint are both due, the layout's painting is the repaint."""

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        whole = self._repaint_required
        if whole:
            self._dirty_widgets.add(self)
            self._repaint_required = False
        super()._refresh_layout(size, scroll)
        if whole:
            # What they marked dirty has been painted with the rest.
            for widget in self._compositor.visible_widgets:
                widget._exchange_repaint_regions()
