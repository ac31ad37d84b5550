"""Several processes on one ledger: one owner a todo, and nothing that was reported is lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.lease import ClaimTodo, ReleaseLease
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import Busy, LoopxError
from loopx_kernel.store import locks
from loopx_kernel.store.files import Files
from loopx_kernel.workspace import Workspace

from tests.kernel.workspace.build import CLAUDE, CODEX, GOAL, Place, open_goal, rebuilt

FORK = multiprocessing.get_context("fork")
REPEATS = 200
LIMIT_SECONDS = 60


def started(work: Callable[..., None], *arguments: Any) -> tuple[BaseProcess, Connection]:
    """A process that does ``work(pipe, ...)``, and our end of its pipe."""
    ours, theirs = FORK.Pipe()
    process = FORK.Process(target=work, args=(theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def heard(pipe: Connection) -> Any:
    """What the process says next."""
    assert pipe.poll(LIMIT_SECONDS), "the other process says nothing"
    return pipe.recv()


def race(pipe: Connection, place: Place, agent: str, barrier: Any, todo_id: str) -> None:
    """Claims again and again, at the same moment as another process, both expecting the same
    version; whoever won gives it back."""
    ws = place.again()
    outcomes = []
    version = 0
    for _ in range(REPEATS):
        barrier.wait(LIMIT_SECONDS)
        try:
            command = ClaimTodo(todo_id=todo_id, expect_version=version)
            done = ws.todos.claim(GOAL, agent, command)
            outcomes.append("won")
            assert done.state.todos[todo_id].version == version + 1
        except LoopxError as error:
            outcomes.append(error.code)
        barrier.wait(LIMIT_SECONDS)
        if outcomes[-1] == "won":
            epoch = done.state.todos[todo_id].lease_epoch
            back = ReleaseLease(todo_id=todo_id, version=version + 1, epoch=epoch)
            ws.todos.release(GOAL, agent, back)
        version += 2
    pipe.send(outcomes)


def test_of_two_who_claim_at_once_one_gets_it_every_time(place: Place) -> None:
    todo_id = place.ws.todos.add(GOAL, CODEX, AddTodo(title="add tests")).object_id
    barrier = FORK.Barrier(2)
    pipes = [started(race, place, agent, barrier, todo_id)[1] for agent in (CLAUDE, CODEX)]
    one, two = (heard(pipe) for pipe in pipes)
    assert len(one) == REPEATS
    for pair in zip(one, two, strict=True):
        assert sorted(pair) == ["version_mismatch", "won"]
    todo = place.again().state(GOAL).todos[todo_id]
    assert (todo.version, todo.lease_epoch) == (2 * REPEATS, REPEATS)
    assert place.again().events.verify(GOAL).ok


def add_many(pipe: Connection, place: Place, goal_id: str, name: str, count: int) -> None:
    ws = place.again()
    for number in range(count):
        done = ws.todos.add(goal_id, CODEX, AddTodo(title=f"{name} {number}"))
        pipe.send((done.receipt.event_id, done.object_id))
    pipe.send(None)


def test_many_writers_at_once_lose_nothing(place: Place) -> None:
    open_goal(place, "shop")
    goals = (GOAL, GOAL, GOAL, "shop")
    pipes = [
        started(add_many, place, goal_id, f"writer{number}", 12)[1]
        for number, goal_id in enumerate(goals)
    ]
    said: dict[str, list[tuple[str, str]]] = {GOAL: [], "shop": []}
    for goal_id, pipe in zip(goals, pipes, strict=True):
        while (receipt := heard(pipe)) is not None:
            said[goal_id].append(receipt)
    fresh = place.again()
    for goal_id, receipts in said.items():
        assert fresh.events.verify(goal_id).ok
        stored = {
            (row.event.event_id, row.event.payload["todo_id"])
            for row in fresh.events.list(goal_id, event_type="todo.added")
        }
        assert set(receipts) <= stored
        assert len({todo_id for _, todo_id in stored}) == len(stored)
    assert len(said[GOAL]) == 36
    assert not fresh.view(GOAL).reads.behind_files
    assert place.ws.view(GOAL).seq == fresh.view(GOAL).seq


@pytest.mark.parametrize("after", [1, 3, 6])
def test_a_killed_writer_loses_nothing_it_reported_and_frees_its_lock(
    place: Place, after: int
) -> None:
    process, pipe = started(add_many, place, GOAL, "victim", 100_000)
    receipts = [heard(pipe) for _ in range(after)]
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join(LIMIT_SECONDS)
    done = place.ws.todos.add(GOAL, CODEX, AddTodo(title="After the crash"))
    fresh = place.again()
    assert {todo_id for _, todo_id in receipts} < set(fresh.state(GOAL).todos)
    assert fresh.events.verify(GOAL).ok
    assert rebuilt(place) == []
    view = fresh.view(GOAL)
    assert not (view.reads.damage or view.reads.drift or view.reads.behind_files)
    assert done.object_id in place.state_file.read_text("utf-8")


def connect(pipe: Connection, root: Path, barrier: Any) -> None:
    barrier.wait(LIMIT_SECONDS)
    pipe.send(Workspace.connect(root).workspace_id)


def test_two_who_connect_at_once_make_one_workspace(tmp_path: Path) -> None:
    for number in range(10):
        barrier = FORK.Barrier(2)
        root = tmp_path / str(number)
        pipes = [started(connect, root, barrier)[1] for _ in range(2)]
        assert len({heard(pipe) for pipe in pipes}) == 1
        assert Workspace.open(root).events.verify("_workspace").lines == 1


def keep_lock(pipe: Connection, place: Place) -> None:
    path = place.runtime / "lock"
    with locks.hold(
        path,
        purpose="a long look",
        actor=CODEX,
        timeout_seconds=5,
        files=Files(),
        clock=place.clock,
    ):
        pipe.send("held")
        pipe.recv()


def test_a_lock_held_by_another_process_is_named_and_not_broken(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, pipe = started(keep_lock, place)
    assert heard(pipe) == "held"
    monkeypatch.setattr(locks, "CHANGE_SECONDS", 0.1)
    before = place.lines()
    with pytest.raises(Busy) as caught:
        place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))
    assert caught.value.code == "lock_timeout"
    assert caught.value.facts["holder"]["pid"] == process.pid
    assert (caught.value.facts["holder"]["purpose"], caught.value.facts["holder"]["actor"]) == (
        "a long look",
        CODEX,
    )
    assert place.lines() == before
    # Reading takes no lock.
    assert place.again().view(GOAL).seq == len(before)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join(LIMIT_SECONDS)
    monkeypatch.undo()
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))
