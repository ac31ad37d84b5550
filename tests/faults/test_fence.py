"""The fence: programs of older generations are refused in a real workspace, and read on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.gate import DecideGate, RequestGate
from loopx_kernel.domain.lease import ClaimTodo, ReleaseLease, RenewLease
from loopx_kernel.domain.quota import SpendSlot
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import Fenced
from loopx_kernel.store.files import Files
from loopx_kernel.workspace import Workspace
from loopx_kernel.workspace.core import Core

from tests.cli.helpers import loopx
from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    OWNER,
    PUSH,
    Place,
    ledger_tree,
    refused,
)
from tests.kernel.workspace.forge import append_raw, records

WRITES: dict[str, Callable[[Workspace, Place], Any]] = {
    "add": lambda ws, _: ws.todos.add(GOAL, CODEX, AddTodo(title="More")),
    "claim": lambda ws, _: ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T3")),
    "renew": lambda ws, _: ws.todos.renew(
        GOAL, CLAUDE, RenewLease(todo_id="T3", version=5, epoch=2)
    ),
    "release": lambda ws, _: ws.todos.release(
        GOAL, CLAUDE, ReleaseLease(todo_id="T3", version=5, epoch=2)
    ),
    "hand in": lambda ws, _: ws.todos.update(GOAL, CLAUDE, "T3", note="done"),
    "spend": lambda ws, _: ws.quota.spend(GOAL, CLAUDE, SpendSlot(turn="turn-0003")),
    "ask": lambda ws, _: ws.gates.request(GOAL, CLAUDE, RequestGate(action=PUSH)),
    "bring level": lambda ws, _: ws.handoff.bring_level(GOAL, CODEX),
    "agent": lambda ws, _: ws.agents.add("gemini"),
    "decide": lambda ws, place: ws.append(
        ws.gates.decide(GOAL, OWNER, DecideGate(gate_id="G1", outcome="approved")),
        place.keys[OWNER],
    ),
}


def of_generation(place: Place, generation: int, files: Files | None = None) -> Workspace:
    """The same workspace, opened by a program whose writers are of this generation."""
    core = Core(place.ws._core.layout, place.clock, generation=generation, files=files or Files())
    core.house.refresh()
    return Workspace(core)


def fences(place: Place) -> list[int]:
    """The generations that were fenced, in order."""
    return [
        record["payload"]["generation"]
        for record in records(place.house_journal)
        if record["event_type"] == "writer.fenced"
    ]


def test_the_present_generation_writes_no_line_about_itself(place: Place) -> None:
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))
    assert fences(place) == []


@pytest.mark.parametrize("name", WRITES)
def test_an_older_writer_is_refused_and_nothing_is_changed(place: Place, name: str) -> None:
    place.ask()
    old = of_generation(place, 1)
    old.state(GOAL)
    new = of_generation(place, 2)
    new.todos.add(GOAL, CODEX, AddTodo(title="By the new program"))
    assert fences(place) == [2]
    with refused(place, "writer_fenced") as error:
        WRITES[name](old, place)
    assert (error.facts["generation"], error.facts["fence"]) == (1, 2)
    # Reading goes on, and says why it is only reading.
    view = old.view(GOAL)
    assert view.seq == new.view(GOAL).seq
    assert [warned.id for warned in view.warnings] == ["fence"]
    assert (view.contract.answer, view.contract.reasons[0].code) == ("ask", "writer_fenced")
    assert not new.view(GOAL).warnings


def test_a_torn_tail_is_left_to_those_who_may_write(place: Place) -> None:
    old = of_generation(place, 1)
    of_generation(place, 2).agents.add("gemini")
    for journal in (place.journal, place.house_journal):
        with journal.open("ab") as file:
            file.write(b'{"event_id":"torn')
    before = ledger_tree(place)
    for name in ("add", "agent"):
        with pytest.raises(Fenced):
            WRITES[name](old, place)
    assert ledger_tree(place) == before


def test_the_fence_goes_up_once_before_the_first_line_of_a_newer_writer(place: Place) -> None:
    wrote: list[list[str]] = []
    for number, generation in enumerate((3, 3, 4)):
        lines = len(records(place.house_journal))
        of_generation(place, generation).agents.add(f"agent-{number}")
        new = records(place.house_journal)[lines:]
        wrote.append([record["event_type"] for record in new])
    assert wrote == [["writer.fenced", "agent.added"], ["agent.added"], wrote[0]]
    assert fences(place) == [3, 4]
    assert place.again().events.verify("_workspace").ok


class RaisedMeanwhile(Files):
    """A newer program comes between an older one's look at the fence and its lock."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.done = False

    def open_append(self, path: Path) -> int:
        if path.name == "lock" and not self.done:
            self.done = True
            of_generation(self.place, 2).agents.add("gemini")
        return super().open_append(path)


@pytest.mark.parametrize("name", ["add", "claim", "agent"])
def test_the_fence_is_read_under_the_lock(place: Place, name: str) -> None:
    old = of_generation(place, 1, RaisedMeanwhile(place))
    lines = place.lines()
    with pytest.raises(Fenced):
        WRITES[name](old, place)
    assert fences(place) == [2]
    assert place.lines() == lines


def test_a_fence_that_no_kernel_knows_tells_everybody_what_to_do(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = records(place.house_journal)[0]
    forged = {
        "event_id": "e-fence",
        "event_type": "writer.fenced",
        "payload": {"generation": 10**9},
    }
    append_raw(place.house_journal, last | forged)
    monkeypatch.chdir(place.root)
    told = loopx("todo", "add", "More", "--agent", CODEX, "--goal", GOAL, "--json")
    assert (told.status, told.code) == (4, "writer_fenced")
    seq = len(records(place.house_journal))
    assert f"#{seq} " in told.json["error"]["message"]
    assert "install a newer loopx" in told.json["error"]["next"]
    for command in (("status",), ("doctor",), ("lease", "list")):
        shown = loopx(*command, "--goal", GOAL)
        assert "generation 1000000000" in shown.out
        assert "install a newer loopx" in shown.out
    told = loopx("quota", "should-run", "--agent", CLAUDE, "--goal", GOAL, "--json")
    assert told.status == 10
    assert json.loads(told.out)["reasons"][0]["code"] == "writer_fenced"


def test_a_line_that_lowers_it_does_nothing(place: Place) -> None:
    of_generation(place, 3).agents.add("gemini")
    raised = next(
        record for record in records(place.house_journal) if record["event_type"] == "writer.fenced"
    )
    append_raw(place.house_journal, raised | {"event_id": "e-1", "payload": {"generation": 1}})
    with pytest.raises(Fenced):
        of_generation(place, 2).agents.add("nobody")
    alerts = place.again().workspace_view().alerts
    assert any("never lowered" in alert for alert in alerts)
