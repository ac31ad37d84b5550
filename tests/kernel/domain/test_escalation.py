"""Escalations: raised by code, answered by a person, once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from loopx_kernel.domain import escalation, fold
from loopx_kernel.domain.cancel import CancelTodo
from loopx_kernel.domain.effort import Judged
from loopx_kernel.domain.escalation import AnswerEscalation, raised_parts
from loopx_kernel.domain.event import Actor, Context, Facts
from loopx_kernel.domain.hot import KEPT
from loopx_kernel.domain.records_of_work import Effort, Escalation
from loopx_kernel.domain.state import GoalState, open_escalations, open_obligations
from loopx_kernel.domain.work import hindrance
from loopx_kernel.errors import Conflict, Denied, LoopxError, UsageError

from tests.kernel.domain.build import (
    CLAUDE,
    CODEX,
    GOOD,
    KERNEL,
    NOW,
    OWNER,
    Book,
    add,
    claim,
    opened,
    reading,
    refused,
    signed_for,
)

TIRED = Effort(turns=9, failed=3, streak=3, digests=("a" * 64,), score="1.0")


def raised(todo_id: str | None = "T1") -> Book:
    """A goal with two todos, and a question about one of them or all."""
    book = opened()
    book.do(add("First"))
    book.do(add("Second"))
    one = Escalation(
        id="E1",
        cause="no_progress",
        todo_id=todo_id,
        turn_id="turn-0003",
        detail="3 turns in a row brought T1 nothing",
        at=NOW,
        seq=book.state.seq,
    )
    tired = book.state.todos["T1"].model_copy(update={"effort": TIRED})
    state = book.state.with_escalation(one).with_todo(tired)
    book.state = state.model_copy(update={"next_escalation": 2, "failures": (NOW, NOW)})
    return book


def answer(how: Any, escalation_id: str = "E1", reason: str = "seen") -> AnswerEscalation:
    return AnswerEscalation(escalation_id=escalation_id, answer=how, reason=reason)


def stopped(state: GoalState, todo_id: str) -> str | None:
    found = hindrance(state, state.todos[todo_id], reading(NOW), CLAUDE.id)
    return found.code if found else None


def test_it_stops_its_todo_and_no_other() -> None:
    state = raised().state
    assert stopped(state, "T1") == "escalated"
    assert stopped(state, "T2") is None


def test_going_on_gives_a_new_allowance() -> None:
    state = raised().do(answer("go_on"), OWNER)
    found = state.escalations["E1"]
    assert (found.status, found.answer, found.by, found.reason) == (
        "answered",
        "go_on",
        "huang",
        "seen",
    )
    assert found.answered_at == NOW
    assert state.todos["T1"].effort == Effort()
    assert state.failures == (NOW, NOW)
    assert stopped(state, "T1") is None


def test_replanning_opens_a_duty_that_names_the_todo_and_why() -> None:
    state = raised().do(answer("replan"), OWNER)
    (duty,) = open_obligations(state)
    assert (duty.todo_ids, duty.reason, duty.by) == (("T1",), "seen", "huang")
    assert duty.facts == ("E1: 3 turns in a row brought T1 nothing",)
    assert stopped(state, "T1") == "replan_due"
    assert open_escalations(state) == []


def test_cancelling_ends_the_todo_and_all_that_hangs_on_it() -> None:
    book = raised()
    held = book.state.todos["T1"]
    book.state = book.state.model_copy(update={"escalations": {}})
    book.do(claim("T1"))
    book.state = book.state.with_escalation(raised().state.escalations["E1"])
    state = book.do(answer("cancel"), OWNER)
    todo = state.todos["T1"]
    assert (todo.status, todo.reason, todo.done_at) == ("cancelled", "seen", NOW)
    assert todo.lease is not None
    assert todo.lease.status == "ended"
    assert todo.version > held.version
    assert state.escalations["E1"].answer == "cancel"


def test_an_answer_about_the_whole_goal() -> None:
    refused(raised(None), answer("cancel"), UsageError, "illegal_transition", actor=OWNER)
    on = raised(None).do(answer("go_on"), OWNER)
    assert (on.failures, on.todos["T1"].effort) == ((), TIRED)
    replan = raised(None).do(answer("replan"), OWNER)
    assert open_obligations(replan)[0].todo_ids == ()


@pytest.mark.parametrize("how", ["go_on", "replan", "cancel"])
def test_it_is_answered_once(how: str) -> None:
    book = raised()
    book.do(answer(how), OWNER)
    for again in ("go_on", "replan", "cancel"):
        refused(book, answer(again), Conflict, "already_decided", actor=OWNER)
    with pytest.raises(Conflict, match=r"E1 was closed by huang at 2026-09-16T22:50:00Z"):
        book.do(answer("go_on"), OWNER)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (answer("go_on", "E2"), "unknown_escalation"),
        (answer("go_on", "E0"), "unknown_escalation"),
        (answer("go_on", "G1"), "unknown_escalation"),
        (answer("go_on", "E٢"), "unknown_escalation"),
        (answer("go_on", reason=""), "invalid_value"),
        (answer("go_on", reason="a\nb"), "invalid_value"),
    ],
)
def test_answers_that_are_refused(command: AnswerEscalation, code: str) -> None:
    refused(raised(), command, UsageError, code, actor=OWNER)


@pytest.mark.parametrize("actor", [CLAUDE, KERNEL])
def test_only_a_person_answers(actor: Actor) -> None:
    refused(raised(), answer("go_on"), Denied, "unsigned", actor=actor)


@pytest.mark.parametrize(
    ("actor", "part"),
    [
        (CLAUDE, {"escalation_id": "E2", "cause": "capped", "todo_id": "T2", "detail": "x"}),
        (KERNEL, {"escalation_id": "E2", "cause": "capped", "detail": "x"}),
    ],
)
def test_nobody_raises_or_moots_one_with_a_line_of_its_own(
    actor: Actor, part: dict[str, Any]
) -> None:
    book = raised()
    book.write("escalation.raised", part, actor)
    book.write("escalation.mooted", {"escalation_id": "E1"}, actor)
    assert book.state.alert_count == 2
    assert list(book.state.escalations) == ["E1"]
    assert book.state.escalations["E1"].status == "open"


@pytest.mark.parametrize(
    "changed",
    [
        {"answer": "replan"},
        {"answer": "cancel"},
        {"parts": [{"type": "todo.cancelled", "todo_id": "T2", "version": 1, "reason": "seen"}]},
    ],
)
def test_parts_that_do_not_follow_do_nothing(changed: dict[str, Any]) -> None:
    book = raised()
    payload = {"escalation_id": "E1", "answer": "go_on", "reason": "seen", "parts": []}
    signed = signed_for(book.state, "E1", NOW)
    facts = Facts(OWNER, NOW, book.state.seq + 1, "e-1", signed, GOOD)
    fold.check(book.state, "escalation.answered", payload, facts)
    with pytest.raises(LoopxError):
        fold.check(book.state, "escalation.answered", payload | changed, facts)


def test_a_decision_is_about_the_escalation_as_it_was_seen() -> None:
    book = raised()
    payload = {"escalation_id": "E1", "answer": "go_on", "reason": "seen"}
    for signed in (signed_for(book.state, "T1", NOW), signed_for(book.state, "dark-mode", NOW)):
        facts = Facts(OWNER, NOW, book.state.seq + 1, "e-1", signed, GOOD)
        with pytest.raises(Conflict) as caught:
            fold.check(book.state, "escalation.answered", payload, facts)
        assert caught.value.code == "stale_decision"


def test_a_todo_that_ends_otherwise_takes_the_question_with_it() -> None:
    state = raised().do(CancelTodo(todo_id="T1", reason="no longer wanted"), OWNER)
    found = state.escalations["E1"]
    assert (found.status, found.by) == ("mooted", "huang")
    other = raised().do(CancelTodo(todo_id="T2", reason="no longer wanted"), OWNER)
    assert other.escalations["E1"].status == "open"
    book = raised()
    book.state = state
    refused(book, answer("go_on"), Conflict, "already_decided", actor=OWNER)


def judged(**values: Any) -> Judged:
    return Judged(Effort(), (), **{"cause": "capped", "detail": "x", **values})


def check_part(state: GoalState, part: dict[str, Any]) -> None:
    facts = Facts(CODEX, NOW, state.seq + 1, "e-1")
    values = escalation.Raised.model_validate({k: v for k, v in part.items() if k != "type"})
    escalation._check_raised(state, values, facts)


def test_the_end_of_a_turn_raises_one_on_its_todo_or_the_goal() -> None:
    state = raised().state
    assert raised_parts(state, judged(cause=None), turn_id="turn-0003", todo_id="T2") == []
    (part,) = raised_parts(state, judged(), turn_id="turn-0003", todo_id="T2")
    assert (part["escalation_id"], part["todo_id"]) == ("E2", "T2")
    check_part(state, part)
    (whole,) = raised_parts(state, judged(whole_goal=True), turn_id="turn-0003", todo_id="T2")
    assert "todo_id" not in whole
    check_part(state, whole)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"todo_id": "T1"}, "exists"),
        ({"escalation_id": "E3"}, "invalid_event"),
        ({"todo_id": "T9"}, "unknown_todo"),
        ({"detail": "a\nb"}, "invalid_value"),
    ],
)
def test_what_may_not_be_raised(changed: dict[str, Any], code: str) -> None:
    state = raised().state
    (part,) = raised_parts(state, judged(), turn_id="turn-0003", todo_id="T2")
    with pytest.raises(LoopxError) as caught:
        check_part(state, part | changed)
    assert caught.value.code == code


def test_nothing_that_ended_is_put_before_a_person() -> None:
    state = raised().do(CancelTodo(todo_id="T2", reason="no longer wanted"), OWNER)
    (part,) = raised_parts(state, judged(), turn_id="turn-0003", todo_id="T2")
    with pytest.raises(LoopxError):
        check_part(state, part)


def test_answered_ones_leave_in_time_and_open_ones_stay() -> None:
    book = raised()
    old = {
        f"E{number}": Escalation(
            id=f"E{number}", status="answered", cause="capped", detail="x", at=NOW, seq=1
        )
        for number in range(2, 2 * KEPT)
    }
    book.state = book.state.model_copy(
        update={
            "escalations": book.state.escalations | old,
            "next_escalation": 2 * KEPT,
        }
    )
    late = NOW + timedelta(hours=1)
    state = book.do(answer("go_on"), OWNER, late)
    assert len(state.escalations) == KEPT
    assert f"E{2 * KEPT - 1}" in state.escalations
    refused(book, answer("go_on", "E2"), Conflict, "already_decided", actor=OWNER)
    context = Context(OWNER, reading(NOW))
    with pytest.raises(UsageError):
        escalation.decide(state, answer("go_on", f"E{2 * KEPT}"), context)
