"""Escalations: work is taken out of the loop, and a person says how it goes on."""

from __future__ import annotations

import re
from typing import Any, Literal

from loopx_kernel.clock import format_time
from loopx_kernel.domain.cancel import cancelling
from loopx_kernel.domain.effort import Judged
from loopx_kernel.domain.endings import check_parts, refuse_finished
from loopx_kernel.domain.event import AGENT, CODE, OWNER, Context, Draft, EventType, Facts
from loopx_kernel.domain.record import Line, Name, Record
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.records_of_work import Cause, Effort, Escalation
from loopx_kernel.domain.replan import requesting
from loopx_kernel.domain.state import GoalState, open_escalations
from loopx_kernel.errors import Conflict, UsageError
from loopx_kernel.text import check_line
from loopx_kernel.value import Value

Answer = Literal["go_on", "replan", "cancel"]
_ID = re.compile(r"E[1-9][0-9]{0,15}")
DETAIL = 500
"""The longest detail, in characters."""


class AnswerEscalation(Value, kw_only=True):
    """A person's answer: go on with a new allowance, replan the todo, or cancel it."""

    escalation_id: str
    answer: Answer
    reason: str


class Raised(Record):
    escalation_id: Name
    cause: Cause
    todo_id: Name | None = None
    turn_id: Name | None = None
    detail: Line


class Answered(Record):
    escalation_id: Name
    answer: Answer
    reason: Line
    parts: tuple[dict[str, Any], ...] = ()


class Mooted(Record):
    escalation_id: Name


def raised_parts(
    state: GoalState, judged: Judged, *, turn_id: str, todo_id: str
) -> list[dict[str, Any]]:
    """The part that the end of a turn carries where it must be shown to a person; else nothing."""
    if judged.cause is None:
        return []
    part = _raising(state, judged.cause, judged.detail) | {"turn_id": turn_id}
    return [part if judged.whole_goal else part | {"todo_id": todo_id}]


def stopped_parts(state: GoalState, todo: Todo, cause: Cause, detail: str) -> list[dict[str, Any]]:
    """The parts of a hand-in outside a turn that must be shown to a person before it can be a
    success: its todo is given back, and they are asked unless they were already."""
    back = {"type": "todo.returned", "todo_id": todo.id}
    if open_escalations(state, todo.id):
        return [back]
    return [back, _raising(state, cause, detail) | {"todo_id": todo.id}]


def _raising(state: GoalState, cause: Cause, detail: str) -> dict[str, Any]:
    return {
        "type": "escalation.raised",
        "escalation_id": f"E{state.next_escalation}",
        "cause": cause,
        "detail": detail,
    }


def decide(state: GoalState, command: AnswerEscalation, context: Context) -> Draft:
    """The event of a person's answer. Raises ``unknown_escalation``, ``already_decided``,
    ``illegal_transition``."""
    escalation = find(state, command.escalation_id)
    payload = {
        "escalation_id": escalation.id,
        "answer": command.answer,
        "reason": command.reason,
        "parts": _parts(state, escalation, command.answer, command.reason),
    }
    return Draft("escalation.answered", payload, escalation.id)


def find(state: GoalState, escalation_id: str) -> Escalation:
    """The escalation, or ``unknown_escalation``; ``already_decided`` for one of long ago."""
    found = state.escalations.get(escalation_id)
    if found is not None:
        return found
    if _ID.fullmatch(escalation_id) and int(escalation_id[1:]) < state.next_escalation:
        raise Conflict(
            "already_decided",
            f"{escalation_id} was answered long ago",
            next=f"loopx event list --about {escalation_id}",
            escalation_id=escalation_id,
        )
    raise UsageError(
        "unknown_escalation",
        f"There is no escalation {escalation_id} in {state.goal_id}",
        next=f"loopx escalation list --goal {state.goal_id}",
        escalation_id=escalation_id,
    )


def _parts(
    state: GoalState, escalation: Escalation, answer: Answer, reason: str
) -> list[dict[str, Any]]:
    """What follows from an answer: a duty to replan, or the end of the todo."""
    if escalation.status != "open" or answer == "go_on":
        return []
    named = (escalation.todo_id,) if escalation.todo_id else ()
    if answer == "replan":
        return [requesting(state, reason, (f"{escalation.id}: {escalation.detail}",), named)]
    # The answer itself is what closes this escalation; nothing moots it.
    answered = state.with_escalation(escalation.model_copy(update={"status": "answered"}))
    return [cancelling(answered, ref, reason) for ref in named]


def _check_raised(state: GoalState, payload: Raised, facts: Facts) -> None:
    if payload.escalation_id != f"E{state.next_escalation}":
        raise UsageError(
            "invalid_event",
            f"The next escalation is E{state.next_escalation}, not {payload.escalation_id}",
            next="loopx escalation list",
        )
    if payload.todo_id is not None:
        refuse_finished(state.todo(payload.todo_id))
    check_line(payload.detail, "detail", limit=DETAIL)
    for one in open_escalations(state):
        if one.todo_id == payload.todo_id:
            raise Conflict(
                "exists",
                f"{one.id} waits for an answer already",
                next=f"loopx escalation list --goal {state.goal_id}",
                escalation_id=one.id,
            )


def _evolve_raised(state: GoalState, payload: Raised, facts: Facts) -> GoalState:
    escalation = Escalation(
        id=payload.escalation_id,
        cause=payload.cause,
        todo_id=payload.todo_id,
        turn_id=payload.turn_id,
        detail=payload.detail,
        at=facts.at,
        seq=facts.seq,
    )
    raised = state.with_escalation(escalation)
    return raised.model_copy(update={"next_escalation": state.next_escalation + 1})


def _check_answered(state: GoalState, payload: Answered, facts: Facts) -> None:
    escalation = find(state, payload.escalation_id)
    _require_open(escalation)
    check_line(payload.reason, "reason")
    if payload.answer == "cancel" and escalation.todo_id is None:
        raise UsageError(
            "illegal_transition",
            f"{escalation.id} is about the whole goal, which is not cancelled but retired",
            next=f"loopx goal retire --goal {state.goal_id} --reason 'why'",
            escalation_id=escalation.id,
        )
    check_parts(payload.parts, _parts(state, escalation, payload.answer, payload.reason))


def _require_open(escalation: Escalation) -> None:
    if escalation.status == "open":
        return
    at = format_time(escalation.answered_at) if escalation.answered_at else None
    what = (escalation.answer or escalation.status).replace("_", " ")
    raise Conflict(
        "already_decided",
        f"{escalation.id} was closed by {escalation.by} at {at}: {what}",
        next="loopx escalation list",
        escalation_id=escalation.id,
        answer=escalation.answer,
        by=escalation.by,
        at=at,
    )


def _evolve_answered(state: GoalState, payload: Answered, facts: Facts) -> GoalState:
    escalation = find(state, payload.escalation_id)
    update = {
        "status": "answered",
        "answer": payload.answer,
        "by": facts.verdict.signer or facts.actor.id,
        "reason": payload.reason,
        "answered_at": facts.at,
        "seq": facts.seq,
    }
    return _with_new_allowance(
        state.with_escalation(escalation.model_copy(update=update)), escalation
    )


def _with_new_allowance(state: GoalState, escalation: Escalation) -> GoalState:
    """Whatever the answer, what led to the question is not counted a second time."""
    if escalation.todo_id is None:
        return state.model_copy(update={"failures": ()})
    todo = state.todo(escalation.todo_id)
    return state.with_todo(todo.model_copy(update={"effort": Effort()}))


def _check_mooted(state: GoalState, payload: Mooted, facts: Facts) -> None:
    _require_open(find(state, payload.escalation_id))


def _evolve_mooted(state: GoalState, payload: Mooted, facts: Facts) -> GoalState:
    escalation = find(state, payload.escalation_id)
    update = {
        "status": "mooted",
        "by": facts.actor.id,
        "answered_at": facts.at,
        "seq": facts.seq,
    }
    return state.with_escalation(escalation.model_copy(update=update))


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType(
        "escalation.raised", Raised, AGENT | CODE, _check_raised, _evolve_raised, part_only=True
    ),
    EventType(
        "escalation.answered",
        Answered,
        OWNER,
        _check_answered,
        _evolve_answered,
        parts=frozenset({"replan.requested", "todo.cancelled"}),
    ),
    EventType(
        "escalation.mooted", Mooted, AGENT | OWNER, _check_mooted, _evolve_mooted, part_only=True
    ),
)
