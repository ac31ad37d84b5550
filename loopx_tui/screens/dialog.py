"""What all dialogs share: a box over the screen, text in it, escape to leave it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from loopx_kernel.text import safe
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from loopx_tui import strings
from loopx_tui.commands import BY_ID, Command, make_binding, shown_keys
from loopx_tui.presentation.lines import Line
from loopx_tui.widgets.in_order import LineInput

T = TypeVar("T")


def as_content(lines: Iterable[Line]) -> Content:
    """Lines as they are, never markup, each in its colour."""
    return Content("\n").join(
        Content(line.text) if line.style == "text" else Content.styled(line.text, f"${line.style}")
        for line in lines
    )


class Dialog(ModalScreen[T | None]):
    """A titled box; its result is ``None`` where it was left with nothing done.

    ``hint`` stands before the keys of the live keymap in the last line.
    """

    BINDINGS = [make_binding(BY_ID["dialog.close"])]
    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        background: $background 70%;
        & > #dialog-box {
            width: 96;
            max-width: 100%;
            height: auto;
            max-height: 100%;
            border: round $border-focus;
            border-title-color: $accent;
            background: $background;
            padding: 0 1;
        }
        #dialog-text { height: auto; max-height: 50vh; scrollbar-size-vertical: 1; }
        #dialog-note { height: auto; color: $alert; }
        #dialog-hint { height: auto; color: $text-muted; }
        #dialog-box OptionList { background: $background; }
        #dialog-box OptionList:focus { background-tint: $background 0%; }
        #dialog-box OptionList > .option-list--option-highlighted {
            color: $foreground; background: $surface; text-style: none;
        }
        #dialog-box OptionList:focus > .option-list--option-highlighted { text-style: bold; }
        Input { border: tall $border; background: $surface; }
        Input:focus { border: tall $border-focus; }
    }
    """

    def __init__(self, title: str, lines: Iterable[Line] = (), *, hint: str = "") -> None:
        super().__init__()
        self._title = safe(title)
        self._lines = list(lines)
        self._hint = hint
        # Held, not looked up: the app may end while the dialog is being put up.
        self.box = Vertical(id="dialog-box")
        self._note = Static(id="dialog-note")
        self._keys_line = Static(id="dialog-hint")

    def compose(self) -> ComposeResult:
        self.box.border_title = Content(self._title)
        with self.box:
            with VerticalScroll(id="dialog-text", can_focus=False):
                yield Static(as_content(self._lines))
            yield from self.compose_body()
            yield self._note
            yield self._keys_line

    def on_mount(self) -> None:
        self.show_keys()

    def show_keys(self) -> None:
        """Shows the keys of the live keymap that have a meaning here."""
        named = [
            (key, BY_ID.get(one.binding.id or "")) for key, one in self.active_bindings.items()
        ]
        shown = [(key, one) for key, one in named if one and one.footer and self.offers(one.id)]
        # How to leave comes last.
        shown.sort(key=lambda pair: pair[1].id == "dialog.close")
        keys = [f"{shown_keys(key)} {self.title_of(command)}" for key, command in shown]
        self._keys_line.update(Content("   ".join(filter(None, [self._hint, *keys]))))

    def compose_body(self) -> Iterable[Widget]:
        """What stands between the text and the notes."""
        return ()

    def offers(self, command_id: str) -> bool:
        """Whether a command has a meaning here at all."""
        return True

    def title_of(self, command: Command) -> str:
        """What a command's key does here, in a word."""
        return command.title

    def say(self, sentence: str) -> None:
        """Shows one sentence about what was just done."""
        self._note.update(Content(safe(sentence)))

    def leave(self, result: T | None) -> None:
        """Ends the dialog; a second key that came before it was gone ends nothing else."""
        if self.is_current:
            self.dismiss(result)

    def action_close(self) -> None:
        self.leave(None)


class Notice(Dialog[bool]):
    """Something to read; its result is whether the person goes on."""

    def title_of(self, command: Command) -> str:
        return strings.LATER if command.id == "dialog.close" else command.title

    def on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            self.leave(True)


class Prompt(Dialog[str]):
    """Asks for one line of text; its result is the text, checked."""

    def __init__(
        self, title: str, lines: Iterable[Line] = (), *, hint: str, value: str = ""
    ) -> None:
        super().__init__(title, lines, hint=hint)
        self._value = value

    def compose_body(self) -> Iterable[Widget]:
        yield LineInput(self._value, select_on_focus=False)

    def check(self, value: str) -> str:
        """What is wrong with the text, as a sentence; empty where nothing is."""
        return ""

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        problem = self.check(event.value)
        if problem:
            self.say(problem)
        else:
            self.leave(event.value)
