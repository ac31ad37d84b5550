"""Gate commands: agents ask, people decide."""

from __future__ import annotations

from dataclasses import replace

from loopx_kernel.domain import admission, gate
from loopx_kernel.domain.gate import RequestGate, UseGate, WithdrawGate
from loopx_kernel.domain.gate_decide import DecideGate
from loopx_kernel.domain.gate_use import gate_required
from loopx_kernel.domain.permission import Action, Permission, covering, permission
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Denied
from loopx_kernel.workspace.approvals import confirmed, real_paths
from loopx_kernel.workspace.commit import commit, recorded
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.orders import Done, Order, named, plain
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
        self,
        goal_id: str,
        agent: str,
        command: UseGate,
        *,
        unattended: bool = False,
        event_id: str | None = None,
    ) -> Done[GoalState]:
        """Takes the one use of a matching approval; ``gate_required`` if there is none.

        ``unattended``, where each rule that covers the action says ``admit:judge``, the judge of
        the signed rules is asked instead. What it does not admit is asked of a person, durably,
        before ``gate_required`` is raised.
        """
        core, action = self._core, command.action
        order = self._order(goal_id, agent, command, event_id)
        with core.lock:
            state = confirmed(core, goal_id, action)
            if event_id is not None and (first := recorded(core.goal(goal_id), order)) is not None:
                return first
            real = real_paths(core.real_repo(state), action)
            found = permission(state, action, core.clock.read().now, real)
        if found.gate is not None and found.gate.status == "approved" and not found.allowed:
            raise gate_required(found, action)
        if found.allowed or not unattended or admission.before_a_person(state, action):
            return commit(core, order)
        reason = admission.why_not(state, action, real) or self._refused_by_judge(state, action)
        if reason is None:
            return commit(core, replace(order, command=UseGate(action=action, admitted=True)))
        if all(rule.admit != "judge" for rule in covering(state, action, real)):
            return commit(core, order)
        asked = self.request(goal_id, agent, RequestGate(action=action, judged=True))
        raise Denied(
            "gate_required",
            f"{reason[0].upper()}{reason[1:]}, so {asked.object_id} asks a person",
            next=f"loopx gate show {asked.object_id}",
            action=action.action,
            gate_id=asked.object_id,
        )

    def _refused_by_judge(self, state: GoalState, action: Action) -> str | None:
        """Why the judge did not admit the action; ``None`` where it did."""
        from loopx_kernel.domain.items import worker_in
        from loopx_kernel.observe.admission import ask_risk

        judge = state.the_rules.judge
        if judge is None:
            return "the rules name no judge"
        worker = worker_in(judge.command, self._core.house.state.agents)
        if worker is not None:
            return f"the judge names {worker}, a worker"
        word = ask_risk(
            judge.command,
            self._core.repo(state),
            action=action.action,
            command=action.command,
            paths=action.paths,
            search=state.the_rules.search_path,
        )
        if word == admission.ADMITTED:
            return None
        return f"the judge said {word}" if word else "the judge gave no word that counts"

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
        preview = f"{_VERBS[command.outcome]} {command.gate_id} of {goal_id}"
        with self._core.lock:
            asked = self._core.fresh_goal(goal_id).state.gates.get(command.gate_id)
        if asked is not None and asked.proposal is not None:
            preview += f": {asked.question}"
        return prepare(self._core, order, preview)

    def _commit(
        self,
        goal_id: str,
        agent: str,
        command: RequestGate | UseGate | WithdrawGate,
        event_id: str | None,
    ) -> Done[GoalState]:
        return commit(self._core, self._order(goal_id, agent, command, event_id))

    def _order(
        self,
        goal_id: str,
        agent: str,
        command: RequestGate | UseGate | WithdrawGate,
        event_id: str | None,
    ) -> Order:
        # Whether a judge was asked is no part of what the agent asks for.
        asked = {"action": plain(command.action)} if isinstance(command, UseGate) else None
        actor = named("agent", agent)
        return Order(goal_id, command, gate.decide, actor, event_id, arguments=asked)
