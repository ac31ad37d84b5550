"""Waiting for a fact from outside: when it was last looked at, and when to look again."""

from __future__ import annotations

from datetime import datetime

from loopx_kernel.domain import schedule
from loopx_kernel.domain.landing import awaits
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.schedule import Basis, SchedulerHint
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.work import Hindrance

PATIENCE = 12
"""How many of its own rhythms a wait may see no successful look before a person is asked."""


def last_look(state: GoalState, todo: Todo, now: datetime) -> datetime:
    """When the awaited fact was last looked at with success, not before the wait began; UTC."""
    looked = _seen(state, todo)
    # A line may bear any time; a look in the future is none of ours to wait for.
    return min(now, todo.changed_at if looked is None else max(todo.changed_at, looked))


def _seen(state: GoalState, todo: Todo) -> datetime | None:
    looks = [seen.at for seen in state.observations.values() if awaits(todo, seen.kind, seen.ref)]
    return max(looks, default=None)


def late_waits(state: GoalState, now: datetime) -> list[str]:
    """A sentence for each wait that saw no successful look for too long."""
    late = []
    for todo in state.todos.values():
        wait = todo.waiting_on
        if todo.status != "waiting" or wait is None:
            continue
        quiet = (now - last_look(state, todo, now)).total_seconds()
        if quiet >= PATIENCE * wait.every_seconds:
            what = " ".join(filter(None, (wait.kind, wait.ref)))
            late.append(f"{todo.id} has waited for {what} through {PATIENCE} of its rhythms")
    return late


def wake(
    state: GoalState, todo: Todo, stop: Hindrance, now: datetime, shortest: int
) -> SchedulerHint:
    """When to ring again for a todo that something stops which ends by itself."""
    if stop.code == "quota_frozen" and todo.waiting_on is not None:
        return schedule.rhythm(now, last_look(state, todo, now), todo.waiting_on.every_seconds)
    if stop.until is None:
        return schedule.NEVER
    basis: Basis = "lease_end" if stop.code == "lease_held" else "date"
    if stop.until <= now:
        # The holder's own clock says the lease lives on: look again, but not at once.
        return schedule.after(now, shortest, basis)
    return schedule.at(now, stop.until, basis)
