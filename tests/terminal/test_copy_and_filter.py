"""Copying through a real tmux, and a filter that lies about nothing and is forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.terminal.ptys import QUESTION, on_a_pty
from tests.terminal.stage import Place, tmux
from tests.tui.gates import AGENT, build

pytestmark = pytest.mark.terminal


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    build(folder / "w", folder / "key").request(question=QUESTION)
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Place:
    return Place.copy_of(made, tmp_path)


def test_in_tmux_a_row_is_copied_to_its_buffer_whatever_its_clipboard(place: Place) -> None:
    with tmux(place) as server:
        server.run("set-option", "-g", "set-clipboard", "off")
        server.sees(QUESTION, "live")
        server.keys("y")
        server.sees("to the tmux buffer")
        assert QUESTION in server.run("show-buffer")


def test_elsewhere_a_row_goes_to_the_terminals_clipboard(place: Place) -> None:
    with on_a_pty(place) as screen:
        screen.sees(QUESTION, "live")
        screen.child.send("y")
        screen.sees("to the terminal's clipboard")
        assert b"\x1b]52;c;" in screen.log


def test_a_filter_takes_letters_as_text_hides_no_count_and_is_gone_after_a_restart(
    place: Place,
) -> None:
    place.must("todo", "add", "Convert components", "--agent", AGENT)
    before = place.journal
    with on_a_pty(place) as screen:
        screen.sees(QUESTION, "1 needs you", "live")
        screen.child.send("/hjkl y q A")
        screen.sees("hjkl y q A", "1 needs you")
        screen.child.send("\r")
        screen.sees("Nothing matches hjkl y q A", "1 needs you")
        screen.child.send("q")
        assert b"Traceback" not in screen.rest()
    with on_a_pty(place) as screen:
        screen.sees(QUESTION, "1 needs you", "live")
        screen.child.send("/zzz\r")
        screen.sees("Nothing matches zzz", "1 needs you")
        screen.child.send("/")
        screen.child.send("\x1b")
        screen.sees(QUESTION)
        screen.sees_no("zzz")
    assert place.journal == before
