"""What a hand-in must keep to: the rules that its line passes before it is appended and at every
reading."""

from __future__ import annotations

from loopx_kernel.clock import Reading
from loopx_kernel.domain.effort import before_success
from loopx_kernel.domain.endings import check_parts, refuse_finished, refuse_unfulfilled
from loopx_kernel.domain.event import Facts
from loopx_kernel.domain.handed_in import (
    Completed,
    HandedIn,
    Updated,
    parts_of,
    result_hash,
    turn_with,
)
from loopx_kernel.domain.holding import check_epoch, check_next_version, must_hold, no_overlap
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.state import GoalState, is_live
from loopx_kernel.domain.turn_result import covers, results_in
from loopx_kernel.domain.verification import Results, fault, least_confidence, said
from loopx_kernel.errors import Denied, UsageError
from loopx_kernel.text import check_line


def _check_turn(
    state: GoalState, todo: Todo, payload: HandedIn, facts: Facts, results: Results
) -> None:
    if payload.turn_id is None:
        return
    turn = turn_with(state, payload, facts, results)
    if (turn.todo_id, turn.lease_epoch) != (todo.id, todo.lease_epoch):
        raise UsageError(
            "illegal_transition",
            f"{turn.id} is on {turn.todo_id} in epoch {turn.lease_epoch}, not on this",
            next=f"loopx turn show {turn.id}",
            turn=turn.id,
            todo_id=todo.id,
        )
    doubt = before_success(state, todo, confidence=least_confidence(results), high_risk=())
    wrong = (doubt.detail if doubt else "") or fault(
        todo,
        turn.outcome or "progress",
        evidence=payload.evidence,
        tests=payload.tests,
        proven=payload.proven,
        results=results,
    )
    if wrong or not covers(results, todo):
        raise Denied(
            "not_verified",
            f"{todo.id} is not done: {wrong or 'other acceptance items were run than it has'}",
            next=f"loopx turn settle --turn {turn.id} --outcome failed",
            todo_id=todo.id,
            turn=turn.id,
        )
    if turn.outcome == "done" and not turn.verified:
        raise Denied(
            "missing_evidence",
            f"{todo.id} is done in {turn.id} only with evidence",
            next=f"loopx todo complete {todo.id} --turn {turn.id} --evidence report.xml",
            todo_id=todo.id,
            turn=turn.id,
        )


def _check_given(todo: Todo, payload: HandedIn) -> None:
    """What the kernel gives is in no signature, so it must follow from what is."""
    says_so = any(e.result is not None and e.result == payload.tests for e in payload.evidence)
    if payload.result_hash != result_hash(payload.evidence) or (payload.proven and not says_so):
        raise UsageError(
            "invalid_event",
            f"The result of {todo.id} does not follow from its evidence",
            next="loopx event verify",
            todo_id=todo.id,
        )


def check_updated(state: GoalState, payload: Updated, facts: Facts) -> None:
    """All that can be wrong with a hand-in that finishes nothing, each with its own code."""
    if payload.high_risk and payload.turn_id is not None:
        raise UsageError("invalid_event", "Only its receipt puts a turn before a person")
    todo, results = state.todo(payload.todo_id), results_in(payload.parts)
    _check_handed_in(state, todo, payload, facts)
    _refuse_nothing(state, todo, payload, facts, results)
    _check_turn(state, todo, payload, facts, results)
    check_parts(payload.parts or (), parts_of(state, todo, payload, facts, results))


def _refuse_nothing(
    state: GoalState, todo: Todo, payload: Updated, facts: Facts, results: Results
) -> None:
    """What says nothing of the work must not count as a change of it, but in a turn's receipt."""
    if payload.evidence or payload.tests or payload.note or payload.high_risk or results:
        return
    if any(turn.seq == facts.seq for turn in state.turns.values()):  # its receipt says it
        return
    raise UsageError(
        "nothing_to_do",
        f"Nothing of {todo.id} is handed in: no evidence, no test result and no note",
        next=f"loopx todo update {todo.id} --note 'what was done so far'",
        todo_id=todo.id,
    )


def _check_handed_in(state: GoalState, todo: Todo, payload: HandedIn, facts: Facts) -> None:
    refuse_finished(todo)
    lease = must_hold(todo, facts.actor.id, payload.version - 1, payload.lease_epoch)
    # A time before that of earlier lines must not make a lease live that had run out.
    if not is_live(lease, Reading(state.not_before(facts.at))):
        no_overlap(state, todo, Reading(facts.at))
    contradicted = payload.tests == "passed" and any(e.result == "failed" for e in payload.evidence)
    if contradicted:
        raise Denied(
            "evidence_mismatch",
            f"{todo.id} is handed in as passed, but its evidence says failed",
            next="hand in what the report says: --tests failed",
            todo_id=todo.id,
        )
    _check_given(todo, payload)
    if payload.note:
        check_line(payload.note, "note", limit=2000)


def check_completed(state: GoalState, payload: Completed, facts: Facts) -> None:
    """All that can be wrong with a hand-in that finishes a todo, by its worker or a person."""
    todo, results = state.todo(payload.todo_id), results_in(payload.parts)
    if facts.actor.kind == "owner":
        refuse_finished(todo)
        check_line(payload.reason, "reason")
        check_next_version(todo, payload.version)
        check_epoch(todo, payload.lease_epoch)
        _check_given(todo, payload)
        if todo.role != "human":
            raise UsageError(
                "illegal_transition",
                f"{todo.id} is an agent's todo; its worker hands it in",
                next=f"loopx todo show {todo.id}",
                todo_id=todo.id,
            )
    else:
        if payload.reason:
            raise UsageError("invalid_event", f"{todo.id} is finished with a note, not a reason")
        _check_handed_in(state, todo, payload, facts)
        refuse_unfulfilled(state, todo)
        _check_turn(state, todo, payload, facts, results)
        if (said(payload.evidence, payload.tests) or todo.claimed_tests) == "failed":
            raise Denied(
                "not_verified",
                f"{todo.id} cannot be done while its tests failed",
                next=f"loopx todo complete {todo.id} --evidence report.xml --tests passed",
                todo_id=todo.id,
            )
        if todo.requires_statement and not (payload.proven and payload.tests == "passed"):
            raise Denied(
                "missing_evidence",
                f"{todo.id} is done only with a machine-readable report that says passed",
                next=f"loopx todo complete {todo.id} --evidence report.xml --tests passed",
                todo_id=todo.id,
            )
    check_parts(payload.parts, parts_of(state, todo, payload, facts, results))
