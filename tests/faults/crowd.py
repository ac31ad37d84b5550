"""Two agents and an owner, each with a program of their own, and what they try."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from loopx_kernel.clock import format_time
from loopx_kernel.domain import fold
from loopx_kernel.domain.aside import ReopenTodo, SetAside
from loopx_kernel.domain.cancel import CancelTodo, SupersedeTodo
from loopx_kernel.domain.escalation import AnswerEscalation
from loopx_kernel.domain.event import Context
from loopx_kernel.domain.gate import DecideGate, RequestGate, UseGate
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.handin import FinishHumanTodo
from loopx_kernel.domain.lease import ClaimTodo, ReleaseLease
from loopx_kernel.domain.objective import PatchObjective
from loopx_kernel.domain.observation import Observe
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.propose import ProposeChange
from loopx_kernel.domain.quota import SpendSlot, VoidSlot
from loopx_kernel.domain.records import WaitingOn
from loopx_kernel.domain.records_of_work import Proposal
from loopx_kernel.domain.replan import FulfilReplan, RequestReplan, WithdrawReplan
from loopx_kernel.domain.rules import (
    JudgeRule,
    Limits,
    Probe,
    SourceRule,
    parse_acceptance,
    parse_gate_rule,
)
from loopx_kernel.domain.state import GoalState, open_turn
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.workspace import Workspace

from tests.faults.governed import HUMAN_ONLY
from tests.kernel.domain import build
from tests.kernel.workspace.build import CLAUDE, GOAL, OWNER, Place
from tests.kernel.workspace.forge import append_raw, records

RULES: dict[str, Any] = {
    "acceptance": (parse_acceptance("tests=cmd:test -e passed", 1),),
    "probes": (Probe(id="gh", command="test -e green"),),
    "gates": (parse_gate_rule("publish:npm*"), parse_gate_rule("notify:digest* admit:judge")),
    "judge": JudgeRule(command="sh -c 'test -e green && echo low'"),
    "sources": (SourceRule(id="chat", provider="slack"),),
    "limits": Limits(turns_without_progress=2, recoveries_per_day=1),
}


@dataclass
class Crowd:
    """Who acts on the goal: a program for each, and the dice."""

    place: Place
    dice: Random
    programs: dict[str, Workspace]

    @property
    def state(self) -> GoalState:
        return self.programs[OWNER].state(GOAL)

    def todo(self) -> str:
        """Some todo, mostly one that is there and not finished."""
        left = [todo.id for todo in self.state.todos.values() if not todo.finished]
        return self.dice.choice([*left, *left, "T1", "T99"])

    def turn(self, agent: str) -> str:
        """Some turn, mostly the agent's own open one."""
        mine = open_turn(self.state, agent)
        known = list(self.state.turns)[-3:] or ["turn-0001"]
        return mine.id if mine and self.dice.random() < 0.8 else self.dice.choice(known)

    def one_of(self, kept: dict[str, Any], other: str) -> str:
        """Some id, mostly of one that is open."""
        left = [ref for ref, one in kept.items() if one.status in ("open", "pending")]
        return self.dice.choice([*left, *left, *list(kept)[-1:], other])


def add(crowd: Crowd, ws: Workspace, agent: str) -> None:
    dice, known = crowd.dice, list(crowd.state.todos)[-3:]
    command = AddTodo(
        title="Work",
        role="human" if dice.random() < 0.1 else "agent",
        write_scope=dice.choice([(), ("src/**",), ("docs/**",)]),
        lineage=tuple(dice.sample(known, k=min(len(known), dice.randrange(3)))),
        acceptance=dice.choice([(), (), ("tests",)]),
    )
    ws.todos.add(GOAL, agent, command)


def settle(crowd: Crowd, ws: Workspace, agent: str) -> None:
    ws.turns.settle(
        GOAL,
        agent,
        crowd.turn(agent),
        outcome=crowd.dice.choice(["done", "done", "progress", "blocked", "failed"]),
        evidence=crowd.dice.choice([[], ["dark-mode-notes.md"], ["dark-mode-notes.md"], ["none"]]),
        handoff=crowd.dice.choice([None, "next", "next"]),
        slots=crowd.dice.choice([0, 1, 1, 2]),
    )


def work(crowd: Crowd, ws: Workspace, agent: str) -> None:
    """A whole turn, or the end of the one that is open."""
    if open_turn(crowd.state, agent) is None:
        ws.turns.begin(GOAL, agent)
    settle(crowd, ws, agent)


def hand_in(crowd: Crowd, ws: Workspace, agent: str) -> None:
    ref = crowd.turn(agent)
    turn = crowd.state.turns.get(ref)
    ws.todos.update(
        GOAL,
        agent,
        turn.todo_id if turn else crowd.todo(),
        complete=crowd.dice.random() < 0.5,
        evidence=crowd.dice.choice([[], ["dark-mode-notes.md"]]),
        turn=crowd.dice.choice([None, ref, ref]),
    )


def claim(crowd: Crowd, ws: Workspace, agent: str) -> None:
    ref = crowd.todo()
    todo = crowd.state.todos.get(ref)
    if todo is None or todo.status != "claimed" or crowd.dice.random() < 0.3:
        ws.todos.claim(GOAL, agent, ClaimTodo(todo_id=ref))
        return
    command = ReleaseLease(todo_id=ref, version=todo.version, epoch=todo.lease_epoch)
    ws.todos.release(GOAL, agent, command)


def set_aside(crowd: Crowd, ws: Workspace, agent: str) -> None:
    if crowd.dice.random() < 0.4:
        ws.todos.reopen(GOAL, agent, ReopenTodo(todo_id=crowd.todo()))
    wait = WaitingOn(kind="ci", ref=crowd.dice.choice(["", "gh"]))
    command = SetAside(todo_id=crowd.todo(), status="waiting", waiting_on=wait)
    ws.todos.set_aside(GOAL, agent, command)


def observe(crowd: Crowd, ws: Workspace, agent: str) -> None:
    if crowd.dice.random() < 0.5:
        ws.observations.probe(GOAL, "gh", by=agent)
        return
    status = crowd.dice.choice(["pass", "fail", "pending"])
    ref = crowd.dice.choice(["gh", "main"])
    ws.observations.record(
        GOAL,
        Observe(kind="ci", ref=ref, status=status, basis="told", by=agent),  # type: ignore[arg-type]
    )


def ask(crowd: Crowd, ws: Workspace, agent: str) -> None:
    action = Action(action="publish", command=f"npm publish {crowd.dice.randrange(4)}")
    if crowd.dice.random() < 0.5:
        ws.gates.use(GOAL, agent, UseGate(action=action))
    blocks = crowd.dice.choice([(), (crowd.todo(),)])
    ws.gates.request(GOAL, agent, RequestGate(action=action, blocks=blocks))


def propose(crowd: Crowd, ws: Workspace, agent: str) -> None:
    kind = crowd.dice.choice(["cancel", "route", "objective", "supersede"])
    proposal = Proposal(
        kind=kind,  # type: ignore[arg-type]
        reason="x",
        todo_ids=() if kind == "objective" else (crowd.todo(),),
        successor=crowd.todo() if kind == "supersede" else None,
        text=f"Words {crowd.dice.randrange(9)}" if kind == "objective" else "",
    )
    ws.replans.propose(GOAL, agent, ProposeChange(proposal=proposal))


def fulfil(crowd: Crowd, ws: Workspace, agent: str) -> None:
    ref = crowd.one_of(crowd.state.obligations, "O9")
    duty = crowd.state.obligations.get(ref)
    pairs = []
    for old in duty.todo_ids if duty else ():
        if not crowd.state.is_finished(old):
            follows = AddTodo(title="Other way", lineage=(old,))
            pairs.append((old, ws.todos.add(GOAL, agent, follows).object_id))
    ws.replans.fulfil(GOAL, agent, FulfilReplan(obligation_id=ref, supersede=tuple(pairs)))


AGENT_ACTS: dict[str, Callable[[Crowd, Workspace, str], Any]] = {
    "add": add,
    "work": work,
    "begin": lambda crowd, ws, agent: ws.turns.begin(GOAL, agent),
    "settle": settle,
    "hand in": hand_in,
    "hand over": lambda c, ws, agent: ws.handoff.write(GOAL, agent, "n", turn=c.turn(agent)),
    "spend": lambda c, ws, agent: ws.quota.spend(GOAL, agent, SpendSlot(turn=c.turn(agent))),
    "recover": lambda crowd, ws, agent: ws.turns.recover(GOAL),
    "claim": claim,
    "set aside": set_aside,
    "observe": observe,
    "accept": lambda crowd, ws, agent: ws.accepting.run(GOAL),
    "ask": ask,
    "propose": propose,
    "fulfil": fulfil,
}
OFTEN = ("work", "work", "work", "work", "begin", "hand in", "hand over", "spend")


def decision(crowd: Crowd, ws: Workspace) -> Any:
    """Something a person decides, ready to be signed."""
    dice, state = crowd.dice, crowd.state
    todo_id = crowd.todo()
    gate = DecideGate(
        gate_id=crowd.one_of(state.gates, "G99"),
        outcome=dice.choice(["approved", "approved", "rejected"]),  # type: ignore[arg-type]
    )
    answer = AnswerEscalation(
        escalation_id=crowd.one_of(state.escalations, "E9"),
        answer=dice.choice(["go_on", "replan", "cancel"]),  # type: ignore[arg-type]
        reason="x",
    )
    duty = WithdrawReplan(obligation_id=crowd.one_of(state.obligations, "O9"))
    status = ChangeGoalStatus(to="resumed" if state.status == "paused" else "paused", reason="x")
    void = VoidSlot(turn=crowd.turn(CLAUDE), reason="x")
    prepared: list[Callable[[], Any]] = [
        lambda: ws.gates.decide(GOAL, OWNER, gate),
        lambda: ws.escalations.answer(GOAL, OWNER, answer),
        lambda: ws.replans.withdraw(GOAL, OWNER, duty),
        lambda: ws.replans.request(GOAL, OWNER, RequestReplan(reason="x", todo_ids=(todo_id,))),
        lambda: ws.replans.cancel(GOAL, OWNER, CancelTodo(todo_id=todo_id, reason="x")),
        lambda: ws.replans.supersede(
            GOAL, OWNER, SupersedeTodo(todo_id=todo_id, by=crowd.todo(), reason="x")
        ),
        lambda: ws.objectives.patch(
            GOAL, OWNER, PatchObjective(text=f"Words {dice.randrange(9)}", reason="x")
        ),
        lambda: ws.todos.finish_human(GOAL, OWNER, FinishHumanTodo(todo_id=todo_id, reason="x")),
        lambda: ws.accepting.by_hand(GOAL, OWNER, "seen"),
        lambda: ws.quota.void(GOAL, OWNER, void),
        lambda: ws.goals.change_status(GOAL, OWNER, status),
    ]
    asked = [*state.gates.values(), *state.escalations.values()]
    if any(one.status in ("open", "pending") for one in asked):
        prepared += prepared[:2] * 4
    return dice.choice(prepared)()


def end_everything(crowd: Crowd) -> None:
    """All that is left is cancelled, and acceptance run."""
    ws, key = crowd.programs[OWNER], crowd.place.keys[OWNER]
    for todo in list(crowd.state.todos.values()):
        if not todo.finished:
            command = CancelTodo(todo_id=todo.id, reason="x")
            ws.append(ws.replans.cancel(GOAL, OWNER, command), key)
    ws.accepting.run(GOAL)


def forge(crowd: Crowd) -> None:
    """Somebody types a decision of a person into the journal, or copies one of theirs."""
    before, journal = crowd.state, crowd.place.journal
    lines = records(journal)
    human = [one for one in lines if one["event_type"] in HUMAN_ONLY] or lines
    line = dict(crowd.dice.choice(human))
    if crowd.dice.random() < 0.7:
        line |= {"event_id": f"e-forged-{len(lines)}"} | _typed(crowd, before)
    if crowd.dice.random() < 0.3:
        line |= {"actor_kind": "agent", "actor_agent_id": CLAUDE}
        line.pop("signed", None)
    append_raw(journal, line)
    assert crowd.state.alert_count == before.alert_count + 1
    crowd.programs[CLAUDE].handoff.write(GOAL, CLAUDE, "next")


def _typed(crowd: Crowd, state: GoalState) -> dict[str, Any]:
    """A decision that would be right as the goal stands, were it signed by who it names."""
    now = crowd.place.clock.now
    left = [todo.id for todo in state.todos.values() if not todo.finished]
    ends: Any = CancelTodo(todo_id=left[0], reason="x")
    words: Any = PatchObjective(text=f"Forged at {state.seq}", reason="x")
    draft = build.decide(
        state, crowd.dice.choice([ends, words]), Context(build.OWNER, build.reading(now))
    )
    return {
        "event_type": draft.event_type,
        "payload": fold.normalise(draft.event_type, draft.payload),
        "recorded_at": format_time(now),
        "signed": build.signed_for(state, draft.object_id, now).model_dump(mode="json"),
        "actor_kind": "owner",
        "actor_agent_id": OWNER,
    }
