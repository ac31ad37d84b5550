"""The recording in the README: made of the real demo, and played as it was made."""

from __future__ import annotations

import os
import platform
import pwd
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from loopx_tui.themes import DEFAULT
from tests.terminal.cast import Cast
from tests.terminal.film import film
from tests.terminal.recording import STILL, recorded

ROOT = Path(__file__).parents[2]
MILESTONES = {
    STILL: ("Needs you", "Next beat", "blocks"),
    "the goal": ("8 Report",),
    "quota": ("slots per",),
    "the review": ("Evidence", "every source is fresh"),
    "the signature": ("this key needs no passphrase",),
    "the receipt": ("recorded as #",),
    "history": ("PAST",),
    "help": ("Review what waits",),
}
LARGEST = 400_000


@pytest.fixture(scope="module")
def cast() -> Cast:
    """A recording made now, as a file has it."""
    return Cast.parse(recorded(0.0).cast.text)


def shown_at(cast: Cast) -> dict[str, str]:
    """What the screen shows at each mark."""
    return {mark: "\n".join(screen.display) for _, mark, screen in cast.played() if mark}


def test_it_plays_into_the_screens_that_were_seen(cast: Cast) -> None:
    shown = shown_at(cast)
    for mark, texts in MILESTONES.items():
        for text in texts:
            assert text in shown[mark], f"{mark}:\n{shown[mark]}"
    times = [now for now, _, _ in cast.played()]
    assert times == sorted(times)


def test_it_plays_as_a_picture_that_needs_nothing_else(cast: Cast) -> None:
    svg = film(cast, STILL, DEFAULT.background, DEFAULT.text)
    assert stands_alone(svg)
    text = "".join(ElementTree.fromstring(svg).itertext())
    for texts in MILESTONES.values():
        assert all(one in text for one in texts)


def stands_alone(svg: str) -> bool:
    """It loads and runs nothing, fits into a page, and stands still where that is wished for."""
    outside = re.findall(r"href=\"[^#]|src=|url\(|@import|<script| on[a-z]+=", svg)
    return not outside and "prefers-reduced-motion" in svg and len(svg.encode()) < LARGEST


def test_the_one_in_the_tree_is_a_minute_of_it_and_tells_of_no_machine() -> None:
    text = (ROOT / "screenshots" / "demo.cast").read_text("utf-8")
    cast, svg = Cast.parse(text), (ROOT / "screenshots" / "demo.svg").read_text("utf-8")
    *_, (seconds, _, _) = cast.played()
    assert 45 < seconds < 90 and stands_alone(svg)
    assert shown_at(cast).keys() >= MILESTONES.keys()
    assert svg == film(cast, STILL, DEFAULT.background, DEFAULT.text)
    home = pwd.getpwuid(os.getuid()).pw_dir
    for own in (str(ROOT), f"{home}/", f"@{platform.node().partition('.')[0]}"):
        assert own not in text + svg


def test_what_was_cut_inside_a_sequence_is_put_together() -> None:
    cast = Cast((10, 2), events=[(0.0, "o", "a\x1b[3"), (9.0, "o", "1mb\x1b"), (9.5, "o", "[0mc")])
    played = [(now, screen.display[0].rstrip()) for now, _, screen in cast.played()]
    assert played == [(0.0, "a"), (2.0, "ab"), (2.5, "abc")]
    assert Cast.parse(cast.text) == cast


def test_each_line_is_drawn_once_for_all_the_times_it_shows_the_same() -> None:
    events = [(at, "o", f"\r{text}") for at, text in enumerate(("one", "two", "one"))]
    svg = film(Cast((10, 1), events=events), "", "#000000", "#ffffff")
    assert svg.count(">one<") == 1 and svg.count("translateY(-48px)") == 1
    assert svg.count("{transform:none}") == 3


@pytest.mark.parametrize(
    ("written", "colour"),
    [("\x1b[38;2;1;2;3mx", "#010203"), ("\x1b[31mx", "#800000"), ("\x1b[7mx", "#000000")],
)
def test_colours_are_those_of_the_terminal(written: str, colour: str) -> None:
    svg = film(Cast((4, 1), events=[(0.0, "o", written)]), "", "#000000", "#ffffff")
    assert f"fill:{colour}" in svg
