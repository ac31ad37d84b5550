"""Replanning: a duty to find another route, and its end.

A person asks for it; the named todos are not begun meanwhile, but work under way on them may
still be handed in. The replanning itself is a todo. An agent closes the duty by binding a
successor to each todo that is not finished by then.
"""

from __future__ import annotations

from collections import Counter
from textwrap import shorten
from typing import Any

from loopx_kernel.clock import Reading
from loopx_kernel.domain.cancel import cancelling, superseding
from loopx_kernel.domain.duties import obligation, open_obligation
from loopx_kernel.domain.endings import check_parts, refuse_finished
from loopx_kernel.domain.event import AGENT, OWNER, Context, Draft, EventType, Facts
from loopx_kernel.domain.objective import check_grounds
from loopx_kernel.domain.record import Line, Name, Record
from loopx_kernel.domain.records_of_work import Obligation
from loopx_kernel.domain.state import GoalState, is_live, open_obligations
from loopx_kernel.errors import Fenced, UsageError
from loopx_kernel.text import check_line
from loopx_kernel.value import Value

MOST_TODOS = 100
_TITLE = 300


class RequestReplan(Value, kw_only=True):
    """The route of these todos (or of the goal) is no longer good; signed."""

    reason: str
    facts: tuple[str, ...] = ()
    todo_ids: tuple[str, ...] = ()


class WithdrawReplan(Value, kw_only=True):
    """The old route is good after all; signed."""

    obligation_id: str
    reason: str = ""


class FulfilReplan(Value, kw_only=True):
    """The new route: pairs of a todo and its successor."""

    obligation_id: str
    supersede: tuple[tuple[str, str], ...] = ()
    reason: str = ""


class Bound(Record):
    todo_id: Name
    by: Name


class Requested(Record):
    obligation_id: Name
    reason: Line
    facts: tuple[Line, ...] = ()
    todo_ids: tuple[Name, ...] = ()
    parts: tuple[dict[str, Any], ...] = ()


class Withdrawn(Record):
    obligation_id: Name
    reason: Line = ""
    parts: tuple[dict[str, Any], ...] = ()


class Fulfilled(Withdrawn):
    supersede: tuple[Bound, ...] = ()


def decide(
    state: GoalState, command: RequestReplan | WithdrawReplan | FulfilReplan, context: Context
) -> Draft:
    """The event for a replan command; raises when ``check`` would."""
    if isinstance(command, RequestReplan):
        payload = requesting(state, command.reason, command.facts, command.todo_ids)
        return Draft(payload.pop("type"), payload, state.goal_id)
    duty = obligation(state, command.obligation_id)
    payload = {"obligation_id": duty.id, "reason": command.reason}
    if isinstance(command, WithdrawReplan):
        parts = _withdrawing(state, duty, command.reason)
        return Draft("replan.withdrawn", payload | {"parts": parts}, duty.id)
    parts = _binding(state, duty, command.supersede, command.reason)
    pairs = [{"todo_id": old, "by": new} for old, new in command.supersede]
    return Draft("replan.fulfilled", payload | {"supersede": pairs, "parts": parts}, duty.id)


def requesting(
    state: GoalState, reason: str, facts: tuple[str, ...], todo_ids: tuple[str, ...]
) -> dict[str, Any]:
    """The part that opens a duty to replan, with the todo in which that is done."""
    return {
        "type": "replan.requested",
        "obligation_id": f"O{state.next_obligation}",
        "reason": reason,
        "facts": list(facts),
        "todo_ids": list(todo_ids),
        "parts": [_replan_todo(state, reason, todo_ids)],
    }


def _replan_todo(state: GoalState, reason: str, todo_ids: tuple[str, ...]) -> dict[str, Any]:
    what = ", ".join(todo_ids) or "the goal"
    if len(todo_ids) > 3:
        what = f"{len(todo_ids)} todos from {todo_ids[0]} on"
    return {
        "type": "todo.added",
        "todo_id": f"T{state.next_todo}",
        "title": shorten(f"Replan {what}: {reason}", _TITLE, placeholder=" …"),
        "kind": "replan",
        "priority": "P0",
        "lineage_todo_ids": list(todo_ids),
    }


def _withdrawing(state: GoalState, duty: Obligation, reason: str) -> list[dict[str, Any]]:
    if state.is_finished(duty.replan_todo):
        return []
    return [cancelling(state, duty.replan_todo, reason or f"{duty.id} was withdrawn")]


def _binding(
    state: GoalState, duty: Obligation, pairs: tuple[tuple[str, str], ...], reason: str
) -> list[dict[str, Any]]:
    return superseding(state, pairs, reason or duty.reason)


def _check_requested(state: GoalState, payload: Requested, facts: Facts) -> None:
    expected = f"O{state.next_obligation}"
    if payload.obligation_id != expected:
        raise UsageError(
            "invalid_event",
            f"The next obligation is {expected}, not {payload.obligation_id}",
            next="loopx replan list",
        )
    check_grounds(payload.reason, payload.facts)
    _refuse_repeated(payload.todo_ids)
    replans = {duty.replan_todo: duty.id for duty in open_obligations(state)}
    for ref in payload.todo_ids:
        refuse_finished(state.todo(ref))
        if ref in replans:
            raise UsageError(
                "illegal_transition",
                f"{ref} is a replanning itself, of {replans[ref]}",
                next=f"loopx replan withdraw {replans[ref]}",
                todo_id=ref,
                obligation_id=replans[ref],
            )
    check_parts(payload.parts, [_replan_todo(state, payload.reason, payload.todo_ids)])


def _refuse_repeated(todo_ids: tuple[str, ...]) -> None:
    twice = [ref for ref, count in Counter(todo_ids).items() if count > 1]
    if twice or len(todo_ids) > MOST_TODOS:
        raise UsageError(
            "invalid_value",
            f"{twice[0]} is named twice" if twice else f"At most {MOST_TODOS} todos are named",
            next="loopx replan list",
            todo_ids=list(todo_ids),
        )


def _check_withdrawn(state: GoalState, payload: Withdrawn, facts: Facts) -> None:
    duty = open_obligation(state, payload.obligation_id)
    if payload.reason:
        check_line(payload.reason, "reason")
    check_parts(payload.parts, _withdrawing(state, duty, payload.reason))


def _check_fulfilled(state: GoalState, payload: Fulfilled, facts: Facts) -> None:
    duty = open_obligation(state, payload.obligation_id)
    _refuse_other_holder(state, duty, facts)
    if payload.reason:
        check_line(payload.reason, "reason")
    pairs = tuple((one.todo_id, one.by) for one in payload.supersede)
    bound = tuple(old for old, _ in pairs)
    _refuse_repeated(bound)
    strangers = [ref for ref in bound if ref not in duty.todo_ids]
    if strangers:
        raise UsageError(
            "invalid_value",
            f"{duty.id} does not name {strangers[0]}",
            next=f"loopx propose supersede {strangers[0]} --by T{state.next_todo} --reason 'why'",
            todo_id=strangers[0],
            obligation_id=duty.id,
        )
    _refuse_unbound(state, duty, bound)
    check_parts(payload.parts, _binding(state, duty, pairs, payload.reason))


def _refuse_other_holder(state: GoalState, duty: Obligation, facts: Facts) -> None:
    todo = state.todos.get(duty.replan_todo)
    lease = todo.lease if todo is not None else None
    if lease is None or lease.owner == facts.actor.id or not is_live(lease, Reading(facts.at)):
        return
    raise Fenced(
        "not_holder",
        f"{duty.replan_todo}, the replanning of {duty.id}, is held by {lease.owner}",
        next="loopx lease list",
        todo_id=duty.replan_todo,
        holder=lease.owner,
    )


def _refuse_unbound(state: GoalState, duty: Obligation, bound: tuple[str, ...]) -> None:
    """Each named todo must have a successor or be finished; a duty that names none needs work
    that comes from its replanning."""
    left = [ref for ref in duty.todo_ids if ref not in bound and not state.is_finished(ref)]
    origin = left[0] if left else duty.replan_todo
    if not left and (duty.todo_ids or _has_work_from(state, origin)):
        return
    what = ", ".join(left) + " without a successor" if left else "the goal without new work"
    options = " ".join(f"--supersede {ref}:T{state.next_todo}" for ref in left)
    raise UsageError(
        "illegal_transition",
        f"{duty.id} would leave {what}; add work with --lineage {origin} first",
        next=f"loopx replan fulfil {duty.id} {options}".strip(),
        obligation_id=duty.id,
        todo_ids=left,
    )


def _has_work_from(state: GoalState, origin: str) -> bool:
    return any(origin in todo.lineage_todo_ids for todo in state.todos.values())


def _evolve_requested(state: GoalState, payload: Requested, facts: Facts) -> GoalState:
    duty = Obligation(
        id=payload.obligation_id,
        reason=payload.reason,
        facts=payload.facts,
        todo_ids=payload.todo_ids,
        replan_todo=f"T{state.next_todo}",
        by=facts.actor.id,
        at=facts.at,
        seq=facts.seq,
    )
    # The goal's own version moves, so that the same line copied to a later place does nothing.
    moved = {"next_obligation": state.next_obligation + 1, "goal_seq": facts.seq}
    return state.with_obligation(duty).model_copy(update=moved)


def _closed_as(status: str) -> Any:
    def evolve(state: GoalState, payload: Withdrawn, facts: Facts) -> GoalState:
        duty = obligation(state, payload.obligation_id)
        update = {
            "status": status,
            "closed_by": facts.actor.id,
            "closed_at": facts.at,
            "seq": facts.seq,
        }
        return state.with_obligation(duty.model_copy(update=update))

    return evolve


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType(
        "replan.requested",
        Requested,
        OWNER,
        _check_requested,
        _evolve_requested,
        kernel_fields=frozenset({"obligation_id"}),
        parts=frozenset({"todo.added"}),
    ),
    EventType(
        "replan.withdrawn",
        Withdrawn,
        OWNER,
        _check_withdrawn,
        _closed_as("withdrawn"),
        parts=frozenset({"todo.cancelled"}),
    ),
    EventType(
        "replan.fulfilled",
        Fulfilled,
        AGENT,
        _check_fulfilled,
        _closed_as("fulfilled"),
        parts=frozenset({"todo.superseded"}),
    ),
)
