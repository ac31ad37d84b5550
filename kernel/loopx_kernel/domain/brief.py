"""The brief: what an agent is told when it may work."""

from __future__ import annotations

from dataclasses import dataclass

from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.state import GoalState


@dataclass(frozen=True, slots=True)
class Brief:
    """What the agent is told: one thing to do, its boundary, the checks, the commands."""

    todo_id: str
    title: str
    objective: str
    write_scope: tuple[str, ...]
    ask_before: tuple[str, ...]
    verification: tuple[str, ...]
    refusals: tuple[str, ...]
    handoff: str
    commands: tuple[str, ...]


def brief_for(state: GoalState, todo: Todo, agent_id: str | None = None) -> Brief:
    """The brief for working on this todo now. It allows no more than a claim would hold.

    Its commands run as they stand; without an agent they need ``LOOPX_AGENT``.
    """
    rules = state.the_rules
    items = {item.id: item for item in rules.acceptance}
    who = f"--goal {state.goal_id}" + (f" --agent {agent_id}" if agent_id else "")
    checks = [
        f"{ref}: {items[ref].kind} {items[ref].value or items[ref].path}" for ref in todo.acceptance
    ]
    checks.append("every evidence file exists in the repo and says what is claimed")
    refused = [
        f"{gate.id} was rejected: {gate.question}"
        for gate in state.gates.values()
        if gate.status == "rejected" and todo.id in gate.blocks
    ]
    return Brief(
        todo_id=todo.id,
        title=todo.title,
        objective=state.objective.text if state.objective else "",
        write_scope=todo.write_scope,
        ask_before=tuple(rule.text for rule in rules.approval_rules),
        verification=tuple(checks),
        refusals=tuple(refused),
        handoff=state.handoff.text if state.handoff else "",
        commands=(
            f"loopx todo claim {todo.id} {who} --expect-version {todo.version}",
            f"loopx todo complete {todo.id} {who} --evidence PATH --tests passed",
            f"loopx quota spend-slot {who} --turn turn-NNNN",
            f"loopx refresh-state {who} --handoff-file PATH",
        ),
    )
