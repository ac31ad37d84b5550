"""The screen in a tmux that people leave and come back to, with windows of several sizes."""

from __future__ import annotations

import os
import signal
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.terminal.ptys import QUESTION, Screen, on_a_pty, open_review, running
from tests.terminal.stage import Place, Tmux, app_pid, tmux, wait
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


def attached(server: Tmux, size: tuple[int, int]) -> AbstractContextManager[Screen]:
    """A terminal of this size that looks into the window; gone, it detaches."""
    words = ("tmux", "-L", server.socket, "-f", "/dev/null", "attach-session")
    return running(words, server.environ, size)


def test_what_came_while_nobody_looked_is_there_in_a_window_of_any_size(place: Place) -> None:
    with tmux(place, size=(80, 24)) as server:
        server.sees(QUESTION)
        with attached(server, (200, 50)) as client:
            client.sees(QUESTION, "Changes and events", "Leases")
        wait(lambda: server.format("#{session_attached}") == "0")
        place.must("todo", "add", "Came while nobody looked", "--agent", AGENT)
        with attached(server, (120, 36)) as client:
            client.sees("Came while nobody looked", QUESTION, "Changes and events")
        with attached(server, (46, 19)) as client:
            client.sees("Needs you", "Publish one")
        with attached(server, (20, 6)) as client:
            client.sees("1 needs you", "q quit")
            server.keys("q")
        server.run("resize-window", "-x", "100", "-y", "30")
        server.sees("status=0")


def test_two_clients_of_different_sizes_see_one_review_and_decide_nothing_by_it(
    place: Place,
) -> None:
    before = place.journal
    with tmux(place) as server, attached(server, (200, 50)) as large:
        open_review(large)
        with attached(server, (80, 24)) as small:
            for client in (small, large, small, large):
                client.child.send("\r ")
                client.sees("G1", "What will be signed" if client is large else QUESTION)
        assert place.journal == before
        large.child.send("\x1b")
        large.sees(QUESTION, "Changes and events")
        large.child.send("q")
        server.sees("status=0")


def test_the_mouse_is_asked_for_unless_it_is_to_be_left_alone(place: Place) -> None:
    with on_a_pty(place) as screen:
        screen.sees(QUESTION)
        assert b"\x1b[?1000h" in screen.log
    with on_a_pty(place, "--no-mouse") as screen:
        screen.sees(QUESTION, "live")
        screen.child.send("3\x1b[<0;40;4M\x1b[<0;40;4md")
        screen.quiet()
        assert b"\x1b[?1000h" not in screen.log and b"\x1b[?1003h" not in screen.log
        assert screen.child.isalive()


def test_stopped_by_its_shell_it_gives_the_terminal_back_and_returns_whole(place: Place) -> None:
    before = place.journal
    with tmux(place) as server:
        server.sees(QUESTION)
        server.keys("d")
        server.sees("What will be signed")
        pid = app_pid(server)
        os.kill(pid, signal.SIGTSTP)
        wait(lambda: Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")
        assert server.format("#{alternate_on} #{mouse_any_flag}") == "0 0"
        os.kill(pid, signal.SIGCONT)
        server.sees("What will be signed")
        server.keys("Escape")
        server.sees(QUESTION, "Changes and events")
        assert place.journal == before
        server.keys("q")
        server.sees("status=0", " icanon")
