"""What the first screen's keys do, beyond moving: one method an action of the command table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol, cast

from loopx_kernel.domain.event import WORKSPACE_JOURNAL
from loopx_kernel.text import safe
from textual import work

from loopx_tui import strings, strings_goal
from loopx_tui.commands import BY_ID, Command, Scope, Situation
from loopx_tui.panes.deck import Deck
from loopx_tui.presentation.facts import Subject
from loopx_tui.screens.steady import SteadyScreen
from loopx_tui.situation import OF_NEEDS

if TYPE_CHECKING:
    from loopx_kernel.workspace import Workspace

    from loopx_tui.insight import Knowing, Progress
    from loopx_tui.kept import Kept
    from loopx_tui.presentation.finding import Found
    from loopx_tui.screens.review import ReviewScreen


class Host(Protocol):
    """What commands need of the app."""

    keys: Mapping[str, str]
    under_review: ReviewScreen | None
    kept: Kept

    def open_ledger(self, progress: Progress | None = None) -> Workspace:
        """A workspace of its own for a decision; for worker threads."""

    def knowing(self, goal_id: str, progress: Progress) -> Knowing:
        """What tells a goal's own screen what the ledger holds of it."""

    def screen_over(self, name: str, under: ActingScreen, **more: object) -> ActingScreen:
        """The ``goal``'s own screen, its ``history``, the ``doctor`` or the ``quarantine``."""

    def next_theme(self) -> str:
        """Takes the theme that follows; returns the sentence that says which."""

    def redraw(self) -> None:
        """Draws the whole screen again, for a terminal that lost it."""

    @property
    def agent(self) -> str:
        """The agent in whose shell this runs, who decides nothing; empty for a person's."""

    def go_on_with(self, path: str) -> None:
        """Ends, and begins anew with another workspace, or with the ``demo``."""


class ActingScreen(SteadyScreen):
    """A screen with a board of panes on which the commands of scope ``main`` work."""

    SCOPES: ClassVar[tuple[Scope, ...]] = ("main", "rows")
    """Whose commands work here, in the order of the help."""
    board: Deck

    def situation(self) -> Situation:
        """What the cursor is on, for commands and their reasons."""
        raise NotImplementedError

    @property
    def loopx(self) -> Host:
        """The app, as far as commands need it."""
        return cast("Host", self.app)

    def say(self, text: str) -> None:
        """A notice that answers a person's own act."""
        self.app.notify(safe(text), markup=False)

    def action_pane(self, number: int) -> None:
        self.board.go(number)

    def action_zoom(self) -> None:
        self.board.toggle_zoom()

    def action_hide(self) -> None:
        pane = self.board.hide()
        if pane is None:
            self.say(strings_goal.NOT_HIDDEN)
        else:
            number = self.board.number_of(pane)
            self.say(strings_goal.HIDDEN.format(pane=pane.TITLE, number=number))

    def action_show_all(self) -> None:
        self.board.show_all()
        self.say(strings_goal.ALL_SHOWN)

    def action_quit(self) -> None:
        self.app.exit()

    def action_redraw(self) -> None:
        self.loopx.redraw()

    def action_lock(self) -> None:
        self.say(strings.KEY_DROPPED if self.loopx.kept.drop() else strings.NO_KEY_OPEN)

    def action_theme(self) -> None:
        self.say(self.loopx.next_theme())

    def action_decide(self) -> None:
        situation = self.situation()
        reason = BY_ID["decide"].disabled_reason(situation)
        if reason:
            self.say(reason)
        else:
            kind, object_id = situation.decision
            self._review(OF_NEEDS[kind], situation.goal_id, object_id)

    def action_open_case(self, case_id: str, about: str) -> None:
        situation = self.situation()
        reason = BY_ID[case_id].disabled_reason(situation)
        if reason:
            self.say(reason)
            return
        if about == "workspace":
            self._review(case_id, WORKSPACE_JOURNAL, "owners")
            return
        todo = situation.todo_id if about != "goal" else ""
        self._review(case_id, situation.goal_id, todo or situation.goal_id)

    def _review(self, case_id: str, goal_id: str, object_id: str) -> None:
        from loopx_tui.cases.table import CASES
        from loopx_tui.screens.review import ReviewScreen

        host = self.loopx
        screen = ReviewScreen(CASES[case_id], goal_id, object_id, host.open_ledger, kept=host.kept)
        host.under_review = screen
        self.app.push_screen(screen)

    @work(exclusive=True, group="trust")
    async def action_trust(self) -> None:
        from loopx_tui.screens.trusting import trust

        self.say(await trust(self.app, self.loopx.open_ledger))

    def action_palette(self) -> None:
        from loopx_tui.screens.palette import PaletteScreen

        screen = PaletteScreen(self.situation(), self.loopx.keys, self.find)
        self.app.push_screen(screen, self._run)

    def find(self, text: str) -> Sequence[Found]:
        """The objects called so."""
        return ()

    def open_subject(self, subject: Subject) -> None:
        """Opens what is known of an object."""
        raise NotImplementedError

    def action_help(self) -> None:
        from loopx_tui.screens.help import HelpScreen

        listed = HelpScreen(self.situation(), *self.SCOPES, keys=self.loopx.keys)
        self.app.push_screen(listed, self._run)

    async def _run(self, command: Command | Subject | None) -> None:
        if isinstance(command, Subject):
            self.open_subject(command)
            return
        if command is None or not command.action:
            return
        pane = self.board.focused if command.scope == "rows" else None
        await self.app.run_action(command.action, pane.rows if pane else self)

    @work(exclusive=True, group="copy")
    async def action_copy(self) -> None:
        from loopx_tui import clipboard

        pane = self.board.focused
        row = pane.rows.row_under_cursor if pane else None
        if row is None:
            self.say(strings.NOTHING_TO_COPY)
            return
        text = "  ".join(cell.text for cell in row.cells if cell.text)
        self.say(await clipboard.copy(text, self.app.copy_to_clipboard))

    # The filter: one line over the footer while it is typed

    async def action_filter(self) -> None:
        from loopx_tui.panes.filter import FilterInput

        pane = self.board.focused or self.board.first
        await self.query("#filter").remove()
        field = FilterInput(pane)
        await self.mount(field)
        # At once: what is typed behind the key is text already.
        self.set_focus(field)
