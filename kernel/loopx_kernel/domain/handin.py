"""Handing in: what was done on a todo so far, or that it is done."""

from __future__ import annotations

from typing import Any, TypeAlias

from loopx_kernel.domain.endings import ENDS, endings, refuse_finished
from loopx_kernel.domain.event import AGENT, OWNER, Context, Draft, EventType, Facts
from loopx_kernel.domain.handed_in import (
    Completed,
    HandedIn,
    Updated,
    files_in,
    parts_of,
    turn_with,
)
from loopx_kernel.domain.handin_rules import check_completed, check_updated
from loopx_kernel.domain.holding import must_hold, no_foreign_overlap
from loopx_kernel.domain.records import EvidenceRef, Todo
from loopx_kernel.domain.state import GoalState, is_live
from loopx_kernel.domain.turn_result import THIRD, results_in
from loopx_kernel.domain.verification import Results, Tests, said
from loopx_kernel.value import Value


class UpdateTodo(Value, kw_only=True):
    """Hand in what was done so far; with ``complete`` the todo is finished.

    ``evidence`` was read by ``observe``; ``proven`` says whether a machine could read the claimed
    test result in it. For a turn, ``results`` are those of the todo's acceptance items, run now,
    and ``result_digest`` is that of the repo's changes. Without one, ``high_risk`` names the
    rules, and actions without approval, that the work shows: with any, nothing is finished.
    """

    todo_id: str
    complete: bool = False
    evidence: tuple[EvidenceRef, ...] = ()
    tests: Tests | None = None
    proven: bool = False
    note: str = ""
    version: int | None = None
    epoch: int | None = None
    turn_id: str | None = None
    results: Results = ()
    result_digest: str | None = None
    high_risk: tuple[tuple[str, str], ...] = ()


class FinishHumanTodo(Value, kw_only=True):
    """A person finishes their own todo, with files that show it if there are any; signed."""

    todo_id: str
    reason: str
    evidence: tuple[EvidenceRef, ...] = ()


Command: TypeAlias = UpdateTodo | FinishHumanTodo


def decide(state: GoalState, command: Command, context: Context) -> Draft:
    """The event for a hand-in; raises when ``check`` would."""
    todo = state.todo(command.todo_id)
    if isinstance(command, UpdateTodo):
        return _decide_handed_in(state, todo, command, context)
    payload = {
        "todo_id": todo.id,
        "lease_epoch": todo.lease_epoch,
        "version": todo.version + 1,
        "reason": command.reason,
        "parts": endings(state, todo, finishes=True),
    }
    files = files_in(command.evidence) if command.evidence else {}
    return Draft("todo.completed", payload | files, todo.id)


def _decide_handed_in(state: GoalState, todo: Todo, command: UpdateTodo, context: Context) -> Draft:
    refuse_finished(todo)
    lease = must_hold(todo, context.actor.id, command.version, command.epoch)
    if not is_live(lease, context.reading):
        no_foreign_overlap(state, todo, context)
    payload = hand_in(todo, command)
    done = command.complete and not command.high_risk
    kind = Completed if done else Updated
    if command.high_risk:
        payload["high_risk"] = command.high_risk
    facts = Facts(context.actor, context.now, state.seq + 1, "")
    parts = parts_of(state, todo, kind.model_construct(**payload), facts, command.results)
    if parts or done:
        payload["parts"] = parts
    return Draft("todo.completed" if done else "todo.updated", payload, todo.id)


def hand_in(todo: Todo, command: UpdateTodo) -> dict[str, Any]:
    """What a hand-in says of the todo, as its line holds it."""
    return {
        "todo_id": todo.id,
        "lease_epoch": todo.lease_epoch,
        "version": todo.version + 1,
        **files_in(command.evidence),
        "tests": command.tests,
        "proven": command.proven,
        "note": command.note,
        "turn_id": command.turn_id,
        "result_digest": command.result_digest,
    }


def _with_turn(state: GoalState, payload: HandedIn, facts: Facts) -> GoalState:
    if payload.turn_id is None:
        return state
    return state.with_turn(turn_with(state, payload, facts, results_in(payload.parts)))


def _handed_in(todo: Todo, payload: HandedIn, facts: Facts) -> dict[str, Any]:
    lease = todo.lease
    return {
        "version": payload.version,
        "lease": lease and lease.model_copy(update={"version": payload.version, "seq": facts.seq}),
        "evidence": (*todo.evidence, *payload.evidence),
        "result_hash": payload.result_hash or todo.result_hash,
        "claimed_tests": said(payload.evidence, payload.tests) or todo.claimed_tests,
        "proven": payload.proven or (todo.proven and said(payload.evidence, payload.tests) is None),
        "changed_at": facts.at,
        "seq": facts.seq,
    }


def _evolve_updated(state: GoalState, payload: Updated, facts: Facts) -> GoalState:
    todo = state.todo(payload.todo_id)
    update = _handed_in(todo, payload, facts) | {"reason": payload.note or todo.reason}
    return _with_turn(state, payload, facts).with_todo(todo.model_copy(update=update))


def _evolve_completed(state: GoalState, payload: Completed, facts: Facts) -> GoalState:
    todo = state.todo(payload.todo_id)
    update = _handed_in(todo, payload, facts) | {
        "status": "done",
        "waiting_on": None,
        "resume_at": None,
        "reason": payload.reason or payload.note,
        "done_at": facts.at,
        "done_seq": facts.seq,
    }
    return _with_turn(state, payload, facts).with_todo(todo.model_copy(update=update))


_TURNS = THIRD | {"acceptance.ran"}
_GIVEN = frozenset({"lease_epoch", "version", "result_hash"})
EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType(
        "todo.updated",
        Updated,
        AGENT,
        check_updated,
        _evolve_updated,
        parts=_TURNS | {"todo.returned", "escalation.raised"},
    ),
    EventType(
        "todo.completed",
        Completed,
        AGENT | OWNER,
        check_completed,
        _evolve_completed,
        kernel_fields=_GIVEN,
        parts=ENDS | _TURNS,
    ),
)
