"""The table of actions: what can be done, with which keys, where, and why not just now.

Bindings, footer, help, palette and the keys file are made from ``COMMANDS``;
nothing else names a key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from loopx_tui.situation import (
    Command,
    Scope,
    Situation,
    deciding,
    loopx,
    no_connecting,
    no_decision,
    no_demo,
    no_leaving,
    no_opening,
    no_signing,
    on_command_line,
    own_next,
)

if TYPE_CHECKING:
    from textual.binding import Binding

__all__ = ["BY_ID", "COMMANDS", "Command", "Scope", "Situation"]


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
        "Review what waits under the cursor and decide it.",
        "d",
        action="decide",
        human_only=True,
        footer=True,
        loopx=own_next,
        disabled_reason=no_decision,
    ),
    # Decisions without a row of their own; those with one are opened by `decide`.
    deciding("replan", "replan", "Ask for another route: which todos, why, on which facts.",
             "loopx replan request{goal} --reason 'why'", keys="R", about="either"),
    deciding("objective", "objective", "Word the objective anew; what changes is shown first.",
             "loopx objective patch{goal} --text 'what is wanted now' --reason 'why'", keys="O"),
    deciding("goal.pause", "pause goal", "No new turns begin until it is resumed.",
             "loopx goal pause{goal} --reason 'why'"),
    deciding("goal.resume", "resume goal", "Turns may begin again.",
             "loopx goal resume{goal} --reason 'why'"),
    deciding("goal.retire", "retire goal", "End the goal for good.",
             "loopx goal retire{goal} --reason 'why'"),
    deciding("goal.scope", "write scope", "Say where workers may write.",
             "loopx goal edit{goal} --reason 'why'"),
    deciding("goal.quota", "quota", "Say how much of the time workers may use.",
             "loopx goal edit{goal} --reason 'why'"),
    deciding("goal.rules", "rules", "Lay the goal's rules anew, as YAML with a diff.",
             "loopx goal edit{goal} --reason 'why'"),
    deciding("goal.accept", "accept by hand", "Accept all finished work as it is now.",
             "loopx accept by-hand{goal} --reason 'why'"),
    deciding("todo.accept", "accept todo", "Accept one finished todo by hand.",
             "loopx accept by-hand{goal} --todo {object} --reason 'why'", about="todo"),
    deciding("todo.finish", "finish todo", "Say that a person's todo is done, and how.",
             "loopx todo complete {object}{goal} --reason 'how it was done'", about="todo"),
    deciding("todo.cancel", "cancel todo", "Take work away; it stays readable.",
             "loopx todo cancel {object}{goal} --reason 'why'", about="todo"),
    Command("owners", "owners", "Who decides here, with which keys, and how strong they are.",
            action="owners", loopx=loopx("loopx owner list")),
    deciding("owner.enroll", "enrol owner", "Let one more person decide, with their key.",
             "loopx owner enroll --name lin --public-key lin.pub", about="workspace"),
    deciding("owner.rotate", "new owner key", "Give an owner a new key in place of the old.",
             "loopx owner rotate --name lin --public-key new.pub", about="workspace"),
    deciding("owner.revoke", "revoke owner", "Take an owner's key out of use.",
             "loopx owner revoke --name lin", about="workspace"),
    Command("owner.trust", "trust owners", "Trust the owners who stand here now, where they are "
            "not those you knew.", action="trust", loopx=loopx("loopx owner trust")),
    Command("goal.open", "new goal", "Open a goal, step by step.", "S", "main",
            "open_goal", True, loopx=loopx("loopx start-goal --guided"),
            disabled_reason=no_opening),
    Command("connect", "connect", "Make this folder a workspace, and you its owner.", "C",
            "main", "connect", True, loopx=loopx("loopx connect"), disabled_reason=no_connecting),
    Command("demo", "demo", "Show the demo here, a live throw-away workspace.", "M",
            action="demo", loopx=loopx("loopx-tui demo"), disabled_reason=no_demo),
    Command("workspace.open", "other workspace", "Open another workspace in place of this one.",
            "W", action="places", loopx=loopx("loopx workspace list"),
            disabled_reason=no_leaving),
    Command("filter", "filter", "Show only rows that contain a text.", "slash", action="filter",
            footer=True),
    Command("palette", "commands", "Every action with its `loopx` command.", "colon,ctrl+p",
            action="palette", footer=True),
    Command("help", "help", "The keys that work here.", "question_mark", action="help",
            footer=True),
    Command("history", "history", "How the goal stood at any line of its journal.", "H",
            action="history"),
    Command("doctor", "doctor", "Is everything as it should be, layer by layer.",
            "exclamation_mark", action="doctor", loopx=loopx("loopx doctor")),
    Command("quarantine", "quarantine", "What could not be read, why, and what it hides.", "Q",
            action="quarantine", loopx=loopx("loopx repair list")),
    Command("copy", "copy", "Copy the row under the cursor.", "y", action="copy"),
    Command("theme", "theme", "Take the next theme.", "t", action="theme"),
    Command("zoom", "zoom", "Give the whole screen to the pane, or take it back.", "z",
            action="zoom"),
    Command("hide", "hide pane", "Take the pane away; its number brings it back.", "minus",
            action="hide"),
    Command("show-all", "show all", "Bring every hidden pane back.", "plus", action="show_all"),
    Command("redraw", "redraw", "Draw the whole screen again.", "ctrl+l", action="redraw"),
    Command("lock", "lock key", "Lock the key that you let the app keep open.", "L",
            action="lock"),
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
    # A goal's own screen, and others over the first one.
    Command("goal.next-tab", "next tab", "To the next list.", "right_square_bracket", "goal",
            "turn(1)"),
    Command("goal.previous-tab", "previous tab", "To the list before.", "left_square_bracket",
            "goal", "turn(-1)"),
    Command("goal.close", "leave", "Back to the screen below.", "escape", "goal", "close",
            footer=True),
    # History.
    Command("history.back", "back", "To the line before.", "left,h", "history", "step(-1)",
            footer=True),
    Command("history.on", "on", "To the next line.", "right,l", "history", "step(1)",
            footer=True),
    Command("history.jump", "jump", "To a line, a time, an event, or an object's last line.", "J",
            "history", "jump", footer=True),
    Command("history.back-100", "back 100", "A hundred lines back.", "less_than_sign", "history",
            "step(-100)"),
    Command("history.on-100", "on 100", "A hundred lines on.", "greater_than_sign", "history",
            "step(100)"),
    Command("history.first", "first line", "To the first line.", "circumflex_accent",
            "history", "to_first"),
    Command("history.last", "last line", "To the last line there is now.", "dollar_sign",
            "history", "to_last"),
    Command("history.about-before", "its line before",
            "To the line before about the object under the cursor.", "left_curly_bracket",
            "history", "about(-1)"),
    Command("history.about-next", "its next line",
            "To the next line about the object under the cursor.", "right_curly_bracket",
            "history", "about(1)"),
    # The review screen.
    Command("review.approve", "approve", "Approve, go on, adopt, do it: your key comes next.",
            "A", "review", "choose('review.approve')", True, True,
            loopx("loopx gate approve {object}{goal}", "gate"), no_signing),
    Command("review.reject", "reject", "Reject, cancel, put back: your key comes next.", "X",
            "review", "choose('review.reject')", True, True,
            loopx("loopx gate reject {object}{goal}", "gate"), no_signing),
    Command("review.defer", "defer", "Ask again at a time you give; your key comes next.", "D",
            "review", "choose('review.defer')", True, True,
            loopx("loopx gate defer {object}{goal} --until 2026-09-17T09:00:00Z", "gate"),
            no_signing),
    Command("review.replan", "replan", "Have the escalated work replanned; your key comes next.",
            "R", "review", "choose('review.replan')", True, True,
            loopx("loopx escalation answer {object}{goal} --replan --reason 'why'", "escalation"),
            no_signing),
    Command("review.edit", "write", "Write the reason, and what else is signed with it.", "e",
            "review", "edit", footer=True),
    Command("review.key", "other key", "Sign with the next of your keys that can.", "K",
            "review", "next_key", footer=True),
    Command("review.lock", "lock key", "Lock the key that you let the app keep open.", "L",
            "review", "lock", footer=True),
    Command("review.copy", "copy", "Copy the text of the review.", "y", "review", "copy",
            footer=True, loopx=loopx("loopx gate show {object}{goal}", "gate")),
    Command("review.up", "up", "Scroll one line up.", "up,k", "review", "scroll_by(-1)"),
    Command("review.down", "down", "Scroll one line down.", "down,j", "review", "scroll_by(1)"),
    Command("review.page-up", "page up", "Scroll one page up.", "pageup,ctrl+u", "review",
            "scroll_pages(-1)"),
    Command("review.page-down", "page down", "Scroll one page down.", "pagedown,ctrl+d", "review",
            "scroll_pages(1)"),
    Command("review.first", "first", "Scroll to the start.", "home,g", "review", "scroll_top"),
    Command("review.last", "last", "Scroll to the end.", "end,G", "review", "scroll_bottom"),
    Command("review.help", "help", "The keys that work here.", "question_mark", "review", "help",
            footer=True),
    Command("review.close", "close", "Close; nothing is decided.", "escape", "review", "close",
            footer=True),
    # Other dialogs.
    Command("dialog.close", "cancel", "Leave; nothing is written.", "escape", "dialog", "close",
            footer=True),
    Command("dialog.copy", "copy", "Copy the `loopx` command of the entry.", "y", "dialog", "copy",
            footer=True),
    Command("form.editor", "$EDITOR", "Write the text in your own editor.", "ctrl+g", "dialog",
            "editor", footer=True),
    Command("form.keep", "keep", "Keep what was written.", "ctrl+o", "dialog", "keep", footer=True),
    Command("sign", "sign", "Sign with a key that needs no passphrase.", "ctrl+s", "dialog",
            "sign", True, True),
    Command("sign.keep", "keep open", "Keep the key open for 15 minutes after this signature.",
            "ctrl+t", "dialog", "toggle_keep", footer=True),
    # For people, on the command line.
    Command("status", "status", "Where the goal stands, as text.", loopx=loopx(
            "loopx status{goal}"), disabled_reason=on_command_line),
    Command("verify", "verify", "Check every line and signature of the journal.",
            loopx=loopx("loopx event verify{goal}"), disabled_reason=on_command_line),
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
    "plus": "+",
    "up": "↑",
    "down": "↓",
    "right_square_bracket": "]",
    "left_square_bracket": "[",
    "left": "←",
    "right": "→",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "dollar_sign": "$",
    "circumflex_accent": "^",
    "exclamation_mark": "!",
    "minus": "-",
    "pageup": "pgup",
    "pagedown": "pgdn",
}


def shown_keys(keys: str) -> str:
    """Keys as people write them: ``:`` ``ctrl+p`` for ``colon,ctrl+p``."""
    return " ".join(_SHOWN_KEYS.get(key, key) for key in keys.split(",") if key)
