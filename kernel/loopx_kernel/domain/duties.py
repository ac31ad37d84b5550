"""Looking up a duty to replan, and the way to fulfil it."""

from __future__ import annotations

import re

from loopx_kernel.domain.records_of_work import Obligation
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Conflict, UsageError

_ID = re.compile(r"O[1-9][0-9]{0,15}")


def obligation(state: GoalState, obligation_id: str) -> Obligation:
    """The duty to replan, or ``unknown_obligation``; one that left the hot state was closed,
    so it is ``already_decided``."""
    found = state.obligations.get(obligation_id)
    if found is not None:
        return found
    if _ID.fullmatch(obligation_id) and int(obligation_id[1:]) < state.next_obligation:
        raise _closed(obligation_id, "closed long ago")
    raise UsageError(
        "unknown_obligation",
        f"There is no obligation {obligation_id} in {state.goal_id}",
        next=f"loopx replan list --goal {state.goal_id}",
        obligation_id=obligation_id,
    )


def _closed(obligation_id: str, how: str) -> Conflict:
    return Conflict(
        "already_decided",
        f"{obligation_id} is {how}",
        next=f"loopx event list --about {obligation_id}",
        obligation_id=obligation_id,
    )


def open_obligation(state: GoalState, obligation_id: str) -> Obligation:
    """The duty, if nobody closed it; else ``already_decided``, with who did."""
    duty = obligation(state, obligation_id)
    if duty.status != "open":
        by = f" by {duty.closed_by}" if duty.closed_by else ""
        raise _closed(duty.id, f"{duty.status} already{by}")
    return duty


def rerouting(state: GoalState, duty: Obligation, who: str) -> tuple[str, ...]:
    """The commands that fulfil a duty: those that add missing successors; then the one that binds
    them. ``who`` are options for each."""
    left = [ref for ref in duty.todo_ids if not state.is_finished(ref)]
    origins = left if duty.todo_ids else [duty.replan_todo]
    new = {ref: _work_from(state, ref) for ref in origins}
    needed = [ref for ref, work in new.items() if work is None]
    if needed:
        return tuple(f"loopx todo add 'Another way' {who} --lineage {ref}" for ref in needed)
    pairs = "".join(f" --supersede {ref}:{new[ref]}" for ref in left)
    return (f"loopx replan fulfil {duty.id} {who}{pairs}",)


def _work_from(state: GoalState, origin: str) -> str | None:
    """The newest unfinished work that comes from a todo."""
    found = [
        todo.id
        for todo in state.todos.values()
        if origin in todo.lineage_todo_ids and not todo.finished and todo.kind != "replan"
    ]
    return found[-1] if found else None
