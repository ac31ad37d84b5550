"""When to ring next. Computed, never counted: the ladder hangs on the last real change."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Literal

from loopx_kernel.domain.rules import Cadence
from loopx_kernel.value import Value

Basis = Literal["work_ready", "fact_rhythm", "date", "lease_end", "slot_frees", "ladder", "none"]


class SchedulerHint(Value):
    """The next wake-up; ``next_wake_at`` is ``None`` when nothing should ring."""

    next_wake_at: datetime | None
    interval_seconds: int | None
    basis: Basis
    step: int | None = None


NEVER = SchedulerHint(None, None, "none")


def after(now: datetime, seconds: int, basis: Basis) -> SchedulerHint:
    """A wake-up a fixed time from now."""
    return SchedulerHint(now + timedelta(seconds=seconds), seconds, basis)


def at(now: datetime, moment: datetime, basis: Basis) -> SchedulerHint:
    """A wake-up at a known moment, not before now."""
    moment = max(moment, now)
    return SchedulerHint(moment, int((moment - now).total_seconds()), basis)


def rhythm(now: datetime, last_look: datetime, every_seconds: int) -> SchedulerHint:
    """The awaited fact's own rhythm after the last look at it; it does not climb."""
    return at(now, _first_after(now, last_look, every_seconds), "fact_rhythm")


def ladder(now: datetime, changed_at: datetime, cadence: Cadence) -> SchedulerHint:
    """The first wake point after now: steps of the ladder after the last change, the
    last step again and again."""
    steps = cadence.ladder_seconds or (cadence.shortest_seconds,)
    point = changed_at
    for number, step in enumerate(steps, 1):
        point += timedelta(seconds=step)
        if point > now:
            return SchedulerHint(point, step, "ladder", number)
    point = _first_after(now, point, steps[-1])
    return SchedulerHint(point, steps[-1], "ladder", len(steps))


def soonest(hints: Iterable[SchedulerHint]) -> SchedulerHint | None:
    """The earliest of several wake-ups."""
    timed = [(hint.next_wake_at, hint) for hint in hints if hint.next_wake_at is not None]
    return min(timed, key=lambda pair: pair[0])[1] if timed else None


def _first_after(now: datetime, start: datetime, every_seconds: int) -> datetime:
    every = timedelta(seconds=every_seconds)
    if start + every > now:
        return start + every
    return start + every * ((now - start) // every + 1)
