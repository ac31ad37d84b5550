"""A turn whose work is taken away ends with that decision: no receipt is owed, nobody failed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from loopx_kernel.domain import fold
from loopx_kernel.domain.cancel import CancelTodo, SupersedeTodo
from loopx_kernel.domain.event import Actor
from loopx_kernel.domain.gate import DecideGate
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.handin import UpdateTodo
from loopx_kernel.domain.handoff import WriteHandoff
from loopx_kernel.domain.holding import live_leases
from loopx_kernel.domain.lease import ClaimTodo, RenewLease
from loopx_kernel.domain.propose import ProposeChange
from loopx_kernel.domain.quota import SpendSlot, usage
from loopx_kernel.domain.records_of_work import Proposal
from loopx_kernel.domain.replan import FulfilReplan, RequestReplan, WithdrawReplan
from loopx_kernel.domain.turn import RecoverTurn
from loopx_kernel.domain.turn_state import unclosed_turns
from loopx_kernel.errors import Conflict, Denied

from tests.kernel.domain.build import (
    CLAUDE,
    CODEX,
    GOOD,
    KERNEL,
    NOW,
    OWNER,
    Book,
    add,
    begin,
    evidence,
    line,
    opened,
    reading,
    refused,
    settle,
    signed_for,
)
from tests.kernel.domain.test_fold import Step

ID = "turn-0001"
CANCEL = (CancelTodo(todo_id="T1", reason="nobody needs it"), OWNER)
PROPOSE = ProposeChange(proposal=Proposal(kind="cancel", reason="x", todo_ids=("T1",)))
ROUTE = (RequestReplan(reason="no way", todo_ids=("T1",)), OWNER)
WAYS: dict[str, tuple[tuple[Step, ...], str, str]] = {
    "cancelled": ((CANCEL,), "huang", "T1 was cancelled"),
    "superseded": (
        ((SupersedeTodo(todo_id="T1", by="T3", reason="x"), OWNER),),
        "huang",
        "T1 was superseded",
    ),
    "proposed": (
        ((PROPOSE, CODEX), (DecideGate(gate_id="G1", outcome="approved"), OWNER)),
        "huang",
        "T1 was cancelled",
    ),
    "rerouted": (
        (ROUTE, (FulfilReplan(obligation_id="O1", supersede=(("T1", "T3"),)), CODEX)),
        "codex",
        "T1 was superseded",
    ),
    "retired": (
        ((ChangeGoalStatus(to="retired", reason="x"), OWNER),),
        "huang",
        "the goal was retired",
    ),
}
every_way = pytest.mark.parametrize("way", WAYS)


def begun() -> Book:
    """T1 in turn-0001 of claude-code, T2 beside it, and T3 that could take the place of T1."""
    book = opened()
    book.do(add("Convert", "src/**"))
    book.do(add("Test", "tests/**"))
    book.do(add("Convert otherwise", lineage=("T1",)))
    book.do(begin("T1"))
    return book


def taken_away(way: str) -> Book:
    book = begun()
    for step in WAYS[way][0]:
        book.do(*step)
    return book


@every_way
def test_it_ends_with_the_decision_and_is_no_failure(way: str) -> None:
    book = taken_away(way)
    _, by, why = WAYS[way]
    turn = book.state.turns[ID]
    assert (turn.status, turn.outcome, turn.progress) == ("withdrawn", None, False)
    assert (turn.withdrawn_by, turn.closed_at, turn.reason) == (by, NOW, why)
    assert (book.state.failures, book.state.escalations) == ((), {})
    assert unclosed_turns(book.state, reading(NOW)) == []
    found = usage(book.state, NOW)
    assert (found.reserved, found.used, found.remaining) == (0, 0, found.allowed)
    assert book.replay() == book.state


@every_way
def test_nothing_is_handed_in_for_it_any_more(way: str) -> None:
    book = taken_away(way)
    late: tuple[tuple[Any, Actor], ...] = (
        (settle(ID, evidence=(evidence("a.txt"),)), CLAUDE),
        (settle(ID, "failed"), CLAUDE),
        (WriteHandoff(text="next", turn=ID), CLAUDE),
        (SpendSlot(turn=ID), CLAUDE),
        (RecoverTurn(turn_id=ID), KERNEL),
    )
    for command, actor in late:
        refused(book, command, Conflict, "turn_closed", actor=actor)
        with pytest.raises(Conflict) as caught:
            book.do(command, actor)
        assert caught.value.next == "loopx turn begin"
        assert WAYS[way][1] in caught.value.message
    if way != "retired":
        book.do(begin("T2"))


def test_the_turns_of_others_go_on() -> None:
    book = begun()
    book.do(begin("T2"), CODEX)
    book.do(*CANCEL)
    assert [turn.status for turn in book.state.turns.values()] == ["withdrawn", "open"]
    book.do(ChangeGoalStatus(to="retired", reason="x"), OWNER)
    assert [turn.status for turn in book.state.turns.values()] == ["withdrawn", "withdrawn"]


def test_a_retired_goal_holds_nobodys_files() -> None:
    book = begun()
    book.do(ClaimTodo(todo_id="T2", ttl_seconds=86_400), CODEX)
    version = book.todo("T2").version
    book.do(ChangeGoalStatus(to="retired", reason="x"), OWNER)
    for todo_id in ("T1", "T2"):
        todo = book.todo(todo_id)
        assert todo.lease is not None
        assert (todo.status, todo.lease.status) == ("open", "ended")
    assert live_leases(book.state, reading(NOW), "mall") == ()
    late: tuple[Any, ...] = (
        RenewLease(todo_id="T2", version=version, epoch=1),
        UpdateTodo(todo_id="T2", note="half of it"),
    )
    for command in late:
        refused(book, command, Conflict, "lease_required", actor=CODEX)
    with pytest.raises(Denied) as caught:
        book.do(ClaimTodo(todo_id="T2"), CODEX)
    assert (caught.value.code, caught.value.next) == ("goal_paused", "loopx goal list")
    assert book.replay() == book.state


def test_a_lease_that_ran_out_ends_too() -> None:
    book = begun()
    book.do(ClaimTodo(todo_id="T2"), CODEX)
    book.do(ChangeGoalStatus(to="retired", reason="x"), OWNER, NOW + timedelta(hours=1))
    assert book.todo("T2").status == "open"
    with pytest.raises(Conflict):
        book.do(UpdateTodo(todo_id="T2", note="late"), CODEX, NOW + timedelta(hours=2))


def test_what_was_handed_in_and_booked_before_stays() -> None:
    book = begun()
    book.do(SpendSlot(turn=ID))
    book.do(UpdateTodo(todo_id="T1", evidence=(evidence("a.txt"),), turn_id=ID))
    book.do(*CANCEL)
    turn = book.state.turns[ID]
    assert (turn.status, turn.slots_booked, turn.progress) == ("withdrawn", 1, False)
    assert usage(book.state, NOW).used == 1


def test_with_a_replanning_its_turn_ends() -> None:
    book = opened()
    book.do(add("Convert"))
    book.do(*ROUTE)
    book.do(begin("T2"))
    book.do(WithdrawReplan(obligation_id="O1"), OWNER)
    assert book.state.turns[ID].status == "withdrawn"


def test_a_pause_ends_no_turn() -> None:
    book = begun()
    book.do(ChangeGoalStatus(to="paused", reason="x"), OWNER)
    book.do(settle(ID, evidence=(evidence("a.txt"),), handoff="next"))
    assert book.state.turns[ID].progress


WITHDRAWN = {"type": "turn.withdrawn", "turn_id": ID}


@pytest.mark.parametrize(
    "part",
    [
        [],
        [{"type": "turn.withdrawn", "turn_id": "turn-0002"}],
        [WITHDRAWN],
        [WITHDRAWN, {"type": "todo.returned", "todo_id": "T2"}],
    ],
)
def test_a_goal_is_retired_with_exactly_the_turns_that_are_open(part: list[Any]) -> None:
    book = begun()
    payload = {"reason": "x", "parts": part}
    signed = signed_for(book.state, "dark-mode", NOW)
    event = line(book.state, "goal.retired", payload, OWNER, signed=signed)
    after = fold.evolve(book.state, event, GOOD)
    assert (after.status, after.alert_count) == ("active", 1)
