"""What waits for a person: typed records only, oldest first."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from loopx_kernel.clock import Reading
from loopx_kernel.domain.clashes import Clash
from loopx_kernel.domain.event import LiveLease
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.standing import (
    BY_HAND,
    RepoSeen,
    all_finished,
    gaps,
    is_accepted,
    keeps_changing,
    to_run,
)
from loopx_kernel.domain.state import GoalState, open_escalations
from loopx_kernel.domain.work import hindrance
from loopx_kernel.value import Value

NeedKind = Literal["gate", "drift", "damage", "escalation", "human_todo", "tick", "acceptance"]


class NeedsYou(Value):
    """One item for a person. Drift, damage and acceptance have the id ``drift:<goal>``,
    ``damage:<goal>``, ``accept:<goal>``."""

    id: str
    kind: NeedKind
    goal_id: str
    question: str
    blocks: tuple[str, ...]
    since: datetime | None
    asked_by: str
    next: str


class Difference(Value):
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


OWNERS_CHANGED = "owners_changed"
"""Stands for a path where the workspace is not the one this person knew, or not theirs."""


class Damage(Value):
    """Bytes that are not what the journal says. Digests are shown where there are two."""

    path: str
    reason: str
    expected_digest: str = ""
    found_digest: str = ""
    command: str = "loopx event verify"
    blocks_goal: bool = True
    todo_id: str | None = None

    @property
    def sentence(self) -> str:
        """What is wrong, in words."""
        if self.path == OWNERS_CHANGED:
            return f"{OWNERS_CHANGED}: {self.reason}"
        return f"{self.path} is damaged: {self.reason}"


class LostCopy(Value):
    """Kept bytes of a file handed in that are missing; ``path`` is where they should be, and the
    todo is empty for a report that nobody waited for."""

    todo_id: str
    evidence: str
    path: str

    @property
    def of(self) -> str:
        """What it was, in words."""
        return f"{self.evidence}, evidence of {self.todo_id}" if self.todo_id else self.evidence


class Reads(Value):
    """What was read beside the journal when a projection was made.

    ``missing_files`` are made again from the journal, ``missing_evidence`` are kept copies
    that only the file which was handed in can give back.

    ``repo`` is the real path of the goal's repo; ``neighbours`` are the live
    leases of the other goals, ``clashes`` those that overlap with this goal's. ``fenced``
    says why this program may not write here. ``seen`` are the goal's files, where something
    hinges on them. ``unread_lines`` stand in the journal after damage, where nobody reads.
    """

    damage: tuple[Damage, ...] = ()
    drift: tuple[Difference, ...] = ()
    drift_since: datetime | None = None
    missing_files: tuple[str, ...] = ()
    missing_evidence: tuple[LostCopy, ...] = ()
    behind_files: tuple[str, ...] = ()
    repo: str = ""
    repo_present: bool = True
    neighbours: tuple[LiveLease, ...] = ()
    clashes: tuple[Clash, ...] = ()
    fenced: str | None = None
    seen: RepoSeen | None = None
    verified_from: int = 1
    incomplete_tail: bool = False
    unread_lines: int = 0

    @property
    def goal_damage(self) -> tuple[Damage, ...]:
        """Damage that stops the goal, not only one todo."""
        return tuple(item for item in self.damage if item.blocks_goal)


def needs_you(state: GoalState, reads: Reads, now: datetime) -> tuple[NeedsYou, ...]:
    """Every gate, drift, damage and human todo of one goal that a person must settle."""
    items = [*_damage(state, reads), *_drift(state, reads), *_gates(state, now)]
    items += [*_escalations(state), *_human_todos(state, now), *_acceptance(state, reads)]
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
            question=f"{first.sentence}{digests}",
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
            next=f"loopx gate show {gate.id} --goal {state.goal_id}",
        )
        for gate in state.gates.values()
        if gate.status_at(now) == "pending"
    ]


def _escalations(state: GoalState) -> list[NeedsYou]:
    return [
        NeedsYou(
            id=one.id,
            kind="escalation",
            goal_id=state.goal_id,
            question=f"{one.cause.replace('_', ' ')}: {one.detail}",
            blocks=(one.todo_id,) if one.todo_id else (),
            since=one.at,
            asked_by="loopx",
            next=f"loopx escalation list --goal {state.goal_id}",
        )
        for one in open_escalations(state)
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


def _acceptance(state: GoalState, reads: Reads) -> list[NeedsYou]:
    """Where all is finished, and running acceptance (again) would close nothing."""
    open_items = gaps(state, reads.seen)
    waits = state.status == "active" and all_finished(state) and open_items
    if not waits or to_run(state, reads.seen):
        return []
    more = f" (and {len(open_items) - 1} more)" if len(open_items) > 1 else ""
    return [
        NeedsYou(
            id=f"accept:{state.goal_id}",
            kind="acceptance",
            goal_id=state.goal_id,
            question=_not_accepted(state, open_items[0], reads.seen) + more,
            blocks=(),
            since=state.changed_at,
            asked_by="loopx",
            next=f"loopx accept by-hand --goal {state.goal_id} --reason 'looked at it: it is good'",
        )
    ]


def _not_accepted(state: GoalState, gap: str, seen: RepoSeen | None) -> str:
    if gap == BY_HAND:
        if is_accepted(state) and state.accepted is not None:
            return f"the files are not those any more that {state.accepted.by} accepted"
        return "all is finished, and only a person can accept it"
    if keeps_changing(state, gap, seen):
        return f"{gap}: running it changes the files it looks at; have git ignore what it writes"
    result = state.results[gap]
    return f"{gap} {result.result}: {result.detail}"


def _is_due(state: GoalState, todo: Todo, now: datetime) -> bool:
    stop = hindrance(state, todo, Reading(now), None)
    return stop is not None and stop.code == "human_todo"


def _age(item: NeedsYou) -> tuple[bool, float]:
    return item.since is not None, item.since.timestamp() if item.since else 0.0
