"""The same command twice is one event; the same id for another command is a conflict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopx_kernel.domain.gate import DecideGate
from loopx_kernel.domain.lease import ClaimTodo, RenewLease
from loopx_kernel.domain.quota import SpendSlot
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import Conflict
from loopx_kernel.workspace import Done, EventRow, Workspace

from tests.kernel.workspace.build import CLAUDE, CODEX, GOAL, OWNER, Place, refused, tree

Command = Callable[[Workspace, str], Done[Any]]

COMMANDS: dict[str, Command] = {
    "add": lambda ws, ref: ws.todos.add(GOAL, CODEX, AddTodo(title="More"), event_id=ref),
    "renew": lambda ws, ref: ws.todos.renew(
        GOAL, CLAUDE, RenewLease(todo_id="T3", version=5, epoch=2), event_id=ref
    ),
    "complete": lambda ws, ref: ws.todos.update(
        GOAL, CLAUDE, "T3", complete=True, evidence=["docs/theme-vars.md"], event_id=ref
    ),
    "spend": lambda ws, ref: ws.quota.spend(
        GOAL, CLAUDE, SpendSlot(turn="turn-0003"), event_id=ref
    ),
    "handoff": lambda ws, ref: ws.handoff.write(GOAL, CLAUDE, "Next: buttons", event_id=ref),
    "agent": lambda ws, ref: ws.agents.add("third", event_id=ref),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_repeated_command_gives_the_first_receipt_and_changes_nothing(
    place: Place, name: str
) -> None:
    first = COMMANDS[name](place.ws, "e-0200")
    before = tree(place.root / ".loopx" / "runtime" / GOAL / "task-leases")
    journal = place.journal.read_bytes()
    place.clock.advance(hours=3)
    again = COMMANDS[name](place.again(), "e-0200")
    assert (first.receipt.replayed, again.receipt.replayed) == (False, True)
    assert again.receipt.seq == first.receipt.seq
    assert again.receipt.sha256 == first.receipt.sha256
    assert again.receipt.recorded_at == first.receipt.recorded_at
    assert again.object_id == first.object_id
    assert place.journal.read_bytes() == journal
    assert tree(place.root / ".loopx" / "runtime" / GOAL / "task-leases") == before


def test_the_first_receipt_comes_back_however_much_happened_since(place: Place) -> None:
    (place.root / "mall-frontend" / "out.txt").write_text("done")
    ask: dict[str, Any] = {"complete": True, "evidence": ["out.txt"], "event_id": "e-0143"}
    first = place.ws.todos.update(GOAL, CLAUDE, "T3", **ask)
    for number in range(5):
        place.ws.todos.add(GOAL, CODEX, AddTodo(title=f"More {number}"))
    (place.root / "mall-frontend" / "out.txt").unlink()
    again = place.ws.todos.update(GOAL, CLAUDE, "T3", **ask)
    assert (again.receipt.seq, again.receipt.replayed) == (first.receipt.seq, True)


def test_an_id_used_for_something_else_is_a_conflict(place: Place) -> None:
    for command in (
        ClaimTodo(todo_id="T3", expect_version=5),
        ClaimTodo(todo_id="T3", expect_version=4, ttl_seconds=60),
    ):
        with refused(place, "event_conflict"):
            place.ws.todos.claim(GOAL, CLAUDE, command, event_id="e-0142")
    with refused(place, "event_conflict"):
        command = ClaimTodo(todo_id="T3", expect_version=4)
        place.ws.todos.claim(GOAL, CODEX, command, event_id="e-0142")
    with refused(place, "event_conflict"):
        place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"), event_id="e-0142")


def test_the_stored_claim_sent_again_is_the_stored_claim(place: Place) -> None:
    before = place.lines()
    command = ClaimTodo(todo_id="T3", expect_version=4)
    done = place.ws.todos.claim(GOAL, CLAUDE, command, event_id="e-0142")
    assert done.receipt.replayed
    assert place.lines() == before


def test_a_decision_sent_twice_is_made_once(place: Place) -> None:
    gate_id = place.ask()
    unsigned = place.ws.gates.decide(GOAL, OWNER, DecideGate(gate_id=gate_id, outcome="approved"))
    first = place.sign(unsigned)
    lines = place.lines()
    again = place.sign(unsigned)
    assert (again.receipt.sha256, again.receipt.replayed) == (first.receipt.sha256, True)
    assert place.lines() == lines


def test_a_decision_prepared_again_under_its_id_needs_no_second_signature(place: Place) -> None:
    gate_id = place.ask()
    command = DecideGate(gate_id=gate_id, outcome="approved")
    place.sign(place.ws.gates.decide(GOAL, OWNER, command, event_id="e-0300"))
    prepared = place.ws.gates.decide(GOAL, OWNER, command, event_id="e-0300")
    assert prepared.done is not None and prepared.done.receipt.replayed
    with pytest.raises(Conflict) as caught:
        other = DecideGate(gate_id=gate_id, outcome="rejected")
        place.ws.gates.decide(GOAL, OWNER, other, event_id="e-0300")
    assert caught.value.code == "event_conflict"


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y"])), max_size=6))
def test_whatever_is_sent_again_each_id_keeps_its_first_meaning(
    place: Place, sent: list[tuple[str, str]]
) -> None:
    # The same journal serves all examples, so what an id means is read from it.
    meant = {row.event.event_id: row.event.payload.get("title") for row in _rows(place)}
    for ref, title in sent:
        first = meant.setdefault(ref, title)
        try:
            place.ws.todos.add(GOAL, CODEX, AddTodo(title=title), event_id=ref)
            accepted = True
        except Conflict:
            accepted = False
        assert accepted == (title == first)
        assert place.ws.events.show(GOAL, ref).event.payload["title"] == first
    ids = [row.event.event_id for row in _rows(place)]
    assert len(ids) == len(set(ids))


def _rows(place: Place) -> list[EventRow]:
    return list(place.ws.events.list(GOAL))
