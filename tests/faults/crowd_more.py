"""What agents and the owner try besides the acts of ``crowd``, so that every kind of line is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from loopx_kernel.domain.aside import SetAside
from loopx_kernel.domain.gate import DecideGate, UseGate, WithdrawGate
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.lease import ReleaseLease, RenewLease
from loopx_kernel.domain.patched_rules import PatchRules
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.records import WaitingOn
from loopx_kernel.domain.replan import RequestReplan
from loopx_kernel.domain.rules import SourceRule
from loopx_kernel.domain.source import (
    AddSource,
    BindSource,
    PauseSource,
    ReadSource,
    SettleSource,
)
from loopx_kernel.domain.source_host import ReportHost
from loopx_kernel.workspace import Workspace

from tests.faults.crowd import AGENT_ACTS, OFTEN, Crowd, decision
from tests.kernel.workspace.build import GOAL, OWNER

REPORT = '<testsuite tests="1"><testcase>{}</testcase></testsuite>'
RARE_DECISIONS = 0.25
"""How often the owner decides one of the things below."""


def renew(crowd: Crowd, ws: Workspace, agent: str) -> None:
    """Some todo, with its numbers or with others."""
    held = [todo for todo in crowd.state.todos.values() if todo.status == "claimed"]
    todo = crowd.dice.choice(held) if held else crowd.state.todos.get(crowd.todo())
    ref, version, epoch = (todo.id, todo.version, todo.lease_epoch) if todo else ("T99", 1, 1)
    version += crowd.dice.choice([0, 0, 0, 1])
    if crowd.dice.random() < 0.6:
        ws.todos.renew(GOAL, agent, RenewLease(todo_id=ref, version=version, epoch=epoch))
        return
    ws.todos.release(GOAL, agent, ReleaseLease(todo_id=ref, version=version, epoch=epoch))


def put_off(crowd: Crowd, ws: Workspace, agent: str) -> None:
    status = crowd.dice.choice(["blocked", "deferred"])
    until = crowd.place.clock.now + timedelta(hours=1) if status == "deferred" else None
    command = SetAside(todo_id=crowd.todo(), status=status, reason="x", until=until)  # type: ignore[arg-type]
    ws.todos.set_aside(GOAL, agent, command)


def withdraw(crowd: Crowd, ws: Workspace, agent: str) -> None:
    gate = crowd.one_of(crowd.state.gates, "G99")
    ws.gates.withdraw(GOAL, agent, WithdrawGate(gate_id=gate))


def notify(crowd: Crowd, ws: Workspace, agent: str) -> None:
    """Something a judge may admit where nobody watches."""
    action = Action(action="notify", command="digest --to owner")
    ws.gates.use(GOAL, agent, UseGate(action=action), unattended=crowd.dice.random() < 0.8)


def read(crowd: Crowd, ws: Workspace, agent: str) -> None:
    """Hands in a report of the CI."""
    words = crowd.dice.choice(["", "<failure/>"])
    report = crowd.place.root / "mall-frontend" / "ci.xml"
    report.write_text(REPORT.format(words), "utf-8")
    ws.observations.read(GOAL, "ci.xml", crowd.dice.choice(["gh", "main"]), by=agent)


def accept(crowd: Crowd, ws: Workspace, agent: str) -> None:
    ws.accepting.run(GOAL, crowd.todo())


def source(crowd: Crowd, ws: Workspace, agent: str) -> None:
    """Something happens to a source, or is said of one that is not there or not bound."""
    dice, sources = crowd.dice, ws.sources
    name, many = dice.choice(["chat"] * 6 + ["tickets", "nope"]), dice.choice([None, 0, 3])
    rule = SourceRule(id=name, provider="slack")
    how = dice.choice(["read", "no_change", "failed"])
    found = ReadSource(source_id=name, status=how, items=many, unreadable=many, pending=many)  # type: ignore[arg-type]
    settled = SettleSource(source_id=name, cursor=str(crowd.state.seq), pending=many)
    paused = PauseSource(source_id=name, paused=dice.random() < 0.5, reason="x")
    scanned = tuple(ref for ref in crowd.state.sources if dice.random() < 0.5)
    host = ReportHost(provider="slack", status="ok", scanned=scanned, expires_seconds=600)
    on_it = WaitingOn(kind="source", ref=name)
    wait = SetAside(todo_id=crowd.todo(), status="waiting", waiting_on=on_it)
    acts: list[Callable[[], Any]] = [
        lambda: name == "nope" or sources.add(GOAL, AddSource(rule=rule)),
        lambda: sources.bind(GOAL, BindSource(source_id=name)),
        lambda: sources.read(GOAL, found),
        lambda: sources.read(GOAL, found),
        lambda: sources.settle(GOAL, settled),
        lambda: sources.pause(GOAL, paused),
        lambda: sources.report_host(GOAL, host),
        lambda: ws.todos.set_aside(GOAL, agent, wait),
    ]
    known = crowd.state.sources.get(name)
    if known is not None and not known.bound and dice.random() < 0.8:
        sources.bind(GOAL, BindSource(source_id=name))
        return
    dice.choice(acts)()


ACTS: dict[str, Callable[[Crowd, Workspace, str], Any]] = {
    **AGENT_ACTS,
    "renew": renew,
    "put off": put_off,
    "withdraw": withdraw,
    "notify": notify,
    "read": read,
    "accept a todo": accept,
    "source": source,
}
WEIGHTED = (*ACTS, *OFTEN, "source")


def decide_more(crowd: Crowd, ws: Workspace) -> Any:
    """Something a person decides, ready to be signed."""
    if crowd.dice.random() > RARE_DECISIONS:
        return decision(crowd, ws)
    dice, state = crowd.dice, crowd.state
    later = DecideGate(
        gate_id=crowd.one_of(state.gates, "G99"),
        outcome="deferred",
        until=crowd.place.clock.now + timedelta(minutes=dice.choice([30, 900])),
    )
    compute = dice.choice(["0.3", "0.4", "0.5"])
    quota = state.the_rules.quota.model_copy(update={"compute": compute})
    rules = PatchRules(rules=state.the_rules.model_copy(update={"quota": quota}), reason="x")
    back = ChangeGoalStatus(to="resumed", reason="x")
    finished = [todo.id for todo in state.todos.values() if todo.finished and todo.acceptance]
    named = dice.choice([*finished, crowd.todo()])
    prepared: list[Callable[[], Any]] = [
        lambda: ws.gates.decide(GOAL, OWNER, later),
        lambda: ws.goals.patch_rules(GOAL, OWNER, rules),
        lambda: ws.goals.change_status(GOAL, OWNER, back),
        lambda: ws.accepting.by_hand(GOAL, OWNER, "seen", named),
        lambda: ws.replans.request(GOAL, OWNER, RequestReplan(reason="all of it")),
    ]
    return dice.choice(prepared)()


def lose_a_file(crowd: Crowd) -> None:
    """A lease or a statement disappears, and the next writer makes it again."""
    folder = Path(crowd.place.journal).parent
    files = [*folder.glob("task-leases/*.json"), *folder.glob("statements/*.json")]
    if files:
        crowd.dice.choice(sorted(files)).unlink()
    crowd.programs[OWNER].handoff.write(GOAL, "codex", f"on it at {crowd.state.seq}")
