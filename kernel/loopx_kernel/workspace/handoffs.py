"""The hand-over command."""

from __future__ import annotations

from loopx_kernel.domain import handoff
from loopx_kernel.domain.handoff import WriteHandoff
from loopx_kernel.domain.state import GoalState
from loopx_kernel.workspace.commit import commit
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.orders import Done, Order, named


class Handoffs:
    """What one turn leaves for the next."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def write(
        self, goal_id: str, agent: str, text: str, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Writes the hand-over back, and brings the materialised files level."""
        actor = named("agent", agent)
        command = WriteHandoff(text=text)
        return commit(self._core, Order(goal_id, command, handoff.decide, actor, event_id))
