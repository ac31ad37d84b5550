"""The glyphs of the screen: one cell each, with a twin of plain ASCII."""

from __future__ import annotations

from typing import Final

GLYPHS: Final[dict[str, tuple[str, str]]] = {
    # answers
    "run": ("▶", ">"),
    "ask": ("◆", "?"),
    "wait": ("◌", "~"),
    "repair": ("✚", "+"),
    "quiet": ("·", "."),
    "closed": ("✔", "v"),
    "paused": ("‖", "="),
    # conditions
    "need": ("⚑", "*"),
    "alert": ("▲", "!"),
    "stale": ("▲", "!"),
    "fresh": ("●", "o"),
    "live": ("●", "o"),
    "verified": ("✔", "v"),
    "forged": ("✘", "x"),
    "past": ("◀", "<"),
    "held": ("✔", "v"),
    "missing": ("✘", "x"),
    # drawing
    "cursor": ("▌", "|"),
    "ellipsis": ("…", "~"),
    "full": ("▓", "#"),
    "empty": ("░", "-"),
}

_SPARKS = ("▁▂▃▄▅▆▇█", "_.:-=+*#")


def glyph(name: str, *, ascii_only: bool = False) -> str:
    """The one-cell glyph called ``name``; ``KeyError`` for a name that is not in ``GLYPHS``."""
    return GLYPHS[name][ascii_only]


def sparks(*, ascii_only: bool = False) -> str:
    """The eight steps of a sparkline, lowest first."""
    return _SPARKS[ascii_only]
