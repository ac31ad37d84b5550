"""Lists of actions: the palette with every one's `loopx` command, and what both lists share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from textual import events, work
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from loopx_tui import clipboard
from loopx_tui.commands import BY_ID, COMMANDS, Command, Situation, make_binding, shown_keys
from loopx_tui.screens.dialog import Dialog, Field

KEYS_WIDTH = 14
TITLE_WIDTH = 16


class ActionList(Dialog[Command]):
    """A list of commands with a filter; its result is the command to run.

    ``situation`` is what the screen beneath is on: it fills in the command
    lines and says why a command cannot be run. ``keys`` are the person's own,
    as ``keymap.load`` gave them.
    """

    BINDINGS: ClassVar[list[BindingType]] = [make_binding(BY_ID["dialog.copy"])]
    DEFAULT_CSS = """
    ActionList {
        & OptionList { height: auto; max-height: 24; border: none; background: $background; }
        & #dialog-text { display: none; }
    }
    """

    def __init__(
        self,
        title: str,
        commands: Sequence[Command],
        situation: Situation,
        keys: Mapping[str, str],
    ) -> None:
        super().__init__(title, hint="enter run   ↓ to the list, y copies there")
        self._commands = commands
        self._situation = situation
        self._keys = keys
        self._options = OptionList()

    def compose_body(self) -> Iterable[Widget]:
        yield Field(placeholder="filter")
        yield self._options

    def on_mount(self) -> None:
        self._filter("")

    def describe(self, command: Command) -> Content:
        """One entry as it is shown."""
        raise NotImplementedError

    def keys_of(self, command: Command) -> str:
        """The command's keys as they are now, as people write them."""
        return shown_keys(self._keys.get(command.id, command.keys))

    def on_input_changed(self, event: Input.Changed) -> None:
        self._filter(event.value)

    def _filter(self, needle: str) -> None:
        words = needle.casefold().split()
        found = [one for one in self._commands if _matches(one, self._situation, words)]
        options = self._options
        options.clear_options()
        options.add_options(Option(self.describe(one), id=one.id) for one in found)
        options.highlighted = 0 if found else None
        self.say("" if found else f"No action matches {needle}")

    def on_key(self, event: events.Key) -> None:
        if event.key == "down" and isinstance(self.focused, Input):
            event.stop()
            self._options.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._options.action_select()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        command = BY_ID[event.option_id or ""]
        reason = _why_not(command, self._situation)
        if reason:
            self.say(reason)
        else:
            self.leave(command)

    @work(exclusive=True, group="copy")
    async def action_copy(self) -> None:
        option = self._options.highlighted_option
        text = BY_ID[option.id or ""].loopx(self._situation) if option else ""
        if text:
            self.say(await clipboard.copy(text, self.app.copy_to_clipboard))
        else:
            self.say("This action has no `loopx` command: it is about this screen alone")


class PaletteScreen(ActionList):
    """Every action that the first screen can take, each with its `loopx` command."""

    def __init__(
        self, situation: Situation, keys: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        listed = [one for one in COMMANDS if one.scope == "main" and not _only_a_key(one)]
        super().__init__("Commands", listed, situation, keys)

    def describe(self, command: Command) -> Content:
        reason = _why_not(command, self._situation)
        line = command.loopx(self._situation)
        return Content.assemble(
            (f"{command.title:<{TITLE_WIDTH}}", "$text-dim" if reason else ""),
            (f"{self.keys_of(command):<{KEYS_WIDTH}}", "$accent"),
            Content(line or command.help),
        )


def _only_a_key(command: Command) -> bool:
    """Moving between panes, and the palette itself, are of no use in the palette."""
    return command.id == "palette" or command.id.startswith("pane.")


def _why_not(command: Command, situation: Situation) -> str:
    reason = command.disabled_reason(situation)
    if not reason and command.scope in ("review", "dialog"):
        return "Press its key where it applies"
    return reason


def _matches(command: Command, situation: Situation, words: Sequence[str]) -> bool:
    haystack = f"{command.title} {command.help} {command.loopx(situation)}".casefold()
    return all(word in haystack for word in words)
