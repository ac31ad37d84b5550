"""The question before a signature that cannot be undone: its id, typed."""

from __future__ import annotations

from collections.abc import Iterable

from textual import events
from textual.widget import Widget

from loopx_tui.presentation.lines import Line
from loopx_tui.screens.dialog import Prompt
from loopx_tui.widgets.in_order import LineInput


class TypedInput(LineInput):
    """A field that takes typing only: what is pasted was not meant."""

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()


class ConfirmId(Prompt):
    """Asks for the id of an irreversible gate to be typed, letter by letter."""

    def __init__(self, gate_id: str, lines: Iterable[Line]) -> None:
        super().__init__(f"Type {gate_id} to go on", lines, hint="enter go on")
        self._gate_id = gate_id

    def compose_body(self) -> Iterable[Widget]:
        yield TypedInput()

    def check(self, value: str) -> str:
        return "" if value == self._gate_id else f"That is not {self._gate_id}"
