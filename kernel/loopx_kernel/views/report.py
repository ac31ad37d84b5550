"""What a goal did in a period: everything of it stands in the journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from loopx_kernel.clock import format_time
from loopx_kernel.domain.state import GoalState, open_obligations
from loopx_kernel.value import Value
from loopx_kernel.views.envelope import Envelope, Omission, lacking
from loopx_kernel.views.goal import GoalView, TodoRow, counts_of
from loopx_kernel.views.report_reading import Reading, state_after
from loopx_kernel.views.report_rows import (
    Added,
    Asked,
    Booking,
    Changed,
    Decided,
    Ended,
    Incident,
    Rows,
    Shown,
    TurnEnd,
    latest,
)

_WIDTHS = tuple(
    timedelta(seconds=seconds)
    for seconds in (900, 3600, 6 * 3600, 86400, 7 * 86400, 30 * 86400, 365 * 86400)
)
_MOST_PARTS = 42


class Period(Value):
    """From ``since`` up to, but without, ``until``; UTC."""

    since: datetime
    until: datetime


class LeftOut(Value):
    """Lines that are not in a report: how many and why, and the same as a sentence."""

    omission: Omission
    sentence: str


class Part(Value):
    """A part of the period: slots booked in it and slots given back, and the todos that were
    ended and there were in all when it was over."""

    start: datetime
    booked: int
    voided: int
    ended: int
    total: int


class Spending(Value):
    """Slots of the period. ``net`` is ``booked`` without what was given back of it;
    ``voided_earlier`` was booked before the period and given back in it."""

    booked: int
    voided: int
    net: int
    voided_earlier: int
    spends: int
    voids: int
    by_agent: dict[str, int]
    allowed_per_window: int
    window_hours: int
    slot_minutes: int


class StillOpen(Value):
    """What was not finished at the end of the period."""

    answer: str
    reasons: tuple[str, ...]
    todos: tuple[TodoRow, ...]
    needs_you: tuple[tuple[str, str, str], ...]
    """Id, kind and question of each thing that waits for a person."""
    obligations: tuple[tuple[str, str], ...]
    turns: tuple[str, ...]
    failing: tuple[tuple[str, int, tuple[str, ...]], ...]
    complete: bool


class Report(Value):
    """One goal over one period; every list is in the order of the journal."""

    goal_id: str
    display_name: str
    objective: str
    objective_version: int
    period: Period
    first_seq: int | None
    last_seq: int | None
    lines: int
    counts_before: dict[str, int]
    counts_after: dict[str, int]
    turns_opened: int
    turn_outcomes: dict[str, int]
    parts: tuple[Part, ...]
    part_seconds: int
    added: Rows[Added]
    ended: Rows[Ended]
    evidence: Rows[Shown]
    turns: Rows[TurnEnd]
    spending: Spending
    bookings: Rows[Booking]
    decisions: Rows[Decided]
    gates: Rows[Asked]
    changes: Rows[Changed]
    incidents: Rows[Incident]
    alerts: tuple[str, ...]
    """What is wrong now, whenever it went wrong."""
    still_open: StillOpen
    not_covered: tuple[str, ...]
    envelope: Envelope


def report(
    found: Reading,
    start: GoalState,
    period: Period,
    *,
    then: GoalView,
    now: GoalView,
    left_out: Sequence[LeftOut] = (),
) -> Report:
    """The report of a period; pure.

    ``found`` is what its lines did, ``start`` the state before them, ``then`` the goal at its
    end, and ``now`` the goal at this moment, whose envelope and alerts the report carries.
    ``left_out`` are the lines of the period that are not in it.
    """
    end = state_after(found, start)
    width, parts = _parts(found, start, period)
    rows: dict[str, Rows[Any]] = {
        "added": latest(found.added),
        "ended": latest(found.ended),
        "evidence": latest(found.evidence),
        "turns": latest(found.turns),
        "bookings": latest(found.bookings),
        "decisions": latest(found.decisions),
        "changes": latest(found.changes),
        "incidents": latest(found.incidents),
    }
    gates = [replace(row, status=_status(end, row, period.until)) for row in found.gates]
    return Report(
        goal_id=now.goal_id,
        display_name=now.display_name,
        objective=then.objective,
        objective_version=then.objective_version,
        period=period,
        first_seq=found.first.event.seq if found.first else None,
        last_seq=found.last.event.seq if found.last else None,
        lines=found.lines,
        counts_before=counts_of(start),
        counts_after=counts_of(end),
        turns_opened=found.opened,
        turn_outcomes=dict(sorted(Counter(turn.outcome for turn in found.turns).items())),
        parts=parts,
        part_seconds=int(width.total_seconds()),
        gates=latest(gates),
        spending=_spending(found, end),
        alerts=_alerts(now),
        still_open=_still_open(end, then),
        not_covered=(
            *(one.sentence for one in left_out),
            *_not_covered(end, rows, period, then, now),
        ),
        envelope=lacking(
            now.envelope,
            found.lines,
            [one.omission for one in left_out if one.omission.count],
        ),
        **rows,
    )


def _status(end: GoalState, row: Asked, at: datetime) -> str:
    gate = end.gates.get(row.gate_id)
    return end.gate_status(gate, at) if gate is not None else "closed"


def _spending(found: Reading, end: GoalState) -> Spending:
    booked = [row for row in found.bookings if not row.voided]
    voids = [row for row in found.bookings if row.voided]
    voided = sum(row.slots for row in voids) - found.late_voids
    by_agent: Counter[str] = Counter()
    for row in booked:
        by_agent[row.place.by] += row.slots
    total = sum(row.slots for row in booked)
    quota = end.rules.quota if end.rules else None
    return Spending(
        booked=total,
        voided=voided,
        net=total - voided,
        voided_earlier=found.late_voids,
        spends=len(booked),
        voids=len(voids),
        by_agent=dict(sorted(by_agent.items())),
        allowed_per_window=quota.allowed if quota else 0,
        window_hours=quota.window_hours if quota else 0,
        slot_minutes=quota.slot_minutes if quota else 0,
    )


def _parts(found: Reading, start: GoalState, period: Period) -> tuple[timedelta, tuple[Part, ...]]:
    length = period.until - period.since
    width = next((w for w in _WIDTHS if length / w <= _MOST_PARTS), _WIDTHS[-1])
    count = max(1, -(-length // width))

    def place(at: datetime) -> int:
        return min(count - 1, max(0, (at - period.since) // width))

    booked, voided, ended, total = ([0] * count for _ in range(4))
    for row in found.bookings:
        (voided if row.voided else booked)[place(row.place.at)] += row.slots
    for end in found.ended:
        ended[place(end.place.at)] += 1
    for one in found.added:
        total[place(one.place.at)] += 1
    before = counts_of(start)
    done = before["done"] + before["superseded"] + before["cancelled"]
    all_ = before["total"]
    parts = []
    for n in range(count):
        done, all_ = done + ended[n], all_ + total[n]
        parts.append(Part(period.since + n * width, booked[n], voided[n], done, all_))
    return width, tuple(parts)


def _alerts(now: GoalView) -> tuple[str, ...]:
    reasons = [f"{r.code}: {', '.join(r.ids)}" for r in now.envelope.alert_reasons]
    damage = [item.sentence for item in now.reads.damage]
    drift = [item.sentence for item in now.reads.drift]
    return (*reasons, *damage, *drift, *(w.sentence for w in now.warnings))


def _still_open(end: GoalState, then: GoalView) -> StillOpen:
    return StillOpen(
        answer=then.display_answer,
        reasons=tuple(reason.message for reason in then.contract.reasons),
        todos=tuple(row for row in then.todos if not row.todo.finished),
        needs_you=tuple((item.id, item.kind, item.question) for item in then.needs_you),
        obligations=tuple((one.id, one.reason) for one in open_obligations(end)),
        turns=tuple(t.id for t in end.turns.values() if t.status == "open"),
        failing=tuple((c.check, c.count, c.ids) for c in then.completion.failing),
        complete=then.completion.complete,
    )


def _not_covered(
    end: GoalState, rows: Mapping[str, Rows[Any]], period: Period, then: GoalView, now: GoalView
) -> Iterable[str]:
    for name, found in rows.items():
        if found.left_out:
            yield f"{found.left_out} earlier rows of {name} are counted and not listed"
    if end.opened_at is None or period.since < end.opened_at:
        opened = format_time(end.opened_at) if end.opened_at else "later"
        yield f"the time before {now.goal_id} was opened: {opened}"
    if then is not now:
        yield "files beside the journal, as they were then: they have no past"
    if then.seq < now.seq:
        yield f"lines #{then.seq + 1} to #{now.seq}, which are later"
    if period.until > now.envelope.observed_at:
        yield "the rest of the period, which is still to come"
    if now.reads.verified_from != 1:
        yield f"whether the lines before #{now.reads.verified_from} hold: not replayed here yet"
    stale = [s.id for s in now.sources if s.alert]
    if stale:
        yield f"what stands in the sources that were not read well: {', '.join(stale)}"
    yield f"other goals of this workspace: this is a report of {now.goal_id} alone"
    yield "work that was done and never handed in"
