"""What waits for a person: typed records only, oldest first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from loopx_kernel.clock import Reading
from loopx_kernel.domain.event import LiveLease
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.work import hindrance

NeedKind = Literal["gate", "drift", "damage", "escalation", "human_todo", "tick"]


@dataclass(frozen=True, slots=True)
class NeedsYou:
    """One item for a person. Drift and damage have the id ``drift:<goal>``, ``damage:<goal>``."""

    id: str
    kind: NeedKind
    goal_id: str
    question: str
    blocks: tuple[str, ...]
    since: datetime | None
    asked_by: str
    next: str


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing a person changed in the rendered todo list."""

    kind: Literal["ticked", "unticked", "retitled", "added", "removed"]
    todo_id: str | None
    line: int
    text: str

    @property
    def sentence(self) -> str:
        """What happened, in words."""
        what = self.todo_id or "a row"
        return {
            "ticked": f"{what} was ticked by hand",
            "unticked": f"{what} was unticked by hand",
            "retitled": f"{what} was retitled by hand: {self.text}",
            "added": f"a row was added by hand: {self.text}",
            "removed": f"{what} was removed by hand",
        }[self.kind]


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes that are not what the journal says. Digests are shown where there are two."""

    path: str
    reason: str
    expected_digest: str = ""
    found_digest: str = ""
    command: str = "loopx event verify"
    blocks_goal: bool = True
    todo_id: str | None = None


@dataclass(frozen=True, slots=True)
class Reads:
    """What was read beside the journal when a projection was made.

    ``repo`` is the real path of the goal's repo; ``neighbours`` are the live
    leases of the other goals.
    """

    damage: tuple[Damage, ...] = ()
    drift: tuple[Difference, ...] = ()
    drift_since: datetime | None = None
    missing_files: tuple[str, ...] = ()
    behind_files: tuple[str, ...] = ()
    repo: str = ""
    repo_present: bool = True
    neighbours: tuple[LiveLease, ...] = ()
    verified_from: int = 1
    incomplete_tail: bool = False

    @property
    def goal_damage(self) -> tuple[Damage, ...]:
        """Damage that stops the goal, not only one todo."""
        return tuple(item for item in self.damage if item.blocks_goal)


def needs_you(state: GoalState, reads: Reads, now: datetime) -> tuple[NeedsYou, ...]:
    """Every gate, drift, damage and human todo of one goal that a person must settle."""
    items = [*_damage(state, reads), *_drift(state, reads), *_gates(state, now)]
    items += _human_todos(state, now)
    return tuple(sorted(items, key=_age))


def _damage(state: GoalState, reads: Reads) -> list[NeedsYou]:
    if not reads.damage:
        return []
    first = reads.damage[0]
    digests = (
        f" (expected {first.expected_digest[:12]}…, found {first.found_digest[:12]}…)"
        if first.expected_digest
        else ""
    )
    return [
        NeedsYou(
            id=f"damage:{state.goal_id}",
            kind="damage",
            goal_id=state.goal_id,
            question=f"{first.path} is damaged: {first.reason}{digests}",
            blocks=tuple(item.todo_id for item in reads.damage if item.todo_id),
            since=None,
            asked_by="loopx",
            next=first.command,
        )
    ]


def _drift(state: GoalState, reads: Reads) -> list[NeedsYou]:
    if not reads.drift:
        return []
    more = f" (and {len(reads.drift) - 1} more)" if len(reads.drift) > 1 else ""
    only_ticks = all(item.kind == "ticked" for item in reads.drift)
    return [
        NeedsYou(
            id=f"drift:{state.goal_id}",
            kind="tick" if only_ticks else "drift",
            goal_id=state.goal_id,
            question=reads.drift[0].sentence + more,
            blocks=("new turns",),
            since=reads.drift_since,
            asked_by="loopx",
            next=f"loopx state check --goal {state.goal_id}",
        )
    ]


def _gates(state: GoalState, now: datetime) -> list[NeedsYou]:
    return [
        NeedsYou(
            id=gate.id,
            kind="gate",
            goal_id=state.goal_id,
            question=gate.question,
            blocks=gate.blocks,
            since=gate.requested_at,
            asked_by=gate.requested_by,
            next=f"loopx gate approve {gate.id} --goal {state.goal_id}",
        )
        for gate in state.gates.values()
        if gate.status_at(now) == "pending"
    ]


def _human_todos(state: GoalState, now: datetime) -> list[NeedsYou]:
    return [
        NeedsYou(
            id=todo.id,
            kind="human_todo",
            goal_id=state.goal_id,
            question=todo.title,
            blocks=tuple(
                other.id
                for other in state.todos.values()
                if todo.id in other.depends_on and not other.finished
            ),
            since=todo.added_at,
            asked_by=todo.origin.actor_agent_id,
            next=f"loopx todo complete {todo.id} --goal {state.goal_id} --reason 'how it was done'",
        )
        for todo in state.todos.values()
        if todo.role == "human" and _is_due(state, todo, now)
    ]


def _is_due(state: GoalState, todo: Todo, now: datetime) -> bool:
    stop = hindrance(state, todo, Reading(now), None)
    return stop is not None and stop.code == "human_todo"


def _age(item: NeedsYou) -> tuple[bool, float]:
    return item.since is not None, item.since.timestamp() if item.since else 0.0
