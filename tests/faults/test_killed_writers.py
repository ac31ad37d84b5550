"""Layer 6: kill -9, at every call and at random moments, of one writer and of several."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.todo import AddTodo

from tests.faults.commands import PLAIN, Command, assert_level, committed, future, recorded
from tests.faults.forks import FORK, heard, killed, started
from tests.kernel.store.faults import FailingFiles
from tests.kernel.workspace.build import CODEX, GOAL, Place, open_goal, with_files
from tests.patience import PATIENCE

DIED = 9


class DyingFiles(FailingFiles):
    """The process dies instead of making call number ``at``; nobody cleans up."""

    def _counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any) -> Any:
            self.calls.append(name)
            if len(self.calls) - 1 == self.at:
                os._exit(DIED)
            return call(*args)

        return counted


DYING = [command for command in PLAIN if command.name not in ("hand-over", "adding an agent")]


@pytest.mark.parametrize("command", DYING, ids=lambda command: command.name)
def test_a_writer_that_dies_at_any_call_leaves_whole_files_and_a_free_lock(
    place: Place, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    command.ready(place)
    for at in itertools.count():
        there = future(place, tmp_path / str(at), monkeypatch)
        ws = with_files(there.root, DyingFiles(at), there.clock)
        child = FORK.Process(target=command.act, args=(ws, there))
        child.start()
        child.join(PATIENCE)
        reads = there.again().view(GOAL).reads
        assert not (reads.damage or reads.drift)
        if child.exitcode != DIED:
            break
        command.act(there.again(), there)
        assert recorded(there)
        assert_level(there)
    assert child.exitcode == 0
    assert at > 5


def write_on(pipe: Connection, place: Place, goal_id: str, name: str) -> None:
    """Adds todos for ever and says so after each."""
    ws = place.again()
    for number in itertools.count():
        done = ws.todos.add(goal_id, CODEX, AddTodo(title=f"{name} {number}"))
        pipe.send((goal_id, done.receipt.event_id))


@pytest.mark.parametrize("seed", range(4))
def test_several_writers_killed_at_random_lose_nothing_they_reported(
    place: Place, seed: int
) -> None:
    chance = random.Random(seed)
    open_goal(place, "shop")
    goals = (GOAL, GOAL, GOAL, "shop")
    writers = [started(write_on, place, goal, f"w{n}") for n, goal in enumerate(goals)]
    said = []
    for process, pipe in chance.sample(writers, len(writers)):
        said += [heard(pipe) for _ in range(chance.randrange(1, 6))]
        killed(process)
        # What was said before the kill was said of lines that stand.
        said += rest_of(pipe)
    stored = {
        (goal_id, line.split(b'"')[3].decode())
        for goal_id, lines in committed(place).items()
        for line in lines
    }
    assert set(said) <= stored
    assert_level(place)


def rest_of(pipe: Connection) -> list[Any]:
    """Everything that still stands in the pipe of a dead writer."""
    found = []
    try:
        while pipe.poll():
            found.append(pipe.recv())
    except (EOFError, OSError):
        pass
    return found
