"""Changes of mind: work taken away, another route; signed by people, proposed by agents."""

from __future__ import annotations

from loopx_kernel.domain import cancel, propose, replan
from loopx_kernel.domain.cancel import CancelTodo, SupersedeTodo
from loopx_kernel.domain.propose import ProposeChange
from loopx_kernel.domain.records_of_work import Obligation
from loopx_kernel.domain.replan import FulfilReplan, RequestReplan, WithdrawReplan
from loopx_kernel.domain.state import GoalState
from loopx_kernel.workspace.commit import commit
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.orders import Done, Order, named
from loopx_kernel.workspace.signing import Unsigned, prepare


class Replans:
    """Cancelling, superseding, replanning and proposing."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def cancel(
        self, goal_id: str, owner: str, command: CancelTodo, *, event_id: str | None = None
    ) -> Unsigned:
        """Prepares taking a todo away. Raises ``unknown_todo``, ``illegal_transition``."""
        order = Order(goal_id, command, cancel.decide, named("owner", owner), event_id)
        return prepare(
            self._core, order, f"cancel {command.todo_id} of {goal_id}: {command.reason}"
        )

    def supersede(
        self, goal_id: str, owner: str, command: SupersedeTodo, *, event_id: str | None = None
    ) -> Unsigned:
        """Prepares putting another todo in the place of one. Raises ``unknown_todo``,
        ``illegal_transition``, ``lineage_invalid``, ``dependency_cycle``."""
        order = Order(goal_id, command, cancel.decide, named("owner", owner), event_id)
        return prepare(
            self._core, order, f"put {command.by} in the place of {command.todo_id} of {goal_id}"
        )

    def request(
        self, goal_id: str, owner: str, command: RequestReplan, *, event_id: str | None = None
    ) -> Unsigned:
        """Prepares a duty to replan. Raises ``unknown_todo``, ``illegal_transition``."""
        what = ", ".join(command.todo_ids) or "the goal"
        order = Order(goal_id, command, replan.decide, named("owner", owner), event_id)
        return prepare(self._core, order, f"replan {what} of {goal_id}: {command.reason}")

    def withdraw(
        self, goal_id: str, owner: str, command: WithdrawReplan, *, event_id: str | None = None
    ) -> Unsigned:
        """Prepares the end of a duty without a new route. Raises ``unknown_obligation``,
        ``already_decided``."""
        order = Order(goal_id, command, replan.decide, named("owner", owner), event_id)
        return prepare(
            self._core, order, f"withdraw the replanning {command.obligation_id} of {goal_id}"
        )

    def fulfil(
        self, goal_id: str, agent: str, command: FulfilReplan, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Binds the successors and closes the duty. Raises ``unknown_obligation``,
        ``already_decided``, ``not_holder``, ``illegal_transition``, ``lineage_invalid``."""
        actor = named("agent", agent)
        return commit(self._core, Order(goal_id, command, replan.decide, actor, event_id))

    def propose(
        self, goal_id: str, agent: str, command: ProposeChange, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Asks a person for a change; ``object_id`` is the gate. Raises what the change would
        raise, ``exists``, ``already_decided``, ``limit``."""
        actor = named("agent", agent)
        return commit(self._core, Order(goal_id, command, propose.decide, actor, event_id))

    def obligation(self, goal_id: str, done: Done[GoalState]) -> Obligation:
        """The duty a receipt is about, as it stood right after its line."""
        from loopx_kernel.workspace.snapshots import state_at

        state, seq = done.state, done.receipt.seq
        if state.seq != seq:
            with self._core.lock:
                state = state_at(self._core.fresh_goal(goal_id), seq, self._core.progress)
        return next(one for one in state.obligations.values() if one.seq == seq)
