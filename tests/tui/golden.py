"""A screen as text: what stands in each cell, and in which style, at several sizes and looks."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.style import Style

Size = tuple[int, int]
LETTERS = string.ascii_letters + string.digits
_FLAGS = ("bold", "dim", "italic", "underline", "reverse", "strike")


class Painted(NamedTuple):
    """The lines of a screen, each a run of characters with the style each has."""

    lines: tuple[tuple[tuple[str, str], ...], ...]

    @property
    def text(self) -> list[str]:
        """What is written, line by line."""
        return ["".join(char for char, _ in line) for line in self.lines]


def paint(app: Any) -> Painted:
    """The top screen of an app as it would be sent to the terminal."""
    strips = app.screen._compositor.render_strips(app.size)
    lines = []
    for strip in strips:
        cells = [(char, _named(style)) for text, style, _ in strip for char in text]
        lines.append(tuple(cells))
    return Painted(tuple(lines))


def _named(style: Style | None) -> str:
    if style is None:
        return "plain"
    words = [flag for flag in _FLAGS if getattr(style, flag)]
    words += [style.color.name] if style.color else []
    words += ["on", style.bgcolor.name] if style.bgcolor else []
    return " ".join(words) or "plain"


def written(pictures: Mapping[Size, Mapping[str, Painted]]) -> str:
    """The file of a screen: its legend, then each size with its text and the styles of its lines.

    A letter of the legend names a style in each of the looks, which all have the same text.
    """
    legend: dict[tuple[str, ...], str] = {}
    blocks = []
    for (width, height), looks in pictures.items():
        first, *others = looks.values()
        assert all(one.text == first.text for one in others), "a look has another text"
        assert {sum(map(cell_len, line)) for line in first.text} == {width}, "a line is not full"
        blocks += [f"== {width}x{height}", *(f"|{line.rstrip()}" for line in first.text)]
        blocks += ["-- styles", *_styles([one.lines for one in looks.values()], legend)]
    names = list(next(iter(pictures.values())))
    told = []
    for styles, letter in legend.items():
        pairs = zip(names, styles, strict=True)
        told.append(f"{letter}  " + "; ".join(f"{name} {style}" for name, style in pairs))
    return "\n".join([*told, *blocks, ""])


def _styles(looks: Sequence[Any], legend: dict[tuple[str, ...], str]) -> list[str]:
    """Runs of letters, such as ``a12 b3``; a line like the one before is a ``"``."""
    found: list[str] = []
    last = ""
    for line in zip(*looks, strict=True):
        triples = [tuple(style for _, style in cells) for cells in zip(*line, strict=True)]
        letters = [legend.setdefault(one, LETTERS[len(legend)]) for one in triples]
        runs = " ".join(f"{letter}{len(list(group))}" for letter, group in groupby(letters))
        found.append('"' if runs == last else runs)
        last = runs
    return [re.sub(r"\b([A-Za-z0-9])1\b", r"\1", line) for line in found]
