"""The hand-over command."""

from __future__ import annotations

from dataclasses import replace

from loopx_kernel.domain import handoff
from loopx_kernel.domain.handoff import WriteHandoff
from loopx_kernel.domain.state import GoalState
from loopx_kernel.workspace.commit import catch_up, commit
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.orders import Done, Order, named


class Handoffs:
    """What one turn leaves for the next."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def write(
        self,
        goal_id: str,
        agent: str,
        text: str,
        *,
        turn: str | None = None,
        event_id: str | None = None,
    ) -> Done[GoalState]:
        """Writes the hand-over back, and brings the materialised files level. With a ``turn``
        that is one of its three parts; raises ``unknown_turn`` and ``turn_closed`` then."""
        return commit(self._core, self._order(goal_id, agent, text, turn, event_id))

    def bring_level(self, goal_id: str, agent: str) -> GoalState:
        """Only brings the materialised files level; a file that was missing is recorded."""
        order = replace(self._order(goal_id, agent, "", None, None), checks=True)
        state: GoalState = catch_up(self._core, order)
        return state

    def _order(
        self, goal_id: str, agent: str, text: str, turn: str | None, event_id: str | None
    ) -> Order:
        command = WriteHandoff(text=text, turn=turn)
        return Order(goal_id, command, handoff.decide, named("agent", agent), event_id)
