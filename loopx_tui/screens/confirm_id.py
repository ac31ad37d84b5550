"""The questions before a signature: the id of what cannot be undone, a time, a reason."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from loopx_kernel.errors import UsageError
from loopx_kernel.text import check_line
from textual import events
from textual.widget import Widget

from loopx_tui.desk import explain, parse_until
from loopx_tui.presentation.review import Line
from loopx_tui.screens.dialog import Field, Prompt


class TypedInput(Field):
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


class AskTime(Prompt):
    """Asks when a deferred gate is to be asked again."""

    def __init__(self, gate_id: str) -> None:
        super().__init__(
            f"Ask {gate_id} again when?",
            [Line("10m, 3h, 2d from now, or a time like 2026-09-17T09:00:00Z", "text-dim")],
            hint="enter go on",
        )

    def check(self, value: str) -> str:
        now = datetime.now(UTC)
        try:
            future = parse_until(value, now) > now
        except (UsageError, OverflowError):
            return "Write it like 10m, 3h or 2026-09-17T09:00:00Z"
        return "" if future else "That time is past"


class AskReason(Prompt):
    """Asks for the reason that is signed with the decision; empty for none."""

    def __init__(self, gate_id: str, value: str) -> None:
        super().__init__(
            f"Reason for deciding {gate_id}",
            [Line("It becomes part of what you sign, and agents read it.", "text-dim")],
            hint="enter keep",
            value=value,
        )

    def check(self, value: str) -> str:
        if not value:
            return ""
        try:
            check_line(value, "reason")
        except UsageError as error:
            return explain(error)
        return ""
