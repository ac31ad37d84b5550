"""Spends that left the hot state of the quota ledger: how many, and when, as far as that may
still be asked for."""

from collections.abc import Sequence
from datetime import datetime

from loopx_kernel.domain.record import Count, Record, Time
from loopx_kernel.domain.records import Spend

PER_SIZE = 4
"""How many stretches of a size are told apart; two more are one of the next size."""


class Stretch(Record):
    """Spends next to each other that left: their slots that were not voided, and the latest time
    (UTC) of any. It is made of ``2 ** size`` departures."""

    until: Time
    slots: Count
    size: Count = 0


class Aged(Record):
    """What left: bookings, voids among them, slots that were not voided, and the last ``seq`` of
    any of them.

    ``stretches`` say when, oldest first: the older the coarser, so that they stay few. A window
    made wider by new rules may reach back to them.
    """

    spends: Count = 0
    voids: Count = 0
    slots: Count = 0
    last_seq: Count = 0
    stretches: tuple[Stretch, ...] = ()


def with_aged(aged: Aged, leaving: Sequence[Spend]) -> Aged:
    """The same with these spends, which leave together."""
    slots = sum(spend.net_slots for spend in leaving)
    last = max(spend.void_seq or spend.seq for spend in leaving)
    newest = Stretch(until=max(spend.counted_at for spend in leaving), slots=slots)
    return Aged(
        spends=aged.spends + len(leaving),
        voids=aged.voids + sum(spend.voided_at is not None for spend in leaving),
        slots=aged.slots + slots,
        last_seq=max(aged.last_seq, last),
        stretches=_few([*aged.stretches, newest]),
    )


def since(aged: Aged, start: datetime) -> list[Stretch]:
    """Those that may reach into a window that begins at ``start`` (UTC): each counts as a whole,
    so that never too little does."""
    return [one for one in aged.stretches if one.slots and one.until > start]


def _few(stretches: list[Stretch]) -> tuple[Stretch, ...]:
    size = 0
    while sum(one.size == size for one in stretches) > PER_SIZE + 1:
        first = next(at for at, one in enumerate(stretches) if one.size == size)
        older, newer = stretches[first : first + 2]
        stretches[first : first + 2] = [
            Stretch(
                until=max(older.until, newer.until),
                slots=older.slots + newer.slots,
                size=size + 1,
            )
        ]
        size += 1
    return tuple(stretches)
