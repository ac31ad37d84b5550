"""What the keys do: a list that can be filtered, and that runs what is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from textual.content import Content

from loopx_tui.commands import Command, Scope, Situation, commands_for
from loopx_tui.screens.palette import KEYS_WIDTH, TITLE_WIDTH, ActionList


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

    def describe(self, command: Command) -> Content:
        reason = command.disabled_reason(self._situation)
        return Content.assemble(
            (f"{self.keys_of(command):<{KEYS_WIDTH}}", "$accent"),
            (f"{command.title:<{TITLE_WIDTH}}", "$text-dim" if reason else ""),
            Content(f"{command.help} {reason}".rstrip()),
        )
