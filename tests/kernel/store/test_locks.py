"""Locks: exclusion, naming the holder, dead holders, deleted and linked lock files."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from loopx_kernel.clock import ManualClock
from loopx_kernel.errors import Busy, Storage
from loopx_kernel.store import locks
from loopx_kernel.store.files import Files

from tests.kernel.store.faults import names_in
from tests.patience import PATIENCE

CLOCK = ManualClock(datetime(2026, 9, 16, 22, 40, tzinfo=UTC))

HOLDER = """
import sys
from pathlib import Path
from loopx_kernel.store.files import Files
from loopx_kernel.store.locks import hold
with hold(Path(sys.argv[1]), purpose="claim T3", actor="codex", timeout_seconds=5, files=Files()):
    print("held", flush=True)
    sys.stdin.readline()
"""


def hold(
    path: Path, timeout_seconds: float = 0.05, files: Files | None = None
) -> AbstractContextManager[None]:
    return locks.hold(
        path,
        purpose="pause",
        actor="alice",
        timeout_seconds=timeout_seconds,
        files=files or Files(),
        clock=CLOCK,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runtime" / "lock"


@pytest.fixture
def other(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"held\n"
    yield child
    child.kill()
    child.communicate()


def test_the_note_says_who_holds_it_since_when_and_for_what(path: Path) -> None:
    with hold(path):
        note = json.loads(path.with_name("lock.holder.json").read_bytes())
    assert (note["pid"], note["since"]) == (os.getpid(), "2026-09-16T22:40:00Z")
    assert (note["purpose"], note["actor"]) == ("pause", "alice")
    assert path.exists()


@pytest.mark.usefixtures("other")
def test_a_second_process_is_told_who_holds_it(path: Path, other: subprocess.Popen[bytes]) -> None:
    with pytest.raises(Busy) as caught, hold(path):
        pass
    assert caught.value.code == "lock_timeout"
    for part in (f"pid {other.pid}", "running", "claim T3", "codex"):
        assert part in caught.value.message
    assert caught.value.facts["holder"]["running"] is True


def test_threads_of_one_process_exclude_each_other(path: Path) -> None:
    inside = threading.Event()
    leave = threading.Event()

    def work() -> None:
        with hold(path, 5):
            inside.set()
            leave.wait(PATIENCE)

    thread = threading.Thread(target=work)
    thread.start()
    assert inside.wait(PATIENCE)
    with pytest.raises(Busy), hold(path):
        pass
    leave.set()
    with hold(path, 5):
        pass
    thread.join(PATIENCE)


def test_the_lock_of_a_killed_holder_is_free(path: Path, other: subprocess.Popen[bytes]) -> None:
    other.send_signal(signal.SIGKILL)
    other.wait(PATIENCE)
    with hold(path, 5):
        assert path.exists()


def test_a_stopped_holder_keeps_its_lock(path: Path, other: subprocess.Popen[bytes]) -> None:
    other.send_signal(signal.SIGSTOP)
    with pytest.raises(Busy), hold(path):
        pass
    other.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("note", [b"", b"{", b"[1]", b'{"pid":"x"}', b"\xff\xfe", b"[" * 5000])
def test_a_senseless_note_is_not_believed(
    path: Path, other: subprocess.Popen[bytes], note: bytes
) -> None:
    path.with_name("lock.holder.json").write_bytes(note)
    with pytest.raises(Busy) as caught, hold(path):
        pass
    assert caught.value.facts["holder"] is None
    assert other.poll() is None


def test_a_note_without_a_held_lock_stops_nobody(path: Path) -> None:
    with hold(path):
        pass
    note = path.with_name("lock.holder.json")
    note.write_text(
        json.dumps({"pid": 1, "host": "elsewhere", "since": "x", "purpose": "y", "actor": "z"})
    )
    with hold(path):
        assert json.loads(note.read_bytes())["pid"] == os.getpid()


def test_another_host_is_named_without_guessing() -> None:
    holder = locks.Holder(os.getpid(), "some-other-host", "t", "p", "a")
    assert holder.is_running() is None


def test_a_dead_pid_is_told() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait(PATIENCE)
    here = os.uname().nodename
    assert locks.Holder(child.pid, here, "t", "p", "a").is_running() is False
    assert locks.Holder(os.getpid(), here, "t", "p", "a").is_running() is True


def test_a_lock_file_replaced_while_we_lock_it_is_locked_again(path: Path) -> None:
    class Replacing(Files):
        looks = 0

        def lstat(self, target: Path) -> os.stat_result:
            if target == path:
                self.looks += 1
                if self.looks == 1:
                    path.unlink()
                    path.touch()
            return super().lstat(target)

    files = Replacing()
    with locks.hold(path, purpose="p", actor="a", timeout_seconds=5, files=files, clock=CLOCK):
        assert files.looks == 2
        with pytest.raises(Busy), hold(path):
            pass


def test_a_link_is_not_followed(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Storage) as caught, hold(path):
        pass
    assert caught.value.code == "not_regular"
    assert not (tmp_path / "elsewhere").exists()


def test_a_note_that_cannot_be_written_stops_nobody_and_leaves_no_older_one(path: Path) -> None:
    with hold(path):
        pass

    class Full(Files):
        def write(self, fd: int, data: bytes) -> int:
            raise OSError(28, "No space left on device")

    with locks.hold(path, purpose="p", actor="a", timeout_seconds=1, files=Full(), clock=CLOCK):
        assert names_in(path.parent) == ["lock"]


def test_a_lock_that_cannot_be_compared_with_its_path_is_given_back(path: Path) -> None:
    class Blind(Files):
        def lstat(self, path: Path) -> os.stat_result:
            raise OSError(errno.EIO, "I/O error")

    with pytest.raises(Storage) as caught, hold(path, files=Blind()):
        pass
    # The error, and with it the frames that took the lock, is still there.
    assert caught.value.code == "io_error"
    with hold(path):
        pass
