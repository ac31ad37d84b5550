"""Lists of actions: the palette with every one's `loopx` command, and what both lists share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from loopx_kernel.text import safe
from rich.cells import cell_len
from textual import events, work
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from loopx_tui import clipboard, strings_goal
from loopx_tui.commands import BY_ID, COMMANDS, Command, Situation, make_binding, shown_keys
from loopx_tui.presentation.cells import wrap
from loopx_tui.presentation.facts import Subject
from loopx_tui.presentation.finding import Found
from loopx_tui.screens.dialog import Dialog
from loopx_tui.widgets.in_order import LineInput

KEYS_WIDTH = 14
TITLE_WIDTH = 16
_LEAST_ROOM = 28
"""Cells that a text needs beside what it belongs to, not to stand below that."""
_INDENT = 2
_WIDEST = 120
_OBJECT = "object/"


Chosen = Command | Subject
"""A command to run, or an object to open."""


class ActionList(Dialog[Chosen]):
    """A list of commands with a filter; its result is what to run or open.

    ``situation`` is what the screen beneath is on: it fills in the command
    lines and says why a command cannot be run. ``keys`` are the person's own,
    as ``keymap.load`` gave them.
    """

    BINDINGS: ClassVar[list[BindingType]] = [make_binding(BY_ID["dialog.copy"])]
    PLACEHOLDER = "filter"
    DEFAULT_CSS = """
    ActionList {
        & OptionList {
            height: auto; max-height: 24; min-width: 8; border: none; background: $background;
        }
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
        self._objects: dict[str, Found] = {}
        self._found: Sequence[Command] = ()

    def compose_body(self) -> Iterable[Widget]:
        yield LineInput(placeholder=self.PLACEHOLDER)
        yield self._options

    def on_mount(self) -> None:
        self._filter("")

    def describe(self, command: Command, width: int) -> Content:
        """One entry as it is shown in so many cells."""
        raise NotImplementedError

    def reason_of(self, command: Command) -> str:
        """Why a command cannot be run from here; empty if it can."""
        return _why_not(command, self._situation)

    def keys_of(self, command: Command) -> str:
        """The command's keys as they are now, as people write them."""
        return shown_keys(self._keys.get(command.id, command.keys))

    def on_input_changed(self, event: Input.Changed) -> None:
        self._filter(event.value)

    def _filter(self, needle: str) -> None:
        words = needle.casefold().split()
        found = [one for one in self._commands if _matches(one, self._situation, words)]
        self._objects = {f"{_OBJECT}{n}": one for n, one in enumerate(self.objects(needle))}
        self._found = found
        self._lay_out(0)
        self.say("" if self._options.option_count else f"No action matches {needle}")

    def _lay_out(self, place: int) -> None:
        """The entries as wide as there is room, the one at ``place`` chosen."""
        options, width = self._options, self._options.scrollable_content_region.width or _WIDEST
        options.clear_options()
        options.add_options(Option(_object(one, width), id=n) for n, one in self._objects.items())
        options.add_options(Option(self.describe(one, width), id=one.id) for one in self._found)
        options.highlighted = place if options.option_count else None

    def on_resize(self) -> None:
        self.call_after_refresh(lambda: self._lay_out(self._options.highlighted or 0))

    def objects(self, needle: str) -> Sequence[Found]:
        """The objects called so."""
        return ()

    def on_key(self, event: events.Key) -> None:
        if event.key == "down" and isinstance(self.focused, Input):
            event.stop()
            self._options.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._options.action_select()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        name = event.option_id or ""
        if name in self._objects:
            self.leave(self._objects[name].subject)
            return
        command = BY_ID[name]
        reason = self.reason_of(command)
        if reason:
            self.say(reason)
        else:
            self.leave(command)

    @work(exclusive=True, group="copy")
    async def action_copy(self) -> None:
        option = self._options.highlighted_option
        name = (option.id or "") if option else ""
        text = BY_ID[name].loopx(self._situation) if name in BY_ID else ""
        if text:
            self.say(await clipboard.copy(text, self.app.copy_to_clipboard))
        else:
            self.say("This action has no `loopx` command: it is about this screen alone")


class PaletteScreen(ActionList):
    """Every action that the first screen can take, each with its `loopx` command; what is typed
    may be the id of an object as well, which ``find`` looks for."""

    PLACEHOLDER = strings_goal.PALETTE_PROMPT

    def __init__(
        self,
        situation: Situation,
        keys: Mapping[str, str] = MappingProxyType({}),
        find: Callable[[str], Sequence[Found]] = lambda _: (),
    ) -> None:
        listed = [one for one in COMMANDS if one.scope == "main" and not _only_a_key(one)]
        super().__init__("Commands", listed, situation, keys)
        self._find = find

    def objects(self, needle: str) -> Sequence[Found]:
        return self._find(needle)

    def describe(self, command: Command, width: int) -> Content:
        reason = self.reason_of(command)
        lead = [
            (f"{command.title:<{TITLE_WIDTH}}", "$text-dim" if reason else ""),
            (f"{self.keys_of(command):<{KEYS_WIDTH}}", "$accent"),
        ]
        return entry(lead, command.loopx(self._situation) or command.help, width)


def entry(lead: Sequence[tuple[str, str]], text: str, width: int) -> Content:
    """A row of so many cells: what it begins with, each with its style, and a text that goes on
    below itself, or stands below all of it where there is little room."""
    taken = sum(cell_len(part) for part, _ in lead)
    beside = width - taken >= _LEAST_ROOM
    indent = taken if beside else _INDENT
    # The list has a margin of a cell at its end.
    lines = wrap(text, max(width - indent - 1, 1))
    margin = f"\n{' ' * indent}"
    return Content.assemble(*lead, ("" if beside else margin) + margin.join(lines))


def _object(one: Found, width: int) -> Content:
    subject = one.subject
    words = one.words or strings_goal.LOOK_UP.format(goal=safe(subject.goal_id))
    lead = [
        (f"{safe(subject.id):<{TITLE_WIDTH}}", ""),
        (f"{subject.kind if one.words else '':<{KEYS_WIDTH}}", "$text-dim"),
    ]
    return entry(lead, f"{words}  {safe(subject.goal_id)}" if one.words else words, width)


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
