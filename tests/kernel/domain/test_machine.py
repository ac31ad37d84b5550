"""Anything in any order: what must hold of a goal whatever was tried."""

from __future__ import annotations

from datetime import timedelta
from itertools import combinations
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from loopx_kernel.domain import fold
from loopx_kernel.domain.acceptance import AcceptByHand, RecordRun
from loopx_kernel.domain.aside import ReopenTodo, SetAside
from loopx_kernel.domain.cancel import CancelTodo, SupersedeTodo
from loopx_kernel.domain.escalation import AnswerEscalation
from loopx_kernel.domain.event import Actor, Event, Verdict
from loopx_kernel.domain.gate import DecideGate, RequestGate, UseGate, WithdrawGate
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.handin import FinishHumanTodo, UpdateTodo
from loopx_kernel.domain.handoff import WriteHandoff
from loopx_kernel.domain.landing import awaits, looked_since
from loopx_kernel.domain.lease import ReleaseLease, RenewLease
from loopx_kernel.domain.objective import PatchObjective
from loopx_kernel.domain.observation import Observe
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.propose import ProposeChange
from loopx_kernel.domain.quota import SpendSlot, VoidSlot
from loopx_kernel.domain.records import WaitingOn
from loopx_kernel.domain.records_of_work import Proposal
from loopx_kernel.domain.replan import FulfilReplan, RequestReplan, WithdrawReplan
from loopx_kernel.domain.rules import SourceRule, parse_acceptance
from loopx_kernel.domain.scope import overlap
from loopx_kernel.domain.source import BindSource, ReadSource
from loopx_kernel.domain.standing import gaps, standing, worked_seq
from loopx_kernel.domain.state import (
    GoalState,
    is_live,
    open_escalations,
    open_obligations,
    open_turn,
)
from loopx_kernel.domain.turn import RecoverTurn
from loopx_kernel.errors import LoopxError

from tests.kernel.domain.build import (
    CLAUDE,
    CODEX,
    HASH,
    KERNEL,
    NOW,
    OWNER,
    add,
    begin,
    claim,
    complete,
    evidence,
    line,
    opened,
    reading,
    settle,
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
TESTS = parse_acceptance("tests=cmd:npm test", 1)
CHAT = SourceRule(id="chat", provider="slack")
HUMAN_ONLY = {
    "work.",
    "goal.",
    "objective.",
    "todo.cancelled",
    "todo.superseded",
    "replan.requested",
    "replan.withdrawn",
    "escalation.answered",
    "gate.approved",
    "gate.rejected",
    "gate.deferred",
    "spend.voided",
}


class AnyOrder(RuleBasedStateMachine):
    """Commands of everybody, legal or not, and lines written by hand."""

    @initialize()
    def open(self) -> None:
        self.book = opened(acceptance=(TESTS,), sources=(CHAT,))
        self.book.do(BindSource(source_id="chat"), KERNEL)
        self.now = NOW
        self.failures: dict[tuple[str, str], tuple[str, bool]] = {}
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
        by_agent = self.book.lines[-1][0].actor_kind == "agent"
        for todo_id, todo in before.todos.items():
            now = after.todos[todo_id]
            assert now.lease_epoch in (todo.lease_epoch, todo.lease_epoch + 1)
            # A turn that is settled hands in and gives back, in one line.
            assert now.version - todo.version in (0, 1, 2)
            same = now.model_copy(update={"effort": todo.effort}) == todo
            assert same is (now.version == todo.version)
            assert same is (now.seq == todo.seq)
            if todo.finished:
                assert now == todo
            if todo.status == "waiting" and by_agent and not now.finished:
                same_wait = now.waiting_on == todo.waiting_on
                assert same_wait or looked_since(before, todo)

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

    @rule(actor=AGENTS, todo_id=TODOS, done=st.booleans(), risky=st.booleans())
    def hand_in(self, actor: Actor, todo_id: str, done: bool, risky: bool) -> None:
        risk = (("write@infra/**", "write infra/x"),) if risky else ()
        finished = complete(todo_id, evidence("a.txt"), high_risk=risk)
        self.attempt(finished if done else UpdateTodo(todo_id=todo_id, note="n"), actor)

    @rule(actor=ANYBODY, todo_id=TODOS)
    def finish(self, actor: Actor, todo_id: str) -> None:
        self.attempt(FinishHumanTodo(todo_id=todo_id, reason="done"), actor)

    @rule(
        actor=AGENTS,
        todo_id=TODOS,
        status=st.sampled_from(["blocked", "waiting", "deferred"]),
        on=st.sampled_from([WaitingOn(kind="ci"), WaitingOn(kind="source", ref="chat")]),
    )
    def set_aside(self, actor: Actor, todo_id: str, status: Any, on: WaitingOn) -> None:
        command = SetAside(
            todo_id=todo_id,
            status=status,
            reason="x",
            until=self.now + timedelta(minutes=30) if status == "deferred" else None,
            waiting_on=on if status == "waiting" else None,
        )
        self.attempt(command, actor)

    @rule(actor=ANYBODY, status=st.sampled_from(["read", "no_change", "failed"]))
    def read_source(self, actor: Actor, status: Any) -> None:
        self.attempt(ReadSource(source_id="chat", status=status), actor)

    @rule(actor=st.sampled_from([CLAUDE, CODEX, OWNER]), todo_id=TODOS)
    def reopen(self, actor: Actor, todo_id: str) -> None:
        reason = "x" if actor == OWNER else ""
        self.attempt(ReopenTodo(todo_id=todo_id, reason=reason), actor)

    @rule(
        actor=st.sampled_from([KERNEL, KERNEL, KERNEL, CODEX]),
        kind=st.sampled_from(["ci", "ci", "review"]),
        status=st.sampled_from(["pass", "fail", "fail", "pending"]),
        ref=st.sampled_from(["a", "b", ""]),
        todo_id=st.none() | TODOS,
    )
    def observe(self, actor: Actor, todo_id: str | None, **seen: Any) -> None:
        self.look(actor, todo_id=todo_id, **seen)

    @rule(
        ref=st.sampled_from(["a", "b"]),
        statuses=st.lists(st.sampled_from(["pass", "fail", "fail"]), min_size=2, max_size=5),
        mends=st.booleans(),
    )
    def ship(self, ref: str, statuses: list[str], mends: bool) -> None:
        self.attempt(add("Ship"), CLAUDE)
        on = WaitingOn(kind="ci", ref=ref)
        todo_id = f"T{self.book.state.next_todo - 1}"
        for status in statuses:
            self.attempt(SetAside(todo_id=todo_id, status="waiting", waiting_on=on), CLAUDE)
            self.look(KERNEL, kind="ci", ref=ref, status=status, todo_id=None)
            fix = self.failures.get(("ci", ref), ("", False))[0]
            if mends and fix:
                self.attempt(CancelTodo(todo_id=fix, reason="x"), OWNER)

    def look(self, actor: Actor, **seen: Any) -> None:
        """A failure that work waits for adds one todo to mend it, and the next one only when it
        passed and that todo is out of the way."""
        before = self.book.state
        self.attempt(Observe(basis="told", **seen), actor)
        if self.book.state is before:
            return
        fact, named = (seen["kind"], seen["ref"]), seen["todo_id"]
        fix, passed = self.failures.get(fact, ("", True))
        landed = [t for t in before.todos.values() if awaits(t, *fact) and named in (None, t.id)]
        new = bool(landed) and passed and (not fix or before.is_finished(fix))
        added = self.book.state.next_todo - before.next_todo
        assert added == (seen["status"] == "fail" and new)
        if added:
            self.failures[fact] = (f"T{before.next_todo}", False)
        elif seen["status"] == "pass":
            self.failures[fact] = (fix, True)

    @rule(actor=ANYBODY, action=ACTIONS, blocks=st.lists(TODOS, max_size=2).map(tuple))
    def request(self, actor: Actor, action: Action, blocks: tuple[str, ...]) -> None:
        self.attempt(RequestGate(action=action, blocks=blocks), actor)

    @rule(
        actor=ANYBODY, gate_id=GATES, outcome=st.sampled_from(["approved", "rejected", "deferred"])
    )
    def decide(self, actor: Actor, gate_id: str, outcome: Any) -> None:
        until = self.now + timedelta(hours=1) if outcome == "deferred" else None
        self.attempt(DecideGate(gate_id=gate_id, outcome=outcome, until=until), actor)

    @rule(actor=AGENTS, action=ACTIONS, admitted=st.booleans())
    def use(self, actor: Actor, action: Action, admitted: bool) -> None:
        self.attempt(UseGate(action=action, admitted=admitted), actor)

    @rule(
        actor=st.sampled_from([OWNER, OWNER, CLAUDE, KERNEL]),
        other=st.none() | st.integers(1, 3),
        answer=st.sampled_from(["go_on", "replan", "cancel"]),
    )
    def answer(self, actor: Actor, other: int | None, answer: Any) -> None:
        asked = open_escalations(self.book.state)
        escalation_id = asked[0].id if asked and other is None else f"E{other or 1}"
        command = AnswerEscalation(escalation_id=escalation_id, answer=answer, reason="seen")
        self.attempt(command, actor)

    @rule(actor=AGENTS, todo_id=TODOS, outcome=st.sampled_from(["failed", "progress"]))
    def work_on_for_nothing(self, actor: Actor, todo_id: str, outcome: Any) -> None:
        for _ in range(4):
            self.attempt(begin(todo_id), actor)
            turn = open_turn(self.book.state, actor.id)
            if turn is not None:
                self.attempt(settle(turn.id, outcome), actor)

    @rule(actor=AGENTS, gate_id=GATES)
    def withdraw(self, actor: Actor, gate_id: str) -> None:
        self.attempt(WithdrawGate(gate_id=gate_id), actor)

    @rule(actor=AGENTS, todo_id=TODOS)
    def begin(self, actor: Actor, todo_id: str) -> None:
        self.attempt(begin(todo_id), actor)

    @rule(
        actor=AGENTS,
        turn=TURNS,
        outcome=st.sampled_from(["done", "progress", "blocked", "failed"]),
        result=st.sampled_from([None, "passed", "failed"]),
        handoff=st.none() | st.just("next"),
        slots=st.integers(0, 2),
    )
    def settle(self, actor: Actor, turn: str, result: Any, **asked: Any) -> None:
        files = (evidence("a.xml", result),)
        self.attempt(settle(turn, evidence=files, tests=result, **asked), actor)

    @rule(actor=AGENTS, turn=TURNS, todo_id=TODOS, done=st.booleans())
    def hand_in_for_a_turn(self, actor: Actor, turn: str, todo_id: str, done: bool) -> None:
        known = self.book.state.turns.get(turn)
        command = UpdateTodo(
            todo_id=known.todo_id if known else todo_id,
            complete=done,
            evidence=(evidence("a.txt"),),
            turn_id=turn,
        )
        self.attempt(command, actor)

    @rule(actor=AGENTS, turn=TURNS)
    def write_back(self, actor: Actor, turn: str) -> None:
        self.attempt(WriteHandoff(text="next", turn=turn), actor)

    @rule(actor=ANYBODY, turn=TURNS)
    def recover(self, actor: Actor, turn: str) -> None:
        self.attempt(RecoverTurn(turn_id=turn), actor)

    @rule(actor=ANYBODY, turn=TURNS, slots=st.integers(0, 3), void=st.booleans())
    def spend(self, actor: Actor, turn: str, slots: int, void: bool) -> None:
        book = VoidSlot(turn=turn, reason="x") if void else SpendSlot(turn=turn, slots=slots)
        self.attempt(book, actor)

    @rule(actor=ANYBODY, todo_id=TODOS, by=TODOS)
    def take_away(self, actor: Actor, todo_id: str, by: str) -> None:
        self.attempt(CancelTodo(todo_id=todo_id, reason="x"), actor)
        self.attempt(SupersedeTodo(todo_id=todo_id, by=by, reason="x"), actor)

    @rule(actor=ANYBODY, todo_ids=st.lists(TODOS, max_size=2).map(tuple), back=st.booleans())
    def ask_for_another_route(self, actor: Actor, todo_ids: tuple[str, ...], back: bool) -> None:
        self.attempt(RequestReplan(reason="x", todo_ids=todo_ids), actor)
        if back:
            self.attempt(WithdrawReplan(obligation_id="O1"), actor)

    @rule(actor=AGENTS, todo_id=TODOS, fits=st.sampled_from([True, True, False]))
    def find_another_route(self, actor: Actor, todo_id: str, fits: bool) -> None:
        if not open_obligations(self.book.state):
            self.attempt(RequestReplan(reason="x", todo_ids=(todo_id,)), OWNER)
        for duty in open_obligations(self.book.state):
            pairs = []
            for ref in duty.todo_ids:
                if not self.book.state.is_finished(ref):
                    self.attempt(add("Other way", lineage=(ref,) if fits else ()), CODEX)
                    pairs.append((ref, f"T{self.book.state.next_todo - 1}"))
            self.attempt(FulfilReplan(obligation_id=duty.id, supersede=tuple(pairs)), actor)

    @rule(
        actor=ANYBODY,
        kind=st.sampled_from(["cancel", "supersede", "route", "objective"]),
        todo_id=TODOS,
        text=st.sampled_from(["a", "b"]),
        approve=st.booleans(),
    )
    def propose(self, actor: Actor, kind: Any, todo_id: str, text: str, approve: bool) -> None:
        self.attempt(add("Follows", lineage=("T1",)), CLAUDE)
        about = {
            "todo_ids": () if kind == "objective" else (todo_id,),
            "successor": f"T{self.book.state.next_todo - 1}" if kind == "supersede" else None,
            "text": text if kind == "objective" else "",
        }
        gate_id = f"G{self.book.state.next_gate}"
        self.attempt(ProposeChange(proposal=Proposal(kind=kind, reason="x", **about)), actor)
        if approve:
            self.attempt(DecideGate(gate_id=gate_id, outcome="approved"), OWNER)

    @rule(
        actor=st.sampled_from([KERNEL, KERNEL, CODEX, OWNER]),
        result=st.sampled_from(["passed", "passed", "failed", "inconclusive"]),
        late=st.sampled_from([0, 0, 1, 50]),
        finish=st.booleans(),
    )
    def run_acceptance(self, actor: Actor, result: str, late: int, finish: bool) -> None:
        if finish:
            for todo_id in list(self.book.state.todos):
                self.attempt(CancelTodo(todo_id=todo_id, reason="x"), OWNER)
        worked = max(0, worked_seq(self.book.state) - late)
        seen = {"item_id": "tests", "result": result, "repo_state": HASH, "digest": HASH}
        self.attempt(RecordRun(results=({**seen, "worked_seq": worked},)), actor)

    @rule(actor=ANYBODY, todo_id=st.none() | TODOS)
    def accept_by_hand(self, actor: Actor, todo_id: str | None) -> None:
        self.attempt(AcceptByHand(reason="x", repo_state=HASH, todo_id=todo_id), actor)

    @rule(actor=ANYBODY, text=st.sampled_from(["a", "b", ""]))
    def reword(self, actor: Actor, text: str) -> None:
        self.attempt(PatchObjective(text=text, reason="x"), actor)

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
    def nothing_vanishes_and_every_successor_comes_from_what_it_supersedes(self) -> None:
        state = self.book.state
        assert len(state.todos) + sum(state.left.values()) == state.next_todo - 1
        for todo in state.todos.values():
            assert all(int(ref[1:]) < int(todo.id[1:]) for ref in todo.lineage_todo_ids)
            assert (todo.status == "superseded") is (todo.superseded_by is not None)
            if todo.superseded_by in state.todos:
                assert todo.id in state.todos[todo.superseded_by].lineage_todo_ids
        for duty in open_obligations(state):
            assert (
                not state.is_finished(duty.replan_todo)
                or state.todos[duty.replan_todo].status == "done"
            )

    @invariant()
    def one_question_is_open_about_each_thing_and_about_none_that_ended(self) -> None:
        asked = [one.todo_id for one in open_escalations(self.book.state)]
        assert len(asked) == len(set(asked))
        for todo_id in filter(None, asked):
            assert not self.book.state.is_finished(todo_id)
        for todo in self.book.state.todos.values():
            stopped = todo.effort.streak >= 3 and not todo.finished
            assert not stopped or todo.id in asked or None in asked

    @invariant()
    def a_todo_is_claimed_exactly_while_its_lease_is_active(self) -> None:
        for todo in self.book.state.todos.values():
            active = todo.lease is not None and todo.lease.status == "active"
            assert active is (todo.status == "claimed")
            if todo.lease is not None and active:
                assert todo.lease.version == todo.version
                assert todo.lease.lease_epoch == todo.lease_epoch

    @invariant()
    def an_agent_has_one_open_turn_and_progress_is_all_three(self) -> None:
        turns = self.book.state.turns.values()
        busy = [turn.agent_id for turn in turns if turn.status == "open"]
        assert len(busy) == len(set(busy))
        for turn in turns:
            spend = self.book.state.spends.get(turn.id)
            booked = spend.net_slots if spend else 0
            assert turn.slots_booked == booked
            assert booked == 0 or turn.outcome != "failed"
            three = turn.verified and turn.state_written and booked > 0
            assert not turn.progress or three
            assert (turn.closed_at is None) is (turn.status == "open")
            todo = self.book.state.todos.get(turn.todo_id)
            taken_away = todo is not None and todo.status in ("cancelled", "superseded")
            assert not (taken_away and turn.status == "open")

    @invariant()
    def one_fact_has_at_most_one_todo_that_mends_it(self) -> None:
        fixes = [todo for todo in self.book.state.todos.values() if todo.kind == "fix"]
        mending = [todo.title for todo in fixes if not todo.acceptance and not todo.finished]
        assert len(mending) == len(set(mending))
        assert sum(bool(todo.acceptance) and not todo.finished for todo in fixes) <= 1

    @invariant()
    def what_is_accepted_was_seen_by_code_or_a_person_after_the_last_work(self) -> None:
        state = self.book.state
        if gaps(state):
            return
        lines = {event.seq: (event, verdict) for event, verdict in self.book.lines}
        kept = state.results["tests"] if standing(state, TESTS) == "passed" else state.accepted
        assert kept is not None
        event, verdict = lines[kept.seq]
        assert event.actor_kind == "code" or verdict.ok
        assert event.event_type in ("acceptance.ran", "work.accepted")
        assert kept.seq > worked_seq(state)
        looks = event.payload.get("results", [event.payload])
        assert looks[0]["worked_seq"] == worked_seq(state)

    def teardown(self) -> None:
        """A replay from nothing gives the same state, in which what stands was booked once
        and decided by people."""
        assert self.book.replay() == self.book.state
        state = GoalState(goal_id="dark-mode")
        booked: list[str] = []
        for event, verdict in self.book.lines:
            after = fold.evolve(state, event, verdict)
            if after.alert_count == state.alert_count:
                parts = event.payload.get("parts") or ()
                lone = {"type": event.event_type, **event.payload}
                for one in (lone, *parts):
                    if one["type"] == "spend.booked":
                        booked.append(one["effect_ref"])
                if event.event_type.startswith(tuple(HUMAN_ONLY)):
                    assert verdict.ok
                    assert verdict.signer == event.actor_agent_id == OWNER.id
            state = after
        assert sorted(booked) == sorted(self.book.state.spends)


AnyOrder.TestCase.settings = settings(max_examples=50, stateful_step_count=40, deadline=None)
TestAnyOrder = AnyOrder.TestCase
