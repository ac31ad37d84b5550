"""Leases: claiming, renewing and releasing time-limited ownership of a todo."""

from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import Field

from loopx_kernel.clock import Reading
from loopx_kernel.domain.event import AGENT, OWNER, Context, Draft, EventType, Facts
from loopx_kernel.domain.holding import (
    check_next_version,
    ended,
    must_hold,
    no_foreign_overlap,
    no_overlap,
    version_mismatch,
)
from loopx_kernel.domain.record import Count, Int, Name, Record, Time
from loopx_kernel.domain.records import Lease, Todo
from loopx_kernel.domain.state import GoalState, is_live, ran_out_by_wall_clock
from loopx_kernel.domain.taking import check_active, check_may_work, held
from loopx_kernel.errors import Fenced, UsageError
from loopx_kernel.value import Value

LONGEST_SECONDS = 86400


class ClaimTodo(Value, kw_only=True):
    """Take a todo; ``expect_version`` is the one the caller read."""

    todo_id: str
    expect_version: int | None = None
    ttl_seconds: int | None = None


class RenewLease(Value, kw_only=True):
    """Hold on to a todo for another lease length."""

    todo_id: str
    version: int
    epoch: int
    ttl_seconds: int | None = None


class ReleaseLease(Value, kw_only=True):
    """Give a todo back."""

    todo_id: str
    version: int
    epoch: int


class ClockFacts(Record):
    """The clocks the holder saw; ``boot_ms`` is milliseconds since that host's boot. The end of
    a lease is added to it, so it is smaller than other numbers may be."""

    host_id: str = ""
    boot_id: str = ""
    boot_ms: Annotated[Int, Field(ge=-(2**52), le=2**52)] | None = None

    def reading(self, at: datetime) -> Reading:
        """The reading these facts stand for."""
        seconds = None if self.boot_ms is None else self.boot_ms / 1000
        return Reading(at, self.host_id, self.boot_id, seconds)


class Claimed(Record):
    todo_id: Name
    lease_epoch: Count
    version: Count
    write_scopes: tuple[str, ...] = ()
    expires_at: Time
    clock: ClockFacts = ClockFacts()


class Renewed(Record):
    todo_id: Name
    lease_epoch: Count
    version: Count
    expires_at: Time
    clock: ClockFacts = ClockFacts()


class Released(Record):
    todo_id: Name
    lease_epoch: Count
    version: Count


class LeaseEnded(Record):
    todo_id: Name


def decide(
    state: GoalState, command: ClaimTodo | RenewLease | ReleaseLease, context: Context
) -> Draft:
    """The event for a lease command; raises when ``check`` would, and for clashes
    with leases of other goals, which only the workspace can see."""
    todo = state.todo(command.todo_id)
    if isinstance(command, ReleaseLease):
        must_hold(todo, context.actor.id, command.version, command.epoch)
        payload = _next(todo, todo.lease_epoch)
        return Draft("todo.released", payload, todo.id)
    ttl = _ttl(state, command.ttl_seconds)
    until = {"expires_at": context.now + ttl, "clock": clock_facts(context.reading)}
    if isinstance(command, RenewLease):
        must_hold(todo, context.actor.id, command.version, command.epoch)
        no_foreign_overlap(state, todo, context)
        return Draft("todo.renewed", _next(todo, todo.lease_epoch) | until, todo.id)
    if command.expect_version is not None and command.expect_version != todo.version:
        raise version_mismatch(todo, command.expect_version)
    no_foreign_overlap(state, todo, context)
    payload = _next(todo, todo.lease_epoch + 1) | until | {"write_scopes": todo.write_scope}
    return Draft("todo.claimed", payload, todo.id)


def _next(todo: Todo, epoch: int) -> dict[str, Any]:
    return {"todo_id": todo.id, "lease_epoch": epoch, "version": todo.version + 1}


def _ttl(state: GoalState, seconds: int | None) -> timedelta:
    chosen = state.the_rules.lease.ttl_seconds if seconds is None else seconds
    if not 1 <= chosen <= LONGEST_SECONDS:
        raise UsageError(
            "invalid_value",
            "A lease lasts between a second and 24 hours",
            next="choose for example --ttl 15m",
            ttl_seconds=chosen,
        )
    return timedelta(seconds=chosen)


def clock_facts(reading: Reading) -> dict[str, Any]:
    """What the clocks showed, as a line holds it."""
    return {
        "host_id": reading.host_id,
        "boot_id": reading.boot_id,
        "boot_ms": _milliseconds(reading.boot_seconds),
    }


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else int(seconds * 1000)


def _check_claimed(state: GoalState, payload: Claimed, facts: Facts) -> None:
    todo = state.todo(payload.todo_id)
    reading = payload.clock.reading(facts.at)
    check_next_version(todo, payload.version)
    check_active(state)
    if todo.lease is not None and is_live(todo.lease, reading):
        raise held(todo.lease, todo.id, facts.actor.id)
    check_may_work(state, todo, reading, facts)
    if payload.lease_epoch != todo.lease_epoch + 1:
        raise Fenced(
            "stale_epoch",
            f"The next epoch of {todo.id} is {todo.lease_epoch + 1}",
            next=f"loopx todo show {todo.id}",
            todo_id=todo.id,
        )
    if payload.write_scopes != todo.write_scope:
        raise UsageError(
            "invalid_scope",
            f"A claim of {todo.id} takes the scopes of {todo.id}",
            next=f"loopx todo show {todo.id}",
            todo_id=todo.id,
        )
    _check_length(todo.id, payload.expires_at, facts.at)
    no_overlap(state, todo, reading)


def _check_length(todo_id: str, expires_at: datetime, at: datetime) -> None:
    if not at < expires_at <= at + timedelta(seconds=LONGEST_SECONDS + 1):
        raise UsageError(
            "invalid_value",
            "A lease ends after it begins and within 24 hours",
            next=f"loopx todo claim {todo_id} --ttl 15m",
        )


def _lease(todo: Todo, payload: Claimed | Renewed, facts: Facts, acquired: datetime) -> Lease:
    length = payload.expires_at - facts.at
    boot = payload.clock.boot_ms
    return Lease(
        owner=facts.actor.id,
        write_scopes=todo.write_scope,
        version=payload.version,
        lease_epoch=payload.lease_epoch,
        acquired_at=acquired,
        expires_at=payload.expires_at,
        renewed_at=facts.at,
        status="active",
        seq=facts.seq,
        host_id=payload.clock.host_id,
        boot_id=payload.clock.boot_id,
        boot_deadline_ms=None if boot is None else boot + int(length.total_seconds() * 1000),
    )


def _evolve_claimed(state: GoalState, payload: Claimed, facts: Facts) -> GoalState:
    todo = state.todo(payload.todo_id)
    lease = _lease(todo, payload, facts, facts.at)
    doubtful = ran_out_by_wall_clock(todo.lease, payload.clock.reading(facts.at))
    return state.with_todo(
        todo.model_copy(
            update={
                "status": "claimed",
                "version": payload.version,
                "lease_epoch": payload.lease_epoch,
                "lease": lease.model_copy(update={"by_wall_clock": doubtful}),
                "resume_at": None,
                "changed_at": facts.at,
                "seq": facts.seq,
            }
        )
    )


def _check_renewed(state: GoalState, payload: Renewed, facts: Facts) -> None:
    todo = state.todo(payload.todo_id)
    must_hold(todo, facts.actor.id, payload.version - 1, payload.lease_epoch)
    _check_length(todo.id, payload.expires_at, facts.at)
    no_overlap(state, todo, payload.clock.reading(facts.at))


def _evolve_renewed(state: GoalState, payload: Renewed, facts: Facts) -> GoalState:
    todo = state.todo(payload.todo_id)
    acquired = todo.lease.acquired_at if todo.lease else facts.at
    return state.with_todo(
        todo.model_copy(
            update={
                "version": payload.version,
                "lease": _lease(todo, payload, facts, acquired),
                "seq": facts.seq,
            }
        )
    )


def _check_released(state: GoalState, payload: Released, facts: Facts) -> None:
    todo = state.todo(payload.todo_id)
    must_hold(todo, facts.actor.id, payload.version - 1, payload.lease_epoch)


def _evolve_released(state: GoalState, payload: Released, facts: Facts) -> GoalState:
    todo = state.todo(payload.todo_id)
    return state.with_todo(
        todo.model_copy(
            update={
                "status": "open",
                "version": payload.version,
                "lease": ended(todo.lease, "released", payload.version, facts.seq),
                "changed_at": facts.at,
                "seq": facts.seq,
            }
        )
    )


def _check_ended(state: GoalState, payload: LeaseEnded, facts: Facts) -> None:
    state.todo(payload.todo_id)


def _evolve_ended(state: GoalState, payload: LeaseEnded, facts: Facts) -> GoalState:
    todo = state.todo(payload.todo_id)
    return state.with_todo(
        todo.model_copy(update={"lease": ended(todo.lease, "ended", todo.version, facts.seq)})
    )


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType("todo.claimed", Claimed, AGENT, _check_claimed, _evolve_claimed),
    EventType("todo.renewed", Renewed, AGENT, _check_renewed, _evolve_renewed, changes_work=False),
    EventType("todo.released", Released, AGENT, _check_released, _evolve_released),
    EventType(
        "lease.ended",
        LeaseEnded,
        AGENT | OWNER,
        _check_ended,
        _evolve_ended,
        part_only=True,
    ),
)
