"""The last step before a signature: the passphrase, or a second deliberate key."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual import events
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from loopx_tui import first_words as words
from loopx_tui import strings
from loopx_tui.commands import BY_ID, make_binding
from loopx_tui.key_guard import QUIET_SECONDS, KeyGuard
from loopx_tui.presentation.lines import Line
from loopx_tui.screens.dialog import Dialog, Prompt
from loopx_tui.widgets.in_order import LineInput


class PassphraseInput(LineInput):
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
    """Asks for a key's passphrase; its result is what was typed.

    ``keep`` says whether the key is to be kept open afterwards; each time it begins with no.
    """

    BINDINGS = [make_binding(BY_ID["sign.keep"])]
    DEFAULT_CSS = """
    PassphraseScreen #keep { height: auto; color: $text-dim; }
    PassphraseScreen #keep.-on { color: $ask; }
    """

    def __init__(self, lines: Iterable[Line], note: str = "", *, keep: bool = False) -> None:
        super().__init__(strings.SIGN_BY_PASSPHRASE, lines, hint="enter sign")
        self._said = note
        self.keep = keep
        self._keep_line = Static(id="keep")

    def compose_body(self) -> Iterable[Widget]:
        yield PassphraseInput()
        yield self._keep_line

    def on_mount(self) -> None:
        self._show_keep()
        if self._said:
            self.say(self._said)

    def action_toggle_keep(self) -> None:
        self.keep = not self.keep
        self._show_keep()

    def _show_keep(self) -> None:
        self._keep_line.update(Content(strings.KEEP_OPEN[self.keep]))
        self._keep_line.set_class(self.keep, "-on")

    def check(self, value: str) -> str:
        return "" if value else "Type the passphrase, or escape to cancel"


class NewPassphrase(Dialog[str]):
    """Asks for a new passphrase, twice; its result is the passphrase."""

    def __init__(self, title: str, lines: Iterable[Line]) -> None:
        super().__init__(title, lines, hint="enter go on")
        self._fields = (PassphraseInput(), PassphraseInput())

    def compose_body(self) -> Iterable[Widget]:
        for label, one in zip((words.PASSPHRASE_FIRST, words.PASSPHRASE_AGAIN), self._fields,
                              strict=True):  # fmt: skip
            yield Static(Content(label), classes="form-label")
            yield one

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        first, again = self._fields
        if first.has_focus and not again.value:
            again.focus()
        elif not first.value:
            self.say(words.PASSPHRASE_EMPTY)
        elif first.value != again.value:
            again.value = ""
            self.say(words.PASSPHRASE_DIFFERS)
        else:
            self.leave(first.value)


class SignScreen(Dialog[str]):
    """Asks for a second deliberate key where no passphrase is typed."""

    BINDINGS = [make_binding(BY_ID["sign"])]
    DEFAULT_CSS = """
    SignScreen #dialog-note { min-height: 1; color: $text-dim; }
    """

    def __init__(
        self,
        lines: Iterable[Line],
        now: Callable[[], float],
        pressed_at: Callable[[events.Key], float],
        title: str = strings.SIGN_AT_ONCE,
    ) -> None:
        super().__init__(title, lines)
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
