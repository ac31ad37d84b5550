"""The board: nine panes in a grid, behind tabs, or one alone; the styles say which at what size."""

from __future__ import annotations

from collections.abc import Callable

from textual import on
from textual.app import ComposeResult

from loopx_tui import strings
from loopx_tui.panes.alerts import AlertsPane
from loopx_tui.panes.bars import Tabs
from loopx_tui.panes.beat import BeatPane
from loopx_tui.panes.completion import CompletionPane
from loopx_tui.panes.deck import Across, Column, Deck
from loopx_tui.panes.events import EventsPane
from loopx_tui.panes.goals import GoalsPane
from loopx_tui.panes.leases import LeasesPane
from loopx_tui.panes.needs import NeedsPane
from loopx_tui.panes.pane import Pane
from loopx_tui.panes.quota import QuotaPane
from loopx_tui.panes.sources import SourcesPane
from loopx_tui.panes.todos import TodosPane
from loopx_tui.presentation.pen import Pen

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


class Board(Deck):
    """Holds the panes, numbered from 1 as on the keys, and the alerts.

    ``make_pen`` gives a pen for the present moment; each drawing of a pane
    takes a new one, so that each knows when its own text changes next.
    """

    def __init__(self, make_pen: Callable[[], Pen], *, ascii_only: bool) -> None:
        numbered = enumerate(_PANES, 1)
        panes = {number: pane(make_pen, ascii_only=ascii_only) for number, pane in numbered}
        alerts = AlertsPane(make_pen, ascii_only=ascii_only)
        super().__init__(panes, alerts)
        self.alerts = alerts
        self.goals, self.needs, todos = panes[1], panes[2], panes[3]
        todos.add_class("-front")
        shared = {n: pane.TITLE for n, pane in panes.items() if pane is not self.needs}
        self._tabs = Tabs(list((shared | {9: strings.EVENTS_SHORT}).items()), active=3)

    def compose(self) -> ComposeResult:
        pane = self._panes
        pair = Across(pane[6], pane[7], id="pair")
        parts = (self.alerts, pane[2], self._tabs, pane[3], pair, pane[9])
        right = Column(*parts, id="right", classes="-front")
        left = Column(pane[1], pane[4], pane[5], pane[8], id="left")
        self.holders = {"left": left, "right": right, "pair": pair}
        yield right
        yield left

    @property
    def first(self) -> Pane:
        return self.needs

    def can_hide(self, pane: Pane) -> bool:
        shares = pane is not self.needs and self._tabs.display
        return super().can_hide(pane) and not shares

    def _front(self, number: int, pane: Pane) -> None:
        if pane is not self.needs:
            self._tabs.set_active(number)
            self._mark("-front", pane)

    @on(Tabs.Picked)
    def _tab_picked(self, event: Tabs.Picked) -> None:
        self.go(event.number)
