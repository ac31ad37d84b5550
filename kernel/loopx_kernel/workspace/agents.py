"""Registering workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_kernel.domain.roster_state import Agent, WorkspaceState
from loopx_kernel.workspace.core import Core

if TYPE_CHECKING:
    from loopx_kernel.workspace.orders import Done


class Agents:
    """The registered worker identities of a workspace."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def add(
        self, agent_id: str, note: str = "", *, event_id: str | None = None
    ) -> Done[WorkspaceState]:
        """Registers a worker; ``exists`` if it is registered already."""
        # Whoever only asks who is there needs nothing of what writes.
        from loopx_kernel.domain import roster
        from loopx_kernel.domain.event import WORKSPACE_JOURNAL
        from loopx_kernel.domain.roster import AddAgent
        from loopx_kernel.workspace.commit import commit
        from loopx_kernel.workspace.orders import Order, named

        command = AddAgent(agent_id=agent_id, note=note)
        actor = named("agent", agent_id)
        order = Order(WORKSPACE_JOURNAL, command, roster.decide, actor, event_id, house=True)
        return commit(self._core, order)

    def list(self) -> tuple[Agent, ...]:
        """All registered workers, in the order they came."""
        with self._core.lock:
            self._core.house.refresh()
            return tuple(self._core.house.state.agents.values())
