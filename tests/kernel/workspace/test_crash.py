"""A crash between the commit and what follows from it: the next writer finishes the work."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from loopx_kernel.domain.lease import ClaimTodo
from loopx_kernel.domain.quota import SpendSlot
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import Damaged
from loopx_kernel.store.line import encode
from loopx_kernel.workspace import Workspace
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.materials import Materials

from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    PUSH,
    Place,
    connected,
    open_goal,
    rebuilt,
)
from tests.kernel.workspace.forge import records


class Crash(BaseException):
    """The process ends here."""


def crashing(act: Callable[[], object], where: object, name: str) -> None:
    """Does ``act`` with a crash at the beginning of a method."""

    def crash(*_: object, **__: object) -> None:
        raise Crash

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(where, name, crash)
        with pytest.raises(Crash):
            act()


ACTS: dict[str, Callable[[Place], object]] = {
    "claim": lambda p: p.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T4")),
    "complete": lambda p: p.ws.todos.update(GOAL, CLAUDE, "T3", complete=True, epoch=2),
    "spend": lambda p: p.ws.quota.spend(GOAL, CLAUDE, SpendSlot(turn="turn-0003")),
    "handoff": lambda p: p.ws.handoff.write(GOAL, CLAUDE, "Next: buttons"),
    "gate": lambda p: p.ask(),
}


@pytest.mark.parametrize("name", ACTS)
def test_what_was_appended_is_rolled_forward_and_nothing_is_called_rebuilt(
    place: Place, name: str
) -> None:
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Write the docs"))
    seq = place.ws.state(GOAL).seq
    crashing(lambda: ACTS[name](place), Materials, "follow")
    fresh = place.again()
    view = fresh.view(GOAL)
    assert view.seq == seq + 1
    assert not view.reads.damage and not view.reads.drift
    fresh.handoff.write(GOAL, CODEX, "Next: buttons")
    after = fresh.view(GOAL)
    assert not after.reads.missing_files and not after.reads.behind_files
    assert not after.reads.damage
    assert rebuilt(place) == []
    assert fresh.events.verify(GOAL).ok


def test_the_very_first_files_of_a_goal_are_written_late_without_being_called_lost(
    tmp_path: Path,
) -> None:
    place = connected(tmp_path)
    open_goal(place)
    add = AddTodo(title="Research styles")
    crashing(lambda: place.ws.todos.add(GOAL, CODEX, add), Materials, "follow")
    crashing(lambda: place.again().turns.begin(GOAL, CODEX), Materials, "follow")
    spend = SpendSlot(turn="turn-0001")
    crashing(lambda: place.again().quota.spend(GOAL, CODEX, spend), Materials, "follow")
    assert not place.spend.exists()
    place.again().handoff.write(GOAL, CODEX, "Next: buttons")
    assert json.loads(place.lease("T1").read_text())["owner"] == CODEX
    assert json.loads(place.spend.read_text())["effect_ref"] == "turn-0001"
    assert "Research styles" in place.state_file.read_text("utf-8")
    assert rebuilt(place) == []


@pytest.mark.parametrize(
    ("where", "name"),
    [(Materials, "follow"), (Core, "roll_forward_opening")],
    ids=["before all files", "before the first line"],
)
def test_a_goal_whose_opening_was_cut_short_is_whole_for_readers_and_for_the_next_writer(
    tmp_path: Path, where: object, name: str
) -> None:
    place = connected(tmp_path)
    crashing(lambda: open_goal(place), where, name)
    assert not place.journal.exists()
    fresh = place.again()
    assert fresh.goal_ids == (GOAL,)
    view = fresh.view(GOAL)
    assert (view.display_name, view.seq) == ("为商城前端添加深色模式", 1)
    assert not view.reads.damage and not view.envelope.alert
    assert not place.journal.exists()
    # Whoever looked before goes on, as does whoever comes fresh.
    done = fresh.todos.add(GOAL, CODEX, AddTodo(title="Research styles"))
    assert (done.receipt.seq, done.object_id) == (2, "T1")
    assert place.again().events.verify(GOAL).ok
    opening, copy = records(place.house_journal)[-1], records(place.journal)[0]
    assert copy["event_id"] == opening["event_id"] and copy["prev"] == opening["sha256"]
    assert place.registry.exists() and place.state_file.exists()
    assert rebuilt(place) == []
    assert place.ws.state(GOAL).todos.keys() == {"T1"}


def test_a_goal_that_lost_its_journal_does_not_start_anew(tmp_path: Path) -> None:
    place = connected(tmp_path)
    open_goal(place)
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Research styles"))
    place.journal.unlink()
    with pytest.raises(Damaged) as caught:
        place.again().todos.add(GOAL, CODEX, AddTodo(title="Again"))
    assert caught.value.code == "rolled_back"
    assert not place.journal.exists()


def test_an_owners_file_that_was_not_written_is_caught_up(tmp_path: Path) -> None:
    place = connected(tmp_path)
    place.owners.unlink()
    open_goal(place)
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Research styles"))
    lines = place.owners.read_text().splitlines()[1:]
    assert [line.split()[0] for line in lines] == ["huang", "lin"]


@pytest.mark.parametrize("tail", [b'{"torn":', b"\0" * 4096, "{'漢".encode()[:-1]])
def test_a_torn_tail_is_put_aside_and_the_approval_stands_alone(place: Place, tail: bytes) -> None:
    gate_id = place.ask()
    with place.journal.open("ab") as file:
        file.write(tail)
    view = place.again().view(GOAL)
    assert view.reads.incomplete_tail and not view.reads.damage
    assert place.journal.read_bytes().endswith(tail)
    place.decide(gate_id)
    fresh = place.again()
    assert fresh.gates.check(GOAL, PUSH).allowed
    assert fresh.events.verify(GOAL).ok
    (kept,) = (place.runtime / "quarantine").iterdir()
    assert kept.read_bytes() == tail


def test_a_line_that_lacks_only_its_newline_counts_once(place: Place) -> None:
    place.ask()
    with place.journal.open("rb+") as file:
        file.truncate(place.journal.stat().st_size - 1)
    fresh = place.again()
    assert not fresh.state(GOAL).gates
    fresh.handoff.write(GOAL, CLAUDE, "Next: buttons")
    assert list(fresh.state(GOAL).gates) == ["G1"]
    assert not (place.runtime / "quarantine").exists()


def test_a_half_written_line_is_no_line_until_it_is_whole(place: Place) -> None:
    last = records(place.journal)[-1]
    fields = {
        "event_id": "e-0900",
        "goal_id": GOAL,
        "event_type": "handoff.written",
        "recorded_at": "2026-09-16T22:50:00Z",
        "actor_kind": "agent",
        "actor_agent_id": CLAUDE,
        "payload": {"text": "漢"},
        "request": "0" * 64,
    }
    raw, _ = encode(fields, seq=last["seq"] + 1, prev=last["sha256"])
    ws: Workspace = place.ws
    at = raw.index("漢".encode()) + 1
    with place.journal.open("ab") as file:
        file.write(raw[:at])
    view = ws.view(GOAL)
    assert (view.seq, view.reads.incomplete_tail, view.alerts) == (last["seq"], True, ())
    with place.journal.open("ab") as file:
        file.write(raw[at:])
    view = ws.view(GOAL)
    assert (view.seq, view.reads.incomplete_tail) == (last["seq"] + 1, False)
    assert ws.state(GOAL).handoff is not None
