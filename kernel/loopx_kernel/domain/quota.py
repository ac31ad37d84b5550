"""Quota: slots in a sliding window, booked once per effect, corrected by a void."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from loopx_kernel.domain.aged import since
from loopx_kernel.domain.endings import check_parts
from loopx_kernel.domain.event import AGENT, OWNER, Context, Draft, EventType, Facts
from loopx_kernel.domain.record import Count, Line, Name, Record
from loopx_kernel.domain.records import Spend
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.turn_result import THIRD, third, with_slots
from loopx_kernel.domain.turn_state import knows_turn
from loopx_kernel.errors import Conflict, UsageError
from loopx_kernel.text import check_line
from loopx_kernel.value import Value

MAX_SLOTS = 1440


class Usage(Value):
    """What a window holds: all counts are slots except ``spends``, ``voids`` and ``attempts``,
    which are turns, failed or not. An open turn holds a slot in reserve."""

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
    spent = sum(spend.slots for spend in inside) + _aged_since(state, start)
    voids = [spend for spend in inside if spend.voided_at is not None]
    voided = sum(spend.slots for spend in voids)
    used = spent - voided
    everything = sum(spend.net_slots for spend in state.spends.values())
    held = reserved(state)
    return Usage(
        allowed=rule.allowed,
        spent=spent,
        voided=voided,
        used=used,
        remaining=max(0, rule.allowed - used - held),
        reserved=held,
        attempts=held + len(_unfailed(inside)) + sum(at > start for at in state.failures),
        spends=len(inside),
        voids=len(voids),
        aged_out=state.aged.slots + everything - used,
        window_start=start,
        window_end=now,
        slot_minutes=rule.slot_minutes,
        window_hours=rule.window_hours,
    )


def _unfailed(spends: list[Spend]) -> list[Spend]:
    """The bookings of turns that did not fail: those of others are taken back by the kernel."""
    return [spend for spend in spends if not spend.of_failed]


def reserved(state: GoalState, but: int | None = None) -> int:
    """Slots held by open turns that booked none yet, without those opened by the line ``but``."""
    return sum(
        turn.status == "open" and not turn.slots_booked and turn.opened_seq != but
        for turn in state.turns.values()
    )


def is_exhausted(state: GoalState, now: datetime, but: int | None = None) -> bool:
    """Whether no slot is left in the window that ends now; ``but`` as for ``reserved``."""
    rule = state.the_rules.quota
    start = now - timedelta(hours=rule.window_hours)
    used = sum(spend.net_slots for spend in _since(state, start)) + _aged_since(state, start)
    return used + reserved(state, but) >= rule.allowed


def frees_at(state: GoalState, now: datetime) -> datetime | None:
    """When the next used slot ages out of the window; ``None`` if nothing is used."""
    hours = state.the_rules.quota.window_hours
    start = now - timedelta(hours=hours)
    times = [spend.counted_at for spend in _since(state, start) if spend.voided_at is None]
    times += [stretch.until for stretch in since(state.aged, start)]
    return min(times) + timedelta(hours=hours) if times else None


def burn(state: GoalState, now: datetime, buckets: int) -> tuple[int, ...]:
    """Slots used in each of ``buckets`` equal parts of the window, oldest first."""
    hours = state.the_rules.quota.window_hours
    start = now - timedelta(hours=hours)
    width = timedelta(hours=hours) / buckets
    counts = [0] * buckets
    used = [(spend.counted_at, spend.net_slots) for spend in _since(state, start)]
    used += [(stretch.until, stretch.slots) for stretch in since(state.aged, start)]
    for at, slots in used:
        counts[min(buckets - 1, int((at - start) / width))] += slots
    return tuple(counts)


def _aged_since(state: GoalState, start: datetime) -> int:
    """The slots of spends that left the state and may lie in the window: new rules may have made
    it wider than it was when they did."""
    return sum(stretch.slots for stretch in since(state.aged, start))


def _since(state: GoalState, start: datetime) -> Iterator[Spend]:
    return (spend for spend in state.spends.values() if spend.counted_at > start)


class SpendSlot(Value, kw_only=True):
    """Book slots for one turn."""

    turn: str
    slots: int = 1


class VoidSlot(Value, kw_only=True):
    """Take a booking back, with the reason; only for people."""

    turn: str
    reason: str


class SpendBooked(Record):
    effect_ref: Name
    slots: Count
    parts: tuple[dict[str, Any], ...] | None = None


class SpendVoided(Record):
    effect_ref: Name
    reason: Line


def decide(state: GoalState, command: SpendSlot | VoidSlot, context: Context) -> Draft:
    """The event for a quota command; raises when ``check`` would."""
    payload: dict[str, Any] = {"effect_ref": command.turn}
    if isinstance(command, VoidSlot):
        return Draft("spend.voided", payload | {"reason": command.reason}, command.turn)
    _refuse(state, command.turn, command.slots)
    payload["slots"] = command.slots
    turn = with_slots(state, command.turn, context.actor.id, command.slots, state.seq + 1)
    if last := third(state, turn, context.now):
        payload["parts"] = last
    return Draft("spend.booked", payload, command.turn)


def _refuse(state: GoalState, ref: str, slots: int) -> None:
    if not 1 <= slots <= MAX_SLOTS:
        raise UsageError(
            "invalid_value",
            f"{slots} is not a number of slots",
            next=f"book between 1 and {MAX_SLOTS}",
            slots=slots,
        )
    if ref in state.spends:
        raise Conflict(
            "already_spent",
            f"{ref} was booked already, at #{state.spends[ref].seq}",
            next="loopx quota status",
            turn=ref,
            seq=state.spends[ref].seq,
        )


def _check_booked(state: GoalState, payload: SpendBooked, facts: Facts) -> None:
    ref = payload.effect_ref
    _refuse(state, ref, payload.slots)
    turn = with_slots(state, ref, facts.actor.id, payload.slots, facts.seq)
    check_parts(payload.parts or (), third(state, turn, facts.at))


def _evolve_booked(state: GoalState, payload: SpendBooked, facts: Facts) -> GoalState:
    turn = with_slots(state, payload.effect_ref, facts.actor.id, payload.slots, facts.seq)
    counts_at = state.counted_at(facts.at)
    return state.with_turn(turn).with_spend(
        Spend(
            effect_ref=payload.effect_ref,
            slots=payload.slots,
            at=facts.at,
            by=facts.actor.id,
            seq=facts.seq,
            counts_at=counts_at if counts_at > facts.at else None,
        )
    )


def _check_voided(state: GoalState, payload: SpendVoided, facts: Facts) -> None:
    check_line(payload.reason, "reason")
    ref = payload.effect_ref
    spend = state.spends.get(ref)
    turn = state.turns.get(ref)
    left = turn.slots_booked > 0 if turn else knows_turn(state, ref)
    if spend is None and left:
        raise Conflict(
            "turn_closed",
            f"{ref} is closed, and its slots, if any, are out of the window again",
            next=f"loopx turn show {ref}",
            turn=ref,
        )
    if spend is None:
        raise UsageError(
            "unknown_turn",
            f"{ref} has no booking to void",
            next="loopx quota status",
            turn=ref,
        )
    if spend.voided_at is not None:
        raise Conflict(
            "already_voided",
            f"{ref} was voided already, at #{spend.void_seq}",
            next="loopx quota status",
            turn=ref,
            seq=spend.void_seq,
        )


def _evolve_voided(state: GoalState, payload: SpendVoided, facts: Facts) -> GoalState:
    spend = state.spends[payload.effect_ref]
    update = {
        "voided_at": facts.at,
        "void_reason": payload.reason,
        "void_seq": facts.seq,
        "of_failed": facts.actor.kind != "owner",
    }
    state = state.with_spend(spend.model_copy(update=update))
    turn = state.turns.get(payload.effect_ref)
    if turn is None:
        return state
    return state.with_turn(turn.model_copy(update={"slots_booked": 0, "seq": facts.seq}))


EVENTS: tuple[EventType[GoalState, SpendBooked] | EventType[GoalState, SpendVoided], ...] = (
    EventType("spend.booked", SpendBooked, AGENT, _check_booked, _evolve_booked, parts=THIRD),
    EventType("spend.voided", SpendVoided, OWNER, _check_voided, _evolve_voided),
)
