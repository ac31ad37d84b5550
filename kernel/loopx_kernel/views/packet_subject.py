"""What a person is asked to decide: a gate, an escalation, an edit, damage, acceptance, a todo of
theirs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from loopx_kernel.domain.needs_you import NeedKind
from loopx_kernel.domain.records import Gate, Todo
from loopx_kernel.domain.records_of_work import Escalation
from loopx_kernel.domain.standing import standing
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import UsageError
from loopx_kernel.value import Value
from loopx_kernel.views.goal import GoalView
from loopx_kernel.views.proposal import told

_WAITING = ("pending", "deferred", "open")


class Subject(Value):
    """What is to be decided, and the todos it is about."""

    id: str
    kind: NeedKind
    status: str
    question: str
    asked_by: str
    since: datetime | None
    version: int
    irreversible: bool
    action: tuple[tuple[str, str], ...]
    """Names and values, exactly as they are signed, raw."""
    blocks: tuple[str, ...]
    about: tuple[str, ...]

    @property
    def open(self) -> bool:
        """Whether it still waits for a person."""
        return self.status in _WAITING


def subject_of(view: GoalView, state: GoalState, ref: str) -> Subject:
    """What ``ref`` names: a gate, an escalation, ``drift``, ``damage``, ``accept`` or a todo for a
    person.

    Raises ``unknown_gate``, ``unknown_escalation``, ``unknown_todo``, ``already_decided`` for a
    gate closed long ago, and ``invalid_value`` for what waits for nobody.
    """
    kind, _, goal_id = ref.partition(":")
    if goal_id in ("", view.goal_id):
        if kind in ("drift", "tick"):
            return _of_goal(view, "drift", "drift", _edits(view))
        if kind == "damage":
            return _of_goal(view, "damage", "damage", _damage(view))
        if kind == "accept":
            return _of_goal(view, "accept", "acceptance", _items(view, state))
    if ref in state.gates or ref[:1] == "G":
        row = state.gate(ref)
        status = next(found.status for found in view.gates if found.gate.id == ref)
        return _of_gate(row, status)
    if ref in state.escalations or ref[:1] == "E":
        return _of_escalation(_escalation(state, ref))
    return _of_todo(state, state.todo(ref))


def followed(subject: Subject, todos: Iterable[Todo]) -> list[str]:
    """The todos that these ones rest on or come from, and those of the subject itself."""
    refs = [*subject.about, *subject.blocks]
    for todo in todos:
        refs += [*todo.depends_on, *todo.lineage_todo_ids]
        refs += [todo.superseded_by] if todo.superseded_by else []
    return list(dict.fromkeys(refs))


def _of_gate(gate: Gate, status: str) -> Subject:
    proposal = gate.proposal
    action = [("action", gate.action), ("command", gate.command)]
    action += [("path", path) for path in gate.paths]
    action += list(told(proposal)) if proposal is not None else []
    action.append(("digest", gate.digest))
    about = proposal.todo_ids if proposal is not None else ()
    if proposal is not None and proposal.successor is not None:
        about = (*about, proposal.successor)
    return Subject(
        id=gate.id,
        kind="gate",
        status=status,
        question=gate.question,
        asked_by=gate.requested_by,
        since=gate.requested_at,
        version=gate.seq,
        irreversible=gate.irreversible,
        action=tuple((name, value) for name, value in action if value),
        blocks=gate.blocks,
        about=about,
    )


def _escalation(state: GoalState, ref: str) -> Escalation:
    found = state.escalations.get(ref)
    if found is None:
        raise UsageError(
            "unknown_escalation",
            f"There is no escalation {ref} in {state.goal_id} that is not closed long ago",
            next=f"loopx escalation list --goal {state.goal_id}",
            escalation_id=ref,
        )
    return found


def _of_escalation(one: Escalation) -> Subject:
    action = [("cause", one.cause), ("seen", one.detail), ("turn", one.turn_id or "")]
    if one.answer is not None:
        action += [("answer", one.answer), ("answered by", one.by or ""), ("reason", one.reason)]
    return Subject(
        id=one.id,
        kind="escalation",
        status=one.status,
        question=f"{one.cause.replace('_', ' ')}: how does it go on?",
        asked_by="loopx",
        since=one.at,
        version=one.seq,
        irreversible=False,
        action=tuple((name, value) for name, value in action if value),
        blocks=(one.todo_id,) if one.todo_id else (),
        about=(),
    )


def _of_todo(state: GoalState, todo: Todo) -> Subject:
    if todo.role != "human":
        raise UsageError(
            "invalid_value",
            f"{todo.id} is for an agent: no decision of a person waits for it",
            next=f"loopx todo show {todo.id} --goal {state.goal_id}",
            todo_id=todo.id,
        )
    blocks = (o.id for o in state.todos.values() if todo.id in o.depends_on and not o.finished)
    return Subject(
        id=todo.id,
        kind="human_todo",
        status=todo.status,
        question=todo.title,
        asked_by=todo.origin.actor_agent_id,
        since=todo.added_at,
        version=todo.seq,
        irreversible=False,
        action=(("to do", todo.title), ("priority", todo.priority)),
        blocks=tuple(blocks),
        about=(todo.id,),
    )


def _edits(view: GoalView) -> list[tuple[str, str]]:
    return [("file", view.state_file), *(("edit", item.sentence) for item in view.reads.drift)]


def _damage(view: GoalView) -> list[tuple[str, str]]:
    told: list[tuple[str, str]] = []
    for item in view.reads.damage:
        told += [("file", item.path), ("damage", item.reason)]
        told += [("expected sha256", item.expected_digest), ("found sha256", item.found_digest)]
    return told


def _items(view: GoalView, state: GoalState) -> list[tuple[str, str]]:
    told = [("objective", view.objective)]
    for item in state.the_rules.acceptance:
        how = standing(state, item, view.reads.seen)
        optional = " (optional)" if item.optional else ""
        told.append((f"item {item.id}{optional}", how))
    return told


def _of_goal(view: GoalView, name: str, kind: NeedKind, told: list[tuple[str, str]]) -> Subject:
    """Something about the goal as a whole, of which there is one at a time, or none."""
    ref = f"{name}:{view.goal_id}"
    need = next((item for item in view.needs_you if item.id == ref), None)
    about = dict.fromkeys(item.todo_id for item in view.reads.drift if item.todo_id)
    return Subject(
        id=ref,
        kind=need.kind if need else kind,
        status="open" if need else "none",
        question=need.question if need else f"there is no {kind} to settle in {view.goal_id}",
        asked_by="loopx",
        since=need.since if need else None,
        version=view.seq,
        irreversible=False,
        action=tuple((name, value) for name, value in told if value),
        blocks=need.blocks if need else (),
        about=tuple(about) if name == "drift" else (),
    )
