"""Two people, or one at two screens, decide the same gate at the same moment: once is enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.clock import SystemClock
from loopx_kernel.domain.gate import DecideGate, RequestGate
from loopx_kernel.domain.permission import Action
from loopx_kernel.errors import LoopxError
from loopx_kernel.trust.keys import load_private
from loopx_kernel.workspace import Workspace

from loopx_tui.cases.table import CASES
from loopx_tui.desk import Desk
from tests.faults.forks import heard, started
from tests.kernel.workspace.build import CLAUDE, GOAL, OWNER, SECOND, connected, open_goal

TIMES = 200
OUTCOMES = ("approved", "rejected")
COURSES = tuple(product(((OWNER, SECOND), (OWNER, OWNER)), ((0, 0), (0, 1))))
"""Who decides at the two places, and with which outcomes."""


def decider(pipe: Connection, root: Path, keys: Path) -> None:
    """Prepares what it is told to, waits for the word, and says what became of it."""
    ws = Workspace.open(root, clock=SystemClock())
    desks = pytest.MonkeyPatch()
    while task := pipe.recv():
        gate_id, who, outcome, how = task
        path = keys / f"key-{who}"
        try:
            if how == "the screen":
                desks.setenv("LOOPX_KEY", str(path))
                case = CASES["gate"]
                desk = Desk(lambda: ws, case, GOAL, gate_id)
                way = next(one for one in case.ways if one.name == outcome)
                unsigned, choice = desk.fix(desk.look().matter, way, {})
                key, append = desk.unlock(choice, None, unsigned), desk.append
            else:
                command = DecideGate(gate_id=gate_id, outcome=outcome)
                unsigned, append = ws.gates.decide(GOAL, who, command), ws.append
                key = load_private(path, None)
            pipe.send("ready")
            pipe.recv()
            done = append(unsigned, key)
            pipe.send(("recorded", who, done.receipt.seq))
        except LoopxError as error:
            pipe.send((error.code, error.facts.get("by"), error.facts.get("at")))


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Workspace, list[Connection]]]:
    place = connected(tmp_path, SystemClock())
    open_goal(place)
    there = [started(decider, place.root, tmp_path) for _ in range(2)]
    yield place.ws, [pipe for _, pipe in there]
    for process, pipe in there:
        pipe.send(None)
        process.join()


def test_of_two_at_the_same_moment_one_decides_and_the_other_is_told_who_and_when(
    pair: tuple[Workspace, list[Connection]],
) -> None:
    ws, pipes = pair
    winners: Counter[int] = Counter()
    for number in range(TIMES):
        people, outcomes = COURSES[number % len(COURSES)]
        how = "the screen" if number % 5 == 0 else "the façade"
        action = Action(action="publish", command=f"git push origin {number}")
        gate_id = ws.gates.request(GOAL, CLAUDE, RequestGate(action=action)).object_id
        for pipe, who, which in zip(pipes, people, outcomes, strict=True):
            pipe.send((gate_id, who, OUTCOMES[which], how))
        assert [heard(pipe) for pipe in pipes] == ["ready", "ready"]
        for pipe in pipes[:: 1 if number % 2 else -1]:
            pipe.send("go")
        said: list[Any] = [heard(pipe) for pipe in pipes]
        first = next(n for n, one in enumerate(said) if one[0] == "recorded")
        winners[first] += 1
        row = ws.events.tail(GOAL, 1)[0].event
        assert said[1 - first][:2] == ("already_decided", people[first])
        assert said[1 - first][2] == row.model_dump(mode="json")["recorded_at"]
        assert row.payload["gate_id"] == gate_id
        assert row.event_type == f"gate.{OUTCOMES[outcomes[first]]}"
    rows = [*ws.events.list(GOAL)]
    decided = [r.event.payload["gate_id"] for r in rows if "gate_id" in r.event.payload]
    assert Counter(decided) == dict.fromkeys(decided, 2), "one request and one decision each"
    assert all(row.effective for row in rows)
    assert len(decided) == 2 * TIMES
    assert min(winners[0], winners[1]) > 0, "both came first at times"
