"""The brief: what an agent is told when it may work."""

from __future__ import annotations

from loopx_kernel.domain.duties import rerouting
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.records_of_work import Obligation
from loopx_kernel.domain.rules import SpawnPolicy
from loopx_kernel.domain.state import GoalState, duty_of, fulfilled_duty, open_turn
from loopx_kernel.domain.turn_state import missing
from loopx_kernel.value import Value


class Brief(Value):
    """What the agent is told: one thing to do, its boundary, the checks, the commands.

    ``spawn_policy`` says how many workers it may start for this goal, and whether by itself; the
    kernel starts none and cannot see them.
    """

    todo_id: str
    title: str
    objective: str
    write_scope: tuple[str, ...]
    ask_before: tuple[str, ...]
    verification: tuple[str, ...]
    refusals: tuple[str, ...]
    handoff: str
    commands: tuple[str, ...]
    spawn_policy: SpawnPolicy


def brief_for(state: GoalState, todo: Todo, agent_id: str | None = None) -> Brief:
    """The brief for working on this todo now. It allows no more than a claim would hold.

    Its commands run as they stand but for PATH; without an agent they need
    ``LOOPX_AGENT``.
    """
    rules = state.the_rules
    items = {item.id: item for item in rules.acceptance}
    checks = [
        f"{ref}: {items[ref].kind} {items[ref].value or items[ref].path}" for ref in todo.acceptance
    ]
    duty = duty_of(state, todo.id)
    if duty is not None:
        checks.append(_fulfilled(duty))
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
        commands=_commands(state, todo, agent_id),
        spawn_policy=rules.spawn_policy,
    )


def _commands(state: GoalState, todo: Todo, agent_id: str | None) -> tuple[str, ...]:
    """How to begin, and inside a turn how to hand it in: whole, or what is missing of it."""
    who = f"--goal {state.goal_id}" + (f" --agent {agent_id}" if agent_id else "")
    turn = open_turn(state, agent_id) if agent_id else None
    if turn is None or turn.todo_id != todo.id:
        return (f"loopx turn begin {who}",)
    if turn.handed_in:
        rest = {
            "state_written": f"loopx refresh-state {who} --turn {turn.id} --handoff-file PATH",
            "slots_booked": f"loopx quota spend-slot {who} --turn {turn.id}",
        }
        return tuple(command for part, command in rest.items() if part in missing(turn))
    settle = f"loopx turn settle {who} --turn {turn.id}"
    duty = duty_of(state, todo.id)
    # That a duty is fulfilled stands in the ledger; for other work a file shows what was done.
    replans = duty is not None or fulfilled_duty(state, todo.id) is not None
    proof = "" if replans else " --evidence PATH --tests passed"
    return (
        *(rerouting(state, duty, who) if duty is not None else ()),
        f"{settle} --outcome done{proof} --handoff-file PATH",
        f"{settle} --outcome progress --evidence PATH --handoff-file PATH",
        f"{settle} --outcome blocked --handoff-file PATH",
        f"{settle} --outcome failed --handoff-file PATH",
        f"loopx todo renew {todo.id} {who} --version {todo.version} --epoch {turn.lease_epoch}",
    )


def _fulfilled(duty: Obligation) -> str:
    needs = f"there is work with {duty.replan_todo} in its lineage"
    if duty.todo_ids:
        needs = f"each of {', '.join(duty.todo_ids)} has a successor or is finished"
    grounds = f" ({'; '.join(duty.facts)})" if duty.facts else ""
    return f"{duty.id} is fulfilled: {needs}{grounds}"
