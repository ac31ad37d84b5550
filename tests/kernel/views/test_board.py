"""A board shows every todo once, and what is claimed, decided and watched."""

from __future__ import annotations

from datetime import timedelta

from loopx_kernel.domain.aside import SetAside
from loopx_kernel.domain.gate import DecideGate, RequestGate
from loopx_kernel.domain.observation import Observe
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.records import WaitingOn
from loopx_kernel.domain.rules import SourceRule
from loopx_kernel.domain.source import AddSource
from loopx_kernel.views.board import COLUMNS, board
from loopx_kernel.views.board_document import document
from loopx_kernel.views.render_plain import plain_text

from tests.kernel.domain.build import (
    CLAUDE,
    CODEX,
    KERNEL,
    NOW,
    OWNER,
    Book,
    add,
    claim,
    complete,
    dark_mode,
    opened,
)
from tests.kernel.views.told import view_of

PUSH = Action(action="publish", command="git push")
HOUR = timedelta(hours=1)


def busy() -> Book:
    book = dark_mode()
    book.do(add("Open a PR"))
    book.do(claim("T4"), CODEX)
    wait = WaitingOn(kind="ci", ref="pr-7", every_seconds=600)
    book.do(SetAside(todo_id="T4", status="waiting", waiting_on=wait), CODEX)
    book.do(add("Watch the site", kind="monitor", next_check_at=NOW + HOUR))
    book.do(add("Ship"))
    book.do(RequestGate(action=PUSH, question="Push it?", blocks=("T6",)), CLAUDE)
    book.do(AddSource(rule=SourceRule(id="tickets", provider="jira", window_seconds=60)), KERNEL)
    return book


def test_every_todo_stands_in_exactly_one_column() -> None:
    book = busy()
    found = board(book.state, view_of(book.state))

    rows = [row.todo.id for column in found.columns for row in column.rows]
    assert sorted(rows) == sorted(book.state.todos)
    assert tuple(column.status for column in found.columns) == COLUMNS
    counts = {column.status: column.count for column in found.columns if column.count}
    assert counts == {"claimed": 1, "open": 1, "gated": 1, "waiting": 1, "done": 2}


def test_todos_that_left_the_state_are_counted_in_their_columns() -> None:
    book = opened()
    for number in range(1, 41):
        book.do(add(f"Work {number}"))
        book.do(claim(f"T{number}"))
        book.do(complete(f"T{number}"))
    found = board(book.state, view_of(book.state))

    done = next(column for column in found.columns if column.status == "done")
    assert done.count == 40
    assert len(done.rows) < 40
    shown = plain_text(document(found))
    assert "DONE: 40" in shown
    assert "30 more rows are counted and not shown" in shown


def test_claims_gates_and_monitors() -> None:
    book = busy()
    found = board(book.state, view_of(book.state))

    assert [(lease.todo_id, lease.status) for lease in found.claims] == [("T3", "active")]
    assert [(row.gate.id, row.status) for row in found.gates] == [("G1", "pending")]
    wait, monitor, source = found.monitors
    assert (wait.kind, wait.id, wait.status, wait.next_at) == (
        *("ci", "T4", "not looked at yet", NOW + timedelta(minutes=10)),
    )
    assert (monitor.kind, monitor.id, monitor.next_at) == ("monitor", "T5", NOW + HOUR)
    assert (source.kind, source.id, source.next_at) == ("source", "tickets", None)


def test_a_look_moves_a_monitor_to_its_next_time_and_says_on_what_basis() -> None:
    book = busy()
    look = Observe(kind="ci", ref="pr-7", status="pending", basis="told", by=CODEX.id)
    book.do(look, KERNEL, NOW + HOUR)
    wait = board(book.state, view_of(book.state)).monitors[0]

    assert (wait.status, wait.basis, wait.seen_at) == ("pending", "told", NOW + HOUR)
    assert wait.next_at == NOW + HOUR + timedelta(minutes=10)


def test_gates_that_wait_come_first_and_settled_ones_are_left_out() -> None:
    book = busy()
    book.do(DecideGate(gate_id="G1", outcome="rejected"), OWNER)
    other = Action(action="delete", command="rm x")
    book.do(RequestGate(action=other, question="Remove it?"), CLAUDE)
    found = board(book.state, view_of(book.state))

    assert [(row.gate.id, row.status) for row in found.gates] == [
        ("G2", "pending"),
        ("G1", "rejected"),
    ]


def test_the_board_says_what_waits_for_a_person_before_the_columns() -> None:
    book = busy()
    shown = plain_text(document(board(book.state, view_of(book.state))))

    assert shown.index("Push it?") < shown.index("CLAIMED: 1")
    assert "gate G1" in shown
