"""Layer 4: exactly one flush decides whether a command happened, the one of its journal."""

from __future__ import annotations

import errno
import itertools
from pathlib import Path

import pytest
from loopx_kernel.domain.gate import DecideGate
from loopx_kernel.errors import LoopxError
from loopx_kernel.store.files import Files

from tests.faults.commands import COMMANDS, PLAIN, Command, future, recorded
from tests.kernel.workspace.build import (
    CLAUDE,
    GOAL,
    OWNER,
    Place,
    refused,
    with_files,
)
from tests.kernel.workspace.forge import records

JOURNAL = "events.jsonl"


class Flushes(Files):
    """Names every flush of the ledger, and lets the one numbered ``at`` fail.

    ``written`` lists what was written or put in place, and ``unflushed`` what never was flushed.
    """

    def __init__(self, root: Path, at: int | None = None) -> None:
        self.root = root
        self.at = at
        self.open: dict[int, Path] = {}
        self.flushes: list[str] = []
        self.written: list[str] = []
        self.unflushed: set[Path] = set()

    def open_read(self, path: Path) -> int:
        return self._opened(super().open_read(path), path)

    def open_append(self, path: Path) -> int:
        return self._opened(super().open_append(path), path)

    def open_new(self, path: Path, mode: int = 0o644) -> int:
        return self._opened(super().open_new(path, mode), path)

    def _opened(self, fd: int, path: Path) -> int:
        self.open[fd] = path
        return fd

    def write(self, fd: int, data: bytes) -> int:
        if self._is_ledger(self.open[fd]):
            self.unflushed.add(self.open[fd])
            self.written.append(self.open[fd].name)
        return super().write(fd, data)

    def fsync(self, fd: int) -> None:
        self._flushing(self.open[fd], self.open[fd].name)
        super().fsync(fd)
        self.unflushed.discard(self.open[fd])

    def fsync_dir(self, folder: Path) -> None:
        self._flushing(folder, f"{folder.name}/")
        super().fsync_dir(folder)

    def close(self, fd: int) -> None:
        self.open.pop(fd, None)
        super().close(fd)

    def _is_ledger(self, path: Path) -> bool:
        return path.is_relative_to(self.root) and "lock" not in path.name

    def _flushing(self, path: Path, name: str) -> None:
        if self._is_ledger(path):
            self.flushes.append(name)
            if len(self.flushes) - 1 == self.at:
                raise OSError(errno.EIO, "I/O error")


def flushes_that_decide(
    place: Place, folder: Path, patch: pytest.MonkeyPatch, command: Command
) -> list[str]:
    """The flushes without which the command did not happen; all others only make it late."""
    deciding = []
    for at in itertools.count():
        there = future(place, folder / str(at), patch)
        files = Flushes(there.root, at)
        try:
            command.act(with_files(there.root, files, there.clock), there)
            failed = False
        except LoopxError:
            failed = True
        if len(files.flushes) <= at:
            assert not failed
            return deciding
        assert failed or recorded(there)
        if not recorded(there):
            deciding.append(files.flushes[at])
    raise AssertionError


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_one_flush_decides_after_what_is_set_aside(
    place: Place, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    command.ready(place)
    *before, last = flushes_that_decide(place, tmp_path, monkeypatch, command)
    assert JOURNAL in last
    # What must be there first: a new folder, a copy (named by its time), a tail cut off.
    assert all(name == JOURNAL or name.endswith("/") or name.startswith("2026") for name in before)
    assert command not in PLAIN or all(name.endswith("/") for name in before)


@pytest.mark.parametrize("command", PLAIN, ids=lambda command: command.name)
def test_nothing_is_written_before_the_line_and_all_is_flushed_on_return(
    place: Place, command: Command
) -> None:
    command.ready(place)
    files = Flushes(place.root)
    command.act(with_files(place.root, files, place.clock), place)
    assert files.written[0] == files.flushes[0] == JOURNAL
    assert not files.unflushed


def test_what_is_reported_was_flushed(place: Place) -> None:
    files = Flushes(place.root)
    ws = with_files(place.root, files, place.clock)
    ws.todos.update(GOAL, CLAUDE, "T3", complete=True, epoch=2)
    assert files.flushes[0] == JOURNAL
    assert not files.unflushed


def test_a_failed_flush_says_that_the_outcome_is_unknown(place: Place) -> None:
    class NoFlush(Files):
        def fsync(self, fd: int) -> None:
            raise OSError(errno.EIO, "no")

    gate_id = place.ask()
    ws = with_files(place.root, NoFlush(), place.clock)
    prepared = ws.gates.decide(GOAL, OWNER, DecideGate(gate_id=gate_id, outcome="approved"))
    with refused(place, "durability_unknown"):
        ws.append(prepared, place.keys[OWNER])
    assert place.again().state(GOAL).gates[gate_id].status == "pending"
    # The very same signed decision, sent again, stands once.
    place.sign(prepared)
    place.sign(prepared)
    ids = [line["event_id"] for line in records(place.journal)]
    assert ids.count(prepared.event_id) == 1
