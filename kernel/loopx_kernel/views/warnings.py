"""What is wrong with a goal and stands in no line of its journal: leases, clocks, the fence."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from loopx_kernel.clock import to_the_second
from loopx_kernel.domain.fence import WAY_OUT
from loopx_kernel.domain.needs_you import Reads
from loopx_kernel.domain.times import Moment, behind
from loopx_kernel.value import Value


class Warned(Value):
    """One warning: what it is about (``clock``, ``fence``, or two todos), a sentence, and what
    helps."""

    id: str
    sentence: str
    next: str


def warnings_of(
    goal_id: str, latest: Moment | None, reads: Reads, now: datetime
) -> tuple[Warned, ...]:
    """The warnings of one goal, whose ``latest`` line no clock can be far behind; pure."""
    return tuple(_warnings(goal_id, latest, reads, now))


def clock_warning(journal: str, latest: Moment | None, now: datetime) -> Warned | None:
    """A warning where this clock is too far behind the latest line of a journal."""
    late = behind(now, latest.at) if latest else None
    if late is None or latest is None:
        return None
    whole = timedelta(seconds=int(late.total_seconds()))
    line = f"line #{latest.seq} of {journal}, of {to_the_second(latest.at)}"
    return Warned(
        "clock",
        f"this clock is {whole} behind {line}: one of the two is wrong",
        f"compare the output of date with: loopx event list --goal {journal} --limit 20",
    )


def _warnings(goal_id: str, latest: Moment | None, reads: Reads, now: datetime) -> Iterator[Warned]:
    if reads.fenced is not None:
        yield Warned("fence", reads.fenced, WAY_OUT)
    clock = clock_warning(goal_id, latest, now)
    if clock is not None:
        yield clock
    for clash in reads.clashes:
        later = clash.later
        yield Warned(
            clash.id,
            clash.sentence,
            f"stop {later.owner} and let it give {later.todo_id} back: "
            f"loopx lease show {later.todo_id} --goal {later.goal_id}",
        )
