"""Gate commands: agents ask, people decide."""

from __future__ import annotations

from loopx_kernel.domain import gate
from loopx_kernel.domain.gate import DecideGate, RequestGate, UseGate, WithdrawGate
from loopx_kernel.domain.permission import Action, Permission, permission
from loopx_kernel.domain.state import GoalState
from loopx_kernel.workspace.approvals import confirmed, real_paths
from loopx_kernel.workspace.commit import commit
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.orders import Done, Order, named
from loopx_kernel.workspace.signing import Unsigned, prepare

_VERBS = {"approved": "approve", "rejected": "reject", "deferred": "defer"}


class Gates:
    """Asking, looking, deciding, using."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def request(
        self, goal_id: str, agent: str, command: RequestGate, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Asks a person. Raises ``vague_gate``, ``exists``, ``already_decided``, ``limit``."""
        return self._commit(goal_id, agent, command, event_id)

    def use(
        self, goal_id: str, agent: str, command: UseGate, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Takes the one use of a matching approval; ``gate_required`` if there is none."""
        with self._core.lock:
            confirmed(self._core, goal_id, command.action)
        return self._commit(goal_id, agent, command, event_id)

    def withdraw(
        self, goal_id: str, agent: str, command: WithdrawGate, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """The asker takes the question back."""
        return self._commit(goal_id, agent, command, event_id)

    def check(self, goal_id: str, action: Action) -> Permission:
        """Whether the action may be done now; looks and changes nothing."""
        with self._core.lock:
            state = confirmed(self._core, goal_id, action)
            now, real = self._core.clock.read().now, real_paths(self._core.real_repo(state), action)
            return permission(state, action, now, real)

    def decide(
        self, goal_id: str, owner: str, command: DecideGate, *, event_id: str | None = None
    ) -> Unsigned:
        """Prepares a person's decision. Raises ``already_decided``, ``unknown_gate``."""
        actor = named("owner", owner)
        order = Order(goal_id, command, gate.decide, actor, event_id)
        return prepare(
            self._core, order, f"{_VERBS[command.outcome]} {command.gate_id} of {goal_id}"
        )

    def _commit(
        self,
        goal_id: str,
        agent: str,
        command: RequestGate | UseGate | WithdrawGate,
        event_id: str | None,
    ) -> Done[GoalState]:
        actor = named("agent", agent)
        return commit(self._core, Order(goal_id, command, gate.decide, actor, event_id))
