"""Goal commands; all of them are for people."""

from __future__ import annotations

import contextlib
import os

from loopx_kernel.domain import goal, patched_rules
from loopx_kernel.domain.event import Context, Draft
from loopx_kernel.domain.goal import ChangeGoalStatus, OpenGoal
from loopx_kernel.domain.items import check_judge
from loopx_kernel.domain.patched_rules import PatchRules
from loopx_kernel.domain.roster_state import WorkspaceState
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Conflict, Damaged
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.materials import Materials
from loopx_kernel.workspace.orders import Order, named
from loopx_kernel.workspace.signing import Unsigned, prepare

_VERBS = {"paused": "pause", "resumed": "resume", "retired": "retire"}


class Goals:
    """Opening goals, and pausing, resuming and retiring them."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def open(self, owner: str, command: OpenGoal, *, event_id: str | None = None) -> Unsigned:
        """Prepares opening a goal with all its first rules. Raises ``vague_gate``,
        ``invalid_scope``, ``exists``, ``invalid_value`` for a worker as judge, and
        ``file_damaged`` where the registry cannot be read."""
        Materials(self._core).registry.read()
        actor = named("owner", owner)
        order = Order(command.goal_id, command, self._decide_opened, actor, event_id, house=True)
        return prepare(self._core, order, f"open the goal {command.goal_id}")

    def change_status(
        self, goal_id: str, owner: str, command: ChangeGoalStatus, *, event_id: str | None = None
    ) -> Unsigned:
        """Prepares pausing, resuming or retiring a goal."""
        actor = named("owner", owner)
        order = Order(goal_id, command, goal.decide, actor, event_id, both=True)
        return prepare(self._core, order, f"{_VERBS[command.to]} {goal_id}")

    def patch_rules(
        self, goal_id: str, owner: str, command: PatchRules, *, event_id: str | None = None
    ) -> Unsigned:
        """Prepares new rules. Raises ``invalid_value``, ``invalid_scope``, ``vague_gate``."""
        order = Order(goal_id, command, patched_rules.decide, named("owner", owner), event_id)
        return prepare(self._core, order, f"change the rules of {goal_id}")

    def _decide_opened(self, state: WorkspaceState, command: OpenGoal, context: Context) -> Draft:
        """Two goals in one state file would take each other's todos for a person's edits; a
        worker who judges would find its own work good."""
        check_judge(command.rules, state.agents)
        wanted = self._state_file(GoalState(goal_id=command.goal_id, rules=command.rules))
        for other in state.goals:
            if other == command.goal_id:
                continue
            with contextlib.suppress(Damaged):
                if self._state_file(self._core.fresh_goal(other).state) == wanted:
                    raise Conflict(
                        "exists",
                        f"{wanted} is the state file of {other}",
                        next="choose another state_file for the new goal",
                        goal_id=other,
                        path=wanted,
                    )
        return goal.decide_opened(state, command, context)

    def _state_file(self, state: GoalState) -> str:
        return os.path.realpath(self._core.state_file(state))
