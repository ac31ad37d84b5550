"""The tabs of a goal's own screen: a list in front, and beside it what its cursor is on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from loopx_kernel.text import safe
from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message

from loopx_tui.panes.bars import Tabs
from loopx_tui.panes.completion import CompletionPane
from loopx_tui.panes.deck import Column, Deck
from loopx_tui.panes.goal_tabs import (
    BookingsPane,
    ChangesPane,
    JournalPane,
    ReportPane,
    TurnsPane,
)
from loopx_tui.panes.pane import Pane
from loopx_tui.panes.side import SidePane
from loopx_tui.panes.sources import SourcesPane
from loopx_tui.panes.steady import Steady
from loopx_tui.panes.todos import TodosPane
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene
from loopx_tui.presentation.turns import total
from loopx_tui.widgets.rows import Rows

_TABS: Final[tuple[type[Pane], ...]] = (
    TodosPane,
    ChangesPane,
    TurnsPane,
    CompletionPane,
    BookingsPane,
    SourcesPane,
    JournalPane,
    ReportPane,
)


class Split(Container, Steady):
    """The list and what stands beside it."""


class GoalDeck(Deck):
    """Eight lists behind tabs, numbered as on the keys, and a pane beside the one in front."""

    class Turned(Message):
        """Another list came to the front."""

        def __init__(self, pane: Pane) -> None:
            super().__init__()
            self.pane = pane

    def __init__(self, make_pen: Callable[[], Pen], *, tab: int, ascii_only: bool) -> None:
        numbered = enumerate(_TABS, 1)
        panes = {number: pane(make_pen, ascii_only=ascii_only) for number, pane in numbered}
        self.side = SidePane(make_pen, ascii_only=ascii_only)
        super().__init__(panes, self.side)
        self._scene = Scene()
        self.front = panes[tab]
        self.front.add_class("-front")
        self._shape()
        titles = [(number, pane.TITLE) for number, pane in panes.items()]
        self._tabs = Tabs(titles, active=tab)

    def compose(self) -> ComposeResult:
        lists = Column(*self._panes.values(), id="lists")
        self.holders = {"lists": lists}
        yield self._tabs
        yield Split(lists, self.side, id="split")

    @property
    def first(self) -> Pane:
        return self.front

    @property
    def number(self) -> int:
        """The number of the list in front."""
        return self.number_of(self.front)

    def can_hide(self, pane: Pane) -> bool:
        return False

    @property
    def due(self) -> datetime | None:
        return min(filter(None, (self.front.due, self.side.due)), default=None)

    def tick(self, now: datetime) -> None:
        for pane in (self.front, self.side):
            if pane.due is not None and pane.due <= now:
                pane.again()

    def show(self, scene: Scene) -> None:
        # Those behind are drawn when they come to the front.
        self._scene = scene
        self.front.show(scene)
        self._point()
        self.side.show(scene)
        self._tabs.set_figures(_figures(scene))

    def turn(self, step: int) -> None:
        """Brings the next list to the front, or the one before; round the end."""
        self.go((self.number - 1 + step) % len(self._panes) + 1)

    def _front(self, number: int, pane: Pane) -> None:
        self._tabs.set_active(number)
        self._mark("-front", pane)
        self.front = pane
        pane.show(self._scene)
        self._shape()
        self._point()
        self.post_message(self.Turned(pane))

    def _shape(self) -> None:
        self.set_class(self.front.id == "report", "-alone")
        self.set_class(self.front.id == "bookings", "-plotted")

    def _point(self) -> None:
        self.side.point(self.front.id or "", self.front.rows.cursor_key)

    @on(Rows.Highlighted)
    def _cursor_moved(self, event: Rows.Highlighted) -> None:
        if event.rows is self.front.rows:
            self._point()

    @on(Tabs.Picked)
    def _tab_picked(self, event: Tabs.Picked) -> None:
        self.go(event.number)


def _figures(scene: Scene) -> dict[int, str]:
    """The most telling figure of each list, for its tab."""
    goal = scene.goal
    if goal is None:
        return {}
    checks, usage = goal.completion.checks, goal.contract.quota
    figures = {
        1: str(goal.counts["total"]),
        4: f"{len(checks) - len(goal.completion.failing)}/{len(checks)}",
        5: f"{usage.used}/{usage.allowed}",
        6: str(len(goal.sources)),
        7: f"#{goal.seq}",
    }
    if scene.story is not None:
        state = scene.story.state
        version = state.objective.version if state.objective else 0
        figures |= {2: f"v{version}", 3: str(total(state))}
    return {number: safe(text) for number, text in figures.items()}
