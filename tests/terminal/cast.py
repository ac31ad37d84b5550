"""Recordings of a terminal in the asciicast v2 format: a JSON header, then a line an event."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyte

FORMAT = 2
_HELD_BACK = re.compile(r"\x1b(\[[^a-zA-Z]*)?$")
_KITTY = re.compile(r"\x1b\[[<>=][0-9;]*[a-z]")
"""Sequences for the keyboard that pyte takes for text and underlines."""


@dataclass
class Cast:
    """What was written to a terminal of ``size`` columns and rows, and when, in seconds.

    Events are output (``o``) and marks of what is shown (``m``). Where nothing was written for
    longer than ``idle`` seconds, players go on after that long.
    """

    size: tuple[int, int]
    title: str = ""
    idle: float = 2.0
    events: list[tuple[float, str, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The file."""
        width, height = self.size
        head = {
            "version": FORMAT,
            "width": width,
            "height": height,
            "title": self.title,
            "idle_time_limit": self.idle,
            "env": {"TERM": "xterm-256color"},
        }
        rows = [head, *self.events]
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        return "\n".join([*lines, ""])

    @classmethod
    def parse(cls, text: str) -> Cast:
        """The cast in a file; ``ValueError`` for what is none of version 2."""
        first, *lines = text.rstrip("\n").split("\n")
        head = json.loads(first)
        if head["version"] != FORMAT:
            raise ValueError(f"this is version {head['version']}, not {FORMAT}")
        events = [(at, kind, data) for at, kind, data in map(json.loads, lines)]
        size = head["width"], head["height"]
        return cls(size, head.get("title", ""), head["idle_time_limit"], events)

    def played(self) -> Iterator[tuple[float, str, pyte.Screen]]:
        """Each moment at which something was written, idle times cut short, with its mark, mostly
        none, and the screen right after it. It is the same screen each time."""
        screen = pyte.Screen(*self.size)
        stream = pyte.Stream(screen)
        now, last, rest = 0.0, 0.0, ""
        for at, kind, data in self.events:
            now, last = now + min(at - last, self.idle), at
            if kind == "m":
                yield now, data, screen
                continue
            whole = rest + data
            cut = _HELD_BACK.search(whole)
            rest = cut[0] if cut else ""
            stream.feed(_KITTY.sub("", whole[: len(whole) - len(rest)]))
            yield now, "", screen
