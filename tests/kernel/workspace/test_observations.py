"""Facts from outside on disk: looked at without a lock, recorded by what holds afterwards."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.aside import ReopenTodo, SetAside
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.observation import Observe
from loopx_kernel.domain.records import WaitingOn
from loopx_kernel.domain.rules import Probe
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import Denied, Storage
from loopx_kernel.observe import run

from tests.kernel.workspace.build import CLAUDE, GOAL, OWNER, Place, connected, open_goal

PROBES = (Probe(id="tests", command=f"'{sys.executable}' -c 'raise SystemExit(1)'"),)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A goal with a probe; T1 waits for CI."""
    place = connected(tmp_path)
    open_goal(place, probes=PROBES)
    place.ws.todos.add(GOAL, CLAUDE, AddTodo(title="Open PR", write_scope=("src/**",)))
    wait(place)
    return place


def wait(place: Place) -> None:
    on = WaitingOn(kind="ci", every_seconds=600)
    command = SetAside(todo_id="T1", status="waiting", waiting_on=on)
    place.ws.todos.set_aside(GOAL, CLAUDE, command)


def told(status: Any) -> Observe:
    return Observe(kind="ci", ref="pr-7", status=status, basis="told")


def test_everything_that_follows_stands_in_one_line_and_on_disk(place: Place) -> None:
    before = len(place.lines())
    done = place.ws.observations.probe(GOAL, "tests")
    assert len(place.lines()) == before + 1
    assert {ref: todo.status for ref, todo in done.state.todos.items()} == {
        "T1": "open",
        "T2": "open",
    }
    assert place.again().state(GOAL) == done.state
    assert "Fix ci tests" in place.state_file.read_text("utf-8")


def test_no_lock_is_held_while_a_probe_runs_and_what_changed_meanwhile_counts(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = run.run_command

    def slow(*arguments: Any, **values: Any) -> run.Run:
        look = Observe(kind="ci", ref="tests", status="pending", basis="told")
        place.again().observations.record(GOAL, look)
        place.again().todos.reopen(GOAL, CLAUDE, ReopenTodo(todo_id="T1"))
        return real(*arguments, **values)

    monkeypatch.setattr(run, "run_command", slow)
    done = place.ws.observations.probe(GOAL, "tests")
    assert set(done.state.todos) == {"T1"}
    assert done.state.observations["ci:tests"].fix is None
    assert done.state.alert_count == 0


def test_a_receipt_stands_whatever_became_of_the_file(place: Place) -> None:
    report = place.root / "mall-frontend" / "report.xml"
    report.write_text('<testsuite tests="1"><testcase/></testsuite>')
    first = place.ws.observations.read(GOAL, "report.xml", "pr-7", event_id="e-1")
    report.unlink()
    again = place.ws.observations.read(GOAL, "report.xml", "pr-7", event_id="e-1")
    assert (again.receipt.seq, again.receipt.replayed) == (first.receipt.seq, True)
    with pytest.raises(Denied, match="no such file"):
        place.ws.observations.read(GOAL, "report.xml", "pr-7")


def test_nothing_is_run_where_nothing_may_be_written(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the probe was run")

    monkeypatch.setattr(run, "run_command", refuse)
    reading = type(place.ws).open(place.root, clock=place.clock, read_only=True)
    with pytest.raises(Storage) as caught:
        reading.observations.probe(GOAL, "tests")
    assert caught.value.code == "read_only"


def test_what_landed_is_found_by_the_todo_it_landed_on(place: Place) -> None:
    done = place.ws.observations.record(GOAL, told("fail"))
    for todo_id in ("T1", "T2"):
        page = place.ws.events.list(GOAL, about=todo_id)
        assert done.receipt.event_id in {row.event.event_id for row in page}


def test_looks_are_recorded_while_the_goal_is_paused_or_the_list_drifts(place: Place) -> None:
    pause = ChangeGoalStatus(to="paused", reason="holiday")
    place.sign(place.ws.goals.change_status(GOAL, OWNER, pause))
    place.state_file.write_text(place.state_file.read_text("utf-8").replace("Open PR", "Open"))
    assert place.ws.observations.record(GOAL, told("pass")).state.todo("T1").status == "open"
