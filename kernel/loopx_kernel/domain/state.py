"""The folded state of one goal. Values only; every change makes a new state."""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Literal, Self

from loopx_kernel.clock import Reading, to_the_second
from loopx_kernel.domain.aged import Aged
from loopx_kernel.domain.record import Count, Name, Record, Time
from loopx_kernel.domain.records import (
    Alert,
    Cut,
    Gate,
    GateStatus,
    Handoff,
    Lease,
    Objective,
    Source,
    SourceHost,
    Spend,
    Todo,
)
from loopx_kernel.domain.records_of_work import (
    AcceptedByHand,
    Escalation,
    ItemResult,
    Obligation,
    Observation,
    Turn,
)
from loopx_kernel.domain.rules import GoalRules
from loopx_kernel.domain.runs import Runs
from loopx_kernel.domain.times import Moment, Times, latest_since
from loopx_kernel.errors import Conflict, UsageError

WALL_GRACE_SECONDS = 60
_TODO_ID = re.compile(r"T[1-9][0-9]{0,15}")
_GATE_ID = re.compile(r"G[1-9][0-9]{0,15}")


class GoalState(Record):
    """Everything a decision about one goal needs.

    ``rules_seq`` is the ``seq`` of the line that laid the rules.
    ``registry_seq``, ``list_seq`` and ``spend_seq`` are the ``seq`` of the last event
    that changed the registry entry, the rendered state file and the spend ledger. ``changed_at`` is
    the time of the last event that changed something, the ladder's start. ``times`` are
    those of lines with effect, ``idle`` numbers the lines without. ``floor`` is the latest of them
    since a person's last line, that one included. ``settled`` names by path the content (SHA-256)
    that a person decided to have replaced.

    What is finished leaves (``hot.py``), so that a decision costs the same however old the goal
    is: ``recent`` are the finished todos still here, as they finished; ``left`` counts by status
    those that went, ``statements`` those of them that are stated; ``aged`` tells of the spends
    that did, ``unproven`` counts by kind the facts that did which work waited for, nothing has
    proven, and no person has accepted since.
    """

    goal_id: Name
    seq: Count = 0
    head: str = ""
    last_at: Time | None = None
    times: Times = ()
    floor: Moment | None = None
    opened_at: Time | None = None
    changed_at: Time | None = None
    status: Literal["active", "paused", "retired"] = "active"
    rules: GoalRules | None = None
    objective: Objective | None = None
    goal_seq: Count = 0
    rules_seq: Count = 0
    registry_seq: Count = 0
    list_seq: Count = 0
    list_at: Time | None = None
    spend_seq: Count = 0
    todos: dict[str, Todo] = {}
    recent: tuple[Name, ...] = ()
    left: dict[str, Count] = {}
    statements: Count = 0
    gates: dict[str, Gate] = {}
    sources: dict[str, Source] = {}
    hosts: dict[str, SourceHost] = {}
    spends: dict[str, Spend] = {}
    aged: Aged = Aged()
    turns: dict[str, Turn] = {}
    failures: tuple[Time, ...] = ()
    observations: dict[str, Observation] = {}
    unproven: dict[str, Count] = {}
    results: dict[str, ItemResult] = {}
    accepted: AcceptedByHand | None = None
    obligations: dict[str, Obligation] = {}
    escalations: dict[str, Escalation] = {}
    handoff: Handoff | None = None
    settled: dict[str, str] = {}
    cuts: tuple[Cut, ...] = ()
    next_todo: Count = 1
    next_gate: Count = 1
    next_turn: Count = 1
    next_obligation: Count = 1
    next_escalation: Count = 1
    alerts: tuple[Alert, ...] = ()
    alert_count: Count = 0
    idle: Runs = ()

    def with_todo(self, todo: Todo) -> Self:
        """The state with this todo put in or replaced."""
        before = self.todos.get(todo.id)
        update: dict[str, object] = {"todos": {**self.todos, todo.id: todo}}
        if todo.finished and (before is None or not before.finished):
            update["recent"] = (*self.recent, todo.id)
        return self.model_copy(update=update)

    def with_gate(self, gate: Gate) -> Self:
        """The state with this gate put in or replaced."""
        return self.model_copy(update={"gates": {**self.gates, gate.id: gate}})

    def with_turn(self, turn: Turn) -> Self:
        """The state with this turn put in or replaced."""
        return self.model_copy(update={"turns": {**self.turns, turn.id: turn}})

    def with_obligation(self, obligation: Obligation) -> Self:
        """The state with this obligation put in or replaced."""
        obligations = {**self.obligations, obligation.id: obligation}
        return self.model_copy(update={"obligations": obligations})

    def with_escalation(self, escalation: Escalation) -> Self:
        """The state with this escalation put in or replaced."""
        escalations = {**self.escalations, escalation.id: escalation}
        return self.model_copy(update={"escalations": escalations})

    def with_source(self, source: Source) -> Self:
        """The state with this source put in or replaced."""
        return self.model_copy(update={"sources": {**self.sources, source.id: source}})

    def with_spend(self, spend: Spend) -> Self:
        """The state with this spend put in or replaced."""
        spends = {**self.spends, spend.effect_ref: spend}
        return self.model_copy(update={"spends": spends, "spend_seq": spend.void_seq or spend.seq})

    @property
    def the_rules(self) -> GoalRules:
        """The rules; a goal whose opening was not folded yet has none."""
        if self.rules is None:
            raise UsageError(
                "unknown_goal",
                f"Goal {self.goal_id} was never opened here",
                next="loopx goal list",
                goal_id=self.goal_id,
            )
        return self.rules

    def require_opened(self) -> None:
        """``unknown_goal`` unless the opening of the goal was folded."""
        _ = self.the_rules

    def knows(self, todo_id: str) -> bool:
        """Whether there is, or was, such a todo: their numbers follow one another."""
        if todo_id in self.todos:
            return True
        return bool(_TODO_ID.fullmatch(todo_id)) and int(todo_id[1:]) < self.next_todo

    def is_finished(self, todo_id: str) -> bool:
        """Whether a todo that is known is finished; what left the hot state is."""
        todo = self.todos.get(todo_id)
        return self.knows(todo_id) if todo is None else todo.finished

    def has_ended(self, todo_id: str) -> bool:
        """Whether a todo that is known is finished and, where another took its place, that one
        too. Successors go in no circle: each was added after what it superseded."""
        todo = self.todos.get(todo_id)
        while todo is not None and todo.superseded_by is not None:
            todo_id = todo.superseded_by
            todo = self.todos.get(todo_id)
        return self.is_finished(todo_id)

    def todo(self, todo_id: str) -> Todo:
        """The todo, or ``unknown_todo``; one that left the hot state cannot be changed, so it
        is an ``illegal_transition``."""
        todo = self.todos.get(todo_id)
        if todo is None and self.knows(todo_id):
            raise UsageError(
                "illegal_transition",
                f"{todo_id} was finished long ago",
                next=f"loopx todo show {todo_id}",
                todo_id=todo_id,
            )
        if todo is None:
            raise UsageError(
                "unknown_todo",
                f"There is no todo {todo_id} in {self.goal_id}",
                next=f"loopx todo list --goal {self.goal_id} --all",
                todo_id=todo_id,
            )
        return todo

    def gate(self, gate_id: str) -> Gate:
        """The gate, or ``unknown_gate``; one that left the hot state is closed, so it is
        ``already_decided``."""
        gate = self.gates.get(gate_id)
        if gate is None and _GATE_ID.fullmatch(gate_id) and int(gate_id[1:]) < self.next_gate:
            raise Conflict(
                "already_decided",
                f"{gate_id} was closed long ago",
                next=f"loopx event list --about {gate_id}",
                gate_id=gate_id,
            )
        if gate is None:
            raise UsageError(
                "unknown_gate",
                f"There is no gate {gate_id} in {self.goal_id}",
                next=f"loopx gate list --goal {self.goal_id}",
                gate_id=gate_id,
            )
        return gate

    def source(self, source_id: str) -> Source:
        """The source, or ``unknown_source``."""
        source = self.sources.get(source_id)
        if source is None:
            raise UsageError(
                "unknown_source",
                f"There is no source {source_id} in {self.goal_id}",
                next=f"loopx source list --goal {self.goal_id}",
                source_id=source_id,
            )
        return source

    def not_before(self, at: datetime, since: int = 0) -> datetime:
        """``at``, or the latest time a line with effect after line ``since`` bears: what ran
        out stays so, whatever time a later line claims for itself."""
        latest = latest_since(self.times, since)
        return at if latest is None else max(at, latest.at)

    @property
    def latest(self) -> Moment | None:
        """The last line, or the one before it that ``floor`` is, where that is later."""
        if self.last_at is None or (self.floor is not None and self.floor.at > self.last_at):
            return self.floor
        return Moment(seq=self.seq, at=self.last_at)

    def counted_at(self, at: datetime) -> datetime:
        """From when on (UTC) something of ``at`` counts in a window that slides: what was done
        with a clock set back is no older than the line before it."""
        return at if self.floor is None else max(at, self.floor.at)

    def gate_status(self, gate: Gate, at: datetime) -> GateStatus:
        """The status of a gate at ``at``. An approval ran out also where a line after it bears
        a later time; one from before it does not count, or no approval could be given again."""
        if gate.status == "approved":
            at = self.not_before(at, gate.seq)
        return gate.status_at(at)

    def ran_out_by(self, gate: Gate, at: datetime) -> str:
        """Which line tells that an approval ran out before ``at``, in words; else nothing."""
        latest = latest_since(self.times, gate.seq)
        if latest is None or self.gate_status(gate, at) == gate.status_at(at):
            return ""
        return f" since line #{latest.seq} or one before it bears {to_the_second(latest.at)}"

    def object_version(self, object_id: str) -> int:
        """The ``seq`` that last changed the object a decision is about; 0 for a new one."""
        if object_id in self.todos:
            return self.todos[object_id].seq
        if object_id in self.gates:
            return self.gates[object_id].seq
        if object_id in self.spends:
            spend = self.spends[object_id]
            return spend.void_seq or spend.seq
        for kept in (self.turns, self.obligations, self.escalations):
            if object_id in kept:
                return kept[object_id].seq
        return self.goal_seq if object_id == self.goal_id else 0


def is_live(lease: Lease | None, reading: Reading) -> bool:
    """Whether a lease still holds at this reading of the clocks.

    Same host and boot: the boot clock decides. Same host, another boot: the
    holder is gone. Elsewhere: the wall clock, and a minute of grace.
    """
    if lease is None or lease.status != "active":
        return False
    if lease.host_id and lease.host_id == reading.host_id:
        if lease.boot_id != reading.boot_id:
            return False
        if lease.boot_deadline_ms is not None and reading.boot_seconds is not None:
            return reading.boot_seconds * 1000 < lease.boot_deadline_ms
        return reading.now < lease.expires_at
    return (reading.now - lease.expires_at).total_seconds() < WALL_GRACE_SECONDS


def ran_out_by_wall_clock(lease: Lease | None, reading: Reading) -> bool:
    """Whether only the wall clock tells that an active lease is over: it was taken on another
    host, or one of both has no boot clock."""
    if lease is None or lease.status != "active":
        return False
    if not lease.host_id or lease.host_id != reading.host_id:
        return True
    if lease.boot_id != reading.boot_id:
        return False
    return lease.boot_deadline_ms is None or reading.boot_seconds is None


def open_obligations(state: GoalState) -> list[Obligation]:
    """Duties to replan that nobody fulfilled or withdrew, oldest first."""
    return [one for one in state.obligations.values() if one.status == "open"]


def duty_of(state: GoalState, todo_id: str) -> Obligation | None:
    """The open duty whose replanning this todo is."""
    return next((one for one in open_obligations(state) if one.replan_todo == todo_id), None)


def fulfilled_duty(state: GoalState, todo_id: str) -> Obligation | None:
    """The duty that was fulfilled, whose replanning this todo is."""
    duties = state.obligations.values()
    return next((d for d in duties if (d.status, d.replan_todo) == ("fulfilled", todo_id)), None)


def open_escalations(state: GoalState, todo_id: str | None = None) -> list[Escalation]:
    """Escalations without an answer, oldest first: all, or those on one todo."""
    return [
        one
        for one in state.escalations.values()
        if one.status == "open" and todo_id in (None, one.todo_id)
    ]


def open_turn(state: GoalState, agent_id: str) -> Turn | None:
    """The agent's open turn; it has at most one."""
    turns = state.turns.values()
    return next((t for t in turns if t.status == "open" and t.agent_id == agent_id), None)


def pending_gates_on(state: GoalState, todo_id: str) -> list[Gate]:
    """Gates without a decision that block this todo, oldest first."""
    return [gate for gate in waiting_gates(state) if todo_id in gate.blocks]


def waiting_gates(state: GoalState) -> Iterable[Gate]:
    """Gates that still need a person: pending, or deferred to a date."""
    return (gate for gate in state.gates.values() if gate.status in ("pending", "deferred"))
