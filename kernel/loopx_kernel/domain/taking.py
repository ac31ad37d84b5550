"""Taking work: whether anything new is started, and what keeps somebody from a todo."""

from __future__ import annotations

from loopx_kernel.clock import Reading, format_time
from loopx_kernel.domain.event import Facts
from loopx_kernel.domain.quota import frees_at, is_exhausted
from loopx_kernel.domain.records import Lease, Todo
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.work import hindrance
from loopx_kernel.errors import Conflict, Denied, UsageError


def check_active(state: GoalState) -> None:
    """``goal_paused`` where nothing new is started."""
    if state.status != "active":
        raise Denied(
            "goal_paused",
            f"{state.goal_id} is {state.status}: nothing new is started",
            next="loopx goal list"
            if state.status == "retired"
            else f"loopx goal resume --goal {state.goal_id} --reason 'why'",
            goal_id=state.goal_id,
        )


def check_may_work(state: GoalState, todo: Todo, reading: Reading, facts: Facts) -> None:
    """Whether the actor may work on this todo now, and a slot is left for it: one that a turn
    opened by this very line holds in reserve is."""
    stop = hindrance(state, todo, reading, facts.actor.id)
    if stop is not None:
        raise _may_not(todo, stop.code, stop.message)
    if is_exhausted(state, facts.at, but=facts.seq):
        raise Denied(
            "quota_exhausted",
            f"No slot is left in the {state.the_rules.quota.window_hours} h window",
            next="loopx quota status",
            frees_at=str(frees_at(state, facts.at)),
        )


def held(lease: Lease, todo_id: str, agent_id: str) -> Conflict:
    """The error for a todo that somebody holds, the asker perhaps."""
    own = lease.owner == agent_id
    renew = f"loopx todo renew {todo_id} --version {lease.version} --epoch {lease.lease_epoch}"
    who = "You hold" if own else f"{lease.owner} holds"
    return Conflict(
        "lease_held",
        f"{who} {todo_id} until {format_time(lease.expires_at)}",
        next=renew if own else "loopx quota should-run",
        todo_id=todo_id,
        holder=lease.owner,
        version=lease.version,
        lease_epoch=lease.lease_epoch,
    )


def _may_not(todo: Todo, code: str, message: str) -> Denied | UsageError:
    if code == "gate_pending":
        return Denied("gate_required", message, next="loopx gate list", todo_id=todo.id)
    if code == "quota_frozen":
        return Denied("quota_frozen", message, next="loopx quota should-run", todo_id=todo.id)
    return UsageError(
        "illegal_transition",
        message,
        next="loopx quota should-run",
        todo_id=todo.id,
        status=todo.status,
    )
