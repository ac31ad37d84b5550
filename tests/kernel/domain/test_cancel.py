"""Taking work away: by people, with all that hangs on it, and never without a trace."""

from __future__ import annotations

from typing import Any

import pytest
from loopx_kernel.domain.cancel import CancelTodo, SupersedeTodo
from loopx_kernel.domain.gate import RequestGate
from loopx_kernel.domain.permission import Action
from loopx_kernel.errors import Denied, UsageError

from tests.kernel.domain.build import (
    CLAUDE,
    CODEX,
    KERNEL,
    OWNER,
    Book,
    add,
    claim,
    dark_mode,
    opened,
    refused,
)

CANCEL = CancelTodo(todo_id="T3", reason="nobody wants it")
SUPERSEDE = SupersedeTodo(todo_id="T3", by="T4", reason="tests unstable")
PUSH = Action(action="publish", command="git push")


def with_successor(**values: Any) -> Book:
    """The dark-mode goal with T4, which comes from T3."""
    book = dark_mode()
    book.do(add("Convert with variables", lineage=("T3",), **values))
    return book


def test_a_cancelled_todo_stays_with_its_reason_and_its_lease_ends() -> None:
    book = dark_mode()
    before = book.todo("T3")
    book.do(CANCEL, OWNER)
    todo = book.todo("T3")
    assert (todo.status, todo.reason, todo.superseded_by) == ("cancelled", CANCEL.reason, None)
    assert (todo.done_seq, todo.version) == (book.state.seq, before.version + 1)
    assert todo.lease is not None
    assert (todo.lease.status, todo.lease.version) == ("ended", todo.version)
    assert todo.title == before.title
    assert book.replay() == book.state


def test_gates_that_block_nothing_any_more_are_mooted_and_others_stay() -> None:
    book = with_successor()
    book.do(RequestGate(action=PUSH, blocks=("T3",)))
    book.do(RequestGate(action=Action(action="publish", command="b"), blocks=("T3", "T4")))
    book.do(CANCEL, OWNER)
    assert [gate.status for gate in book.state.gates.values()] == ["mooted", "pending"]
    book.do(CancelTodo(todo_id="T4", reason="neither"), OWNER)
    assert book.state.gate("G2").status == "mooted"


def test_a_superseded_todo_names_its_successor_and_its_evidence_is_kept() -> None:
    book = with_successor()
    book.do(SUPERSEDE, OWNER)
    old, new = book.todo("T3"), book.todo("T4")
    assert (old.status, old.superseded_by) == ("superseded", "T4")
    assert new.lineage_todo_ids == ("T3",)
    assert old.evidence == ()
    assert book.replay() == book.state


@pytest.mark.parametrize("actor", [CLAUDE, KERNEL])
@pytest.mark.parametrize("command", [CANCEL, SUPERSEDE])
def test_only_a_person_takes_work_away(actor: Any, command: Any) -> None:
    refused(with_successor(), command, Denied, "unsigned", actor=actor)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (CancelTodo(todo_id="T99", reason="x"), "unknown_todo"),
        (CancelTodo(todo_id="T1", reason="x"), "illegal_transition"),
        (CancelTodo(todo_id="T3", reason=" "), "invalid_value"),
        (CancelTodo(todo_id="T3", reason="a\nb"), "invalid_value"),
        (SupersedeTodo(todo_id="T3", by="T99", reason="x"), "unknown_todo"),
        (SupersedeTodo(todo_id="T3", by="T3", reason="x"), "lineage_invalid"),
        (SupersedeTodo(todo_id="T3", by="T1", reason="x"), "illegal_transition"),
        (SupersedeTodo(todo_id="T4", by="T3", reason="x"), "lineage_invalid"),
        (SupersedeTodo(todo_id="T3", by="T5", reason="x"), "lineage_invalid"),
        (SupersedeTodo(todo_id="T3", by="T6", reason="x"), "dependency_cycle"),
        (SupersedeTodo(todo_id="T3", by="T8", reason="x"), "dependency_cycle"),
        (SupersedeTodo(todo_id="T3", by="T10", reason="x"), "lineage_invalid"),
    ],
)
def test_what_cannot_be_taken_away(command: Any, code: str) -> None:
    book = with_successor()
    book.do(add("Not of T3"))
    book.do(add("Waits for T3", lineage=("T3",), depends_on=("T3",)))
    book.do(add("Waits for T6", depends_on=("T6",)))
    book.do(add("Waits for T7", lineage=("T3",), depends_on=("T1", "T7")))
    book.do(add("Nothing"))
    book.do(add("A replanning is no successor", kind="replan", lineage=("T3",)))
    refused(book, command, UsageError, code, actor=OWNER)


def test_a_circle_is_seen_through_what_was_superseded_before() -> None:
    book = dark_mode()
    book.do(add("First half"))
    book.do(add("First half, after T3", lineage=("T4",), depends_on=("T3",)))
    book.do(add("Needs the first half", lineage=("T3",), depends_on=("T4",)))
    book.do(SupersedeTodo(todo_id="T4", by="T5", reason="x"), OWNER)
    command = SupersedeTodo(todo_id="T3", by="T6", reason="x")
    refused(book, command, UsageError, "dependency_cycle", actor=OWNER)


def test_what_is_gone_is_not_taken_away_again_nor_worked_on() -> None:
    book = with_successor()
    book.do(SUPERSEDE, OWNER)
    for command in (CANCEL, SUPERSEDE):
        refused(book, command, UsageError, "illegal_transition", actor=OWNER)
    refused(book, claim("T3"), UsageError, "illegal_transition")
    book.do(CancelTodo(todo_id="T4", reason="x"), OWNER)
    assert book.state.has_ended("T3")


def test_work_that_needs_a_superseded_todo_waits_for_its_successor() -> None:
    book = with_successor()
    book.do(add("Ship it", depends_on=("T3",)))
    book.do(SUPERSEDE, OWNER)
    refused(book, claim("T5"), UsageError, "illegal_transition", actor=CODEX)
    book.do(CancelTodo(todo_id="T4", reason="x"), OWNER)
    book.do(claim("T5"), CODEX)
    assert book.todo("T5").status == "claimed"


@pytest.mark.parametrize(
    "change",
    [
        {"parts": []},
        {"parts": [{"type": "lease.ended", "todo_id": "T3"}] * 2},
        {"version": 9},
        {"superseded_by": "T2"},
        {"superseded_by": "T5"},
        {"reason": ""},
    ],
)
def test_a_line_by_hand_can_do_no_more_than_the_command(change: dict[str, Any]) -> None:
    book = with_successor()
    book.do(add("Of nothing"))
    done = with_successor()
    done.do(add("Of nothing"))
    done.do(SUPERSEDE, OWNER)
    event, verdict = done.lines[-1]
    forged = event.model_copy(update={"payload": event.payload | change})
    before = book.state
    book.take(forged, verdict)
    assert book.state.alert_count == before.alert_count + 1
    assert book.state.todos == before.todos
    assert with_successor_after(event, verdict).todo("T3").status == "superseded"


def with_successor_after(event: Any, verdict: Any) -> Book:
    """The same line unchanged has its effect."""
    book = with_successor()
    book.do(add("Of nothing"))
    book.take(event, verdict)
    return book


def test_a_signed_line_copied_to_a_later_place_does_nothing() -> None:
    book = opened()
    for _ in range(2):
        book.do(add("Work"))
    book.do(CancelTodo(todo_id="T1", reason="x"), OWNER)
    event, verdict = book.lines[-1]
    copied = event.model_copy(
        update={
            "seq": event.seq + 1,
            "sha256": "b" * 64,
            "payload": event.payload | {"todo_id": "T2"},
        }
    )
    book.take(copied, verdict)
    assert book.todo("T2").status == "open"
    assert book.state.alert_count == 1
