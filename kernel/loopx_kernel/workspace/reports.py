"""Reports: the lines of a period found by their times, and what they did."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from loopx_kernel.clock import Reading, format_time
from loopx_kernel.domain.needs_you import Reads
from loopx_kernel.errors import UsageError
from loopx_kernel.text import counted
from loopx_kernel.views.envelope import Omission
from loopx_kernel.views.goal import GoalView, goal_view
from loopx_kernel.views.report import LeftOut, Period, Report, report
from loopx_kernel.views.report_reading import read, state_after
from loopx_kernel.workspace.damage import unread_lines
from loopx_kernel.workspace.paging import Wanted, first_to_last, last_to_first
from loopx_kernel.workspace.snapshots import state_at, steps

if TYPE_CHECKING:
    from loopx_kernel.domain.state import GoalState
    from loopx_kernel.workspace.core import Core
    from loopx_kernel.workspace.ledgers import GoalLedger

_NOW = timedelta(minutes=1)
"""A period that ended so short ago ends now."""


def report_on(core: Core, goal: GoalView, period: Period) -> Report:
    """The report on a goal that was just looked at. Raises ``invalid_value`` for a period that
    ends before it begins.

    The lines of a period are those from the first that bears a time in it to the last one: order
    is position. Lines between them that bear another time are named.
    """
    if period.until <= period.since:
        raise UsageError(
            "invalid_value",
            "The period ends before it begins",
            next="loopx report --period 7d",
            since=period.since.isoformat(),
            until=period.until.isoformat(),
        )
    ledger = core.goal(goal.goal_id)
    wanted = Wanted(begin=period.since, end=period.until)
    first = next((line.seq for line in first_to_last(ledger, wanted)), 0)
    last = next((line.seq for line in last_to_first(ledger, wanted)), 0)
    if not first:
        # Nothing happened: what stands is what the last line before left.
        before = last_to_first(ledger, Wanted(end=period.since))
        first = next((line.seq for line in before), 0) + 1
        last = first - 1
    start = state_at(ledger, first - 1, core.progress)
    found = read(steps(ledger, first - 1, last, core.progress), period.since, period.until)
    end = state_after(found, start)
    if end.opened_at is None:
        opened = format_time(ledger.state.opened_at) if ledger.state.opened_at else "later"
        raise UsageError(
            "invalid_value",
            f"{goal.goal_id} was opened after the period: {opened}",
            next=f"loopx report --goal {goal.goal_id} --since {opened}",
            opened_at=opened,
        )
    live = last == ledger.position.seq and goal.contract.decided_at - period.until < _NOW
    then = goal if live else _then(core, end, period.until)
    left_out = _left_out(ledger, first - 1, last)
    return report(found, start, period, then=then, now=goal, left_out=left_out)


def _then(core: Core, state: GoalState, at: datetime) -> GoalView:
    """The goal as its journal tells it, at a moment in the past."""
    house = core.house.state
    return goal_view(
        state,
        Reads(),
        Reading(at),
        agents=list(house.agents),
        owners=[owner.name for owner in house.present_owners],
    )


def _left_out(ledger: GoalLedger, before: int, last: int) -> tuple[LeftOut, ...]:
    """The lines that repairs set aside where the period is, and those that damage hides."""
    found = [
        LeftOut(
            Omission("quarantined", cut.lines),
            f"{counted(cut.lines, 'line')} after #{cut.after.seq}, set aside by the repair "
            f"{cut.event_id}",
        )
        for cut in ledger.state.cuts
        if before <= cut.after.seq <= last
    ]
    if ledger.damage is not None:
        what = f"lines after #{ledger.position.seq}, which cannot be read: {ledger.damage.message}"
        found.append(LeftOut(Omission("unreachable", unread_lines(ledger)), what))
    return tuple(found)
