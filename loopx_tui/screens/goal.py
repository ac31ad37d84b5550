"""A goal's own screen: its tabs, and beside each list what the cursor is on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import ClassVar, Final

from loopx_kernel.errors import LoopxError
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Static

from loopx_tui import strings
from loopx_tui.commands import Scope, bindings_for
from loopx_tui.insight import Knowing, Patience, Progress
from loopx_tui.panes.bars import AboutBar
from loopx_tui.panes.goal_deck import GoalDeck
from loopx_tui.presentation.about import about
from loopx_tui.presentation.cells import Cell
from loopx_tui.presentation.facts import Subject
from loopx_tui.presentation.header import Bar, Place
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene
from loopx_tui.presentation.story import Story
from loopx_tui.screens.boarded import BoardScreen
from loopx_tui.screens.following import Following
from loopx_tui.widgets.rows import Rows

EVENTS_STEP: Final = 500
EVENTS_MOST: Final = 2000
FINISHED_STEP: Final = 500
FINISHED_MOST: Final = 2000
_SETTLE_SECONDS: Final = 0.15
"""How long the cursor rests on a row before the ledger is asked about it."""


class GoalScreen(BoardScreen, Following):
    """One goal, from the scene of the screen below, which it follows.

    ``make_bar`` makes the header's line in so many cells; ``know`` gives what tells what else
    the ledger holds, off the event loop, and is given what is told of long readings; ``tab`` is
    the list that is in front at first.
    """

    HORIZONTAL_BREAKPOINTS = [(0, "-sliver"), (20, "-single"), (100, "-beside")]
    VERTICAL_BREAKPOINTS = [(0, "-sliver"), (6, "-short"), (18, "-high")]
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("main"), *bindings_for("goal")]
    FOOTER = (
        "rows.open", "decide", "goal.close", "history", "goal.next-tab", "filter", "palette",
        "help", "replan", "objective", "quit",
    )  # fmt: skip
    SCOPES: ClassVar[tuple[Scope, ...]] = ("main", "rows", "goal")
    AUTO_FOCUS = ".pane.-front PaneRows"
    board: GoalDeck

    def __init__(
        self,
        goal_id: str,
        scene: Scene,
        place: Place,
        *,
        make_bar: Callable[..., Bar],
        know: Callable[[Progress], Knowing],
        clock: Callable[[], datetime],
        tab: int = 1,
        ascii_only: bool = False,
    ) -> None:
        self._tab = tab
        self._about = AboutBar(self._make_about)
        super().__init__(place, clock=clock, ascii_only=ascii_only)
        self.add_class("own")
        self.goal_id = goal_id
        self.scene = replace(scene, goal_id=goal_id, events=(), story=None)
        self.make_bar = make_bar
        self._patience = Patience(self._tell_progress)
        self._know = know
        self._knowing = know(self._patience.progress)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wanted: object = None
        self._read: object = None
        self._reading = False
        self._events = EVENTS_STEP
        self._finished = 0
        self._turns = 0
        self.part: float | None = None
        """How much was read of what takes long; ``None`` while nothing does."""

    def make_deck(self) -> GoalDeck:
        return GoalDeck(self.pen, tab=self._tab, ascii_only=self._ascii_only)

    def make_header(self, pen: Pen, width: int) -> Bar:
        return self.make_bar(self.scene, pen, width)

    def _make_about(self, width: int) -> list[Cell]:
        return about(self.scene, self.pen(), self.part)

    def compose(self) -> ComposeResult:
        yield self._header
        yield self._about
        yield self.board
        yield Static(strings.TINY_QUIT, id="tiny")
        yield self._footer

    def on_mount(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.draw()
        self.want()

    def draw(self) -> None:
        super().draw()
        self._about.redraw()

    # What is shown, and what is still to be read

    def follow(self, scene: Scene) -> None:
        """Takes another reading; what it tells of the goal is read on where its lines differ."""
        self.scene = replace(scene, goal_id=self.goal_id, events=(), story=self.scene.story)
        with self.app.batch_update():
            self.draw()
        self.want()

    def want(self) -> None:
        """Reads what the screen shows beyond the scene, where that differs from what was read."""
        goal, front = self.scene.goal, self.board.front.id
        # A report is of the moment at which its tab was turned to.
        head = "" if goal is None or front == "report" else goal.head
        self._wanted = (head, front, self._turns, self._events, self._finished)
        if self._wanted != self._read and not self._reading:
            self._reading = True
            self._read_on()

    @work(group="story")
    async def _read_on(self) -> None:
        """Reads until nothing else is wanted; whatever comes meanwhile is one reading more."""
        try:
            while self._read != self._wanted and self.is_attached:
                self._read = self._wanted
                story = await asyncio.to_thread(self._look)
                if story is not None and self.is_attached:
                    self.take(story)
        finally:
            self._reading = False

    def _look(self) -> Story | None:
        """One reading, in a thread; ``None`` where there is nothing new to show."""
        before = self.scene.story
        self._patience.begin()
        try:
            story = self._knowing.now(self._events).keeping(before)
            front = self.board.front.id
            if front == "changes" and not story.has_versions:
                return replace(story, versions=self._knowing.versions())
            if front == "turns" and story.earlier is None:
                return replace(story, earlier=self._knowing.turns())
            if front == "todos" and len(story.finished or ()) < self._finished:
                return replace(story, finished=self._knowing.finished(self._finished))
            if front == "report":
                return replace(story, report=self._knowing.report())
        except LoopxError as error:
            return None if before is None else replace(before, problem=error.message)
        return story

    def take(self, story: Story) -> None:
        """Shows what was read."""
        self.part = None
        self.scene = replace(self.scene, story=story)
        with self.app.batch_update():
            self.draw()

    def _tell_progress(self, part: float) -> None:
        # Called in a thread; a loop that ended meanwhile has nobody left to tell.
        if self._loop is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.told_progress, part)

    def told_progress(self, part: float) -> None:
        """So much of a long reading is done, 0 to 1."""
        self.part = None if part >= 1 else part
        if self.is_attached:
            self._about.redraw()

    # The cursor, and what stands beside the list

    @on(GoalDeck.Turned)
    def _turned(self, event: GoalDeck.Turned) -> None:
        self._footer.redraw()
        self._turns += 1
        self.want()
        self._look_beside()

    @on(Rows.Highlighted)
    def _selection_moved(self, event: Rows.Highlighted) -> None:
        self._footer.redraw()
        rows = self.board.front.rows
        if event.rows is not rows:
            return
        self._look_beside()
        last = rows.shown[-1].key if rows.shown else None
        if event.key == last and not rows.needle:
            self._page_on()

    def _page_on(self) -> None:
        """The end of a list brings what came before."""
        goal, front = self.scene.goal, self.board.front.id
        if front == "journal":
            self._events = min(self._events + EVENTS_STEP, EVENTS_MOST)
        elif front == "todos" and goal is not None and self._finished < goal.earlier:
            self._finished = min(self._finished + FINISHED_STEP, FINISHED_MOST, goal.earlier)
        self.want()

    @work(exclusive=True, group="beside")
    async def _look_beside(self) -> None:
        """Asks the ledger about the row under the cursor once that rests."""
        await asyncio.sleep(_SETTLE_SECONDS)
        subject = self.board.side.subject
        if subject is None or not self.board.side.display:
            return
        facts = await asyncio.to_thread(self.known, subject, self.pen())
        if self.is_attached:
            self.board.side.add(subject, facts)

    # Actions

    def open_subject(self, subject: Subject) -> None:
        if subject.kind == "goal" and subject.goal_id != self.goal_id:
            # Screens do not pile up.
            self.dismiss(None)
            self.open_goal(subject.goal_id)
        else:
            super().open_subject(subject)

    def action_turn(self, step: int) -> None:
        self.board.turn(step)

    def action_history(self) -> None:
        """How the goal stood; from the line under the cursor on where that is one."""
        story, key = self.scene.story, self.board.front.rows.cursor_key
        row = story.event(key) if story and key and self.board.front.id == "journal" else None
        self.app.push_screen(
            self.loopx.screen_over(
                "history",
                self,
                goal_id=self.goal_id,
                tab=self.board.number,
                seq=row.event.seq if row else None,
            )
        )

    def action_close(self) -> None:
        self.dismiss(None)
