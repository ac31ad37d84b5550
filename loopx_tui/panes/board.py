"""The board: nine panes in a grid, behind tabs, or one alone; the styles say which at what size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.widget import Widget

from loopx_tui import strings
from loopx_tui.panes.alerts import AlertsPane
from loopx_tui.panes.bars import Tabs
from loopx_tui.panes.beat import BeatPane
from loopx_tui.panes.completion import CompletionPane
from loopx_tui.panes.events import EventsPane
from loopx_tui.panes.goals import GoalsPane
from loopx_tui.panes.leases import LeasesPane
from loopx_tui.panes.needs import NeedsPane
from loopx_tui.panes.pane import Pane
from loopx_tui.panes.quota import QuotaPane
from loopx_tui.panes.sources import SourcesPane
from loopx_tui.panes.steady import Steady
from loopx_tui.panes.todos import TodosPane
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene

_PANES: tuple[type[Pane], ...] = (
    GoalsPane,
    NeedsPane,
    TodosPane,
    BeatPane,
    CompletionPane,
    LeasesPane,
    SourcesPane,
    QuotaPane,
    EventsPane,
)


class _Column(Vertical, Steady):
    """Panes below one another."""


class _Row(Horizontal, Steady):
    """Panes side by side."""


class Board(Container, Steady):
    """Holds the panes, numbered from 1 as on the keys, and the alerts.

    ``make_pen`` gives a pen for the present moment; each drawing of a pane
    takes a new one, so that each knows when its own text changes next.
    """

    def __init__(self, make_pen: Callable[[], Pen], *, ascii_only: bool) -> None:
        super().__init__(id="body")
        numbered = enumerate(_PANES, 1)
        self._panes = {number: pane(make_pen, ascii_only=ascii_only) for number, pane in numbered}
        self._alerts = AlertsPane(make_pen, ascii_only=ascii_only)
        self.goals, self.needs, todos = self._panes[1], self._panes[2], self._panes[3]
        self._zoomed: Pane | None = None
        todos.add_class("-front")
        shared = {n: pane.TITLE for n, pane in self._panes.items() if pane is not self.needs}
        self._tabs = Tabs(list((shared | {9: strings.EVENTS_SHORT}).items()), active=3)
        self._holders: dict[str, Widget] = {}

    def compose(self) -> ComposeResult:
        pane = self._panes
        pair = _Row(pane[6], pane[7], id="pair")
        parts = (self._alerts, pane[2], self._tabs, pane[3], pair, pane[9])
        right = _Column(*parts, id="right", classes="-front")
        left = _Column(pane[1], pane[4], pane[5], pane[8], id="left")
        self._holders = {"left": left, "right": right, "pair": pair}
        yield right
        yield left

    def __iter__(self) -> Iterator[Pane]:
        yield from self._panes.values()
        yield self._alerts

    @property
    def focused(self) -> Pane | None:
        """The pane with the focus."""
        return next((pane for pane in self if pane.rows.has_focus), None)

    @property
    def due(self) -> datetime | None:
        """When the first age or countdown will read differently; UTC."""
        return min((pane.due for pane in self if pane.due is not None), default=None)

    def show(self, scene: Scene) -> None:
        """Draws the scene in every pane; what is equal is left alone."""
        for pane in self:
            pane.show(scene)

    def tick(self, now: datetime) -> None:
        """Draws the panes again in which a text differs at ``now``."""
        for pane in self:
            if pane.due is not None and pane.due <= now:
                pane.again()

    def go(self, number: int) -> None:
        """Moves the focus to a pane, which comes to the front where it shares a place."""
        pane = self._panes[number]
        if self._zoomed is not None:
            self._zoom(pane)
        if pane is not self.needs:
            self._tabs.set_active(number)
            self._mark("-front", pane)
        pane.rows.focus()

    def toggle_zoom(self) -> None:
        """Gives the whole board to the pane with the focus, or takes it back."""
        self._zoom(None if self._zoomed else self.focused)

    @on(Tabs.Picked)
    def _tab_picked(self, event: Tabs.Picked) -> None:
        self.go(event.number)

    def _zoom(self, pane: Pane | None) -> None:
        self._zoomed = pane
        self.set_class(pane is not None, "-zoomed")
        self._mark("-zoom", pane)

    def _mark(self, name: str, pane: Pane | None) -> None:
        """Puts a class on one pane and on what holds it, for the styles."""
        for other in self:
            other.set_class(other is pane, name)
        for holder in self._holders.values():
            holder.set_class(pane is not None and holder in pane.ancestors, name)
