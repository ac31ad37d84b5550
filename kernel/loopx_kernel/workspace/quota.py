"""Quota commands."""

from __future__ import annotations

from loopx_kernel.domain import quota
from loopx_kernel.domain.quota import SpendSlot, VoidSlot
from loopx_kernel.domain.state import GoalState
from loopx_kernel.workspace.commit import commit
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.orders import Done, Order, named
from loopx_kernel.workspace.signing import Unsigned, prepare


class Quota:
    """Booking slots, and taking a booking back."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def spend(
        self, goal_id: str, agent: str, command: SpendSlot, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Books slots for the agent's open turn, once, which is one of its three parts; work done
        is booked even beyond the limit. Raises ``unknown_turn``, ``turn_closed``."""
        actor = named("agent", agent)
        return commit(self._core, Order(goal_id, command, quota.decide, actor, event_id))

    def void(
        self, goal_id: str, owner: str, command: VoidSlot, *, event_id: str | None = None
    ) -> Unsigned:
        """Prepares a person's void of a booking."""
        actor = named("owner", owner)
        order = Order(goal_id, command, quota.decide, actor, event_id)
        return prepare(self._core, order, f"void the booking of {command.turn} in {goal_id}")
