"""The review packet: everything one decision needs, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

from loopx_kernel.domain.quota import Usage
from loopx_kernel.domain.records import EvidenceRef, Gate, Todo
from loopx_kernel.domain.state import GoalState
from loopx_kernel.text import hidden_count
from loopx_kernel.value import Value
from loopx_kernel.views.envelope import Envelope
from loopx_kernel.views.goal import GoalView
from loopx_kernel.views.packet_subject import Subject
from loopx_kernel.views.packet_ways import Way, ways_of

MOST_TODOS = 16
"""How many todos a packet follows: those it is about, what they rest on, where they come from."""


class Named(Value):
    """A todo as far as a decision about something else needs it."""

    id: str
    title: str
    status: str
    origin: str
    lineage: tuple[str, ...]


class Looked(Value):
    """A file handed in, with a look inside. ``basis`` is how its result is known, ``since`` what
    became of the file, ``copy`` how the kept copy stands."""

    todo_id: str
    path: str
    sha256: str
    size: int
    kind: str
    basis: Literal["read", "told"]
    result: str | None
    since: str
    copy: str
    told: str
    excerpt: str
    left_out: str


class Seen(Value):
    """A fact from outside that bears on it: an observation or an acceptance result."""

    what: str
    result: str
    basis: str
    by: str
    at: datetime
    sha256: str | None


class Cost(Value):
    """What it took so far: turns and failed ones on the todos concerned, since each was last
    given an allowance; slots of those of their turns that are still at hand; and the goal's
    quota."""

    turns: int
    failed: int
    without_progress: int
    slots: int
    best_score: str | None
    quota: Usage


class Precedent(Value):
    """A decision like this one. ``same`` tells that it was about exactly the same."""

    id: str
    outcome: str
    by: str
    at: datetime
    level: str
    what: str
    reason: str
    same: bool


class Change(Value):
    """What is changed in the repo, or in an edited list, as a diff."""

    told: str
    text: str
    left_out: str


class Packet(Value):
    """All that one decision needs. ``alerts`` come first: what is stale, damaged or hidden."""

    goal_id: str
    subject: Subject
    alerts: tuple[str, ...]
    todos: tuple[Named, ...]
    evidence: tuple[Looked, ...]
    seen: tuple[Seen, ...]
    change: Change | None
    cost: Cost
    before: tuple[Precedent, ...]
    ways: tuple[Way, ...]
    left_out: tuple[str, ...]
    envelope: Envelope


def packet(
    view: GoalView,
    state: GoalState,
    subject: Subject,
    todos: Sequence[Todo],
    *,
    evidence: Sequence[Looked] = (),
    change: Change | None = None,
    earlier: Sequence[Precedent] = (),
    left_out: Sequence[str] = (),
) -> Packet:
    """The packet of a subject; pure. ``todos`` are those it follows, ``evidence`` their files as
    they were looked at, ``earlier`` decisions found in the journal."""
    return Packet(
        goal_id=view.goal_id,
        subject=subject,
        alerts=tuple(_alerts(view, subject)),
        todos=tuple(map(_named, todos)),
        evidence=tuple(evidence),
        seen=tuple(_seen(state, subject, todos)),
        change=change,
        cost=_cost(view, state, todos),
        before=(*earlier, *_precedents(view, state, subject)),
        ways=ways_of(view, subject.kind, subject.id) if subject.open else (),
        left_out=tuple(left_out),
        envelope=view.envelope,
    )


def looked(todo_id: str, ref: EvidenceRef, since: str, copy: str, inside: Change) -> Looked:
    """A row of evidence; ``inside`` is what was found in it."""
    return Looked(
        todo_id=todo_id,
        path=ref.path,
        sha256=ref.sha256,
        size=ref.size,
        kind=ref.kind,
        basis="told" if ref.result is None else "read",
        result=ref.result,
        since=since,
        copy=copy,
        told=inside.told,
        excerpt=inside.text,
        left_out=inside.left_out,
    )


def _alerts(view: GoalView, subject: Subject) -> Iterable[str]:
    for reason in view.envelope.alert_reasons:
        yield f"{reason.code.replace('_', ' ')}: {', '.join(reason.ids)}"
    yield from view.alerts
    yield from (warned.sentence for warned in view.warnings)
    if not subject.open:
        yield f"{subject.id} is {subject.status}: nothing is left to decide"
    if subject.irreversible:
        yield "irreversible: what it does cannot be taken back"
    texts = (subject.question, *(value for _, value in subject.action))
    hidden = sum(map(hidden_count, texts))
    if hidden:
        yield f"hidden characters: {hidden}, made visible below"


def _named(todo: Todo) -> Named:
    origin = f"{todo.origin.actor_kind} {todo.origin.actor_agent_id}, {todo.origin.event_id}"
    return Named(todo.id, todo.title, todo.status, origin, todo.lineage_todo_ids)


def _seen(state: GoalState, subject: Subject, todos: Sequence[Todo]) -> Iterable[Seen]:
    refs = {todo.id for todo in todos}
    items = {item for todo in todos for item in todo.acceptance}
    for look in state.observations.values():
        if look.todo_id in refs or look.fix in refs:
            yield Seen(look.key, look.status, look.basis, look.by, look.at, look.sha256)
    for result in state.results.values():
        if subject.kind == "acceptance" or result.item_id in items:
            what = f"acceptance {result.item_id}: {result.detail}"
            yield Seen(what, result.result, "ran", "loopx", result.at, result.digest)


def _cost(view: GoalView, state: GoalState, todos: Sequence[Todo]) -> Cost:
    refs = {todo.id for todo in todos}
    turns = {turn.id for turn in state.turns.values() if turn.todo_id in refs}
    efforts = [todo.effort for todo in todos]
    return Cost(
        turns=sum(effort.turns for effort in efforts),
        failed=sum(effort.failed for effort in efforts),
        without_progress=max((effort.streak for effort in efforts), default=0),
        slots=sum(s.net_slots for s in state.spends.values() if s.effect_ref in turns),
        best_score=next((effort.score for effort in efforts if effort.score), None),
        quota=view.contract.quota,
    )


def _precedents(view: GoalView, state: GoalState, subject: Subject) -> Iterable[Precedent]:
    if subject.kind == "gate":
        own = state.gates[subject.id]
        for row in view.gates:
            if row.gate.action == own.action and row.gate.id != own.id and row.gate.decision:
                yield _decided(row.gate, own)
    if subject.kind == "escalation":
        cause = state.escalations[subject.id].cause
        for one in state.escalations.values():
            if one.cause == cause and one.answer and one.id != subject.id and one.answered_at:
                yield Precedent(
                    *(one.id, one.answer, one.by or "", one.answered_at, "", one.detail),
                    one.reason,
                    same=one.todo_id in subject.blocks,
                )


def _decided(gate: Gate, own: Gate) -> Precedent:
    made = gate.decision
    assert made is not None
    what = gate.command or ", ".join(gate.paths) or gate.question
    return Precedent(
        *(gate.id, made.outcome, made.by, made.at, made.level, what, made.reason),
        same=gate.digest == own.digest,
    )
