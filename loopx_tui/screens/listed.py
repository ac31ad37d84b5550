"""Screens of one list over the first screen: the doctor and the quarantine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from loopx_kernel.errors import LoopxError
from loopx_kernel.text import safe
from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Static

from loopx_tui import strings, strings_goal
from loopx_tui.commands import Scope, Situation, bindings_for
from loopx_tui.panes.list_deck import ListDeck
from loopx_tui.panes.pane import Pane, Picture
from loopx_tui.presentation import findings, quarantine
from loopx_tui.presentation.facts import Facts, Subject
from loopx_tui.presentation.header import Bar, Place
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene
from loopx_tui.screens.boarded import BoardScreen
from loopx_tui.screens.following import Following

if TYPE_CHECKING:
    from loopx_kernel.workspace import Workspace
    from loopx_kernel.workspace.findings import Finding
    from loopx_kernel.workspace.quarantined import Unreadable


class ListPane(Pane):
    """What its screen was told so far; ``problem`` says why there is no more."""

    found: Sequence[Any] = ()
    under_way = True
    problem = ""

    def rests_on(self, scene: Scene) -> tuple[object, ...]:
        return (self.found, self.under_way, self.problem)


class FindingsPane(ListPane):
    """What the doctor found."""

    TITLE = strings_goal.DOCTOR
    COLUMNS = findings.COLUMNS
    EMPTY = strings_goal.DOCTOR_EMPTY
    found: Sequence[Finding] = ()

    def picture(self, scene: Scene, pen: Pen) -> Picture:
        head = findings.heading(self.found, pen, under_way=self.under_way)
        return Picture(head, findings.rows(self.found, pen), self.problem)


class QuarantinePane(ListPane):
    """What could not be read."""

    TITLE = strings_goal.QUARANTINE
    COLUMNS = quarantine.COLUMNS
    EMPTY = strings_goal.QUARANTINE_EMPTY
    found: Sequence[Unreadable] = ()

    def picture(self, scene: Scene, pen: Pen) -> Picture:
        if self.under_way and not self.problem:
            return Picture(Heading(self.TITLE), (), strings.LOADING)
        return Picture(quarantine.heading(self.found, pen), quarantine.rows(self.found, pen),
                       self.problem)  # fmt: skip


class ListScreen(BoardScreen, Following):
    """A list that is read in a thread, found thing by found thing, when the screen opens.

    A subclass reads it in ``look`` and tells of one row in ``about``.
    """

    HORIZONTAL_BREAKPOINTS = [(0, "-sliver"), (20, "-single"), (100, "-beside")]
    VERTICAL_BREAKPOINTS = [(0, "-sliver"), (6, "-short"), (18, "-high")]
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("main"), *bindings_for("goal")]
    AUTO_FOCUS = ".pane.-front PaneRows"
    FOOTER = ("rows.open", "goal.close", "filter", "copy", "zoom", "palette", "help", "quit")
    SCOPES: ClassVar[tuple[Scope, ...]] = ("main", "rows", "goal")
    LIST: ClassVar[str]
    """The name it is opened by."""
    board: ListDeck
    pane: ListPane

    def __init__(
        self,
        scene: Scene,
        place: Place,
        *,
        make_bar: Callable[..., Bar],
        open_workspace: Callable[[], Workspace],
        clock: Callable[[], datetime],
        ascii_only: bool = False,
    ) -> None:
        super().__init__(place, clock=clock, ascii_only=ascii_only)
        self.add_class("own")
        self.scene = scene
        self.make_bar = make_bar
        self._open_workspace = open_workspace
        self._loop: asyncio.AbstractEventLoop | None = None

    def make_pane(self) -> ListPane:
        """The list."""
        raise NotImplementedError

    def look(self, workspace: Workspace, tell: Callable[[Sequence[Any]], None]) -> None:
        """Reads, in a thread; ``tell`` is given all that was found so far."""
        raise NotImplementedError

    def about(self, found: Any, pen: Pen) -> tuple[str, Facts]:
        """The title and facts of one found thing."""
        raise NotImplementedError

    def make_deck(self) -> ListDeck:
        self.pane = self.make_pane()
        return ListDeck(self.pane, self.pen, self._about, ascii_only=self._ascii_only)

    def make_header(self, pen: Pen, width: int) -> Bar:
        return self.make_bar(self.scene, pen, width)

    def compose(self) -> ComposeResult:
        yield self._header
        yield self.board
        yield Static(strings.TINY_QUIT, id="tiny")
        yield self._footer

    def on_mount(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.draw()
        self._read()

    def follow(self, scene: Scene) -> None:
        """The header goes on; what was found is of when it was looked for."""
        self.scene = scene
        self._header.redraw()

    def situation(self) -> Situation:
        return Situation(self.scene.goal_id or "", read_only=self._place.read_only)

    def open_row(self, pane: Pane) -> None:
        """Everything about a row stands beside it; on small screens it takes the whole."""
        if not self.board.side.display:
            self.board.zoom(self.board.side)
        self.board.side.rows.focus()

    def _about(self, key: str, pen: Pen) -> tuple[str, Facts]:
        number = int(key)
        return self.about(self.pane.found[number], pen) if number < len(self.pane.found) else (
            "", [])  # fmt: skip

    @work(exclusive=True, group="reading")
    async def _read(self) -> None:
        try:
            await asyncio.to_thread(self._look)
        except LoopxError as error:
            self.pane.problem = safe(error.message)
        self.pane.under_way = False
        if self.is_attached:
            self.board.show(self.scene)
            if self.pane.rows.cursor_key == "0":
                # Nobody moved it: what is not well came to stand above it.
                self.pane.rows.action_home()

    def _look(self) -> None:
        self.look(self._open_workspace(), self._tell)

    def _tell(self, found: Sequence[Any]) -> None:
        # Called in a thread; a loop that ended meanwhile has nobody left to tell.
        if self._loop is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._take, tuple(found))

    def _take(self, found: Sequence[Any]) -> None:
        self.pane.found = found
        if self.is_attached:
            self.board.show(self.scene)

    def open_subject(self, subject: Subject) -> None:
        if subject.kind == "goal":
            self.open_goal(subject.goal_id)
        else:
            super().open_subject(subject)

    def action_history(self) -> None:
        self.say(strings_goal.NO_OBJECT)

    def action_turn(self, step: int) -> None:
        """There is one list."""

    def open_list(self, name: str) -> None:
        """In the place of this one: screens do not pile up."""
        if name != self.LIST:
            self.dismiss(None)
            super().open_list(name)

    def action_close(self) -> None:
        if self.board.zoomed is self.board.side:
            self.board.zoom(None)
            self.pane.rows.focus()
        else:
            self.dismiss(None)


class DoctorScreen(ListScreen):
    """`loopx doctor`: each layer apart."""

    LIST = "doctor"

    def make_pane(self) -> ListPane:
        return FindingsPane(self.pen, ascii_only=self._ascii_only)

    def look(self, workspace: Workspace, tell: Callable[[Sequence[Any]], None]) -> None:
        from loopx_kernel.workspace.health import look

        found: list[Finding] = []
        for one in look(workspace, workspace.workspace_view(projection="doctor")):
            found.append(one)
            tell(found)

    def about(self, found: Any, pen: Pen) -> tuple[str, Facts]:
        return found.name, findings.facts(found, pen)


class QuarantineScreen(ListScreen):
    """Everything that could not be read."""

    LIST = "quarantine"

    def make_pane(self) -> ListPane:
        return QuarantinePane(self.pen, ascii_only=self._ascii_only)

    def look(self, workspace: Workspace, tell: Callable[[Sequence[Any]], None]) -> None:
        tell(workspace.repairs.quarantine())

    def about(self, found: Any, pen: Pen) -> tuple[str, Facts]:
        return found.path.rpartition("/")[2], quarantine.facts(found, pen)
