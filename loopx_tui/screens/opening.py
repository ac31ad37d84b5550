"""What is there at once: the header, and that the ledger is being read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from loopx_tui import strings
from loopx_tui.commands import BY_ID, make_binding
from loopx_tui.panes.bars import HeaderBar
from loopx_tui.panes.line import Line
from loopx_tui.presentation.cells import Cell
from loopx_tui.presentation.header import Bar
from loopx_tui.screens.steady import SteadyScreen


class OpeningScreen(SteadyScreen):
    """Stands until the first reading; it needs nothing that the panes need, so it is quick."""

    CSS = """
    OpeningScreen { background: $background; }
    #header { background: $surface; }
    #reading { margin: 1 0; background: $background; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [make_binding(BY_ID["quit"])]

    def __init__(self, make_header: Callable[[int], Bar]) -> None:
        super().__init__()
        self._make_header = make_header

    def compose(self) -> ComposeResult:
        yield HeaderBar(self._make_header)
        yield _Reading(id="reading")

    def action_quit(self) -> None:
        self.app.exit()


class _Reading(Line):
    def runs(self, width: int) -> Iterable[Cell]:
        return [Cell(f"  {strings.LOADING}", "text-dim")]
