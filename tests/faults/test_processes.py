"""Many processes on one ledger: one owner a todo, and nothing that was reported is lost."""

from __future__ import annotations

import json
import subprocess
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.clock import SystemClock
from loopx_kernel.domain.lease import ClaimTodo, ReleaseLease
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import LoopxError
from loopx_kernel.workspace import Workspace

from tests.cli.helpers import PROGRAM
from tests.faults.forks import FORK, heard, killed, started
from tests.kernel.workspace.build import CLAUDE, CODEX, GOAL, Place, connected, open_goal, rebuilt
from tests.patience import PATIENCE

REPEATS = 200


def race(pipe: Connection, place: Place, agent: str, barrier: Any, todo_id: str) -> None:
    """Claims again and again, at the same moment as another process, both expecting the same
    version; whoever won gives it back."""
    ws = place.again()
    outcomes = []
    version = 0
    for _ in range(REPEATS):
        barrier.wait(PATIENCE)
        try:
            command = ClaimTodo(todo_id=todo_id, expect_version=version)
            done = ws.todos.claim(GOAL, agent, command)
            outcomes.append("won")
            assert done.state.todos[todo_id].version == version + 1
        except LoopxError as error:
            outcomes.append(error.code)
        barrier.wait(PATIENCE)
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
    killed(process)
    done = place.ws.todos.add(GOAL, CODEX, AddTodo(title="After the crash"))
    fresh = place.again()
    assert {todo_id for _, todo_id in receipts} < set(fresh.state(GOAL).todos)
    assert fresh.events.verify(GOAL).ok
    assert rebuilt(place) == []
    view = fresh.view(GOAL)
    assert not (view.reads.damage or view.reads.drift or view.reads.behind_files)
    assert done.object_id in place.state_file.read_text("utf-8")


def connect(pipe: Connection, root: Path, barrier: Any) -> None:
    barrier.wait(PATIENCE)
    pipe.send(Workspace.connect(root).workspace_id)


def test_two_who_connect_at_once_make_one_workspace(tmp_path: Path) -> None:
    for number in range(10):
        barrier = FORK.Barrier(2)
        root = tmp_path / str(number)
        pipes = [started(connect, root, barrier)[1] for _ in range(2)]
        assert len({heard(pipe) for pipe in pipes}) == 1
        assert Workspace.open(root).events.verify("_workspace").lines == 1


WRITERS = 32
OTHERS = ("shop", "docs", "blog")


def sent(root: Path, goal_id: str, number: int) -> subprocess.Popen[str]:
    """The installed command, adding work under an event id of its own."""
    add = ["todo", "add", f"Work {number}", "--agent", CODEX, "--goal", goal_id]
    return subprocess.Popen(
        [PROGRAM, *add, "--event-id", f"e-{number}", "--json"],
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def answered(process: subprocess.Popen[str]) -> dict[str, Any]:
    """The receipt; or, where the lock was not free in time, who had it."""
    out, err = process.communicate(timeout=PATIENCE)
    if process.returncode == 0:
        return dict(json.loads(out)["receipt"])
    assert process.returncode == 5, err
    error = json.loads(err)["error"]
    assert error["code"] == "lock_timeout"
    assert "waited 10 s" in error["message"]
    return {}


@pytest.mark.parametrize("goals", [(GOAL,), (GOAL, *OTHERS)], ids=["one goal", "four goals"])
def test_thirty_two_commands_at_once_lose_nothing(tmp_path: Path, goals: tuple[str, ...]) -> None:
    place = connected(tmp_path, SystemClock())
    for goal_id in goals:
        open_goal(place, goal_id)
    wanted = {number: goals[number % len(goals)] for number in range(WRITERS)}
    running = {n: sent(place.root, goal_id, n) for n, goal_id in wanted.items()}
    receipts = {n: answered(process) for n, process in running.items()}
    for number in [n for n, receipt in receipts.items() if not receipt]:
        # Whoever was told that somebody else had the lock sends again, alone.
        receipts[number] = answered(sent(place.root, wanted[number], number))
    fresh = Workspace.open(place.root)
    for goal_id in goals:
        assert fresh.events.verify(goal_id).ok
        added = [row.event for row in fresh.events.list(goal_id, event_type="todo.added")]
        stored = {event.event_id: (event.seq, event.sha256) for event in added}
        assert len(stored) == len(added)
        told = {
            f"e-{n}": (receipts[n]["seq"], receipts[n]["sha256"])
            for n in receipts
            if wanted[n] == goal_id
        }
        assert stored == told
        todos = [event.payload["todo_id"] for event in added]
        assert todos == [f"T{number}" for number in range(1, len(added) + 1)]
        view = fresh.view(goal_id)
        assert not (view.reads.damage or view.reads.behind_files or view.reads.drift)


ROUNDS = 60
CLAIMS = (
    (GOAL, CLAUDE, "src/theme/**"),
    (GOAL, CODEX, "src/theme/a.css"),
    ("shop", CLAUDE, "src/**"),
    ("shop", CODEX, "SRC/Theme/A.css"),
)


def compete(pipe: Connection, place: Place, which: int, todo_id: str, barrier: Any) -> None:
    """Claims its todo in each round, at the same moment as all others; whoever got one gives
    it back after all have tried."""
    goal_id, agent, _ = CLAIMS[which]
    ws = place.again()
    outcomes = []
    for _ in range(ROUNDS):
        barrier.wait(PATIENCE)
        try:
            todo = ws.todos.claim(goal_id, agent, ClaimTodo(todo_id=todo_id)).state.todos[todo_id]
            outcomes.append("won")
        except LoopxError as error:
            outcomes.append(error.code)
        barrier.wait(PATIENCE)
        if outcomes[-1] == "won":
            back = ReleaseLease(todo_id=todo_id, version=todo.version, epoch=todo.lease_epoch)
            ws.todos.release(goal_id, agent, back)
    pipe.send(outcomes)


def test_of_all_who_claim_the_same_files_in_two_goals_one_holds_them(tmp_path: Path) -> None:
    place = connected(tmp_path)
    for goal_id in (GOAL, "shop"):
        open_goal(place, goal_id)
    todos = [
        place.ws.todos.add(goal_id, agent, AddTodo(title="Theme", write_scope=(scope,))).object_id
        for goal_id, agent, scope in CLAIMS
    ]
    barrier = FORK.Barrier(len(CLAIMS))
    pipes = [started(compete, place, n, todos[n], barrier)[1] for n in range(len(CLAIMS))]
    outcomes = [heard(pipe) for pipe in pipes]
    for told in zip(*outcomes, strict=True):
        assert sorted(told) == ["scope_overlap"] * (len(CLAIMS) - 1) + ["won"]
    for goal_id in (GOAL, "shop"):
        assert place.again().events.verify(goal_id).ok
        assert not place.again().view(goal_id).warnings
