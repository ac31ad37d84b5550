"""Asks where to go in a goal's history."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from loopx_kernel.text import safe

from loopx_tui import strings_goal as words
from loopx_tui.presentation.jump import parse
from loopx_tui.presentation.lines import Line
from loopx_tui.screens.dialog import Prompt


class JumpScreen(Prompt):
    """Its result is a text that ``presentation.jump.parse`` understands."""

    def __init__(self, goal_id: str, now: Callable[[], datetime]) -> None:
        title = words.JUMP_TITLE.format(goal=goal_id)
        super().__init__(title, [Line(words.JUMP_HELP, "text-dim")], hint=words.JUMP_HINT)
        self._now = now

    def check(self, value: str) -> str:
        if parse(value, self._now()) is None:
            return words.NOT_A_PLACE.format(text=safe(value) or "an empty text")
        return ""
