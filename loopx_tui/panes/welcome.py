"""What stands where no workspace is: what LoopX is, and the ways to begin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from loopx_kernel.text import safe
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from loopx_tui import first_words as words
from loopx_tui.commands import BY_ID, shown_keys
from loopx_tui.presentation.cells import wrap

WAYS: Final = ("connect", "demo", "workspace.open")
_INDENT: Final = 4
_WIDEST: Final = 84


class Welcome(VerticalScroll):
    """Explains, and offers the actions of ``WAYS``; the one chosen is told by ``Chosen``."""

    DEFAULT_CSS = """
    Welcome {
        align-horizontal: center;
        padding: 1 2;
        scrollbar-size-vertical: 1;
        & > * { max-width: 84; }
        & > Static { height: auto; }
        & > #ways {
            height: auto; max-height: 100; margin: 1 0; padding: 0;
            border: none; background: $background;
        }
        & > #ways:focus { background-tint: $background 0%; }
        & > #ways > .option-list--option-highlighted {
            color: $foreground; background: $surface; text-style: none;
        }
    }
    """

    class Chosen(Message):
        """A person wants to begin this way."""

        def __init__(self, command_id: str) -> None:
            super().__init__()
            self.command_id = command_id

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, can_focus=False)
        self._shown: object = None
        self._make: Callable[[int], list[Option]] = lambda width: []
        self._text = Static()
        self._note = Static()
        self._ways = OptionList(id="ways")

    def compose(self) -> ComposeResult:
        yield self._text
        yield self._ways
        yield self._note

    def show(
        self,
        title: str,
        why: str,
        keys: Mapping[str, str],
        reason: Callable[[str], str],
    ) -> None:
        """``why`` there is no workspace is shown as it is. ``keys`` are the person's own, and
        ``reason`` says why an action cannot be taken, empty where it can."""
        shown = (title, why, dict(keys), tuple(map(reason, WAYS)))
        if shown == self._shown:
            return
        self._shown = shown
        parts = [
            Content.styled(words.WELCOME, "bold $accent"),
            Content(),
            Content(words.WHAT_IT_IS),
            Content(),
            Content.styled(title, "$ask"),
            Content.styled(safe(why), "$text-dim"),
        ]
        self._text.update(Content("\n").join(parts))
        notes = (words.SHELL, words.WAITING_FOR_IT)
        self._note.update(Content("\n").join(Content.styled(one, "$text-dim") for one in notes))
        self._make = lambda width: [
            Option(_way(one, keys, reason(one), width), id=one) for one in WAYS
        ]
        self._lay_out()

    def _lay_out(self) -> None:
        """The ways as wide as there is room."""
        at = self._ways.highlighted
        self._ways.clear_options()
        self._ways.add_options(self._make(self._ways.size.width or _WIDEST))
        self._ways.highlighted = at or 0

    def on_resize(self) -> None:
        self.call_after_refresh(self._lay_out)

    def take_focus(self) -> None:
        """The ways to begin get the keys."""
        self._ways.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Chosen(event.option_id or ""))


def _way(command_id: str, keys: Mapping[str, str], reason: str, width: int) -> Content:
    command = BY_ID[command_id]
    key = shown_keys(keys.get(command_id, command.keys))
    margin = f"\n{' ' * _INDENT}"
    told = margin.join(wrap(reason or words.WAYS[command_id], max(width - _INDENT - 1, 1)))
    return Content.assemble(
        (f"{key:<{_INDENT}}", "bold $accent"),
        (command.title, "$text-dim" if reason else "bold"),
        (f"{margin}{told}", "$text-dim"),
    )
