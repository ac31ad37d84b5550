"""Todos: adding work, handing in results, and setting work aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from loopx_kernel.clock import Reading
from loopx_kernel.domain.canonical import digest
from loopx_kernel.domain.endings import ENDS, check_parts, endings, refuse_finished
from loopx_kernel.domain.event import AGENT, OWNER, Context, Draft, EventType, Facts
from loopx_kernel.domain.holding import (
    check_epoch,
    check_next_version,
    must_hold,
    no_foreign_overlap,
    no_overlap,
)
from loopx_kernel.domain.record import Count, Flag, Hex, Line, Name, Record, Time
from loopx_kernel.domain.records import (
    EvidenceRef,
    Origin,
    Priority,
    Role,
    Todo,
    TodoKind,
)
from loopx_kernel.domain.scope import check_scope
from loopx_kernel.domain.state import GoalState, is_live
from loopx_kernel.errors import Denied, UsageError
from loopx_kernel.text import check_line

Tests = Literal["passed", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddTodo:
    """New work, with where it comes from."""

    title: str
    role: Role = "agent"
    kind: TodoKind = "work"
    priority: Priority = "P2"
    write_scope: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    acceptance: tuple[str, ...] = ()
    lineage: tuple[str, ...] = ()
    requires_statement: bool = False
    resume_at: datetime | None = None
    next_check_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateTodo:
    """Hand in what was done so far; with ``complete`` the todo is finished.

    ``evidence`` was read by ``observe``; ``proven`` says whether a machine
    could read the claimed test result in it.
    """

    todo_id: str
    complete: bool = False
    evidence: tuple[EvidenceRef, ...] = ()
    tests: Tests | None = None
    proven: bool = False
    note: str = ""
    version: int | None = None
    epoch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishHumanTodo:
    """A person finishes their own todo; signed."""

    todo_id: str
    reason: str


Command: TypeAlias = AddTodo | UpdateTodo | FinishHumanTodo


class Added(Record):
    todo_id: Name
    title: Line
    role: Role = "agent"
    kind: TodoKind = "work"
    priority: Priority = "P2"
    write_scope: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    acceptance: tuple[str, ...] = ()
    lineage_todo_ids: tuple[str, ...] = ()
    requires_statement: Flag = False
    resume_at: Time | None = None
    next_check_at: Time | None = None


class HandedIn(Record):
    todo_id: Name
    lease_epoch: Count
    result_hash: Hex | None = None
    version: Count
    evidence: tuple[EvidenceRef, ...] = ()
    tests: Tests | None = None
    proven: Flag = False
    note: Line = ""


class Completed(HandedIn):
    reason: Line = ""
    parts: tuple[dict[str, Any], ...] = ()


def decide(state: GoalState, command: Command, context: Context) -> Draft:
    """The event for a todo command; raises when ``check`` would."""
    match command:
        case AddTodo():
            return _decide_added(state, command)
        case UpdateTodo():
            return _decide_handed_in(state, command, context)
        case FinishHumanTodo():
            todo = state.todo(command.todo_id)
            payload = {
                "todo_id": todo.id,
                "lease_epoch": todo.lease_epoch,
                "version": todo.version + 1,
                "reason": command.reason,
                "parts": endings(state, todo, finishes=True),
            }
            return Draft("todo.completed", payload, todo.id)


def _decide_added(state: GoalState, command: AddTodo) -> Draft:
    values = asdict(command)
    values["lineage_todo_ids"] = values.pop("lineage")
    todo_id = f"T{state.next_todo}"
    return Draft("todo.added", {"todo_id": todo_id, **values}, todo_id)


def _decide_handed_in(state: GoalState, command: UpdateTodo, context: Context) -> Draft:
    todo = state.todo(command.todo_id)
    refuse_finished(todo)
    lease = must_hold(todo, context.actor.id, command.version, command.epoch)
    if not is_live(lease, context.reading):
        no_foreign_overlap(state, todo, context)
    payload: dict[str, Any] = {
        "todo_id": todo.id,
        "lease_epoch": todo.lease_epoch,
        "version": todo.version + 1,
        "evidence": [e.model_dump(mode="json") for e in command.evidence],
        "result_hash": _result_hash(command.evidence),
        "tests": command.tests,
        "proven": command.proven,
        "note": command.note,
    }
    if not command.complete:
        return Draft("todo.updated", payload, todo.id)
    payload["parts"] = endings(state, todo, finishes=True)
    return Draft("todo.completed", payload, todo.id)


def _result_hash(evidence: Sequence[EvidenceRef]) -> str | None:
    files = [{"path": e.path, "sha256": e.sha256} for e in evidence]
    return digest(files) if files else None


def _known(state: GoalState, ids: Sequence[str], code: str, what: str) -> None:
    for ref in ids:
        if ref not in state.todos:
            raise UsageError(
                code,
                f"{what} names {ref}, which is not a todo of {state.goal_id}",
                next=f"loopx todo list --goal {state.goal_id} --all",
                todo_id=ref,
            )


def _check_added(state: GoalState, payload: Added, facts: Facts) -> None:
    expected = f"T{state.next_todo}"
    if payload.todo_id != expected:
        raise UsageError(
            "invalid_event",
            f"The next todo is {expected}, not {payload.todo_id}",
            next="loopx todo list --all",
            todo_id=payload.todo_id,
        )
    check_line(payload.title, "title")
    for scope in payload.write_scope:
        check_scope(scope)
    _known(state, payload.depends_on, "unknown_todo", "--depends-on")
    _known(state, payload.lineage_todo_ids, "lineage_invalid", "--lineage")
    known_items = {item.id for item in state.the_rules.acceptance}
    for item in payload.acceptance:
        if item not in known_items:
            raise UsageError(
                "invalid_value",
                f"{item!r} is not an acceptance item of {state.goal_id}",
                next=f"loopx goal show --goal {state.goal_id}",
                item=item,
            )


def _evolve_added(state: GoalState, payload: Added, facts: Facts) -> GoalState:
    values = payload.model_dump(exclude={"todo_id"})
    todo = Todo(
        id=payload.todo_id,
        **values,
        origin=Origin(
            actor_kind=facts.actor.kind, actor_agent_id=facts.actor.id, event_id=facts.event_id
        ),
        status="deferred" if payload.resume_at else "open",
        added_at=facts.at,
        changed_at=facts.at,
        seq=facts.seq,
    )
    return state.with_todo(todo).model_copy(update={"next_todo": state.next_todo + 1})


def _check_given(todo: Todo, payload: HandedIn) -> None:
    """What the kernel gives is in no signature, so it must follow from what is."""
    says_so = any(e.result is not None and e.result == payload.tests for e in payload.evidence)
    if payload.result_hash != _result_hash(payload.evidence) or (payload.proven and not says_so):
        raise UsageError(
            "invalid_event",
            f"The result of {todo.id} does not follow from its evidence",
            next="loopx event verify",
            todo_id=todo.id,
        )


def _check_handed_in(state: GoalState, payload: HandedIn, facts: Facts) -> None:
    todo = state.todo(payload.todo_id)
    refuse_finished(todo)
    lease = must_hold(todo, facts.actor.id, payload.version - 1, payload.lease_epoch)
    reading = Reading(facts.at)
    if not is_live(lease, reading):
        no_overlap(state, todo, reading)
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


def _check_completed(state: GoalState, payload: Completed, facts: Facts) -> None:
    todo = state.todo(payload.todo_id)
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
        _check_handed_in(state, payload, facts)
        if payload.tests == "failed":
            raise Denied(
                "not_verified",
                f"{todo.id} cannot be done while its tests failed",
                next=f"loopx todo update {todo.id} --tests failed",
                todo_id=todo.id,
            )
        if todo.requires_statement and not (payload.proven and payload.tests == "passed"):
            raise Denied(
                "missing_evidence",
                f"{todo.id} is done only with a machine-readable report that says passed",
                next=f"loopx todo complete {todo.id} --evidence REPORT.xml --tests passed",
                todo_id=todo.id,
            )
    check_parts(payload.parts, endings(state, todo, finishes=True))


def _handed_in(todo: Todo, payload: HandedIn, facts: Facts) -> dict[str, Any]:
    lease = todo.lease
    return {
        "version": payload.version,
        "lease": lease and lease.model_copy(update={"version": payload.version, "seq": facts.seq}),
        "evidence": (*todo.evidence, *payload.evidence),
        "result_hash": payload.result_hash or todo.result_hash,
        "claimed_tests": payload.tests or todo.claimed_tests,
        "proven": payload.proven or (todo.proven and payload.tests is None),
        "changed_at": facts.at,
        "seq": facts.seq,
    }


def _evolve_updated(state: GoalState, payload: HandedIn, facts: Facts) -> GoalState:
    todo = state.todo(payload.todo_id)
    update = _handed_in(todo, payload, facts) | {"reason": payload.note or todo.reason}
    return state.with_todo(todo.model_copy(update=update))


def _evolve_completed(state: GoalState, payload: Completed, facts: Facts) -> GoalState:
    todo = state.todo(payload.todo_id)
    update = _handed_in(todo, payload, facts) | {
        "status": "done",
        "waiting_on": None,
        "resume_at": None,
        "reason": payload.reason or payload.note,
    }
    return state.with_todo(todo.model_copy(update=update))


_GIVEN = frozenset({"lease_epoch", "version", "result_hash"})
EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType("todo.added", Added, AGENT, _check_added, _evolve_added),
    EventType("todo.updated", HandedIn, AGENT, _check_handed_in, _evolve_updated),
    EventType(
        "todo.completed",
        Completed,
        AGENT | OWNER,
        _check_completed,
        _evolve_completed,
        kernel_fields=_GIVEN,
        parts=ENDS,
    ),
)
