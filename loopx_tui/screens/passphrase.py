"""The last step before a signature: the passphrase, or a second deliberate key."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual import events
from textual.widget import Widget
from textual.widgets import Input

from loopx_tui import strings
from loopx_tui.commands import BY_ID, make_binding
from loopx_tui.key_guard import QUIET_SECONDS, KeyGuard
from loopx_tui.presentation.review import Line
from loopx_tui.screens.dialog import Dialog, Field, Prompt


class PassphraseInput(Field):
    """Shows dots and takes pastes; what is in it cannot be copied out of it."""

    def __init__(self) -> None:
        super().__init__(password=True)

    def action_copy(self) -> None:
        return

    def action_cut(self) -> None:
        return

    def on_unmount(self) -> None:
        self.set_reactive(Input.value, "")


class PassphraseScreen(Prompt):
    """Asks for a key's passphrase; its result is what was typed."""

    def __init__(self, lines: Iterable[Line], note: str = "") -> None:
        super().__init__("Sign: passphrase of your key", lines, hint="enter sign")
        self._said = note

    def compose_body(self) -> Iterable[Widget]:
        yield PassphraseInput()

    def on_mount(self) -> None:
        if self._said:
            self.say(self._said)

    def check(self, value: str) -> str:
        return "" if value else "Type the passphrase, or escape to cancel"


class SignScreen(Dialog[str]):
    """Asks for a second deliberate key where the signing key has no passphrase."""

    BINDINGS = [make_binding(BY_ID["sign"])]
    DEFAULT_CSS = """
    SignScreen #dialog-note { min-height: 1; color: $text-dim; }
    """

    def __init__(
        self,
        lines: Iterable[Line],
        now: Callable[[], float],
        pressed_at: Callable[[events.Key], float],
    ) -> None:
        super().__init__("Sign: this key needs no passphrase", lines)
        self._guard = KeyGuard(now)
        self._pressed_at = pressed_at
        self._counts = False

    def on_mount(self) -> None:
        self._begin_anew()

    def on_resize(self) -> None:
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._guard.cover()
        self.say(strings.KEYS_WAIT)
        self.call_after_refresh(self._painted)

    def _painted(self) -> None:
        self._guard.painted()
        self.set_timer(QUIET_SECONDS, self._open)

    def _open(self) -> None:
        if self._guard.quiet:
            self.set_timer(QUIET_SECONDS / 4, self._open)
        else:
            self.say("")

    def on_key(self, event: events.Key) -> None:
        self._counts = self._guard.press(self._pressed_at(event)) is not None

    def action_sign(self) -> None:
        if self._counts:
            self.leave("")
        else:
            self.say("That was too quick; press it again")
