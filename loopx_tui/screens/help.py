"""What the keys do: a list that can be filtered, and that runs what is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from textual.content import Content

from loopx_tui.commands import Command, Scope, Situation, commands_for
from loopx_tui.screens.palette import KEYS_WIDTH, TITLE_WIDTH, ActionList, entry


class HelpScreen(ActionList):
    """The keys of these scopes, each with a sentence."""

    def __init__(
        self,
        situation: Situation,
        *scopes: Scope,
        keys: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        listed = [one for one in commands_for(*scopes) if one.keys and one.id != "help"]
        super().__init__("Keys", listed, situation, keys)

    def describe(self, command: Command, width: int) -> Content:
        return _row(self.keys_of(command), command.title, command, self.reason_of(command), width)


class PageHelp(ActionList):
    """The keys of a page, each with what it does there.

    ``offered`` are its commands with their titles; ``why_not`` says why one cannot be used.
    """

    def __init__(
        self,
        offered: Mapping[Command, str],
        why_not: Callable[[Command], str],
        keys: Mapping[str, str],
    ) -> None:
        super().__init__("Keys", list(offered), Situation(), keys)
        self._titles = offered
        self._why = why_not

    def reason_of(self, command: Command) -> str:
        return self._why(command)

    def describe(self, command: Command, width: int) -> Content:
        title = self._titles[command]
        return _row(self.keys_of(command), title, command, self.reason_of(command), width)


def _row(keys: str, title: str, command: Command, reason: str, width: int) -> Content:
    lead = [
        (f"{keys:<{KEYS_WIDTH}}", "$accent"),
        (f"{title:<{TITLE_WIDTH}}", "$text-dim" if reason else ""),
    ]
    return entry(lead, f"{command.help} {reason}".rstrip(), width)
