"""The screen on a pseudo-terminal whose every byte is kept: what is sent, heard, and left."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.terminal import SEQUENCE
from loopx_tui import strings
from tests.patience import PATIENCE
from tests.terminal.ptys import QUESTION, on_a_pty, open_passphrase, open_review
from tests.terminal.stage import TUI, Place, is_gone, wait
from tests.tui.gates import AGENT, COMMAND, GOAL, PASSPHRASE, build

pytestmark = pytest.mark.terminal

ALTERNATE = b"\x1b[?1049h"
"""What an app writes that takes the terminal, whose size was set before that."""

OWN_OSC = re.compile(rb"\x1b\](?:2;loopx|9;loopx: |22;)[^\x00-\x1f\x7f]*\x07")
OWN_CSI = re.compile(rb"\x1b\[[<>?=]?[0-9;]*\$?[mHABCDhlupt]")
HIDDEN = re.compile("[\x80-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0100-\U000e01ef]")

MARKUP = (
    "[/x]",
    "[/",
    "[b",
    "[red]OK[/]",
    "[@click=app.quit]details[/]",
    "[link=https://e]x[/link]",
    '{"a":[true]}',
    "\\[",
    "$x",
    "[" * 300,
)
ESCAPES = (
    "A\x1b]52;c;aGk=\x07",
    "\x1b[2J\x1b[H",
    "\x9b31m",
    "\x1b]0;pwn\x07",
    "\x1bPq#0\x1b\\",
    "\x1b]8;;http://e\x1b\\x",
    "\x1b]",
    "a\bb\rc\td",
    "\ud800",
)
LOOK_ALIKE = ("stag\u200bing", "\u202egnip", "\u0430dmin", "x\U000e0100", "a" + " " * 300 + "&& rm")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    build(folder / "w", folder / "key").request(question=QUESTION)
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Place:
    return Place.copy_of(made, tmp_path)


OPEN = {"review": open_review, "passphrase": open_passphrase}


# -- the end of input -----------------------------------------------------------------------------


@pytest.mark.parametrize("open_screen", OPEN.values(), ids=OPEN)
def test_the_end_of_the_terminal_decides_nothing(place: Place, open_screen: object) -> None:
    before = place.journal
    with on_a_pty(place) as screen:
        open_screen(screen)  # type: ignore[operator]
        pid = screen.child.pid
        screen.child.ptyproc.fileobj.close()
        wait(lambda: is_gone(pid))
    assert place.journal == before
    place.must("todo", "add", "The lock is free", "--agent", AGENT)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_held_passphrase_screen_ends_with_its_last_words(
    place: Place, number: signal.Signals
) -> None:
    before = place.journal
    with on_a_pty(place) as screen:
        open_passphrase(screen)
        screen.child.kill(number)
        written = screen.rest()
    said = strings.FATES["not recorded"].format(what="G1").encode()
    assert written.index(b"\x1b[?1049l") < written.index(said)
    assert PASSPHRASE.encode() not in written
    assert place.journal == before


def test_the_app_says_what_became_of_an_append_that_had_to_wait(place: Place) -> None:
    """Another process holds the goal's lock; the decision is on its way when a person quits."""
    lock = place.root / ".loopx" / "runtime" / GOAL / "lock"
    with on_a_pty(place) as screen, lock.open("r+b") as held:
        open_passphrase(screen)
        fcntl.flock(held, fcntl.LOCK_EX)
        before = place.journal
        screen.child.send(f"{PASSPHRASE}\r")
        screen.sees("Recording")
        screen.child.kill(signal.SIGTERM)
        screen.rest()
        said = strings.FATES["unknown"].format(what="G1", goal=GOAL)
        assert said.encode() in bytes(screen.log)
        assert place.journal == before


# -- text from outside ----------------------------------------------------------------------------


def foreign(log: bytes) -> list[bytes]:
    """What was written that is neither a sequence of ours nor harmless text."""
    found = [
        one[0]
        for one in SEQUENCE.finditer(log)
        if not OWN_CSI.fullmatch(one[0]) and not OWN_OSC.fullmatch(one[0])
    ]
    text = SEQUENCE.sub(b"", log)
    found += re.findall(rb"[\x00-\x06\x0b\x0c\x0e-\x1f\x7f][^\r]{0,20}", text)
    found += [one[0].encode() for one in HIDDEN.finditer(text.decode("utf-8", "replace"))]
    return found


def poison(place: Place) -> None:
    """Hostile texts wherever an agent or an editor can put them."""
    house = place.house
    for number, text in enumerate((*MARKUP, *LOOK_ALIKE)):
        house.request(f"npm publish {number} {text}"[:400], question=f"{text}"[:400])
        place.loopx("todo", "add", f"{text}"[:400], "--agent", AGENT, "--priority", "P1")
    for text in ESCAPES[:-1]:
        refused = place.loopx("todo", "add", text, "--agent", AGENT)
        assert refused.returncode == 2, text
    page = place.root / ".loopx" / "goals" / GOAL / "ACTIVE_GOAL_STATE.md"
    rows = (f"- [ ] {text.replace(chr(13), '')}" for text in (*ESCAPES[:-1], *LOOK_ALIKE))
    marked = page.read_text().splitlines()
    place_of_list = next(i for i, line in enumerate(marked) if line.startswith("- [ ]"))
    marked[place_of_list:place_of_list] = rows
    page.write_bytes("\n".join(marked).encode("utf-8", "surrogatepass") + b"\n")


def test_no_sequence_of_anybody_else_reaches_the_terminal(place: Place) -> None:
    poison(place)
    with on_a_pty(place) as screen:
        screen.sees("need you", "live")
        for keys in ("2", "G", "\r", "\x1b", "g", "d", "\x1b", "3", "G", "\r", "\x1b", "z", "z",
                     "9", "\r", "\x1b", "4", "\r", "\x1b", "/", "x\x1b[31m", "\x1b", "?", "\x1b",
                     ":", "\x1b", "5", "1", "\r"):  # fmt: skip
            screen.child.send(keys)
            screen.quiet(0.25)
            assert screen.child.isalive(), keys
        screen.child.send("\x1b")
        screen.quiet()
        screen.child.send("q")
        written = screen.rest()
    assert screen.child.exitstatus == 0
    assert b"Traceback" not in written
    assert foreign(written) == []


def test_a_click_on_text_that_looks_like_a_link_does_nothing(place: Place) -> None:
    place.house.request(
        "npm publish b", question="[@click=app.quit]details[/] [link=https://e]x[/]"
    )
    with on_a_pty(place) as screen:
        screen.sees("[@click=app.quit]details[/]", "live")
        screen.quiet()
        rows = screen.seen.display
        line = next(i for i, row in enumerate(rows) if "details[/]" in row)
        first = rows[line].index("[@click")
        for column in range(first, first + 36):
            at = f"0;{column + 1};{line + 1}"
            screen.child.send(f"\x1b[<{at}M\x1b[<{at}m")
        screen.quiet()
        assert screen.child.isalive()
        assert "[@click=app.quit]details[/]" in screen.text


def test_the_passphrase_is_in_none_of_the_bytes(place: Place) -> None:
    with on_a_pty(place) as screen:
        open_passphrase(screen)
        for letter in PASSPHRASE:
            screen.child.send(letter)
        screen.quiet()
        screen.child.send("\r")
        screen.sees("approved, recorded as #")
        screen.child.send("\x1b")
        screen.sees(strings.NOTHING_NEEDED)
        screen.child.send("q")
        written = screen.rest()
    assert PASSPHRASE.encode() not in SEQUENCE.sub(b"", written)
    place.must("gate", "check", "--action", "publish", "--command", COMMAND)


# -- telling people once --------------------------------------------------------------------------


def bells(log: bytes) -> int:
    """How often the bell rang: a sequence's own end is none."""
    return SEQUENCE.sub(b"", log).count(b"\a")


def test_the_bell_rings_once_per_item_and_not_again_after_a_restart(place: Place) -> None:
    with on_a_pty(place) as screen:
        screen.sees(QUESTION, "live")
        wait(lambda: screen.read() or bells(screen.log) == 1)
        place.must("todo", "add", "No need of you", "--agent", AGENT)
        screen.sees("No need of you")
        place.house.request("npm publish b", question="And this?")
        screen.sees("And this?")
        wait(lambda: screen.read() or bells(screen.log) == 2)
        screen.quiet()
        screen.child.send("q")
        written = screen.rest()
    assert bells(written) == 2
    assert b"\x1b]9;loopx: G1 Publish one point zero? (dark-mode)\x07" in written
    assert b"\x1b]2;loopx - 2 need you - w\x07" in written
    assert written.index(b"\x1b[22;2t") < written.index(b"\x1b]2;") < written.index(b"\x1b[23;2t")
    with on_a_pty(place) as screen:
        screen.sees("And this?", "live")
        # The title is set in the same breath as the bell would ring.
        wait(lambda: screen.read() or b"2 need you - w\x07" in screen.log)
        assert bells(screen.log) == 0


def test_a_person_may_want_no_bell_or_a_command_of_their_own(place: Place) -> None:
    config = Path(place.environ["XDG_CONFIG_HOME"], "loopx", "config.yaml")
    config.parent.mkdir(parents=True)
    config.write_text("notify: none\n")
    with on_a_pty(place) as screen:
        screen.sees(QUESTION, "live")
        screen.quiet()
        assert bells(screen.log) == 0 and b"\x1b]9;" not in screen.log
    got = place.folder / "got"
    command = json.dumps(["sh", "-c", f"cat >> {got}; echo noise; echo noise > /dev/tty"])
    config.write_text(f"notify: {{command: {command}}}\n")
    shutil.rmtree(place.environ["XDG_STATE_HOME"])
    with on_a_pty(place) as screen:
        screen.sees(QUESTION, "live")
        wait(lambda: screen.read() or (got.exists() and got.read_text().endswith("\n")))
        screen.quiet()
        assert b"noise" not in screen.log
        assert "What will be signed" not in screen.text
    assert json.loads(got.read_text())["question"] == QUESTION


# -- where it cannot work -------------------------------------------------------------------------


def test_without_a_terminal_it_is_one_sentence(place: Place) -> None:
    done = subprocess.run(
        (*TUI, str(place.root)),
        env=place.environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{strings.NO_TERMINAL}\n")


NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


@pytest.fixture
def foreign_place(made: Path) -> Iterator[tuple[Place, tuple[str, ...]]]:
    """A workspace where one may be locked out, and what to put before a command for that."""
    words: tuple[str, ...] = ()
    if os.getuid() == 0:
        words = NOBODY
        if shutil.which(NOBODY[0]) is None:
            pytest.skip("root may read everything, and setpriv is not installed")
        if subprocess.run((*words, TUI[0], "-c", "0"), check=False).returncode != 0:
            pytest.skip("root may read everything, and nobody else can run this Python")
    # Not below pytest's folder, which nobody else may enter.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        place = Place.copy_of(made, Path(folder))
        if words:
            for one in Path(folder).rglob("*"):
                os.chown(one, 65534, 65534)
        yield place, words


def test_a_folder_that_cannot_be_read_is_said_and_comes_back(
    foreign_place: tuple[Place, tuple[str, ...]],
) -> None:
    place, words = foreign_place
    folder = place.root / ".loopx" / "runtime" / GOAL
    with on_a_pty(place, before=words) as screen:
        screen.sees(QUESTION, "live")
        folder.chmod(0o000)
        screen.sees("unreadable", f"runtime/{GOAL}/events.jsonl: access is not")
        folder.chmod(0o755)
        screen.sees(QUESTION, "live")
        screen.sees_no("unreadable")
        screen.child.send("q")
        assert b"Traceback" not in screen.rest()


@pytest.mark.root(mount=True)
def test_a_read_only_file_system_can_be_watched_and_says_why_nothing_is_decided(
    place: Place,
) -> None:
    subprocess.run(["mount", "--bind", str(place.root), str(place.root)], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(place.root)], check=True)
        before = place.journal
        with on_a_pty(place) as screen:
            open_review(screen)
            screen.sees(strings.NOT_WRITABLE)
            screen.child.send("A")
            screen.quiet()
            assert "passphrase of your key" not in screen.text
            assert "Traceback" not in screen.text
        assert place.journal == before
    finally:
        subprocess.run(["umount", str(place.root)], check=True)


@pytest.mark.parametrize("size", ["rows 0 cols 0", "rows 0 cols 80", "rows 1 cols 1"])
def test_it_starts_without_a_size_and_is_whole_once_there_is_one(place: Place, size: str) -> None:
    before = ("sh", "-c", f'stty {size}; exec "$@"', "sh")
    with on_a_pty(place, before=before) as screen:
        wait(lambda: bool(screen.text) and ALTERNATE in screen.log)
        screen.quiet()
        if size != "rows 1 cols 1":
            screen.sees("Publish one", "q quit")
        screen.child.setwinsize(36, 120)
        screen.sees(QUESTION, "Changes and events")
        screen.child.send("q")
        assert b"Traceback" not in screen.rest()


def test_a_terminal_that_says_it_has_no_size_is_survived(place: Place) -> None:
    with on_a_pty(place) as screen:
        screen.sees(QUESTION)
        for size in ((0, 0), (1, 1), (5, 20), (36, 120)):
            packed = struct.pack("HHHH", *size, 0, 0)
            fcntl.ioctl(screen.child.child_fd, termios.TIOCSWINSZ, packed)
            screen.quiet(0.2)
            assert screen.child.isalive()
        screen.sees(QUESTION)
        screen.child.send("q")
        assert b"Traceback" not in screen.rest()
