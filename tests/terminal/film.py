"""A cast as an animated SVG: styles and text alone, so that it plays wherever pictures do.

Each line of the terminal is a strip of all it ever showed, of which one is seen at a time;
people who want no motion see a still.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import groupby
from typing import NamedTuple, TypeVar

import pyte
from pyte.screens import Char
from rich.cells import cell_len
from rich.color import Color, ColorParseError

from tests.terminal.cast import Cast

CELL, LINE, BASE, SIZE = 12, 24, 18, 20
MARGIN = 14
APART = 2 * LINE
"""From one place of a strip to the next: letters may be taller than their line."""
BLINK = 0.15
"""Seconds. What stands for less is not seen."""
SECONDS_AT_END = 4.0
T = TypeVar("T")
FONT = "ui-monospace,Menlo,'DejaVu Sans Mono','Liberation Mono',Consolas,monospace"


class Ink(NamedTuple):
    """How a run of characters is drawn; colours as ``#rrggbb``, a ground may be empty."""

    colour: str
    ground: str
    bold: bool


class Run(NamedTuple):
    """Characters of one ink, and the column they begin at."""

    column: int
    text: str
    ink: Ink


Drawn = tuple[Run, ...]


class Names(dict[T, str]):
    """Short names for whatever is asked for, each the same all the time."""

    def __init__(self, letter: str) -> None:
        super().__init__()
        self._letter = letter

    def __missing__(self, key: T) -> str:
        self[key] = f"{self._letter}{len(self):x}"
        return self[key]


def film(cast: Cast, still: str, ground: str, colour: str) -> str:
    """The SVG of a cast. ``still`` is the mark at which it stands where nothing is to move;
    ``ground`` and ``colour`` are those of an empty terminal."""
    frames, stands_at = _frames(cast, still, ground, colour)
    seconds = frames[-1][0] + SECONDS_AT_END
    runs: Names[Run] = Names("t")
    inks: Names[Ink] = Names("i")
    strips = [
        _strip(number, [(at, lines[number]) for at, lines in frames], seconds, stands_at, runs)
        for number in range(cast.size[1])
    ]
    parts = "".join(_run(run, name, inks) for run, name in runs.items())
    rules = "".join(rule for rule, _ in strips)
    rules += "".join(f".{name}{{{_rule(ink)}}}" for ink, name in inks.items())
    width, height = cast.size[0] * CELL, cast.size[1] * LINE
    rows = "".join(
        f'<svg x="{MARGIN}" y="{MARGIN + n * LINE}" width="{width}" height="{LINE}">{row}</svg>'
        for n, (_, row) in enumerate(strips)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" role="img" '
        f'viewBox="0 0 {width + 2 * MARGIN} {height + 2 * MARGIN}">'
        f"<title>{escape(cast.title)}</title>"
        f"<style>text{{font:{SIZE}px {FONT};white-space:pre}}"
        f".m{{animation:{seconds:.2f}s step-end infinite}}{rules}"
        "@media (prefers-reduced-motion:reduce){.m{animation:none}}</style>"
        f'<defs>{parts}</defs><rect width="100%" height="100%" rx="8" fill="{ground}"/>{rows}'
        "</svg>\n"
    )


def _strip(
    number: int,
    frames: list[tuple[float, Drawn]],
    seconds: float,
    stands_at: float,
    runs: Names[Run],
) -> tuple[str, str]:
    """A line of the terminal: the rules that move it, and all it ever shows, each once."""
    places = {line: place for place, line in enumerate(dict.fromkeys(one for _, one in frames))}
    shown = [(at, places[line]) for at, line in frames]
    steps = [one for n, one in enumerate(shown) if not n or one[1] != shown[n - 1][1]]
    stands = max((one for one in shown if one[0] <= stands_at), default=shown[0])[1]
    lines = "".join(_line(line, place, runs) for line, place in places.items())
    rule = f"#r{number}{{transform:{_moved(stands)}}}"
    if len(steps) == 1:
        return rule, f'<g id="r{number}">{lines}</g>'
    keys = ((0.0, steps[0][1]), *steps[1:])
    frame = "".join(f"{at / seconds:.2%}{{transform:{_moved(place)}}}" for at, place in keys)
    rule += f"#r{number}{{animation-name:k{number}}}@keyframes k{number}{{{frame}}}"
    return rule, f'<g id="r{number}" class="m">{lines}</g>'


def _frames(
    cast: Cast, still: str, ground: str, colour: str
) -> tuple[list[tuple[float, list[Drawn]]], float]:
    """What is seen, and from when on: what nobody can see in between is left out. And when the
    mark ``still`` is."""
    frames: list[tuple[float, list[Drawn]]] = []
    stands_at = 0.0
    for now, mark, screen in cast.played():
        stands_at = now if mark == still else stands_at
        lines = list(_lines(screen, ground, colour))
        if frames and now - frames[-1][0] < BLINK:
            frames[-1] = (frames[-1][0], lines)
        else:
            frames.append((now, lines))
    return frames, stands_at


def _moved(place: int) -> str:
    return f"translateY({-place * APART}px)" if place else "none"


def _lines(screen: pyte.Screen, ground: str, colour: str) -> Iterator[tuple[Run, ...]]:
    for number in range(screen.lines):
        line = screen.buffer[number]
        cells = [(column, line[column]) for column in range(screen.columns)]
        yield tuple(_runs(cells, ground, colour))


def _runs(cells: list[tuple[int, Char]], ground: str, colour: str) -> Iterator[Run]:
    """What a line shows; a wide character is a run of its own."""

    inked: list[tuple[int, str, Ink]] = []
    for column, char in cells:
        ink = _ink(char, ground, colour)
        if char.data == " " and inked and inked[-1][2].ground == ink.ground:
            ink = inked[-1][2]  # a blank has no colour of its own
        if char.data:
            inked.append((column, char.data, ink))

    def kind(cell: tuple[int, str, Ink]) -> tuple[Ink, int]:
        column, text, ink = cell
        return ink, column if cell_len(text) > 1 else -1

    for (ink, _), group in groupby(inked, kind):
        found = list(group)
        text = "".join(text for _, text, _ in found)
        if ink.ground:
            yield Run(found[0][0], text, ink)
        elif text.strip():
            yield Run(found[0][0] + len(text) - len(text.lstrip()), text.strip(), ink)


def _ink(char: Char, ground: str, colour: str) -> Ink:
    front, back = _hex(char.fg, colour), _hex(char.bg, ground)
    if char.reverse:
        front, back = back, front
    return Ink(front, "" if back == ground else back, char.bold)


def _hex(name: str, default: str) -> str:
    """pyte's name of a colour as ``#rrggbb``."""
    if name == "default":
        return default
    try:
        return Color.parse(f"#{name}").get_truecolor().hex
    except ColorParseError:
        named = name.replace("bright", "bright_").replace("brown", "yellow")
        return Color.parse(named).get_truecolor().hex


def _line(line: Drawn, place: int, runs: Names[Run]) -> str:
    """A line at its place in the strip, made of parts that are drawn once."""
    parts = "".join(f'<use href="#{runs[run]}"/>' for run in line)
    return f'<g transform="translate(0,{place * APART})">{parts}</g>' if parts else ""


def _run(run: Run, name: str, inks: Names[Ink]) -> str:
    """A part: its ground, and the text over it."""
    text = run.text.strip()
    word = ""
    if text:
        left = run.column + len(run.text) - len(run.text.lstrip())
        ink = inks[run.ink._replace(ground="")]
        wide = f' textLength="{cell_len(text) * CELL}"' if cell_len(text) > 1 else ""
        shown = escape(text, quote=False)
        word = f'<text x="{left * CELL}" y="{BASE}" class="{ink}"{wide}>{shown}</text>'
    back = ""
    if run.ink.ground:
        width = cell_len(run.text) * CELL
        back = f'<rect x="{run.column * CELL}" width="{width}" height="{LINE}" '
        back += f'fill="{run.ink.ground}"/>'
    return f'<g id="{name}">{back}{word}</g>'


def _rule(ink: Ink) -> str:
    return f"fill:{ink.colour}" + (";font-weight:bold" if ink.bold else "")
