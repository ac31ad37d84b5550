"""What a screen is on, and what an action is: the words of the table of actions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

Scope = Literal["main", "rows", "goal", "history", "review", "dialog"]
"""Where a command applies: screens with panes, any list, a screen over the first one, history,
the review screen, any other dialog."""

OF_NEEDS: Final = {
    "gate": "gate",
    "escalation": "escalation",
    "human_todo": "todo.finish",
    "drift": "drift",
    "tick": "drift",
    "damage": "damage",
}
"""What is decided about a row of the needs-you list, by its kind: ids of cases."""

_TODO = ("todo", "human_todo", "lease")


@dataclass(frozen=True, slots=True)
class Situation:
    """What the screen is on, for templates and reasons.

    ``kind`` is that of the object under the cursor (``gate``, ``todo``, ``goal``,
    or a kind of ``needs_you``); ``next`` the command its row names; ``key_problem``
    the sentence that says why no key can sign, empty if one can. ``waiting`` is the kind and id
    of what waits for a person about that object, where it is not the object itself. ``connected``
    says whether there is a workspace with an owner.
    """

    goal_id: str = ""
    object_id: str = ""
    kind: str = ""
    next: str = ""
    read_only: bool = False
    history: bool = False
    key_problem: str = ""
    waiting: tuple[str, str] = ("", "")
    connected: bool = True
    demo: bool = False

    @property
    def decision(self) -> tuple[str, str]:
        """The kind and id of what would be decided here; its kind may be one nobody decides."""
        return self.waiting if self.waiting[0] else (self.kind, self.object_id)

    @property
    def todo_id(self) -> str:
        """The todo under the cursor; empty where there is none."""
        return self.object_id if self.kind in _TODO else ""


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


def loopx(template: str, *kinds: str) -> Callable[[Situation], str]:
    """A command line; ``{goal}`` and, of an object of these kinds, ``{object}`` are filled in."""

    def fill(situation: Situation) -> str:
        import shlex

        goal = f" --goal {shlex.quote(situation.goal_id)}" if situation.goal_id else ""
        named = shlex.quote(situation.object_id) if situation.kind in kinds else "ID"
        return template.format(goal=goal, object=named)

    return fill


def own_next(situation: Situation) -> str:
    """The command that the row under the cursor names."""
    return situation.next or loopx("loopx gate show {object}{goal}", "gate")(situation)


def no_signing(situation: Situation) -> str:
    """Why nothing can be signed in this situation; empty if something can."""
    if situation.history:
        return PAST
    if situation.read_only:
        return "This workspace is open read-only"
    return situation.key_problem


def no_opening(situation: Situation) -> str:
    """Why no goal can be opened; empty if one can."""
    return no_signing(situation) or ("" if situation.connected else "Connect this folder first")


def no_connecting(situation: Situation) -> str:
    """Why this folder cannot be connected; empty if it can."""
    if situation.read_only:
        return "This folder is open read-only"
    return "This folder is a workspace already" if situation.connected else ""


def no_leaving(situation: Situation) -> str:
    """Why no other workspace can be opened in place of this one; empty if one can."""
    return "This is the demo; quit it first" if situation.demo else ""


def no_demo(situation: Situation) -> str:
    """Why the demo cannot take this screen; empty if it can."""
    if situation.connected:
        return "This screen is on your workspace; run the demo in another window"
    return no_leaving(situation)


PAST: Final = "This is the past; decisions open from live rows only"


def no_decision(situation: Situation) -> str:
    """Why nothing under the cursor can be decided; empty if something can."""
    if situation.decision[0] in OF_NEEDS:
        # The review opens for reading; its own actions are greyed with the reason.
        return PAST if situation.history else ""
    return "Nothing under the cursor waits for a decision"


def on_command_line(situation: Situation) -> str:
    """Why an action that only the command line has cannot be run here."""
    return "Done on the command line; copy the command"


def deciding(
    case_id: str,
    title: str,
    help_: str,
    template: str,
    *,
    about: Literal["goal", "todo", "either", "workspace"] = "goal",
    keys: str = "",
) -> Command:
    """The action that opens the review of one case: about the goal, the todo under the cursor,
    ``either`` (that todo where there is one), or the workspace as a whole."""

    def why_not(situation: Situation) -> str:
        reason = no_signing(situation)
        if reason:
            return reason
        if about == "todo" and not situation.todo_id:
            return "Put the cursor on a todo first"
        return "" if situation.goal_id or about == "workspace" else "There is no goal yet"

    action, line = f"open_case('{case_id}', '{about}')", loopx(template, *_TODO)
    return Command(case_id, title, help_, keys, "main", action, True, bool(keys), line, why_not)
