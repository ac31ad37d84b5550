"""A goal as it stood right after one line of its journal: step, jump, and never decide."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from loopx_kernel.errors import LoopxError
from loopx_kernel.text import safe
from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType

from loopx_tui import strings_goal as words
from loopx_tui.commands import Scope, bindings_for
from loopx_tui.panes.bars import AboutBar
from loopx_tui.presentation.cells import Cell
from loopx_tui.presentation.facts import Facts, Subject
from loopx_tui.presentation.finding import NAMED, Found
from loopx_tui.presentation.header import Bar
from loopx_tui.presentation.jump import Jump, parse
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene
from loopx_tui.presentation.scrubber import Moment, badge, scrubber
from loopx_tui.presentation.story import Story
from loopx_tui.screens.goal import GoalScreen
from loopx_tui.screens.jump import JumpScreen

if TYPE_CHECKING:
    from loopx_kernel.views.workspace import WorkspaceView
    from loopx_kernel.workspace import Past
    from loopx_kernel.workspace.objectives import Version


class HistoryScreen(GoalScreen):
    """The tabs of a goal at a moment of its past; the header goes on counting what waits now.

    ``seq`` is the line it begins at, the last one where that is ``None``. Lines are folded off
    the event loop; keys that come meanwhile move where it goes, so that none is lost.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("history")]
    FOOTER = (
        "history.back", "history.on", "goal.close", "history.jump", "rows.open", "help",
        "history.about-before", "history.about-next", "decide", "filter", "quit",
    )  # fmt: skip
    SCOPES: ClassVar[tuple[Scope, ...]] = ("main", "rows", "goal", "history")

    def __init__(
        self, goal_id: str, scene: Scene, *args: object, seq: int | None, **more: object
    ) -> None:
        goal = scene.find(goal_id)
        last = goal.seq if goal else 1
        self._moment = Moment(0, last, last if seq is None else min(seq, last))
        self._live = scene
        self._versions: tuple[Version, ...] | None = None
        self._scrubber = AboutBar(self._make_scrubber, id="scrubber")
        super().__init__(goal_id, scene, *args, **more)  # type: ignore[arg-type]
        self.add_class("-past")
        # Nothing of the present may stand here, not even for the first moment.
        self.scene = Scene(None, goal_id, past=True)
        for pane in self.board:
            pane.head.set_badge(words.PAST)

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            yield widget
            if widget is self._header:
                yield self._scrubber

    @property
    def live(self) -> Scene:
        return self._live

    @property
    def moment(self) -> Moment:
        """Which line is shown, and where it goes from there."""
        return self._moment

    # Drawing

    def make_header(self, pen: Pen, width: int) -> Bar:
        return self.make_bar(self._live, pen, width, badge(self._moment, pen))

    def _make_scrubber(self, width: int) -> list[Cell]:
        return scrubber(self._moment, self._present, width)

    @property
    def _present(self) -> Pen:
        return Pen(self._clock(), ascii_only=self._ascii_only)

    def pen(self) -> Pen:
        """A pen for the moment that is shown: ages and leases are judged by its time."""
        return Pen(self._moment.at or self._clock(), ascii_only=self._ascii_only)

    def draw(self) -> None:
        super().draw()
        self._scrubber.redraw()

    @property
    def panes_due(self) -> datetime | None:
        """What is past does not change with the clock."""
        return None

    # Reading

    def follow(self, scene: Scene) -> None:
        """The present goes on: it is counted in the header, and its journal grows."""
        self._live = scene
        goal = scene.find(self.goal_id)
        if goal is not None:
            self._moment = self._moment._replace(last=goal.seq)
        self._header.redraw()
        self._scrubber.redraw()

    def want(self) -> None:
        self._wanted = (self._moment.target, self.board.front.id)
        if self._wanted != self._read and not self._reading:
            self._reading = True
            self._step_on()

    @work(group="story")
    async def _step_on(self) -> None:
        try:
            while self._read != self._wanted and self.is_attached:
                self._read = self._wanted
                await self._go(self._moment.target)
        finally:
            self._reading = False

    async def _go(self, seq: int) -> None:
        self._patience.begin()
        try:
            past, story = await asyncio.to_thread(self._then, seq)
        except LoopxError as error:
            self._moment = self._moment._replace(target=self._moment.seq, problem=error.message)
            self._scrubber.redraw()
            return
        if self.is_attached:
            self._show(past, story)

    def _then(self, seq: int) -> tuple[Past, Story]:
        """The goal right after line ``seq``, for a thread."""
        past, story = self._knowing.at(seq)
        if self.board.front.id == "changes" and self._versions is None:
            self._versions = self._knowing.versions()
        last = past.view.objective_version
        known = self._versions or ()
        return past, replace(story, versions=tuple(one for one in known if one.version <= last))

    def _show(self, past: Past, story: Story) -> None:
        row = story.events[-1] if story.events else None
        self._moment = self._moment._replace(
            seq=past.view.seq, last=max(past.last_seq, self._moment.last), at=past.at, row=row,
            part=None, problem="",
        )  # fmt: skip
        self.scene = Scene(_alone(self._live, past), self.goal_id, story=story, past=True)
        with self.app.batch_update():
            self.draw()

    def told_progress(self, part: float) -> None:
        self._moment = self._moment._replace(part=None if part >= 1 else part)
        if self.is_attached:
            self._scrubber.redraw()

    def known(self, subject: Subject, pen: Pen) -> Facts:
        """Files and statements as they are now have no place in the past."""
        return []

    def find(self, text: str) -> Sequence[Found]:
        return [one for one in super().find(text) if one.subject.kind != NAMED]

    # Keys

    def action_history(self) -> None:
        """Back to the present."""
        self.action_close()

    def action_step(self, lines: int) -> None:
        """So many lines on, or back."""
        self._head_for(self._moment.target + lines)

    def action_to_first(self) -> None:
        self._head_for(1)

    def action_to_last(self) -> None:
        self._head_for(self._moment.last)

    def _head_for(self, seq: int) -> None:
        last = self._moment.last
        target = min(max(seq, 1), last)
        if target == self._moment.target:
            self.say(words.AT_START if target == 1 else words.AT_END)
            return
        self._moment = self._moment._replace(target=target, problem="")
        self._scrubber.redraw()
        self.want()

    def action_about(self, step: int) -> None:
        """To the next line about the object under the cursor, or the one before."""
        pane = self.board.focused or self.board.front
        subject = self.subject(pane) or self.board.side.subject
        if subject is None or subject.kind == "goal":
            self.say(words.NO_OBJECT)
        else:
            self._look_for(lambda: self._knowing.seq_about(subject.id, self._moment.seq, step),
                           words.NOTHING_ABOUT.format(object=safe(subject.id)))  # fmt: skip

    def action_jump(self) -> None:
        self.app.push_screen(JumpScreen(self.goal_id, self._clock), self._jump)

    def _jump(self, text: str | None) -> None:
        place = None if text is None else parse(text, self._clock())
        if place is None:
            return
        if place.kind in ("moment", "name"):
            self._look_for(
                lambda: self._place_of(place), words.NOT_A_PLACE.format(text=safe(text or ""))
            )
            return
        last = self._moment.last
        numbers = {"first": 1, "last": last, "line": place.number,
                   "step": self._moment.target + place.number}  # fmt: skip
        seq = numbers[place.kind]
        if place.kind == "line" and not 1 <= seq <= last:
            self.say(words.NO_SUCH_LINE.format(goal=self.goal_id, last=last))
            return
        self._head_for(seq)

    def _place_of(self, place: Jump) -> int | None:
        """The line of a moment, an event or the last one about an object; for a thread."""
        if place.moment is not None:
            return self._knowing.seq_at(place.moment)
        found = self._knowing.seq_about(place.name, self._moment.last + 1, -1)
        return self._knowing.seq_of(place.name) if found is None else found

    @work(exclusive=True, group="finding")
    async def _look_for(self, find: Callable[[], int | None], otherwise: str) -> None:
        self._patience.begin()
        try:
            seq = await asyncio.to_thread(find)
        except LoopxError as error:
            self.say(safe(error.message))
            return
        if seq is None:
            self.say(otherwise)
        elif seq != self._moment.target:
            self._head_for(seq)


def _alone(live: Scene, past: Past) -> WorkspaceView | None:
    """The workspace with this one goal, as it was."""
    if live.view is None:
        return None
    return replace(live.view, goals=(past.view,), unread=(), alerts=())
