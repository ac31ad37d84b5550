"""Sources: what a goal reads decisions from. Attempts and successes are kept apart."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

from loopx_kernel.domain.endings import check_parts
from loopx_kernel.domain.event import CODE, Context, Draft, EventType, Facts
from loopx_kernel.domain.landing import awaiting, thaws
from loopx_kernel.domain.record import Count, Flag, Line, Name, Record, Seconds
from loopx_kernel.domain.records import ReadStatus, Source
from loopx_kernel.domain.rules import SourceRule, check_id
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Conflict, Denied, UsageError
from loopx_kernel.text import check_line
from loopx_kernel.value import Value


class AddSource(Value, kw_only=True):
    """Register a source; that says nothing about its health."""

    rule: SourceRule


class BindSource(Value, kw_only=True):
    """A provider is connected to the source."""

    source_id: str


class ReadSource(Value, kw_only=True):
    """One attempt to read a source, with the counts it reported."""

    source_id: str
    status: Literal["read", "no_change", "failed"]
    items: int | None = None
    unreadable: int | None = None
    pending: int | None = None


class SettleSource(Value, kw_only=True):
    """What was read is dealt with up to ``cursor``; ``pending`` of it are left, if told."""

    source_id: str
    cursor: str
    pending: int | None = None


class PauseSource(Value, kw_only=True):
    """Stop settling a source, or go on with it. Reading it goes on either way."""

    source_id: str
    paused: bool
    reason: str = ""


SourceCommand = AddSource | BindSource | ReadSource | SettleSource | PauseSource


class SourceAdded(Record):
    source_id: Name
    provider: Name
    required: Flag = False
    on_demand: Flag = False
    window_seconds: Seconds


class SourceBound(Record):
    source_id: Name


class SourceRead(Record):
    source_id: Name
    status: Literal["read", "no_change", "failed"]
    items: Count | None = None
    unreadable: Count | None = None
    pending: Count | None = None
    parts: tuple[dict[str, Any], ...] = ()


class SourceSettled(Record):
    source_id: Name
    cursor: Line
    pending: Count | None = None


class SourcePaused(Record):
    source_id: Name
    paused: Flag
    reason: Line = ""


def decide(state: GoalState, command: SourceCommand, context: Context) -> Draft:
    """The event for a source command; raises when ``check`` would."""
    match command:
        case AddSource(rule=rule):
            payload = rule.model_dump(exclude={"id"}) | {"source_id": rule.id}
            return Draft("source.added", payload, rule.id)
        case BindSource(source_id=source_id):
            return Draft("source.bound", {"source_id": source_id}, source_id)
        case ReadSource():
            parts = landing(state, command.source_id, command.status)
            return Draft("source.read", asdict(command) | {"parts": parts}, command.source_id)
        case SettleSource():
            return Draft("source.settled", asdict(command), command.source_id)
        case PauseSource():
            return Draft("source.paused", asdict(command), command.source_id)


def landing(
    state: GoalState, source_id: str, status: Literal["read", "no_change", "failed"]
) -> list[dict[str, Any]]:
    """The parts that put the todos which wait for a source back to open.

    What they wait for is that the source was read. That nothing changed, or that not all of it
    could be read, is an answer their worker goes on from; a failed attempt saw nothing.
    """
    return [] if status == "failed" else thaws(awaiting(state, "source", source_id))


def outcome(source: Source, payload: SourceRead) -> ReadStatus:
    """What an attempt amounts to. A success without counts is ``unverified``; any
    unreadable item makes it ``partially_unreadable``; a failure is never "no change",
    and "no change" says nothing better of the content than was said before."""
    if payload.status == "failed":
        return "failed"
    unchanged = payload.status == "no_change"
    items = source.item_count if unchanged else payload.items
    unreadable = source.unreadable_count if unchanged else payload.unreadable
    if items is None or unreadable is None:
        return "unverified"
    return "partially_unreadable" if unreadable > 0 else payload.status


def _check_added(state: GoalState, payload: SourceAdded, facts: Facts) -> None:
    check_id(payload.source_id, "a source")
    check_line(payload.provider, "provider")
    if payload.source_id in state.sources:
        raise Conflict(
            "exists",
            f"There is a source {payload.source_id} already",
            next="loopx source list",
            source_id=payload.source_id,
        )


def _evolve_added(state: GoalState, payload: SourceAdded, facts: Facts) -> GoalState:
    values = payload.model_dump(exclude={"source_id"})
    source = Source(id=payload.source_id, **values, seq=facts.seq)
    return state.with_source(source).model_copy(update={"registry_seq": facts.seq})


def _check_bound(state: GoalState, payload: SourceBound, facts: Facts) -> None:
    if state.source(payload.source_id).bound:
        raise Conflict(
            "exists",
            f"{payload.source_id} is bound already",
            next="loopx source list",
            source_id=payload.source_id,
        )


def _evolve_bound(state: GoalState, payload: SourceBound, facts: Facts) -> GoalState:
    source = state.source(payload.source_id)
    return state.with_source(source.model_copy(update={"bound": True, "seq": facts.seq}))


def _check_read(state: GoalState, payload: SourceRead, facts: Facts) -> None:
    source = state.source(payload.source_id)
    if not source.bound:
        raise Denied(
            "not_verified",
            f"{source.id} is not bound to its provider, so nothing can have read it",
            next=f"loopx source bind {source.id}",
            source_id=source.id,
        )
    if (payload.unreadable or 0) > (payload.items or 0):
        raise UsageError(
            "invalid_value",
            "More unreadable items than items",
            next=f"loopx source read {source.id} --status read --items 12 --unreadable 0",
            source_id=source.id,
        )
    check_parts(payload.parts, landing(state, source.id, payload.status))


def _evolve_read(state: GoalState, payload: SourceRead, facts: Facts) -> GoalState:
    source = state.source(payload.source_id)
    status = outcome(source, payload)
    update: dict[str, Any] = {"checked_at": facts.at, "read_status": status, "seq": facts.seq}
    update |= _waiting(source, payload.pending, facts)
    if status == "failed":
        update["failure_streak"] = source.failure_streak + 1
    else:
        update |= {"failure_streak": 0, "last_read_at": facts.at}
        if payload.status == "read":
            update |= {"item_count": payload.items, "unreadable_count": payload.unreadable}
        if status in ("read", "no_change"):
            update["last_success_at"] = facts.at
    return state.with_source(source.model_copy(update=update))


def _check_settled(state: GoalState, payload: SourceSettled, facts: Facts) -> None:
    """A cursor moves only where something was read, and never to look as if it had moved."""
    source = state.source(payload.source_id)
    check_line(payload.cursor, "cursor")
    if source.last_read_at is None:
        raise Denied(
            "not_verified",
            f"Nothing was read of {source.id} yet, so nothing of it can be settled",
            next=f"loopx source read {source.id} --status read --items 12 --unreadable 0",
            source_id=source.id,
        )
    if source.paused:
        raise UsageError(
            "illegal_transition",
            f"The queue of {source.id} is paused",
            next=f"loopx source resume {source.id}",
            source_id=source.id,
        )
    if payload.cursor == source.cursor:
        raise Conflict(
            "exists",
            f"The cursor of {source.id} stands there already",
            next="loopx source list",
            source_id=source.id,
        )
    if payload.pending is not None and payload.pending > (source.pending_count or 0):
        raise UsageError(
            "invalid_value",
            f"Settling leaves no more than the {source.pending_count or 0} that wait",
            next=f"loopx source read {source.id} --status read --items 12 --unreadable 0 "
            f"--pending {payload.pending}",
            source_id=source.id,
        )


def _evolve_settled(state: GoalState, payload: SourceSettled, facts: Facts) -> GoalState:
    # Its ``seq`` stays: dealing with what was read is no new look.
    source = state.source(payload.source_id)
    update: dict[str, Any] = {"cursor": payload.cursor, "cursor_moved_at": facts.at}
    update |= _waiting(source, payload.pending, facts)
    return state.with_source(source.model_copy(update=update))


def _waiting(source: Source, pending: int | None, facts: Facts) -> dict[str, Any]:
    """What is known of the queue after a report of it; without one, what was known before."""
    if pending is None:
        return {}
    since = source.pending_since if source.pending_count else facts.at
    return {"pending_count": pending, "pending_since": since if pending else None}


def _check_paused(state: GoalState, payload: SourcePaused, facts: Facts) -> None:
    source = state.source(payload.source_id)
    if payload.reason:
        check_line(payload.reason, "reason")
    if source.paused is payload.paused:
        raise Conflict(
            "exists",
            f"The queue of {source.id} is {'paused' if source.paused else 'not paused'}",
            next="loopx source list",
            source_id=source.id,
        )


def _evolve_paused(state: GoalState, payload: SourcePaused, facts: Facts) -> GoalState:
    source = state.source(payload.source_id)
    return state.with_source(source.model_copy(update={"paused": payload.paused}))


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType("source.added", SourceAdded, CODE, _check_added, _evolve_added),
    EventType("source.bound", SourceBound, CODE, _check_bound, _evolve_bound),
    EventType(
        "source.read",
        SourceRead,
        CODE,
        _check_read,
        _evolve_read,
        parts=frozenset({"todo.reopened"}),
    ),
    EventType("source.settled", SourceSettled, CODE, _check_settled, _evolve_settled),
    EventType("source.paused", SourcePaused, CODE, _check_paused, _evolve_paused),
)
