"""Anything in any order: what must hold of a goal whatever was tried."""

from __future__ import annotations

from datetime import timedelta
from itertools import combinations
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from loopx_kernel.domain import fold
from loopx_kernel.domain.aside import ReopenTodo, SetAside
from loopx_kernel.domain.event import Actor, Event, Verdict
from loopx_kernel.domain.gate import DecideGate, RequestGate, UseGate, WithdrawGate
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.lease import ReleaseLease, RenewLease
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.quota import SpendSlot, VoidSlot
from loopx_kernel.domain.records import WaitingOn
from loopx_kernel.domain.scope import overlap
from loopx_kernel.domain.state import GoalState, is_live
from loopx_kernel.domain.todo import FinishHumanTodo, UpdateTodo
from loopx_kernel.errors import LoopxError

from tests.kernel.domain.build import (
    CLAUDE,
    CODEX,
    HASH,
    KERNEL,
    NOW,
    OWNER,
    add,
    claim,
    complete,
    evidence,
    line,
    opened,
    reading,
    signed_for,
)

AGENTS = st.sampled_from([CLAUDE, CODEX])
ANYBODY = st.sampled_from([CLAUDE, CODEX, OWNER, KERNEL])
TODOS = st.sampled_from(["T1", "T2", "T1", "T2", "T3", "T4", "T9"])
GATES = st.sampled_from(["G1", "G2", "G9"])
TURNS = st.sampled_from(["turn-0001", "turn-0002", "turn-0003"])
SCOPES = st.sampled_from(["src/**", "src/theme/**", "src/theme/a.css", "docs/", "docs/x.md"])
ACTIONS = st.sampled_from(["npm publish a", "npm publish b"]).map(
    lambda command: Action(action="publish", command=command)
)
SMALL = st.integers(0, 6)
HUMAN_ONLY = {"goal.", "gate.approved", "gate.rejected", "gate.deferred", "spend.voided"}


class AnyOrder(RuleBasedStateMachine):
    """Commands of everybody, legal or not, and lines written by hand."""

    @initialize()
    def open(self) -> None:
        self.book = opened()
        self.now = NOW
        for scope in ("src/**", "src/theme/**", "docs/"):
            self.book.do(add("Work", scope))
        self.book.do(add("Choose", role="human"))
        self.book.do(RequestGate(action=Action(action="publish", command="npm publish a")))

    def attempt(self, command: Any, actor: Actor) -> None:
        """A command either is refused and changes nothing, or makes one effective line."""
        before, lines = self.book.state, len(self.book.lines)
        try:
            self.book.do(command, actor, self.now)
        except LoopxError:
            assert self.book.state == before
            assert len(self.book.lines) == lines
            return
        assert len(self.book.lines) == lines + 1
        self.compare(before)

    def compare(self, before: GoalState) -> None:
        """What one line may do to the numbers that guard against others."""
        after = self.book.state
        assert after.seq == before.seq + 1
        for todo_id, todo in before.todos.items():
            now = after.todos[todo_id]
            assert now.lease_epoch in (todo.lease_epoch, todo.lease_epoch + 1)
            assert now == todo or now.version == todo.version + 1
            assert (now == todo) is (now.seq == todo.seq)
            if todo.finished:
                assert now == todo

    @rule(minutes=st.sampled_from([1, 10, 20, 90]))
    def wait(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @rule(actor=ANYBODY, scope=SCOPES, human=st.booleans())
    def add(self, actor: Actor, scope: str, human: bool) -> None:
        self.attempt(add("Work", scope, role="human" if human else "agent"), actor)

    @rule(actor=AGENTS, todo_id=TODOS, version=st.none() | SMALL)
    def claim(self, actor: Actor, todo_id: str, version: int | None) -> None:
        self.attempt(claim(todo_id, expect_version=version), actor)

    @rule(actor=AGENTS, todo_id=TODOS)
    def claim_what_is_free(self, actor: Actor, todo_id: str) -> None:
        self.attempt(claim(todo_id), actor)

    @rule(actor=AGENTS, todo_id=TODOS, off=st.sampled_from([0, 0, 0, 1]), give_up=st.booleans())
    def hold(self, actor: Actor, todo_id: str, off: int, give_up: bool) -> None:
        todo = self.book.state.todos.get(todo_id)
        version, epoch = (todo.version + off, todo.lease_epoch) if todo else (1, 1)
        kind = ReleaseLease if give_up else RenewLease
        self.attempt(kind(todo_id=todo_id, version=version, epoch=epoch), actor)

    @rule(actor=AGENTS, todo_id=TODOS, done=st.booleans())
    def hand_in(self, actor: Actor, todo_id: str, done: bool) -> None:
        file = evidence("a.txt")
        hand_in = complete(todo_id, file) if done else UpdateTodo(todo_id=todo_id, note="n")
        self.attempt(hand_in, actor)

    @rule(actor=ANYBODY, todo_id=TODOS)
    def finish(self, actor: Actor, todo_id: str) -> None:
        self.attempt(FinishHumanTodo(todo_id=todo_id, reason="done"), actor)

    @rule(actor=AGENTS, todo_id=TODOS, status=st.sampled_from(["blocked", "waiting", "deferred"]))
    def set_aside(self, actor: Actor, todo_id: str, status: Any) -> None:
        command = SetAside(
            todo_id=todo_id,
            status=status,
            reason="x",
            until=self.now + timedelta(minutes=30) if status == "deferred" else None,
            waiting_on=WaitingOn(kind="ci") if status == "waiting" else None,
        )
        self.attempt(command, actor)

    @rule(actor=AGENTS, todo_id=TODOS)
    def reopen(self, actor: Actor, todo_id: str) -> None:
        self.attempt(ReopenTodo(todo_id=todo_id), actor)

    @rule(actor=ANYBODY, action=ACTIONS, blocks=st.lists(TODOS, max_size=2).map(tuple))
    def request(self, actor: Actor, action: Action, blocks: tuple[str, ...]) -> None:
        self.attempt(RequestGate(action=action, blocks=blocks), actor)

    @rule(
        actor=ANYBODY, gate_id=GATES, outcome=st.sampled_from(["approved", "rejected", "deferred"])
    )
    def decide(self, actor: Actor, gate_id: str, outcome: Any) -> None:
        until = self.now + timedelta(hours=1) if outcome == "deferred" else None
        self.attempt(DecideGate(gate_id=gate_id, outcome=outcome, until=until), actor)

    @rule(actor=AGENTS, action=ACTIONS)
    def use(self, actor: Actor, action: Action) -> None:
        self.attempt(UseGate(action=action), actor)

    @rule(actor=AGENTS, gate_id=GATES)
    def withdraw(self, actor: Actor, gate_id: str) -> None:
        self.attempt(WithdrawGate(gate_id=gate_id), actor)

    @rule(actor=ANYBODY, turn=TURNS, slots=st.integers(0, 3), void=st.booleans())
    def spend(self, actor: Actor, turn: str, slots: int, void: bool) -> None:
        book = VoidSlot(turn=turn, reason="x") if void else SpendSlot(turn=turn, slots=slots)
        self.attempt(book, actor)

    @rule(actor=ANYBODY, todo_id=TODOS)
    def pause_for_a_moment(self, actor: Actor, todo_id: str) -> None:
        self.attempt(ChangeGoalStatus(to="paused", reason="x"), actor)
        self.attempt(claim(todo_id), CODEX)
        self.attempt(ChangeGoalStatus(to="resumed", reason="x"), OWNER)

    @rule(back=st.integers(0, 4), signed=st.booleans())
    def copy_an_old_line(self, back: int, signed: bool) -> None:
        event, verdict = self.book.lines[-1 - back]
        update = {"seq": self.book.state.seq + 1, "sha256": HASH, "recorded_at": self.now}
        self.written(event.model_copy(update=update), verdict if signed else Verdict(ok=False))

    @rule(back=st.integers(0, 4), actor=ANYBODY, todo_id=TODOS, step=st.integers(0, 2))
    def write_by_hand(self, back: int, actor: Actor, todo_id: str, step: int) -> None:
        event, _ = self.book.lines[-1 - back]
        payload = event.payload | ({"todo_id": todo_id} if "todo_id" in event.payload else {})
        for number in ("version", "lease_epoch"):
            if number in payload:
                payload[number] += step
        forged = signed_for(self.book.state, todo_id, self.now)
        self.written(
            line(self.book.state, event.event_type, payload, actor, self.now, signed=forged),
            Verdict(ok=False, problem="bad_signature"),
        )

    def written(self, event: Event, verdict: Verdict) -> None:
        """A line without an effect raises the alert; one with an effect is a legal one."""
        before = self.book.state
        self.book.take(event, verdict)
        if self.book.state.alert_count == before.alert_count:
            self.compare(before)

    @invariant()
    def live_leases_never_overlap(self) -> None:
        look = reading(self.now)
        live = [t.lease for t in self.book.state.todos.values() if is_live(t.lease, look)]
        for one, two in combinations(live, 2):
            assert one is not None
            assert two is not None
            assert overlap(".", one.write_scopes, ".", two.write_scopes) is None

    @invariant()
    def a_todo_is_claimed_exactly_while_its_lease_is_active(self) -> None:
        for todo in self.book.state.todos.values():
            active = todo.lease is not None and todo.lease.status == "active"
            assert active is (todo.status == "claimed")
            if todo.lease is not None and active:
                assert todo.lease.version == todo.version
                assert todo.lease.lease_epoch == todo.lease_epoch

    def teardown(self) -> None:
        """A replay from nothing gives the same state, in which what stands was booked once
        and decided by people."""
        assert self.book.replay() == self.book.state
        state = GoalState(goal_id="dark-mode")
        booked: list[str] = []
        for event, verdict in self.book.lines:
            after = fold.evolve(state, event, verdict)
            if after.alert_count == state.alert_count:
                if event.event_type == "spend.booked":
                    booked.append(event.payload["effect_ref"])
                if event.event_type.startswith(tuple(HUMAN_ONLY)):
                    assert verdict.ok
                    assert verdict.signer == event.actor_agent_id == OWNER.id
            state = after
        assert sorted(booked) == sorted(self.book.state.spends)


AnyOrder.TestCase.settings = settings(max_examples=50, stateful_step_count=40, deadline=None)
TestAnyOrder = AnyOrder.TestCase
