"""Files torn, empty or unreadable under a running screen, and decisions made beside them."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from loopx_kernel.domain.todo import AddTodo

from loopx_tui import strings
from loopx_tui.commands import COMMANDS
from tests.terminal.ptys import QUESTION, on_a_pty, open_passphrase
from tests.terminal.stage import Place
from tests.tui.gates import AGENT, COMMAND, GOAL, PASSPHRASE, House, build

pytestmark = pytest.mark.terminal

TORN = strings.INCOMPLETE_TAIL[:20]
CHECK = ("gate", "check", "--action", "publish", "--command", COMMAND)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    build(folder / "w", folder / "key").request(question=QUESTION)
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Place:
    return Place.copy_of(made, tmp_path)


def journal(place: Place) -> Path:
    return place.root / ".loopx" / "runtime" / GOAL / "events.jsonl"


def registry(place: Place) -> Path:
    return place.root / ".loopx" / "registry.json"


def next_lines(place: Place, question: str) -> bytes:
    """The journal's next lines, where an agent asks this."""
    other = place.folder / "other"
    shutil.copytree(place.root, other)
    House(other, None, None).request("npm publish b", question=question)  # type: ignore[arg-type]
    now = (other / journal(place).relative_to(place.root)).read_bytes()
    return now.removeprefix(place.journal)


@pytest.mark.parametrize("inside", [b'"event_type":"gate.req', "漢".encode()[:2]])
def test_half_a_line_is_no_alarm_and_the_whole_one_stands_there_once(
    place: Place, inside: bytes
) -> None:
    raw = next_lines(place, "漢 Ship?")
    at = raw.index(inside) + len(inside)
    with on_a_pty(place) as screen, journal(place).open("ab") as file:
        screen.sees(QUESTION, "live")
        file.write(raw[:at])
        file.flush()
        screen.sees(TORN)
        assert "alert " not in screen.text and "Ship?" not in screen.text
        file.write(raw[at:])
        file.flush()
        screen.sees("Ship?", "2 need you")
        screen.sees_no(TORN)
        assert screen.text.count("G2  gate") == screen.text.count("gate.requested  G2") == 1


def test_an_approval_is_not_glued_to_a_torn_tail(place: Place) -> None:
    with journal(place).open("ab") as file:
        file.write(b'{"torn":')
    with on_a_pty(place) as screen:
        open_passphrase(screen)
        screen.child.send(f"{PASSPHRASE}\r")
        screen.sees("approved, recorded as #")
    (kept,) = (journal(place).parent / "quarantine").iterdir()
    assert kept.read_bytes() == b'{"torn":'
    place.must(*CHECK)
    place.must("event", "verify")


BAD = {"half": b'{"goals": [', "empty": b"", "nul": bytes(80_000)}
SAYS = {"half": "Expecting value", "empty": "it is empty", "nul": "NULs"}
WRITES = sorted(
    {key for one in COMMANDS if one.human_only for key in one.keys.split(",") if len(key) == 1}
)


@pytest.mark.parametrize("kind", BAD)
def test_an_unreadable_registry_is_one_alert_and_no_key_saves_over_it(
    place: Place, kind: str
) -> None:
    good, before = registry(place).read_bytes(), place.journal
    registry(place).write_bytes(BAD[kind])
    with on_a_pty(place) as screen:
        screen.sees("live", "1 alert", SAYS[kind], "2 need you")
        for key in WRITES:
            screen.child.send(key)
            screen.quiet(0.3)
            screen.child.send("\x1b")
            screen.quiet(0.3)
        screen.sees("1 alert")
        assert (registry(place).read_bytes(), place.journal) == (BAD[kind], before)
        registry(place).write_bytes(good)
        screen.sees(QUESTION, "1 needs you", "live")
        screen.sees_no("1 alert")
        assert screen.child.isalive()


PAGE = 4096
LITTLE = 600
"""Bytes; a signed decision takes more."""


def fill(folder: Path) -> Path:
    """Takes every page that is left, and those of notes that a writer would give up."""
    for note in folder.rglob("lock.holder.json"):
        note.unlink()
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * PAGE):
            pass
    return filler


@pytest.mark.root(mount=True)
def test_a_full_disk_takes_no_half_approval_and_once_there_is_room_one_whole(place: Place) -> None:
    folder, aside = place.root / ".loopx", place.folder / "aside"
    folder.rename(aside)
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "loopx", str(folder)], check=True)
    try:
        shutil.copytree(aside, folder, dirs_exist_ok=True)
        while PAGE - len(place.journal) % PAGE > LITTLE:
            place.house.open().todos.add(GOAL, AGENT, AddTodo(title="Convert components"))
        with on_a_pty(place) as screen:
            open_passphrase(screen)
            before, filler = place.journal, fill(folder)
            screen.child.send(f"{PASSPHRASE}\r")
            screen.sees("Not recorded", "no space")
            assert place.journal == before
            filler.unlink()
            screen.sees_no(strings.READ_ON)
            screen.sees_no(strings.KEYS_WAIT)
            screen.child.send("A")
            screen.sees("Sign: passphrase of your key")
            screen.quiet()
            screen.child.send(f"{PASSPHRASE}\r")
            screen.sees("approved, recorded as #")
        assert place.journal.count(b'"event_type":"gate.approved"') == 1
        place.must("event", "verify")
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
