"""The first screen: header, board and footer, drawn from the feed's last snapshot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from loopx_tui import preferences, strings
from loopx_tui.commands import bindings_for
from loopx_tui.flags import Flag
from loopx_tui.kept import Kept
from loopx_tui.panes.board import Board
from loopx_tui.panes.fitted import Fitted
from loopx_tui.panes.pane import Pane
from loopx_tui.panes.welcome import Welcome
from loopx_tui.presentation.alerts import LATE
from loopx_tui.presentation.cells import Cell
from loopx_tui.presentation.details import detail
from loopx_tui.presentation.facts import Subject
from loopx_tui.presentation.goals import is_loading
from loopx_tui.presentation.header import Bar, Place, header
from loopx_tui.presentation.needs import count
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene
from loopx_tui.presentation.subjects import TAB_OF
from loopx_tui.screens.arriving import ArrivingScreen
from loopx_tui.screens.boarded import BoardScreen
from loopx_tui.screens.detail import render
from loopx_tui.told import Snapshot, Told
from loopx_tui.widgets.rows import Rows


class MainScreen(ArrivingScreen):
    """Draws the last snapshot, from the selected goal's point of view.

    It keeps no state but the selection, the filters and which panes are in front or hidden.
    ``select`` is told the goal whose events are wanted; ``clock`` gives the present moment, UTC
    and aware; ``keep`` is the folder in which hidden panes are remembered, ``None`` for nowhere.
    """

    AUTO_FOCUS = "#needs PaneRows"
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (20, "-narrow"), (80, "-medium"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (6, "-low"), (20, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("main")]
    board: Board

    def __init__(
        self,
        place: Place,
        *,
        select: Callable[[str], None],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        ascii_only: bool = False,
        kept: Kept | None = None,
        keep: Path | None = None,
    ) -> None:
        super().__init__(place, id="main", clock=clock, ascii_only=ascii_only)
        self.make_bar = self.bar
        self._select = select
        self._kept = kept or Kept()
        self._kept.on_change = self.redraw_header
        self._mode: str = "start"
        self._observed: datetime | None = None
        self._keep = keep
        self.welcome = Welcome(id="missing")
        self._brief_text = Fitted(self._make_brief, id="brief-text")
        self._brief = VerticalScroll(self._brief_text, id="brief", can_focus=False)
        self._tiny = Static(id="tiny")

    def make_deck(self) -> Board:
        return Board(self.pen, ascii_only=self._ascii_only)

    def compose(self) -> ComposeResult:
        yield self._header
        yield self.board
        yield self._brief
        yield self.welcome
        yield self._tiny
        yield self._footer

    # Hidden panes

    def on_mount(self) -> None:
        self.board.hide_all(preferences.hidden(self._keep))
        if self.board.hidden:
            shown = (pane for pane in self.board if pane.id not in self.board.hidden)
            next(shown).rows.focus()

    def action_pane(self, number: int) -> None:
        self._remembering(partial(super().action_pane, number))

    def action_hide(self) -> None:
        self._remembering(super().action_hide)

    def action_show_all(self) -> None:
        self._remembering(super().action_show_all)

    def _remembering(self, act: Callable[[], None]) -> None:
        """Keeps which panes are hidden, where that is another now."""
        before = self.board.hidden
        act()
        if self.board.hidden != before:
            preferences.keep_hidden(self._keep, self.board.hidden)

    # What the feed says

    def take(self, snapshot: Snapshot) -> None:
        """Draws a snapshot; what is equal is left alone."""
        told = self.told = snapshot.told
        self._mode, self._observed = snapshot.mode, told.observed
        if told.view is None:
            self.scene = Scene()
        else:
            goal_id = self._chosen(told)
            tail = told.events if told.goal_id == goal_id else ()
            self.scene = Scene(told.view, goal_id, tail, snapshot.reason)
        self.welcome_or_panes(told)
        with self.app.batch_update():
            self.draw()
            if self.scene.goal_id is not None:
                self.board.goals.rows.select(self.scene.goal_id)

    def _chosen(self, told: Told) -> str | None:
        """The goal selected here, as long as it is there; else the one the feed chose."""
        view, mine = told.view, self.scene.goal_id
        if view is None:
            return None
        ids = {goal.goal_id for goal in view.goals} | {item.goal_id for item in view.unread}
        return mine if mine in ids else told.goal_id

    # Drawing

    @property
    def settled(self) -> bool:
        """Whether something was read, no goal is still loading, and watching has begun."""
        view = self.scene.view
        return self._mode != "start" and not (view is not None and is_loading(view))

    def keys_changed(self) -> None:
        if self.told is not None:
            self.welcome_or_panes(self.told)
        super().keys_changed()

    def fly(self, flag: Flag) -> None:
        """Shows in the header what the person calls this workspace."""
        self._place = replace(self._place, label=flag.label, colour=flag.colour)
        self.redraw_header()

    def draw(self) -> None:
        self._draw_brief()
        super().draw()

    def _draw_brief(self) -> None:
        """What small screens show: one detail beside the needs-you list, or only the count."""
        if self.scene.view is None:
            return
        waiting = count(self.scene.view)
        words = strings.NEED_YOU[waiting == 1].format(count=waiting)
        text = Content(f"{words}\n{strings.TINY_QUIT}")
        if self._tiny.content != text:
            self._tiny.update(text, layout=False)
        if self.has_class("-narrow"):
            self._brief_text.redraw()

    def _make_brief(self, width: int) -> Content:
        subject = self.subject(self.board.needs)
        if subject is None:
            return Content.styled(strings.NO_NEEDS, "$text-dim")
        return render(detail(subject, self.scene, self.pen()), width)

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw_brief)

    def make_header(self, pen: Pen, width: int) -> Bar:
        return self.bar(self.scene, pen, width)

    def bar(self, scene: Scene, pen: Pen, width: int, past: Cell | None = None) -> Bar:
        """The header in so many cells, about the goal of ``scene``, or about the ``past``."""
        left = self._kept.left
        return header(
            self._place,
            scene.view,
            scene.goal if past is None else None,
            mode=self._mode,
            observed=self._observed,
            pen=pen,
            width=width,
            open_until=pen.now + left if left is not None else None,
            past=past,
        )

    # Selection

    def open_row(self, pane: Pane) -> None:
        if pane is self.board.alerts:
            self._open_alert(pane.rows.cursor_key or "")
            return
        subject = self.subject(pane)
        if subject is not None and subject.kind == "goal":
            self.open_goal(subject.goal_id, TAB_OF.get(pane.id or "", 1))
        else:
            super().open_row(pane)

    def _open_alert(self, key: str) -> None:
        """What an alert is about: damage, lines, sources, layers, or why it is late."""
        goal_id, what = [*key.split("/"), "", ""][:2]
        tab = {"no effect": TAB_OF["events"], "source": TAB_OF["sources"]}.get(what)
        if what == LATE:
            self.say(self.scene.trouble)
        elif what in ("damaged", "unreadable"):
            self.action_quarantine()
        elif tab is not None and self.scene.find(goal_id) is not None:
            self.open_goal(goal_id, tab)
        else:
            self.action_doctor()

    def open_subject(self, subject: Subject) -> None:
        if subject.kind == "goal":
            self.open_goal(subject.goal_id)
        else:
            super().open_subject(subject)

    async def action_history(self) -> None:
        over = self.app.screen
        if isinstance(over, BoardScreen) and over is not self:
            # The key came while that screen was being put up.
            await over.run_action("history")
            return
        if self.scene.goal is None:
            self.say(strings.NOTHING_TO_OPEN)
            return
        screen = self.loopx.screen_over("goal", self, goal_id=self.scene.goal.goal_id)
        await self.app.push_screen(screen)
        await screen.run_action("history")

    @on(Rows.Highlighted)
    def _selection_moved(self, event: Rows.Highlighted) -> None:
        if event.rows is self.board.goals.rows and event.key != self.scene.goal_id:
            self.scene = replace(self.scene, goal_id=event.key, events=())
            self._select(event.key)
            self.draw()
        elif event.rows is self.board.needs.rows:
            self._draw_brief()
        self._footer.redraw()
