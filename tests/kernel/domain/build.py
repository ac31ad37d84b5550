"""A goal made by real events, and the shortest way from a command to the next state."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from loopx_kernel.clock import Reading
from loopx_kernel.domain import (
    acceptance,
    aside,
    cancel,
    drift,
    escalation,
    fold,
    gate,
    goal,
    handin,
    handoff,
    lease,
    objective,
    observation,
    patched_rules,
    propose,
    quota,
    rebuilt,
    repair,
    replan,
    source,
    source_host,
    todo,
    turn,
    turn_receipt,
    turn_settle,
)
from loopx_kernel.domain.canonical import digest
from loopx_kernel.domain.event import (
    EVENT_SCHEMA,
    UNSIGNED,
    Actor,
    Context,
    Draft,
    Event,
    Facts,
    LiveLease,
    ObjectRef,
    Signed,
    Verdict,
    Witness,
)
from loopx_kernel.domain.records import EvidenceRef, Todo
from loopx_kernel.domain.records_of_work import Turn
from loopx_kernel.domain.rules import Coordination, GoalRules, QuotaRule, SpawnPolicy
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.turn_id import number_of
from loopx_kernel.errors import LoopxError

CLAUDE = Actor(kind="agent", id="claude-code")
CODEX = Actor(kind="agent", id="codex")
OWNER = Actor(kind="owner", id="huang")
KERNEL = Actor(kind="code", id="loopx")
AGENTS = (CLAUDE.id, CODEX.id)

OPENED = datetime(2026, 9, 16, 20, 0, tzinfo=UTC)
CLAIMED = datetime(2026, 9, 16, 22, 40, tzinfo=UTC)
NOW = datetime(2026, 9, 16, 22, 50, tzinfo=UTC)
GOOD = Verdict(ok=True, signer=OWNER.id, fingerprint="SHA256:abc", level="passphrase")
HASH = "a3f2" + "0" * 60

_DECIDERS = (
    (acceptance, (acceptance.RecordRun, acceptance.AcceptByHand)),
    (gate, (gate.RequestGate, gate.UseGate, gate.WithdrawGate, gate.DecideGate)),
    (goal, (goal.ChangeGoalStatus,)),
    (handoff, (handoff.WriteHandoff,)),
    (lease, (lease.ClaimTodo, lease.RenewLease, lease.ReleaseLease)),
    (quota, (quota.SpendSlot, quota.VoidSlot)),
    (observation, (observation.Observe,)),
    (rebuilt, (rebuilt.NoteRebuilt,)),
    (source, (source.AddSource, source.BindSource, source.ReadSource, source.SettleSource)),
    (source, (source.PauseSource,)),
    (source_host, (source_host.ReportHost,)),
    (aside, (aside.SetAside, aside.ReopenTodo)),
    (handin, (handin.UpdateTodo, handin.FinishHumanTodo)),
    (todo, (todo.AddTodo,)),
    (turn, (turn.BeginTurn, turn.RecoverTurn)),
    (turn_settle, (turn_receipt.SettleTurn,)),
    (cancel, (cancel.CancelTodo, cancel.SupersedeTodo)),
    (drift, (drift.AdoptDrift, drift.RestoreDrift)),
    (escalation, (escalation.AnswerEscalation,)),
    (objective, (objective.PatchObjective,)),
    (patched_rules, (patched_rules.PatchRules,)),
    (propose, (propose.ProposeChange,)),
    (replan, (replan.RequestReplan, replan.WithdrawReplan, replan.FulfilReplan)),
)


def reading(at: datetime, *, host: str = "host-1", boot: str = "boot-1") -> Reading:
    """The clocks of a machine that booted when the goal was opened."""
    return Reading(at, host, boot, (at - OPENED).total_seconds() + 1000)


def decide(state: GoalState, command: Any, context: Context) -> Draft:
    """The draft of the noun that knows this command."""
    if isinstance(command, goal.OpenGoal):
        return goal.decide_opened(state, command, context)
    if isinstance(command, (repair.RepairFile, repair.RepairJournal)):
        return repair.decide(state, command, context, object_id=state.goal_id)
    for module, commands in _DECIDERS:
        if isinstance(command, commands):
            return module.decide(state, command, context)  # type: ignore[no-any-return]
    raise AssertionError(f"no noun knows {command}")


def signed_for(state: GoalState, object_id: str, at: datetime) -> Signed:
    """A decision on an object as it stands in this state."""
    return Signed(
        signed_at=at,
        object=ObjectRef(id=object_id, version=state.object_version(object_id)),
        witnessed=Witness(seq=state.seq, head=state.head),
        signature="-----BEGIN SSH SIGNATURE-----",
    )


def line(
    state: GoalState,
    event_type: str,
    payload: dict[str, Any],
    actor: Actor = CLAUDE,
    at: datetime = NOW,
    **changed: Any,
) -> Event:
    """The line that would follow this state, whether or not it is legal."""
    seq = state.seq + 1
    values: dict[str, Any] = {
        "event_id": f"e-{seq:04}",
        "goal_id": state.goal_id,
        "event_type": event_type,
        "recorded_at": at,
        "actor_kind": actor.kind,
        "actor_agent_id": actor.id,
        "payload": payload,
        "signed": None,
        "request": digest({"event_type": event_type, "seq": seq}),
        "seq": seq,
        "schema_version": EVENT_SCHEMA,
        "prev": state.head,
        "sha256": digest({"prev": state.head, "seq": seq}),
    }
    return Event.model_validate(values | changed)


def refused(
    book: Book, command: object, kind: type[LoopxError], code: str, **values: object
) -> None:
    """Asserts that the command is refused with this code, and that nothing was changed."""
    before, lines = book.state, len(book.lines)
    with pytest.raises(kind) as caught:
        book.do(command, **values)  # type: ignore[arg-type]
    assert caught.value.code == code
    assert book.state == before
    assert len(book.lines) == lines


@dataclass
class Book:
    """A goal's journal in memory: the lines, with their verdicts, and the state they give."""

    state: GoalState = field(default_factory=lambda: GoalState(goal_id="dark-mode"))
    lines: list[tuple[Event, Verdict]] = field(default_factory=list)

    def do(
        self,
        command: Any,
        actor: Actor = CLAUDE,
        at: datetime = NOW,
        *,
        clock: Reading | None = None,
        neighbours: tuple[LiveLease, ...] = (),
        signed_with: Verdict = GOOD,
    ) -> GoalState:
        """Decides, checks and folds a command; its error leaves everything as it was."""
        look = clock or reading(at)
        context = Context(
            actor, look, agents=frozenset(AGENTS), repo="/srv/mall-frontend", neighbours=neighbours
        )
        draft = decide(self.state, command, context)
        payload = fold.normalise(draft.event_type, draft.payload)
        by_owner = actor.kind == "owner"
        signed = signed_for(self.state, draft.object_id, at) if by_owner else None
        verdict = signed_with if by_owner else UNSIGNED
        event = line(self.state, draft.event_type, payload, actor, look.now, signed=signed)
        facts = Facts(
            actor=actor,
            at=look.now,
            seq=event.seq,
            event_id=event.event_id,
            signed=signed,
            verdict=verdict,
        )
        fold.check(self.state, draft.event_type, payload, facts)
        before = self.state.alert_count
        self.take(event, verdict)
        assert self.state.alert_count == before, "a checked event had no effect"
        return self.state

    def take(self, event: Event, verdict: Verdict = UNSIGNED) -> GoalState:
        """Folds a line as a reader would."""
        self.lines.append((event, verdict))
        self.state = fold.evolve(self.state, event, verdict)
        return self.state

    def write(
        self,
        event_type: str,
        payload: dict[str, Any],
        actor: Actor = CLAUDE,
        at: datetime = NOW,
        **changed: Any,
    ) -> GoalState:
        """A line written by hand, past every command."""
        return self.take(line(self.state, event_type, payload, actor, at, **changed))

    def replay(self) -> GoalState:
        """The state of these lines, folded from nothing, each from its JSON form."""
        state = GoalState(goal_id=self.state.goal_id)
        for event, verdict in self.lines:
            again = Event.model_validate_json(event.model_dump_json())
            state = fold.evolve(state, again, verdict)
        return state

    def todo(self, todo_id: str) -> Todo:
        """The todo as it stands."""
        return self.state.todo(todo_id)


def evidence(path: str, result: str | None = None) -> EvidenceRef:
    """A file that was handed in; with a result it is a report a machine could read."""
    kind = "file" if result is None else "junit"
    return EvidenceRef.model_validate(
        {"path": path, "sha256": HASH, "size": 12, "kind": kind, "result": result}
    )


def add(title: str, *write_scope: str, **values: Any) -> todo.AddTodo:
    """New work."""
    return todo.AddTodo(title=title, write_scope=write_scope, **values)


def claim(todo_id: str, **values: Any) -> lease.ClaimTodo:
    """A claim without a version, unless one is given."""
    return lease.ClaimTodo(todo_id=todo_id, **values)


def begin(todo_id: str, contract_id: str = "c-1") -> turn.BeginTurn:
    """A turn on this todo."""
    return turn.BeginTurn(todo_id=todo_id, contract_id=contract_id)


def settle(turn_id: str, outcome: Any = "done", **values: Any) -> turn_receipt.SettleTurn:
    """The receipt of a turn."""
    return turn_receipt.SettleTurn(turn_id=turn_id, outcome=outcome, **values)


def spend(
    book: Book, ref: str, slots: int = 1, *, actor: Actor = CLAUDE, at: datetime = NOW
) -> None:
    """Books slots for a turn that is in the state and in no line, and closes it."""
    number = number_of(ref)
    known = Turn(
        id=ref,
        todo_id="T0",
        agent_id=actor.id,
        contract_id="c-0",
        lease_epoch=1,
        opened_at=at,
        opened_seq=0,
        seq=0,
    )
    book.state = book.state.with_turn(known).model_copy(
        update={"next_turn": max(book.state.next_turn, number + 1)}
    )
    book.do(quota.SpendSlot(turn=ref, slots=slots), actor, at)
    closed = book.state.turns[ref].model_copy(update={"status": "settled", "closed_at": at})
    book.state = book.state.with_turn(closed)


def complete(todo_id: str, *files: EvidenceRef, **values: Any) -> handin.UpdateTodo:
    """The hand-in that finishes a todo."""
    return handin.UpdateTodo(todo_id=todo_id, complete=True, evidence=files, **values)


def rules(**values: Any) -> GoalRules:
    """The first rules of the dark-mode goal."""
    return GoalRules(
        **{
            "display_name": "为商城前端添加深色模式",
            "domain": "frontend",
            "repo": "mall-frontend",
            "state_file": ".codex/goals/dark-mode/ACTIVE_GOAL_STATE.md",
            "spawn_policy": SpawnPolicy(mode="manual", max_children=2),
            "coordination": Coordination(
                write_scope=("src/theme/**", "tests/theme/**"),
                requires_parent_approval=("write", "publish", "production-action"),
            ),
            "quota": QuotaRule(compute="0.4", window_hours=24, slot_minutes=1),
            **values,
        }
    )


def opened(at: datetime = OPENED, **values: Any) -> Book:
    """A goal that was just opened."""
    book = Book()
    command = goal.OpenGoal(
        goal_id="dark-mode", objective="Add a dark mode to the shop", rules=rules(**values)
    )
    book.do(command, OWNER, at)
    return book


def dark_mode(**values: Any) -> Book:
    """T1 and T2 done; T3 held by claude-code at version 5, epoch 2, 22:40 to 22:55. T2 was
    done in turn-0001, which booked a slot."""
    book = opened(**values)
    minute = timedelta(minutes=1)
    book.do(add("Research styles"), at=OPENED + minute)
    book.do(add("CSS-variable plan", "docs/theme-vars.md"), at=OPENED + 2 * minute)
    book.do(add("Convert components", "src/theme/**"), at=OPENED + 3 * minute)
    book.do(claim("T1"), CODEX, OPENED + 10 * minute)
    book.do(complete("T1", evidence("dark-mode-notes.md")), CODEX, OPENED + 11 * minute)
    book.do(begin("T2"), CODEX, OPENED + 20 * minute)
    done = settle("turn-0001", evidence=(evidence("docs/theme-vars.md"),))
    book.do(done, CODEX, OPENED + 21 * minute)
    book.do(claim("T3"), CODEX, OPENED + 60 * minute)
    for number in (1, 2):
        note = handin.UpdateTodo(todo_id="T3", note=f"step {number}")
        book.do(note, CODEX, OPENED + (60 + number) * minute)
    book.do(lease.ReleaseLease(todo_id="T3", version=3, epoch=1), CODEX, OPENED + 63 * minute)
    book.do(claim("T3", expect_version=4), CLAUDE, CLAIMED)
    return book
