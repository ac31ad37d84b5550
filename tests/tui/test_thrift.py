"""Fewer bytes, the same screen: what the terminal shows is compared, not what it was sent."""

from __future__ import annotations

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.color import Color
from rich.color_triplet import ColorTriplet
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from loopx_tui.thrift import ThriftyUpdate, thrift, thrifty

WIDTH, HEIGHT = 12, 3
CONSOLE = Console(color_system="truecolor", force_terminal=True)

colours = st.sampled_from([None, "red", "bright_blue", "#112233", "color(130)", "default"])
styles = st.builds(
    lambda front, ground, **attributes: Style(color=front, bgcolor=ground, **attributes),
    colours,
    colours,
    bold=st.sampled_from([None, True]),
    italic=st.sampled_from([None, True]),
    underline=st.sampled_from([None, True]),
    reverse=st.sampled_from([None, True]),
)
texts = st.sampled_from(["ab", "  ", "x ", "│╮", "主"])
PIECES = WIDTH // 2
pieces = st.builds(Segment, texts, st.none() | styles, st.none())
lines = st.lists(pieces, min_size=PIECES, max_size=PIECES).map(Strip)
screens = st.lists(lines, min_size=HEIGHT, max_size=HEIGHT)


def shown(*texts: str) -> list[list[object]]:
    """What is seen of each cell after these texts: colours and weight of a blank are not."""
    screen = pyte.Screen(WIDTH, HEIGHT)
    stream = pyte.Stream(screen)
    for text in texts:
        stream.feed(text.replace("\n", "\r\n"))
    return [[_seen(screen.buffer[y][x]) for x in range(WIDTH)] for y in range(HEIGHT)]


def _seen(cell: pyte.screens.Char) -> object:
    if cell.data == " " and not (cell.underscore or cell.reverse):
        return " ", cell.bg
    return cell


@settings(max_examples=100)
@given(screens)
def test_a_whole_screen_looks_the_same_in_no_more_bytes(lines: list[Strip]) -> None:
    update = LayoutUpdate([[line] for line in lines], Region(0, 0, WIDTH, HEIGHT))
    plain = update.render_segments(CONSOLE)
    lean = ThriftyUpdate(update).render_segments(CONSOLE)
    assert shown(lean) == shown(plain)
    assert len(lean) <= len(plain)


@settings(max_examples=100)
@given(screens, screens, st.integers(0, PIECES - 1), st.integers(1, PIECES))
def test_a_changed_part_looks_the_same_and_leaves_the_rest_alone(
    before: list[Strip], after: list[Strip], skipped: int, count: int
) -> None:
    first, last = 2 * skipped, min(2 * (skipped + count), WIDTH)
    lines = [
        Strip.join([old.crop(0, first), new.crop(first, last), old.crop(last, WIDTH)])
        for old, new in zip(before, after, strict=True)
    ]
    drawn = LayoutUpdate([[line] for line in before], Region(0, 0, WIDTH, HEIGHT))
    update = part(lines, first, last)
    start = drawn.render_segments(CONSOLE)
    lean = ThriftyUpdate(update).render_segments(CONSOLE)
    assert shown(start, lean) == shown(start, update.render_segments(CONSOLE))


def part(lines: list[Strip], first: int, last: int) -> ChopsUpdate:
    """These cells of the lines, as Textual asks for them."""
    spans = [(y, first, last) for y in range(len(lines))]
    ends = [[line.cell_length] for line in lines]
    return ChopsUpdate([{0: line} for line in lines], spans, ends)


@pytest.mark.parametrize(("first", "last"), [(3, 6), (2, 5), (3, 5)])
def test_no_wide_character_is_cut(first: int, last: int) -> None:
    line = Strip([Segment("ab"), Segment("主题"), Segment("cd")])
    assert ThriftyUpdate(part([line], first, last)).render_segments(CONSOLE) == "\x1b[1;3H主题"


def test_one_changed_cell_costs_that_cell() -> None:
    ground = Style(color=Color.from_triplet(ColorTriplet(1, 2, 3)))
    line = Strip([Segment("a long row that stays  ", ground), Segment("14m", ground)])
    assert ThriftyUpdate(part([line], 23, 26)).render_segments(CONSOLE) == (
        "\x1b[1;24H\x1b[38;2;1;2;3m14m\x1b[0m"
    )


def test_a_colour_is_said_where_it_differs() -> None:
    text = "\x1b[31;40ma\x1b[0m\x1b[31;40mb\x1b[0m\x1b[32;40m \x1b[0m\x1b[1;32;40mc\x1b[0m"
    assert thrifty(text) == "\x1b[31;40mab \x1b[1;32mc\x1b[0m"


def test_what_is_no_update_of_the_screen_is_left_alone() -> None:
    assert thrift(None) is None
    assert thrift("text") == "text"
