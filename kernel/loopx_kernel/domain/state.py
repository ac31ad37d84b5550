"""The folded state of one goal. Values only; every change makes a new state."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from loopx_kernel.clock import Reading
from loopx_kernel.domain.alerts import Runs
from loopx_kernel.domain.record import Count, Name, Record, Time
from loopx_kernel.domain.records import (
    Alert,
    Cut,
    Gate,
    Handoff,
    Lease,
    Objective,
    Source,
    Spend,
    Todo,
)
from loopx_kernel.domain.rules import GoalRules
from loopx_kernel.errors import UsageError

WALL_GRACE_SECONDS = 60


class GoalState(Record):
    """Everything a decision about one goal needs.

    ``registry_seq``, ``list_seq`` and ``spend_seq`` are the ``seq`` of the last event
    that changed the registry entry, the rendered state file and the spend ledger. ``changed_at`` is
    the time of the last event that changed something, the ladder's start. ``latest_at`` is
    the latest time of a line with effect, ``idle`` numbers the lines without. ``settled`` names
    by path the content (SHA-256) that a person decided to have replaced.
    """

    goal_id: Name
    seq: Count = 0
    head: str = ""
    last_at: Time | None = None
    latest_at: Time | None = None
    opened_at: Time | None = None
    changed_at: Time | None = None
    status: Literal["active", "paused", "retired"] = "active"
    rules: GoalRules | None = None
    objective: Objective | None = None
    goal_seq: Count = 0
    registry_seq: Count = 0
    list_seq: Count = 0
    list_at: Time | None = None
    spend_seq: Count = 0
    todos: dict[str, Todo] = {}
    gates: dict[str, Gate] = {}
    sources: dict[str, Source] = {}
    spends: dict[str, Spend] = {}
    handoff: Handoff | None = None
    settled: dict[str, str] = {}
    cuts: tuple[Cut, ...] = ()
    next_todo: Count = 1
    next_gate: Count = 1
    alerts: tuple[Alert, ...] = ()
    alert_count: Count = 0
    idle: Runs = ()

    def with_todo(self, todo: Todo) -> GoalState:
        """The state with this todo put in or replaced."""
        return self.model_copy(update={"todos": {**self.todos, todo.id: todo}})

    def with_gate(self, gate: Gate) -> GoalState:
        """The state with this gate put in or replaced."""
        return self.model_copy(update={"gates": {**self.gates, gate.id: gate}})

    def with_source(self, source: Source) -> GoalState:
        """The state with this source put in or replaced."""
        return self.model_copy(update={"sources": {**self.sources, source.id: source}})

    def with_spend(self, spend: Spend) -> GoalState:
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

    def todo(self, todo_id: str) -> Todo:
        """The todo, or ``unknown_todo``."""
        todo = self.todos.get(todo_id)
        if todo is None:
            raise UsageError(
                "unknown_todo",
                f"There is no todo {todo_id} in {self.goal_id}",
                next=f"loopx todo list --goal {self.goal_id} --all",
                todo_id=todo_id,
            )
        return todo

    def gate(self, gate_id: str) -> Gate:
        """The gate, or ``unknown_gate``."""
        gate = self.gates.get(gate_id)
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

    def not_before(self, at: datetime) -> datetime:
        """``at``, or the latest time a line with effect bears: what ran out stays so, whatever
        time a later line claims for itself."""
        return at if self.latest_at is None else max(at, self.latest_at)

    def object_version(self, object_id: str) -> int:
        """The ``seq`` that last changed the object a decision is about; 0 for a new one."""
        if object_id in self.todos:
            return self.todos[object_id].seq
        if object_id in self.gates:
            return self.gates[object_id].seq
        if object_id in self.spends:
            spend = self.spends[object_id]
            return spend.void_seq or spend.seq
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


def pending_gates_on(state: GoalState, todo_id: str) -> list[Gate]:
    """Gates without a decision that block this todo, oldest first."""
    return [gate for gate in waiting_gates(state) if todo_id in gate.blocks]


def waiting_gates(state: GoalState) -> Iterable[Gate]:
    """Gates that still need a person: pending, or deferred to a date."""
    return (gate for gate in state.gates.values() if gate.status in ("pending", "deferred"))
