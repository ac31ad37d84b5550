"""What the first screen's keys do, beyond moving: one method an action of the command table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.screen import Screen

from loopx_tui import strings
from loopx_tui.commands import BY_ID, Command, Situation
from loopx_tui.panes.board import Board

if TYPE_CHECKING:
    from loopx_tui.app import LoopxApp


class ActingScreen(Screen[None]):
    """A screen with a board of panes on which the commands of scope ``main`` work."""

    board: Board

    def situation(self) -> Situation:
        """What the cursor is on, for commands and their reasons."""
        raise NotImplementedError

    @property
    def loopx(self) -> LoopxApp:
        """The app, by its own type."""
        from loopx_tui.app import LoopxApp

        assert isinstance(self.app, LoopxApp)
        return self.app

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
