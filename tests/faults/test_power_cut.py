"""Layer 7: the power goes while several writers are at work, on a real ext4 file system."""

from __future__ import annotations

import fcntl
import itertools
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from loopx_kernel.clock import SystemClock
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.store.files import Files

from tests.faults.commands import assert_level, committed
from tests.faults.forks import heard, started
from tests.kernel.workspace.build import CODEX, GOAL, Place, connected, open_goal, with_files
from tests.patience import PATIENCE

SHUT_DOWN = 0x8004587D
"""The ioctl EXT4_IOC_SHUTDOWN."""
WITHOUT_FLUSH = (2).to_bytes(4, "little")
REPORTS = 5


class Disk:
    """An ext4 file system in an image, mounted at ``place``; the kernel writes nothing by
    itself for a long time."""

    def __init__(self, folder: Path) -> None:
        self.image, self.place = folder / "image", folder / "disk"
        self.place.mkdir()
        with self.image.open("wb") as file:
            file.truncate(16 * 1024 * 1024)
        make = [_program("mkfs.ext4"), "-q", "-F", str(self.image)]
        subprocess.run(make, check=True, timeout=PATIENCE)

    def mount(self) -> None:
        call = ["mount", "-o", "loop,commit=300", str(self.image), str(self.place)]
        done = subprocess.run(call, capture_output=True, check=False, timeout=PATIENCE)
        if done.returncode != 0:
            pytest.skip("may not mount file systems")

    def cut_power(self) -> None:
        """What was not flushed is gone; nothing more reaches the disk."""
        fd = os.open(self.place, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, SHUT_DOWN, WITHOUT_FLUSH)
        finally:
            os.close(fd)

    def unmount(self) -> None:
        subprocess.run(["umount", str(self.place)], check=True, timeout=PATIENCE)


def _program(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if found is None:
        pytest.skip(f"needs {name}")
    return found


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    found = Disk(tmp_path)
    found.mount()
    yield found
    if found.place.is_mount():
        found.unmount()


class NoFlush(Files):
    """Calls everything durable and flushes nothing."""

    def fsync(self, fd: int) -> None:
        pass

    def fsync_dir(self, folder: Path) -> None:
        pass


def write_on(pipe: Connection, place: Place, files: Files, name: str) -> None:
    """Adds todos for ever and says so after each."""
    ws = with_files(place.root, files, SystemClock())
    for number in itertools.count():
        done = ws.todos.add(GOAL, CODEX, AddTodo(title=f"{name} {number}"))
        pipe.send(done.receipt.event_id)


def lost_in_a_power_cut(disk: Disk, place: Place, files: Files) -> set[str]:
    """The events that two writers reported and that are gone after the power was."""
    writers = [started(write_on, place, files, name) for name in ("one", "two")]
    said = {heard(pipe) for _ in range(REPORTS) for _, pipe in writers}
    for process, _ in writers:
        assert process.pid is not None
        os.kill(process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
    for _, pipe in writers:
        while pipe.poll():
            said.add(pipe.recv())
    disk.cut_power()
    for process, _ in writers:
        process.kill()
        process.join(PATIENCE)
    disk.unmount()
    disk.mount()
    stored = {line.split(b'"')[3].decode() for line in committed(place)[GOAL]}
    return said - stored


@pytest.mark.root(mount=True)
def test_what_was_reported_survives_a_power_cut(disk: Disk) -> None:
    place = connected(disk.place)
    open_goal(place)
    for _ in range(3):
        assert lost_in_a_power_cut(disk, place, Files()) == set()
        reads = place.again().view(GOAL).reads
        assert not (reads.damage or reads.drift or reads.missing_files)
        assert_level(place)


@pytest.mark.root(mount=True)
def test_a_writer_that_does_not_flush_loses_what_it_reported(disk: Disk) -> None:
    place = connected(disk.place)
    open_goal(place)
    assert lost_in_a_power_cut(disk, place, NoFlush())
