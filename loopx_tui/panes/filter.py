"""The line in which a filter is typed; letters are text here, not keys."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from loopx_tui import strings
from loopx_tui.commands import BY_ID
from loopx_tui.panes.pane import Pane
from loopx_tui.widgets.in_order import LineInput


class FilterInput(LineInput):
    """Filters the rows of one pane while it is typed; enter keeps it, escape clears it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(BY_ID["dialog.close"].keys, "clear", show=False, id="dialog.close")
    ]

    def __init__(self, pane: Pane) -> None:
        prompt = strings.FILTER_PROMPT.format(pane=pane.TITLE)
        super().__init__(
            pane.rows.needle, placeholder=prompt, id="filter", compact=True, select_on_focus=False
        )
        self._pane = pane

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._pane.filter(event.value)

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        await self._leave()

    async def action_clear(self) -> None:
        """Shows all rows again."""
        self._pane.filter("")
        await self._leave()

    async def _leave(self) -> None:
        self._pane.rows.focus()
        await self.remove()
