"""The screen over SSH: a real sshd, several kinds of terminal, a slow line, one that breaks."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from tests.agents import short_folder
from tests.patience import PATIENCE
from tests.sshd import Road, sshd
from tests.terminal.ptys import QUESTION, Screen, open_passphrase, open_review, running
from tests.terminal.slow_line import slow_line
from tests.terminal.stage import TUI, Place, wait
from tests.tui.gates import AGENT, COMMAND, PASSPHRASE, build

pytestmark = pytest.mark.terminal

Client = list[str]
REVIEWED, SIGN = "What will be signed", "Sign: passphrase of your key"
TRUE_COLOUR, OF_256 = re.compile(rb"[34]8;2;"), re.compile(rb"[34]8;5;")
DELAY = 0.15
"""Seconds, each way."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    build(folder / "w", folder / "key").request(question=QUESTION)
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Place:
    return Place.copy_of(made, tmp_path)


def served(road: Road = nullcontext) -> Iterator[Client]:
    """The words of a client of a server that listens."""
    with short_folder() as folder, sshd(folder, road=road) as (client, log):
        wait(lambda: b"listening" in log.read_bytes(), what=log.read_text)
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    yield from served()


@pytest.fixture(scope="module")
def far_client() -> Iterator[Client]:
    """The same at the far end of a slow line."""
    yield from served(lambda port: slow_line(port, DELAY))


def over_ssh(
    client: Client, place: Place, term: str = "xterm-256color"
) -> AbstractContextManager[Screen]:
    """The app at the far end; a shell there says which session it is, and how the app ended and
    left the terminal."""
    own = (f"{name}={value}" for name, value in place.environ.items() if name != "TERM")
    words = shlex.join(("env", *own, *TUI, str(place.root)))
    command = f"echo session=$$; {words}; echo status=$?; stty -a"
    return running((*client[:-1], "-tt", client[-1], command), os.environ | {"TERM": term})


def session_of(screen: Screen) -> int:
    """The session at the far end, by the process that leads it."""
    found = re.search(rb"session=(\d+)", screen.log)
    assert found
    return int(found[1])


def fields(pid: str) -> list[str]:
    """What /proc tells of a process from its state on; nothing of one that has ended."""
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def alive_in(session: int) -> list[str]:
    """The processes that are left of a session."""
    found = ((path.name, fields(path.name)) for path in Path("/proc").glob("[0-9]*"))
    return [pid for pid, told in found if told and told[0] != "Z" and int(told[3]) == session]


def gave_back(screen: Screen) -> bytes:
    """Waits until the app has quit and given the terminal back; what it had written."""
    written = screen.rest()
    shown, _, after = written.rpartition(b"\x1b[?1049l")
    assert b"status=0" in after and b" icanon" in after and b" echo " in after
    assert b"Traceback" not in written
    return shown


@pytest.mark.parametrize(
    ("term", "too_many_colours"),
    [
        ("xterm-256color", TRUE_COLOUR),
        ("tmux-256color", TRUE_COLOUR),
        ("screen", OF_256),
        ("linux", OF_256),
    ],
)
def test_it_is_seen_hears_keys_and_gives_the_terminal_back(
    client: Client, place: Place, term: str, too_many_colours: re.Pattern[bytes]
) -> None:
    with over_ssh(client, place, term) as screen:
        screen.sees(QUESTION, "live")
        screen.child.send("?")
        screen.sees("Review what waits under the cursor")
        screen.child.send("\x1b")
        screen.sees_no("Review what waits under the cursor")
        screen.child.send("q")
        assert not too_many_colours.search(gave_back(screen))


@pytest.mark.parametrize("lost", ["client", "server"])
def test_a_line_that_breaks_at_the_passphrase_decides_nothing_and_leaves_nobody(
    client: Client, place: Place, lost: str
) -> None:
    before = place.journal
    with over_ssh(client, place) as screen:
        open_passphrase(screen)
        screen.child.send(PASSPHRASE)
        screen.quiet()
        session = session_of(screen)
        assert len(alive_in(session)) >= 2
        os.kill(
            screen.child.pid if lost == "client" else int(fields(str(session))[1]), signal.SIGKILL
        )
        wait(lambda: not alive_in(session), what=lambda: alive_in(session))
    assert place.journal == before
    place.must("todo", "add", "The lock is free", "--agent", AGENT)


def test_a_slow_line_brings_everything_in_order_and_not_before_its_time() -> None:
    sent = bytes(range(256)) * 1000
    with (
        socket.create_server(("127.0.0.1", 0)) as far,
        slow_line(far.getsockname()[1], DELAY) as port,
        socket.create_connection(("127.0.0.1", port), PATIENCE) as near,
    ):
        there, _ = far.accept()
        started = time.monotonic()
        near.sendall(sent)
        near.shutdown(socket.SHUT_WR)
        with there, there.makefile("rb") as stream:
            assert stream.read(1) == sent[:1]
            waited = time.monotonic() - started
            assert stream.read() == sent[1:]
            there.sendall(b"seen")
        assert near.recv(16) == b"seen"
    assert waited >= DELAY


def test_over_a_slow_line_no_key_is_lost_and_a_decision_is_made(
    far_client: Client, place: Place, record_property: Callable[[str, object], None]
) -> None:
    with over_ssh(far_client, place) as screen:
        screen.sees(QUESTION, "live")
        screen.child.send("/")
        screen.child.send("no such thing")
        record_property("seconds", wait(lambda: "no such thing" in screen.text))
        screen.child.send("\x1b")
        screen.sees_no("no such thing")
        open_review(screen)
        screen.child.send("A")
        screen.sees(SIGN)
        screen.child.send(f"{PASSPHRASE}\r")
        screen.sees("approved, recorded as #")
        screen.quiet()
        screen.child.send("\x1b")
        screen.sees_no("approved, recorded as #")
        screen.child.send("q")
        gave_back(screen)
    place.must("gate", "check", "--action", "publish", "--command", COMMAND)


def test_over_a_slow_line_what_is_typed_ahead_decides_nothing(
    far_client: Client, place: Place
) -> None:
    before = place.journal
    with over_ssh(far_client, place) as screen:
        screen.child.send("dAA\r")
        screen.sees("live")
        screen.quiet()
        assert SIGN not in screen.text
        screen.child.send("\x1b")
        screen.sees_no(REVIEWED)
        screen.sees(QUESTION)
        screen.child.send("dA")
        screen.sees(REVIEWED)
        screen.child.send("A")
        screen.quiet()
        assert SIGN not in screen.text
        assert place.journal == before
