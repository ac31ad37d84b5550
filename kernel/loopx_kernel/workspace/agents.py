"""Registering workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_kernel.domain.roster_state import Agent, WorkspaceState
from loopx_kernel.workspace.core import Core

if TYPE_CHECKING:
    from loopx_kernel.domain.event import Context, Draft
    from loopx_kernel.domain.roster import AddAgent
    from loopx_kernel.workspace.orders import Done


class Agents:
    """The registered worker identities of a workspace."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def add(
        self,
        agent_id: str,
        note: str = "",
        *,
        parent: str | None = None,
        event_id: str | None = None,
    ) -> Done[WorkspaceState]:
        """Registers a worker; ``exists`` if it is registered already.

        ``parent`` is the worker that does so; ``limit`` where it has as many of its own as the
        rules of the most generous goal allow.
        """
        # Whoever only asks who is there needs nothing of what writes.
        from loopx_kernel.domain import roster
        from loopx_kernel.domain.event import WORKSPACE_JOURNAL
        from loopx_kernel.domain.roster import AddAgent
        from loopx_kernel.workspace.commit import commit
        from loopx_kernel.workspace.orders import Order, named

        command = AddAgent(agent_id=agent_id, note=note, parent=parent)
        asked = {"agent_id": agent_id, "note": note} | ({"parent": parent} if parent else {})
        most = self._most_children() if parent else 0

        def decide(state: WorkspaceState, command: AddAgent, context: Context) -> Draft:
            if parent in state.agents:
                roster.refuse_children(state, parent, most)
            return roster.decide(state, command, context)

        actor = named("agent", agent_id)
        order = Order(
            WORKSPACE_JOURNAL, command, decide, actor, event_id, arguments=asked, house=True
        )
        return commit(self._core, order)

    def _most_children(self) -> int:
        """How many workers a worker may register by itself."""
        from loopx_kernel.domain.rules import SpawnPolicy

        with self._core.lock:
            self._core.house.refresh()
            states = [self._core.fresh_goal(goal).state for goal in self._core.house.state.goals]
        ruled = [one.the_rules for one in states if one.rules and one.status != "retired"]
        policies = [rules.spawn_policy for rules in ruled] or [SpawnPolicy()]
        most: int = max(policy.max_children for policy in policies)
        return most

    def list(self) -> tuple[Agent, ...]:
        """All registered workers, in the order they came."""
        with self._core.lock:
            self._core.house.refresh()
            return tuple(self._core.house.state.agents.values())
