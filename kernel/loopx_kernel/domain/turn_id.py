"""How a turn is named: ``turn-0001`` and on, counted within its goal."""

from __future__ import annotations

import re

_TURN = re.compile(r"turn-((?!0000)[0-9]{4}|[1-9][0-9]{4,8})")


def turn_id(number: int) -> str:
    """The name of the turn with that number, from 1."""
    return f"turn-{number:04}"


def is_turn_id(text: str) -> bool:
    """Whether it names a turn, in the one way there is."""
    return _TURN.fullmatch(text) is not None


def number_of(name: str) -> int:
    """The number of a named turn."""
    return int(name.removeprefix("turn-"))
