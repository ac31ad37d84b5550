"""The times lines bear, as far as a decision rests on them: what ran out stays so.

Kept are the lines than which no later one bears a later time. So the latest time since any
line is known, and a time in the far future spoils only what was there before it.
"""

from datetime import datetime, timedelta
from typing import TypeAlias

from loopx_kernel.domain.record import Count, Record, Time

CLOCK_TOLERANCE = timedelta(minutes=5)
"""How far a clock may be behind the last line before somebody is told."""

_KEPT = 16


class Moment(Record):
    """The time that a line bears, in UTC."""

    seq: Count
    at: Time


Times: TypeAlias = tuple[Moment, ...]


def with_time(times: Times, seq: int, at: datetime) -> Times:
    """The times after one more line.

    Where too many would be kept the two oldest become one: what was decided between them
    runs out too early, never too late.
    """
    if len(times) == 1 and times[0].at <= at:
        return (times[0].model_copy(update={"seq": seq, "at": at}),)
    kept = [moment for moment in times if moment.at > at]
    kept.append(Moment(seq=seq, at=at))
    if len(kept) > _KEPT:
        kept[:2] = [Moment(seq=kept[1].seq, at=kept[0].at)]
    return tuple(kept)


def latest_since(times: Times, seq: int) -> Moment | None:
    """The latest time that a line after ``seq`` bears, and that line or one after it."""
    return next((moment for moment in times if moment.seq > seq), None)


def behind(now: datetime, last: datetime | None) -> timedelta | None:
    """How far a clock is behind the last line, where that is too far."""
    if last is None or last - now <= CLOCK_TOLERANCE:
        return None
    return last - now
