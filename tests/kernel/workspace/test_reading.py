"""Looking at a workspace leaves no trace, and works where nothing can be written."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from loopx_kernel.domain.lease import ClaimTodo
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import LoopxError, Storage
from loopx_kernel.workspace import Workspace

from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    Place,
    ledger_tree,
    refused,
    tree,
)


def times(folder: Path) -> dict[str, tuple[int, int]]:
    found = {}
    for path in (folder, *folder.rglob("*")):
        status = path.lstat()
        found[str(path)] = (status.st_mtime_ns, status.st_ctime_ns)
    return found


def look_at_everything(ws: Workspace) -> None:
    ws.view(GOAL, CLAUDE)
    ws.workspace_view()
    list(ws.events.list(GOAL))
    ws.events.tail(GOAL, 5)
    ws.events.verify(GOAL)
    ws.events.show(GOAL, "e-0142")
    ws.agents.list()
    ws.owners.list()
    ws.watch_directories()


def test_reading_touches_nothing(place: Place) -> None:
    before, stamps = tree(place.root), times(place.root)
    look_at_everything(Workspace.open(place.root, clock=place.clock, read_only=True))
    look_at_everything(place.again())
    assert tree(place.root) == before
    assert times(place.root) == stamps


def test_a_workspace_opened_for_reading_writes_nothing(place: Place) -> None:
    ws = Workspace.open(place.root, clock=place.clock, read_only=True)
    before = times(place.root)
    with refused(place, "read_only"):
        ws.todos.add(GOAL, CODEX, AddTodo(title="More"))
    assert times(place.root) == before


@contextmanager
def mounted_read_only(folder: Path) -> Iterator[None]:
    subprocess.run(["mount", "--bind", folder, folder], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.root(mount=True)
def test_a_file_system_that_cannot_be_written_can_be_looked_at(place: Place) -> None:
    with mounted_read_only(place.root):
        look_at_everything(place.again())
        before = ledger_tree(place)
        with pytest.raises(Storage) as caught:
            place.again().todos.add(GOAL, CODEX, AddTodo(title="More"))
        assert caught.value.code == "read_only"
        assert ledger_tree(place) == before
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))


def test_where_locks_do_not_hold_nothing_is_written(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loopx_kernel.store.disk.filesystem_type", lambda *_: "nfs4")
    with refused(place, "unsupported_filesystem"):
        place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))
    assert place.again().view(GOAL).seq == len(place.lines())


@pytest.mark.parametrize("name", ["journal", "registry", "state_file", "owners", "spend"])
def test_a_pipe_in_place_of_a_file_blocks_nobody(place: Place, name: str) -> None:
    path: Path = getattr(place, name)
    path.unlink()
    os.mkfifo(path)
    try:
        view = place.again().view(GOAL)
    except LoopxError as error:
        assert error.code in ("not_regular", "rolled_back")
    else:
        assert any("pipe" in item.reason for item in view.reads.damage)
    # What stands in place of the list keeps nobody from handing in, only from starting work.
    started = name != "state_file"
    with pytest.raises(LoopxError) as caught:
        if started:
            place.again().todos.update(GOAL, CLAUDE, "T3", complete=True, epoch=2)
        else:
            place.ws.todos.add(GOAL, CLAUDE, AddTodo(title="More"))
            place.again().todos.claim(GOAL, CLAUDE, ClaimTodo(todo_id="T4"))
    assert caught.value.code in ("not_regular", "file_damaged", "rolled_back")
