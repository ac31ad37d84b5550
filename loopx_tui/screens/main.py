"""The first screen: header, board and footer, drawn from the feed's last snapshot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import ClassVar

from loopx_kernel.text import safe
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.reactive import Reactive
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from loopx_tui import strings
from loopx_tui.commands import COMMANDS, Situation, bindings_for, shown_keys
from loopx_tui.panes.bars import FooterBar, HeaderBar
from loopx_tui.panes.board import Board
from loopx_tui.panes.pane import Pane
from loopx_tui.presentation.details import Subject, detail
from loopx_tui.presentation.goals import NOT_LOADED
from loopx_tui.presentation.header import Bar, Place, header
from loopx_tui.presentation.needs import count
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene
from loopx_tui.presentation.subjects import situation_of, subject_of
from loopx_tui.screens.acting import ActingScreen
from loopx_tui.screens.detail import DetailScreen, render
from loopx_tui.told import Snapshot, Told
from loopx_tui.widgets.rows import Rows

_SHORTEST_TICK = 1.0


class MainScreen(ActingScreen):
    """Draws the last snapshot, from the selected goal's point of view.

    It keeps no state but the selection, the filters and which pane is in front.
    ``select`` is told the goal whose events are wanted; ``clock`` gives the
    present moment, UTC and aware.
    """

    CSS_PATH = "../styles/loopx.tcss"
    AUTO_FOCUS = "#needs PaneRows"
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (20, "-narrow"), (80, "-medium"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (6, "-low"), (20, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("main")]
    # The panes show the focus themselves; Textual would paint the whole screen again for it.
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    def __init__(
        self,
        place: Place,
        *,
        select: Callable[[str], None],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        ascii_only: bool = False,
    ) -> None:
        super().__init__(id="main", classes="-ascii" if ascii_only else None)
        self.scene = Scene()
        self._place = place
        self._select = select
        self._clock = clock
        self._ascii_only = ascii_only
        self._mode: str = "start"
        self._observed: datetime | None = None
        self._timer: Timer | None = None
        self.board = Board(self.pen, ascii_only=ascii_only)
        self._header = HeaderBar(self._make_header)
        self._footer = FooterBar(self._footer_keys)

    def compose(self) -> ComposeResult:
        yield self._header
        yield self.board
        with VerticalScroll(id="brief", can_focus=False):
            yield Static(id="brief-text")
        yield Static(id="missing")
        yield Static(id="tiny")
        yield self._footer

    def size_classes(self, size: Size) -> list[str]:
        """The classes of the breakpoints that a terminal of ``size`` reaches."""
        pairs = (size.width, self.HORIZONTAL_BREAKPOINTS), (size.height, self.VERTICAL_BREAKPOINTS)
        return [
            [name for least, name in breakpoints if cells >= least][-1]
            for cells, breakpoints in pairs
        ]

    # What the feed says

    def take(self, snapshot: Snapshot) -> None:
        """Draws a snapshot; what is equal is left alone."""
        told = snapshot.told
        self._mode, self._observed = snapshot.mode, told.observed
        self.set_class(told.view is None, "-missing")
        if told.view is None:
            self.scene = Scene()
            self._show_missing(told.missing)
        else:
            goal_id = self._chosen(told)
            tail = told.events if told.goal_id == goal_id else ()
            self.scene = Scene(told.view, goal_id, tail, snapshot.reason)
        with self.app.batch_update():
            self._draw()
            if self.scene.goal_id is not None:
                self.board.goals.rows.select(self.scene.goal_id)

    def _chosen(self, told: Told) -> str | None:
        """The goal selected here, as long as it is there; else the one the feed chose."""
        view, mine = told.view, self.scene.goal_id
        if view is None:
            return None
        ids = {goal.goal_id for goal in view.goals} | {item.goal_id for item in view.unread}
        return mine if mine in ids else told.goal_id

    def _show_missing(self, why: str) -> None:
        lines = [Content.styled(strings.NO_WORKSPACE, "bold $text"), Content(safe(why)), Content()]
        lines += [
            Content.assemble((f"  {command:<16}", "$accent"), (what, "$text-dim"))
            for command, what in strings.NO_WORKSPACE_HELP
        ]
        lines += [Content(), Content.styled(strings.WAITING_FOR_IT, "$text-dim")]
        self.query_one("#missing", Static).update(Content("\n").join(lines))

    # Drawing

    @property
    def settled(self) -> bool:
        """Whether something was read, no goal is still loading, and watching has begun."""
        view = self.scene.view
        loading = view is not None and any(item.reason == NOT_LOADED for item in view.unread)
        return self._mode != "start" and not loading

    def pen(self) -> Pen:
        """A pen for the present moment."""
        return Pen(self._clock(), ascii_only=self._ascii_only)

    def _draw(self) -> None:
        self.board.show(self.scene)
        self._draw_brief()
        self._header.redraw()
        self._footer.redraw()
        self._schedule()
        if isinstance(self.app.screen, DetailScreen):
            self.app.screen.show(self.scene)

    def _draw_brief(self) -> None:
        """What small screens show: one detail beside the needs-you list, or only the count."""
        if self.scene.view is None:
            return
        waiting = count(self.scene.view)
        words = strings.NEED_YOU[waiting == 1].format(count=waiting)
        self._say_in("#tiny", Content(f"{words}\n{strings.TINY_QUIT}"))
        if not self.has_class("-narrow"):
            return
        subject = self._subject(self.board.needs)
        text = Content.styled(strings.NO_NEEDS, "$text-dim")
        if subject is not None:
            width = self.query_one("#brief").scrollable_content_region.width
            text = render(detail(subject, self.scene, self.pen()), width)
        self._say_in("#brief-text", text)

    def _say_in(self, place: str, text: Content) -> None:
        widget = self.query_one(place, Static)
        if widget.content != text:
            widget.update(text, layout=place == "#brief-text")

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw_brief)

    def _make_header(self, width: int) -> Bar:
        return header(
            self._place,
            self.scene.view,
            self.scene.goal,
            mode=self._mode,
            observed=self._observed,
            pen=self.pen(),
            width=width,
        )

    def _footer_keys(self) -> list[tuple[str, str, bool]]:
        """Keys of the live keymap in the table's order; grey where one can do nothing now."""
        live = {one.binding.id: key for key, one in reversed(self.active_bindings.items())}
        situation = self.situation()
        shown = [command for command in COMMANDS if command.footer or command.id == "rows.open"]
        shown.sort(key=lambda command: command.id != "rows.open")
        return [
            (shown_keys(live[one.id]), one.title, not one.disabled_reason(situation))
            for one in shown
            if one.id in live
        ]

    # The clock

    def _schedule(self) -> None:
        """One timer, for the first age or countdown that will read differently."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        due = self.board.due
        if due is not None and self.app.app_focus:
            wait = (due - self._clock()).total_seconds()
            self._timer = self.set_timer(max(wait, _SHORTEST_TICK), self._tick)

    def _tick(self) -> None:
        self.board.tick(self._clock())
        self._schedule()

    def refocused(self) -> None:
        """The terminal has the focus again, or lost it; ages stand still while it has not."""
        self._tick()

    # Selection

    def situation(self) -> Situation:
        """What the cursor is on, for commands and their reasons."""
        pane = self.board.focused
        name, key = (pane.id or "", pane.rows.cursor_key) if pane else ("", None)
        return situation_of(name, key, self.scene, read_only=self._place.read_only)

    def _subject(self, pane: Pane) -> Subject | None:
        return subject_of(pane.id or "", pane.rows.cursor_key, self.scene)

    @on(Rows.Highlighted)
    def _selection_moved(self, event: Rows.Highlighted) -> None:
        if event.rows is self.board.goals.rows and event.key != self.scene.goal_id:
            self.scene = replace(self.scene, goal_id=event.key, events=())
            self._select(event.key)
            self._draw()
        elif event.rows is self.board.needs.rows:
            self._draw_brief()
        self._footer.redraw()

    @on(Rows.Opened)
    def _open(self, event: Rows.Opened) -> None:
        subject = self._subject(self._pane_of(event.rows))
        if subject is None:
            self.say(strings.NOTHING_TO_OPEN)
        else:
            self.app.push_screen(DetailScreen(subject, self.scene, self.pen))

    @on(Rows.Vanished)
    def _row_vanished(self, event: Rows.Vanished) -> None:
        if event.rows.has_focus:
            key = safe(event.key.rpartition("/")[2])
            pane = self._pane_of(event.rows)
            self.say(strings.ROW_GONE.format(key=key, pane=pane.TITLE))

    def _pane_of(self, rows: object) -> Pane:
        return next(pane for pane in self.board if pane.rows is rows)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self._footer.redraw()
