"""The table of actions: what can be done, with which keys, where, and why not just now.

Bindings, footer, help, palette and the keys file are made from ``COMMANDS``;
nothing else names a key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from textual.binding import Binding

Scope = Literal["main", "rows", "review", "dialog"]
"""Where a command applies: the first screen, any list, the review screen, any other dialog."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What the screen is on, for templates and reasons.

    ``kind`` is that of the object under the cursor (``gate``, ``todo``, ``goal``,
    or a kind of ``needs_you``); ``next`` the command its row names; ``key_problem``
    the sentence that says why no key can sign, empty if one can.
    """

    goal_id: str = ""
    object_id: str = ""
    kind: str = ""
    next: str = ""
    read_only: bool = False
    history: bool = False
    key_problem: str = ""


def _nothing(situation: Situation) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Command:
    """One action.

    ``keys`` are Textual's names separated by commas; ``action`` is the Textual
    action that does it, empty where only the command line can; ``loopx`` gives
    the equivalent command line and ``disabled_reason`` a sentence that says why
    it cannot be done in a situation; both give an empty text for none.
    """

    id: str
    title: str
    help: str
    keys: str = ""
    scope: Scope = "main"
    action: str = ""
    human_only: bool = False
    footer: bool = False
    loopx: Callable[[Situation], str] = _nothing
    disabled_reason: Callable[[Situation], str] = _nothing


def _loopx(template: str, *kinds: str) -> Callable[[Situation], str]:
    """A command line; ``{goal}`` and, of an object of these kinds, ``{object}`` are filled in."""

    def fill(situation: Situation) -> str:
        import shlex

        goal = f" --goal {shlex.quote(situation.goal_id)}" if situation.goal_id else ""
        named = shlex.quote(situation.object_id) if situation.kind in kinds else "ID"
        return template.format(goal=goal, object=named)

    return fill


def _own_next(situation: Situation) -> str:
    return situation.next or _loopx("loopx gate show {object}{goal}", "gate")(situation)


def no_signing(situation: Situation) -> str:
    """Why nothing can be signed in this situation; empty if something can."""
    if situation.history:
        return "This is the past; decisions open from live rows only"
    if situation.read_only:
        return "This workspace is open read-only"
    return situation.key_problem


def _no_decision(situation: Situation) -> str:
    if situation.kind == "gate":
        # The review opens for reading; its own actions are greyed with the reason.
        return "This is the past; decisions open from live rows only" if situation.history else ""
    if situation.next:
        return f"Settle this on the command line: {situation.next}"
    return "Nothing under the cursor waits for a decision"


def _on_command_line(kind: str, article: str) -> Callable[[Situation], str]:
    def reason(situation: Situation) -> str:
        if kind and situation.kind != kind:
            return f"Put the cursor on {article} first"
        return "Done on the command line; copy the command"

    return reason


def _panes() -> Iterator[Command]:
    for number in range(1, 10):
        yield Command(
            f"pane.{number}",
            f"Pane {number}",
            f"Move to pane {number}.",
            str(number),
            action=f"pane({number})",
        )


COMMANDS: Final[tuple[Command, ...]] = (
    Command(
        "decide",
        "decide",
        "Review the gate under the cursor and decide it.",
        "d",
        action="decide",
        human_only=True,
        footer=True,
        loopx=_own_next,
        disabled_reason=_no_decision,
    ),
    Command("filter", "filter", "Show only rows that contain a text.", "slash", action="filter",
            footer=True),
    Command("palette", "commands", "Every action with its `loopx` command.", "colon,ctrl+p",
            action="palette", footer=True),
    Command("help", "help", "The keys that work here.", "question_mark", action="help",
            footer=True),
    Command("copy", "copy", "Copy the row under the cursor.", "y", action="copy"),
    Command("theme", "theme", "Take the next theme.", "t", action="theme"),
    Command("zoom", "zoom", "Give the whole screen to the pane, or take it back.", "z",
            action="zoom"),
    Command("redraw", "redraw", "Draw the whole screen again.", "ctrl+l", action="redraw"),
    Command("quit", "quit", "Leave; the work goes on without you.", "q", action="quit",
            footer=True),
    *_panes(),
    Command("pane.next", "next pane", "Move to the next pane.", "tab", action="app.focus_next"),
    Command("pane.previous", "previous pane", "Move to the previous pane.", "shift+tab",
            action="app.focus_previous"),
    # Lists: bound by the list itself, under these ids.
    Command("rows.open", "open", "Everything known about the row.", "enter", "rows", "open"),
    Command("rows.up", "up", "One row up.", "up,k", "rows", "up"),
    Command("rows.down", "down", "One row down.", "down,j", "rows", "down"),
    Command("rows.page-up", "page up", "One page up.", "pageup,ctrl+u", "rows", "page_up"),
    Command("rows.page-down", "page down", "One page down.", "pagedown,ctrl+d", "rows",
            "page_down"),
    Command("rows.first", "first", "To the first row.", "home,g", "rows", "home"),
    Command("rows.last", "last", "To the last row.", "end,G", "rows", "end"),
    Command("rows.next-match", "next match", "To the next row the filter matched.", "n", "rows",
            "find(1)"),
    Command("rows.previous-match", "previous match", "To the previous row the filter matched.",
            "N", "rows", "find(-1)"),
    # The review screen.
    Command("review.approve", "approve", "Approve the gate; your key is asked for next.", "A",
            "review", "choose('approved')", True, True,
            _loopx("loopx gate approve {object}{goal}", "gate"), no_signing),
    Command("review.reject", "reject", "Reject the gate; your key is asked for next.", "X",
            "review", "choose('rejected')", True, True,
            _loopx("loopx gate reject {object}{goal}", "gate"), no_signing),
    Command("review.defer", "defer", "Ask again at a time you give; your key is asked for next.",
            "D", "review", "choose('deferred')", True, True,
            _loopx("loopx gate defer {object}{goal} --until TIME", "gate"), no_signing),
    Command("review.reason", "reason", "Write the reason that is signed with the decision.", "e",
            "review", "reason", footer=True),
    Command("review.key", "other key", "Sign with the next of your keys that can.", "K",
            "review", "next_key", footer=True),
    Command("review.copy", "copy", "Copy the text of the review.", "y", "review", "copy",
            footer=True, loopx=_loopx("loopx gate show {object}{goal}", "gate")),
    Command("review.up", "up", "Scroll one line up.", "up,k", "review", "scroll_by(-1)"),
    Command("review.down", "down", "Scroll one line down.", "down,j", "review", "scroll_by(1)"),
    Command("review.page-up", "page up", "Scroll one page up.", "pageup,ctrl+u", "review",
            "scroll_pages(-1)"),
    Command("review.page-down", "page down", "Scroll one page down.", "pagedown,ctrl+d", "review",
            "scroll_pages(1)"),
    Command("review.first", "first", "Scroll to the start.", "home,g", "review", "scroll_top"),
    Command("review.last", "last", "Scroll to the end.", "end,G", "review", "scroll_bottom"),
    Command("review.close", "close", "Close; nothing is decided.", "escape", "review", "close",
            footer=True),
    # Other dialogs.
    Command("dialog.close", "cancel", "Leave; nothing is written.", "escape", "dialog", "close",
            footer=True),
    Command("dialog.copy", "copy", "Copy the `loopx` command of the entry.", "y", "dialog", "copy",
            footer=True),
    Command("sign", "sign", "Sign with a key that needs no passphrase.", "ctrl+s", "dialog",
            "sign", True, True),
    # For people, on the command line.
    Command("goal.pause", "pause goal", "No new turns begin until it is resumed.",
            human_only=True, loopx=_loopx("loopx goal pause{goal} --reason 'why'"),
            disabled_reason=_on_command_line("", "")),
    Command("goal.resume", "resume goal", "Turns may begin again.",
            human_only=True, loopx=_loopx("loopx goal resume{goal} --reason 'why'"),
            disabled_reason=_on_command_line("", "")),
    Command("goal.retire", "retire goal", "End the goal for good.",
            human_only=True, loopx=_loopx("loopx goal retire{goal} --reason 'why'"),
            disabled_reason=_on_command_line("", "")),
    Command("todo.finish", "finish todo", "Say that a person's todo is done, and how.",
            human_only=True,
            loopx=_loopx("loopx todo complete {object}{goal} --reason 'how'", "human_todo"),
            disabled_reason=_on_command_line("human_todo", "a todo for a person")),
    Command("status", "status", "Where the goal stands, as text.", loopx=_loopx(
            "loopx status{goal}"), disabled_reason=_on_command_line("", "")),
    Command("verify", "verify", "Check every line and signature of the journal.",
            loopx=_loopx("loopx event verify{goal}"), disabled_reason=_on_command_line("", "")),
)  # fmt: skip
"""Every action, in the order in which help and palette list them."""

BY_ID: Final[dict[str, Command]] = {command.id: command for command in COMMANDS}

MOVING: Final[frozenset[str]] = frozenset(
    key
    for command in COMMANDS
    if command.scope == "rows" and command.id != "rows.open"
    for key in command.keys.split(",")
)
"""Keys used for moving, which no decision may have."""

DECISIONS: Final[frozenset[str]] = frozenset(
    command.id for command in COMMANDS if command.human_only and command.keys
)


def commands_for(*scopes: Scope) -> list[Command]:
    """The commands of these scopes, in the table's order."""
    return [command for command in COMMANDS if command.scope in scopes]


def bindings_for(scope: Scope) -> list[Binding]:
    """Textual bindings of one scope, by id, for a ``BINDINGS`` class variable.

    ``App.set_keymap`` with what ``keymap.load`` gives changes their keys.
    """
    return [
        make_binding(command) for command in commands_for(scope) if command.keys and command.action
    ]


def make_binding(command: Command) -> Binding:
    """The Textual binding of one command."""
    from textual.binding import Binding

    return Binding(
        command.keys,
        command.action,
        command.title,
        show=command.footer,
        tooltip=command.help,
        id=command.id,
    )


_SHOWN_KEYS: Final[dict[str, str]] = {
    "slash": "/",
    "colon": ":",
    "question_mark": "?",
    "up": "↑",
    "down": "↓",
    "pageup": "pgup",
    "pagedown": "pgdn",
}


def shown_keys(keys: str) -> str:
    """Keys as people write them: ``:`` ``ctrl+p`` for ``colon,ctrl+p``."""
    return " ".join(_SHOWN_KEYS.get(key, key) for key in keys.split(",") if key)
