"""What a decider may look at besides the state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_kernel.clock import Reading
from loopx_kernel.domain.event import Context, LiveLease
from loopx_kernel.domain.state import GoalState
from loopx_kernel.workspace.beside import leases_of, live_leases, real_scopes

if TYPE_CHECKING:
    from loopx_kernel.workspace.core import Core
    from loopx_kernel.workspace.orders import Order


def context_of(core: Core, order: Order, reading: Reading) -> Context:
    """The context of one order; leases of other goals where it is about scopes."""
    if order.house:
        return Context(order.actor, reading)
    state: GoalState = core.goal(order.goal_id).state
    repo = core.real_repo(state)
    todo = state.todos.get(order.todo_id or "") if order.both else None
    beside: tuple[LiveLease, ...] = ()
    if order.both:
        # The fold compares this goal's scopes as they are written; only the disk knows links.
        own = leases_of(core, state, reading)
        beside = (*live_leases(core, reading, beside=order.goal_id), *own)
    return Context(
        actor=order.actor,
        reading=reading,
        agents=frozenset(core.house.state.agents),
        repo=repo,
        neighbours=beside,
        real_scopes=real_scopes(repo, todo.write_scope) if todo else (),
    )
