"""A todo finished outside a turn: risk comes before success there too."""

from __future__ import annotations

import pytest
from loopx_kernel.domain import fold
from loopx_kernel.domain.escalation import AnswerEscalation
from loopx_kernel.domain.handin import UpdateTodo
from loopx_kernel.domain.records_of_work import Escalation
from loopx_kernel.errors import UsageError

from tests.kernel.domain.build import (
    CODEX,
    NOW,
    OWNER,
    begin,
    claim,
    complete,
    dark_mode,
    evidence,
    line,
    refused,
)

RISK = (("write@infra/**", "write infra/x.tf"),)
FILE = evidence("a.txt")
DONE = complete("T3", FILE, high_risk=RISK)


def test_it_finishes_nothing_and_asks_a_person_in_the_same_line() -> None:
    book = dark_mode()
    book.do(DONE)
    todo = book.todo("T3")
    assert (todo.status, todo.evidence) == ("open", (FILE,))
    assert todo.lease is not None and todo.lease.status == "ended"
    (raised,) = book.state.escalations.values()
    assert (raised.cause, raised.todo_id, raised.turn_id) == ("high_risk", "T3", None)
    assert "write infra/x.tf (write@infra/**)" in raised.detail
    assert raised.seq == todo.seq == book.state.seq
    refused(book, claim("T3"), UsageError, "illegal_transition", actor=CODEX)
    assert book.replay() == book.state


def test_neither_does_one_that_was_not_to_finish_it() -> None:
    book = dark_mode()
    book.do(UpdateTodo(todo_id="T3", note="half of it", high_risk=RISK))
    todo = book.todo("T3")
    assert (todo.status, todo.reason, list(book.state.escalations)) == (
        "open",
        "half of it",
        ["E1"],
    )
    refused(book, claim("T3"), UsageError, "illegal_transition", actor=CODEX)
    assert book.replay() == book.state


def test_nothing_else_need_be_handed_in_for_it() -> None:
    book = dark_mode()
    book.do(complete("T3", high_risk=RISK))
    assert (book.todo("T3").status, list(book.state.escalations)) == ("open", ["E1"])


def test_after_the_answer_it_goes_on() -> None:
    book = dark_mode()
    book.do(DONE)
    book.do(AnswerEscalation(escalation_id="E1", answer="go_on", reason="seen"), OWNER)
    book.do(claim("T3"))
    book.do(complete("T3", FILE))
    assert book.todo("T3").status == "done"


def test_who_was_asked_already_is_not_asked_again() -> None:
    book = dark_mode()
    one = Escalation(id="E1", cause="capped", todo_id="T3", detail="x", at=NOW, seq=1)
    book.state = book.state.with_escalation(one).model_copy(update={"next_escalation": 2})
    book.do(DONE)
    assert (book.todo("T3").status, list(book.state.escalations)) == ("open", ["E1"])


def test_without_a_risk_it_is_done() -> None:
    book = dark_mode()
    book.do(complete("T3", FILE))
    assert (book.todo("T3").status, book.state.escalations) == ("done", {})


@pytest.mark.parametrize("kept", ["todo.returned", "escalation.raised", None])
def test_a_line_that_leaves_out_what_follows_does_nothing(kept: str | None) -> None:
    book = dark_mode()
    before = book.state
    book.do(DONE)
    payload = book.lines[-1][0].payload
    parts = [part for part in payload["parts"] if part["type"] == kept]
    after = fold.evolve(before, line(before, "todo.updated", payload | {"parts": parts}))
    assert (after.alert_count, after.todos) == (1, before.todos)


def test_a_turn_is_put_before_a_person_by_its_receipt_alone() -> None:
    book = dark_mode()
    book.do(begin("T3"))
    risky = complete("T3", FILE, high_risk=RISK, turn_id="turn-0002")
    refused(book, risky, UsageError, "invalid_event")
