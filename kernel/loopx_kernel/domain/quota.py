"""Quota: slots in a sliding window, booked once per effect, corrected by a void."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from loopx_kernel.domain.event import AGENT, OWNER, Context, Draft, EventType, Facts
from loopx_kernel.domain.record import Count, Line, Name, Record
from loopx_kernel.domain.records import Spend
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Conflict, UsageError
from loopx_kernel.text import check_line

_TURN = re.compile(r"turn-\d{4,9}")
MAX_SLOTS = 1440


@dataclass(frozen=True, slots=True)
class Usage:
    """What a window holds: all counts are slots except ``spends`` and ``voids``."""

    allowed: int
    spent: int
    voided: int
    used: int
    remaining: int
    reserved: int
    attempts: int
    spends: int
    voids: int
    aged_out: int
    window_start: datetime
    window_end: datetime
    slot_minutes: int
    window_hours: int


def usage(state: GoalState, now: datetime) -> Usage:
    """Computed from the ledger for the window that ends now; its upper end is open."""
    rule = state.the_rules.quota
    start = now - timedelta(hours=rule.window_hours)
    inside = list(_since(state, start))
    spent = sum(spend.slots for spend in inside)
    voids = [spend for spend in inside if spend.voided_at is not None]
    voided = sum(spend.slots for spend in voids)
    used = spent - voided
    everything = sum(s.slots for s in state.spends.values() if s.voided_at is None)
    return Usage(
        allowed=rule.allowed,
        spent=spent,
        voided=voided,
        used=used,
        remaining=max(0, rule.allowed - used),
        reserved=0,
        attempts=len(inside),
        spends=len(inside),
        voids=len(voids),
        aged_out=everything - used,
        window_start=start,
        window_end=now,
        slot_minutes=rule.slot_minutes,
        window_hours=rule.window_hours,
    )


def is_exhausted(state: GoalState, now: datetime) -> bool:
    """Whether no slot is left in the window that ends now."""
    rule = state.the_rules.quota
    start = now - timedelta(hours=rule.window_hours)
    return sum(s.slots for s in _since(state, start) if s.voided_at is None) >= rule.allowed


def frees_at(state: GoalState, now: datetime) -> datetime | None:
    """When the next used slot ages out of the window; ``None`` if nothing is used."""
    hours = state.the_rules.quota.window_hours
    times = [s.at for s in _since(state, now - timedelta(hours=hours)) if s.voided_at is None]
    return min(times) + timedelta(hours=hours) if times else None


def burn(state: GoalState, now: datetime, buckets: int) -> tuple[int, ...]:
    """Slots used in each of ``buckets`` equal parts of the window, oldest first."""
    hours = state.the_rules.quota.window_hours
    start = now - timedelta(hours=hours)
    width = timedelta(hours=hours) / buckets
    counts = [0] * buckets
    for spend in _since(state, start):
        if spend.voided_at is None:
            counts[min(buckets - 1, int((spend.at - start) / width))] += spend.slots
    return tuple(counts)


def _since(state: GoalState, start: datetime) -> Iterator[Spend]:
    return (spend for spend in state.spends.values() if spend.at > start)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendSlot:
    """Book slots for one turn."""

    turn: str
    slots: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidSlot:
    """Take a booking back, with the reason; only for people."""

    turn: str
    reason: str


class SpendBooked(Record):
    effect_ref: Name
    slots: Count


class SpendVoided(Record):
    effect_ref: Name
    reason: Line


def decide(state: GoalState, command: SpendSlot | VoidSlot, context: Context) -> Draft:
    """The event for a quota command; raises when ``check`` would."""
    if isinstance(command, SpendSlot):
        return Draft(
            "spend.booked", {"effect_ref": command.turn, "slots": command.slots}, command.turn
        )
    payload = {"effect_ref": command.turn, "reason": command.reason}
    return Draft("spend.voided", payload, command.turn)


def _check_booked(state: GoalState, payload: SpendBooked, facts: Facts) -> None:
    ref = payload.effect_ref
    if not _TURN.fullmatch(ref):
        raise UsageError(
            "unknown_turn", f"{ref!r} is not a turn", next="name it like turn-0081", turn=ref
        )
    if not 1 <= payload.slots <= MAX_SLOTS:
        raise UsageError(
            "invalid_value",
            f"{payload.slots} is not a number of slots",
            next=f"book between 1 and {MAX_SLOTS}",
            slots=payload.slots,
        )
    if ref in state.spends:
        raise Conflict(
            "already_spent",
            f"{ref} was booked already, at #{state.spends[ref].seq}",
            next="loopx quota status",
            turn=ref,
            seq=state.spends[ref].seq,
        )


def _evolve_booked(state: GoalState, payload: SpendBooked, facts: Facts) -> GoalState:
    return state.with_spend(
        Spend(
            effect_ref=payload.effect_ref,
            slots=payload.slots,
            at=facts.at,
            by=facts.actor.id,
            seq=facts.seq,
        )
    )


def _check_voided(state: GoalState, payload: SpendVoided, facts: Facts) -> None:
    check_line(payload.reason, "reason")
    spend = state.spends.get(payload.effect_ref)
    if spend is None:
        raise UsageError(
            "unknown_turn",
            f"{payload.effect_ref} has no booking to void",
            next="loopx quota status",
            turn=payload.effect_ref,
        )
    if spend.voided_at is not None:
        raise Conflict(
            "already_voided",
            f"{payload.effect_ref} was voided already, at #{spend.void_seq}",
            next="loopx quota status",
            turn=payload.effect_ref,
            seq=spend.void_seq,
        )


def _evolve_voided(state: GoalState, payload: SpendVoided, facts: Facts) -> GoalState:
    spend = state.spends[payload.effect_ref]
    return state.with_spend(
        spend.model_copy(
            update={"voided_at": facts.at, "void_reason": payload.reason, "void_seq": facts.seq}
        )
    )


EVENTS: tuple[EventType[GoalState, SpendBooked] | EventType[GoalState, SpendVoided], ...] = (
    EventType("spend.booked", SpendBooked, AGENT, _check_booked, _evolve_booked),
    EventType("spend.voided", SpendVoided, OWNER, _check_voided, _evolve_voided),
)
