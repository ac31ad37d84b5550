"""When the file system refuses: a typed error, the ledger as it was, and the same command works
later."""

from __future__ import annotations

import errno
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.gate import DecideGate
from loopx_kernel.domain.lease import ClaimTodo
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import LoopxError, Storage
from loopx_kernel.store.files import Files
from loopx_kernel.workspace import Workspace

from tests.kernel.store.faults import FailingFiles
from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    OWNER,
    Place,
    copied,
    rebuilt,
    refused,
    with_files,
)
from tests.kernel.workspace.forge import records

CLAIM = ClaimTodo(todo_id="T4", expect_version=0)


def claim(ws: Workspace) -> object:
    return ws.todos.claim(GOAL, CODEX, CLAIM, event_id="e-0500")


class ShortWrites(Files):
    """Takes only half of the bytes of write number ``at``."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.calls: list[str] = []

    def write(self, fd: int, data: bytes) -> int:
        self.calls.append("write")
        half = len(self.calls) - 1 == self.at
        return super().write(fd, data[: len(data) // 2] if half else data)


FAULTS: dict[str, Callable[[int], FailingFiles | ShortWrites]] = {
    "EIO": lambda at: FailingFiles(at, errno.EIO),
    "ENOSPC": lambda at: FailingFiles(at, errno.ENOSPC),
    "short write": ShortWrites,
}


@pytest.mark.parametrize("name", FAULTS)
def test_whichever_call_of_a_claim_fails_it_is_all_or_nothing_and_can_be_sent_again(
    place: Place, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Write the docs"))
    before = records(place.journal)
    refusals = 0
    for at in range(200):
        # A cache of its own for each copy: they are one workspace with many futures.
        monkeypatch.setenv("LOOPX_CACHE_DIR", str(tmp_path / f"cache{at}"))
        there = copied(place, tmp_path / str(at))
        files = FAULTS[name](at)
        try:
            claim(with_files(there.root, files, there.clock))
        except LoopxError as error:
            refusals += 1
            assert isinstance(error, Storage), error
            assert records(there.journal) == before
            if error.code == "durability_unknown":
                assert "e-0500" in (error.next or "")
        if len(files.calls) <= at:
            break
        sent_again(there)
    assert refusals


def sent_again(place: Place) -> None:
    """The same command works now, counts once, and everything is level."""
    again = place.again()
    claim(again)
    again.handoff.write(GOAL, CLAUDE, "Next: buttons")
    ids = [line["event_id"] for line in records(place.journal)]
    assert ids.count("e-0500") == 1
    assert rebuilt(place) == []
    view = again.view(GOAL)
    assert not (view.reads.damage or view.reads.missing_files or view.reads.behind_files)
    assert again.events.verify(GOAL).ok


class DyingFiles(FailingFiles):
    """The process dies instead of making call number ``at``; nobody cleans up."""

    def _counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any) -> Any:
            self.calls.append(name)
            if len(self.calls) - 1 == self.at:
                os._exit(DIED)
            return call(*args)

        return counted


DIED = 9


def test_a_writer_that_dies_at_any_call_leaves_whole_files_and_a_free_lock(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Write the docs"))
    fork = multiprocessing.get_context("fork")
    deaths = 0
    for at in range(200):
        monkeypatch.setenv("LOOPX_CACHE_DIR", str(tmp_path / f"cache{at}"))
        there = copied(place, tmp_path / str(at))
        ws = with_files(there.root, DyingFiles(at), there.clock)
        child = fork.Process(target=claim, args=(ws,))
        child.start()
        child.join(60)
        view = there.again().view(GOAL)
        assert not (view.reads.damage or view.reads.drift)
        if child.exitcode != DIED:
            break
        deaths += 1
        sent_again(there)
    assert child.exitcode == 0
    assert deaths > 10


class Flushes(Files):
    """Knows which files hold bytes that were written and not flushed."""

    def __init__(self) -> None:
        self.open: dict[int, Path] = {}
        self.flushed: set[Path] = set()
        self.unflushed: set[Path] = set()

    def open_read(self, path: Path) -> int:
        fd = super().open_read(path)
        self.open[fd] = path
        return fd

    def open_append(self, path: Path) -> int:
        fd = super().open_append(path)
        self.open[fd] = path
        return fd

    def open_new(self, path: Path, mode: int = 0o644) -> int:
        fd = super().open_new(path, mode)
        self.open[fd] = path
        return fd

    def write(self, fd: int, data: bytes) -> int:
        self.unflushed.add(self.open[fd])
        return super().write(fd, data)

    def fsync(self, fd: int) -> None:
        super().fsync(fd)
        self.unflushed.discard(self.open[fd])
        self.flushed.add(self.open[fd])

    def close(self, fd: int) -> None:
        self.open.pop(fd, None)
        super().close(fd)


def test_what_is_reported_was_flushed(place: Place) -> None:
    files = Flushes()
    ws = with_files(place.root, files, place.clock)
    ws.todos.update(GOAL, CLAUDE, "T3", complete=True, epoch=2)
    assert place.journal in files.flushed
    ledger = {path for path in files.unflushed if path.is_relative_to(place.root)}
    assert not {path for path in ledger if "holder.json" not in path.name}


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


LIMITED = """
import resource, sys
from pathlib import Path
from loopx_kernel.workspace import Workspace
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import LoopxError
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
ws = Workspace.open(Path(sys.argv[1]))
try:
    ws.todos.add("dark-mode", "codex", AddTodo(title="More"), event_id="e-0600")
except LoopxError as error:
    print(error.code)
"""


def test_a_disk_that_is_full_in_the_middle_of_a_line_leaves_no_half_line(place: Place) -> None:
    before = place.journal.read_bytes()
    limit = str(len(before) + 100)
    call = [sys.executable, "-c", LIMITED, str(place.root), limit]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    assert done.stdout == "no_space\n"
    assert place.journal.read_bytes() == before
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"), event_id="e-0600")
    assert [line["event_id"] for line in records(place.journal)].count("e-0600") == 1
