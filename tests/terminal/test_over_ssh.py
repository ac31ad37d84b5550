"""The screen over SSH: a real sshd, several kinds of terminal, a slow line, one that breaks."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.agents import short_folder
from tests.sshd import sshd
from tests.terminal.ptys import QUESTION, Screen, open_passphrase, open_review, running
from tests.terminal.stage import TUI, Place, wait
from tests.tui.gates import AGENT, COMMAND, PASSPHRASE, build

pytestmark = pytest.mark.terminal

Client = list[str]
TRUE_COLOUR, OF_256 = re.compile(rb"[34]8;2;"), re.compile(rb"[34]8;5;")
DELAY = "150ms"
"""Each way."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    build(folder / "w", folder / "key").request(question=QUESTION)
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Place:
    return Place.copy_of(made, tmp_path)


def served(within: Sequence[str] = ()) -> Iterator[Client]:
    """The words of a client of a server that listens."""
    with short_folder() as folder, sshd(folder, within=within) as (client, log):
        wait(lambda: b"listening" in log.read_bytes(), what=log.read_text)
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    yield from served()


@pytest.fixture
def far_client() -> Iterator[Client]:
    """The same at the far end of a slow line: in a network of its own."""
    name = f"loopx-{os.getpid()}"
    try:
        for words in (
            ("ip", "netns", "add", name),
            ("ip", "-n", name, "link", "set", "lo", "up"),
            ("tc", "-n", name, "qdisc", "add", "dev", "lo", "root", "netem", "delay", DELAY),
        ):
            if shutil.which(words[0]) is None or subprocess.run(words, check=False).returncode:
                pytest.skip("may not delay a network")
        yield from served(("ip", "netns", "exec", name))
    finally:
        if shutil.which("ip"):
            subprocess.run(("ip", "netns", "delete", name), check=False, capture_output=True)


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
        written = screen.rest()
    shown, _, after = written.rpartition(b"\x1b[?1049l")
    assert b"status=0" in after and b" icanon" in after and b" echo " in after
    assert not too_many_colours.search(shown)
    assert b"Traceback" not in written


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


@pytest.mark.root
def test_over_a_slow_line_no_key_is_lost_and_what_is_typed_blind_decides_nothing(
    far_client: Client, place: Place, record_property: Callable[[str, object], None]
) -> None:
    before = place.journal
    with over_ssh(far_client, place) as screen:
        screen.sees(QUESTION, "live")
        screen.child.send("/")
        record_property("seconds", wait(lambda: "contains" in screen.text or "/" in screen.text))
        screen.child.send("no such thing")
        screen.sees("no such thing")
        screen.child.send("\x1b")
        screen.sees_no("no such thing")
        screen.child.send("dA")
        screen.sees("What will be signed")
        screen.child.send("A")
        screen.quiet(1.0)
        assert place.journal == before
        assert "passphrase of your key" not in screen.text
        screen.child.send("\x1b")
        screen.sees_no("What will be signed")
        open_review(screen)
        screen.child.send("A")
        screen.sees("Sign: passphrase of your key")
        screen.child.send(f"{PASSPHRASE}\r")
        screen.sees("approved, recorded as #")
    place.must("gate", "check", "--action", "publish", "--command", COMMAND)
