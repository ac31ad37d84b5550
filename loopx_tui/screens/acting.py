"""What the first screen's keys do, beyond moving: one method an action of the command table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, cast

from textual import work

from loopx_tui import strings
from loopx_tui.commands import BY_ID, Command, Situation
from loopx_tui.panes.board import Board
from loopx_tui.screens.steady import SteadyScreen

if TYPE_CHECKING:
    from loopx_tui.decisions import Ledger
    from loopx_tui.screens.review import ReviewScreen


class Host(Protocol):
    """What commands need of the app."""

    keys: Mapping[str, str]
    under_review: ReviewScreen | None

    def open_ledger(self) -> Ledger:
        """A workspace of its own for a decision; for worker threads."""

    def next_theme(self) -> str:
        """Takes the theme that follows; returns the sentence that says which."""

    def redraw(self) -> None:
        """Draws the whole screen again, for a terminal that lost it."""


class ActingScreen(SteadyScreen):
    """A screen with a board of panes on which the commands of scope ``main`` work."""

    board: Board

    def situation(self) -> Situation:
        """What the cursor is on, for commands and their reasons."""
        raise NotImplementedError

    @property
    def loopx(self) -> Host:
        """The app, as far as commands need it."""
        return cast("Host", self.app)

    def say(self, text: str) -> None:
        """A notice that answers a person's own act."""
        self.app.notify(text, markup=False)

    def action_pane(self, number: int) -> None:
        self.board.go(number)

    def action_zoom(self) -> None:
        self.board.toggle_zoom()

    def action_quit(self) -> None:
        self.app.exit()

    def action_redraw(self) -> None:
        self.loopx.redraw()

    def action_theme(self) -> None:
        self.say(self.loopx.next_theme())

    def action_decide(self) -> None:
        situation = self.situation()
        reason = BY_ID["decide"].disabled_reason(situation)
        if reason:
            self.say(reason)
            return
        from loopx_tui.screens.review import ReviewScreen

        screen = ReviewScreen(situation.goal_id, situation.object_id, self.loopx.open_ledger)
        self.loopx.under_review = screen
        self.app.push_screen(screen)

    def action_palette(self) -> None:
        from loopx_tui.screens.palette import PaletteScreen

        self.app.push_screen(PaletteScreen(self.situation(), self.loopx.keys), self._run)

    def action_help(self) -> None:
        from loopx_tui.screens.help import HelpScreen

        listed = HelpScreen(self.situation(), "main", "rows", keys=self.loopx.keys)
        self.app.push_screen(listed, self._run)

    async def _run(self, command: Command | None) -> None:
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

        pane = self.board.focused or self.board.needs
        await self.query("#filter").remove()
        field = FilterInput(pane)
        await self.mount(field)
        field.focus()
