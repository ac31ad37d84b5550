"""Lines of text for pages and dialogs: what each says and its colour, safe to show."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from loopx_kernel.text import safe


class Line(NamedTuple):
    """One line of text and its colour's name; it may be wider than the screen."""

    text: str = ""
    style: str = "text"


def field(name: str, value: str, style: str = "text") -> Line:
    """A labelled value."""
    return Line(f"  {name:<9} {safe(value)}", style)


def head(text: str) -> Line:
    """The title of a section."""
    return Line(text, "text-dim")


def alert(text: str, style: str = "alert") -> Line:
    """What a person must not overlook."""
    return Line(f"▲ {safe(text)}", style)


def moment(when: datetime) -> str:
    """A moment to the second, in UTC."""
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
