"""A terminal that takes nothing for a while, as after ctrl+s, or for ever."""

from __future__ import annotations

import os
import signal
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pexpect
import pytest

from bench.terminal import Usage
from tests.terminal.ptys import QUESTION, Screen, on_a_pty
from tests.terminal.stage import Place, is_gone, wait
from tests.tui.gates import AGENT, build

pytestmark = pytest.mark.terminal

REDRAW = "\x0c"
REDRAW_NS = 1_000_000
"""Drawing the whole screen takes several times as long."""

MOST = 300
"""Many more screens than Textual keeps for a terminal that takes none."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    build(folder / "w", folder / "key").request(question=QUESTION)
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Place:
    return Place.copy_of(made, tmp_path)


@contextmanager
def stuck(screen: Screen) -> Iterator[int]:
    """Its terminal, stopped as by ctrl+s; it has drawn until it waits for that terminal."""
    screen.sees(QUESTION, "live")
    screen.quiet()
    terminal = os.open(f"/proc/{screen.child.pid}/fd/0", os.O_RDWR | os.O_NOCTTY)
    try:
        termios.tcflow(terminal, termios.TCOOFF)
        unmoved = 0
        for _ in range(MOST):
            before = Usage.of(screen.child.pid).cpu_ns
            screen.child.send(REDRAW)
            screen.child.expect(pexpect.TIMEOUT, timeout=0.03)
            idle = Usage.of(screen.child.pid).cpu_ns - before < REDRAW_NS
            unmoved = unmoved + 1 if idle else 0
            if unmoved == 5:
                break
        yield terminal
        with suppress(termios.error):  # it is gone with the app
            termios.tcflow(terminal, termios.TCOON)
    finally:
        os.close(terminal)


def test_a_signal_ends_it_though_its_terminal_takes_nothing(place: Place) -> None:
    with on_a_pty(place) as screen:
        pid = screen.child.pid
        with stuck(screen) as terminal:
            assert not takes_lines(terminal)
            os.kill(pid, signal.SIGTERM)
            wait(lambda: is_gone(pid))
            assert takes_lines(terminal)


def takes_lines(terminal: int) -> bool:
    """Whether the terminal edits lines and shows what is typed, as a shell wants it."""
    wanted = termios.ICANON | termios.ECHO | termios.ISIG
    local: int = termios.tcgetattr(terminal)[3]
    return local & wanted == wanted


def test_the_end_of_a_terminal_that_took_nothing_ends_it(place: Place) -> None:
    with on_a_pty(place) as screen:
        pid = screen.child.pid
        with stuck(screen):
            screen.child.ptyproc.fileobj.close()
            wait(lambda: is_gone(pid))


def test_where_hang_ups_are_ignored_it_ends_with_its_terminal_all_the_same(place: Place) -> None:
    with on_a_pty(place, before=("sh", "-c", 'trap "" HUP; exec "$@"', "sh")) as screen:
        screen.sees(QUESTION, "live")
        pid = screen.child.pid
        screen.child.ptyproc.fileobj.close()
        wait(lambda: is_gone(pid))


def test_once_its_terminal_goes_on_it_shows_what_came_meanwhile(place: Place) -> None:
    with on_a_pty(place) as screen:
        with stuck(screen):
            for number in range(3):
                place.must("todo", "add", f"Came meanwhile {number}", "--agent", AGENT)
        screen.sees("Came meanwhile 2", QUESTION)
        screen.quiet()
        screen.child.send("q")
        assert b"Traceback" not in screen.rest()
        assert screen.child.exitstatus == 0
