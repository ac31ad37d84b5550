"""Everything known about one object, and where it came from, as labelled lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from loopx_kernel.text import safe, safe_block

from loopx_tui.presentation import completion, events, goals, sources, todos
from loopx_tui.presentation.ages import age
from loopx_tui.presentation.beat import wake
from loopx_tui.presentation.cells import Cell
from loopx_tui.presentation.header import integrity
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene

if TYPE_CHECKING:
    from loopx_kernel.domain.records import EvidenceRef
    from loopx_kernel.views.goal import GoalView


class Subject(NamedTuple):
    """What a detail is about, by key: it stays on its object whatever the lists do."""

    kind: str
    goal_id: str
    id: str


class Fact(NamedTuple):
    """One labelled text, which may have several lines."""

    label: str
    value: Cell


Facts = list[Fact]


class Detail(NamedTuple):
    """A title and what is known; ``facts`` is empty where the object is not there any more."""

    title: str
    facts: tuple[Fact, ...]


def detail(subject: Subject, scene: Scene, pen: Pen) -> Detail:
    """What is known about ``subject`` in this scene."""
    title = f"{subject.kind.replace('_', ' ')} {safe(subject.id)}"
    goal = scene.find(subject.goal_id)
    if subject.kind == "need":
        return Detail(safe(subject.id), tuple(_need(subject, scene, goal, pen)))
    if subject.kind == "event":
        return Detail(title, tuple(_event(subject.id, scene, pen)))
    if goal is None:
        return Detail(title, tuple(_unread(subject.goal_id, scene)))
    return Detail(title, tuple(_BUILDERS[subject.kind](goal, subject.id, pen)))


def _plain(label: str, text: str, style: str = "text") -> Fact:
    return Fact(label, Cell(safe_block(text), style))


def _when(label: str, moment: datetime | None, pen: Pen) -> Facts:
    return [Fact(label, Cell(pen.instant(moment), "text-dim"))] if moment else []


def _unread(goal_id: str, scene: Scene) -> Facts:
    items = scene.view.unread if scene.view else ()
    for item in items:
        if item.goal_id == goal_id:
            facts = [_plain("goal", goal_id), _plain("unread", item.message, "alert")]
            return facts + ([_plain("next", item.next)] if item.next else [])
    return []


def _need(subject: Subject, scene: Scene, goal: GoalView | None, pen: Pen) -> Facts:
    if goal is None:
        return _unread(subject.goal_id, scene)
    item = next((item for item in goal.needs_you if item.id == subject.id), None)
    if item is None:
        return []
    facts = [
        _plain("question", item.question, "ask"),
        _plain("goal", goal.goal_id),
        _plain("asked by", item.asked_by),
        *_when("since", item.since, pen),
        _plain("blocks", ", ".join(item.blocks) or "nothing"),
        _plain("next", item.next, "accent"),
    ]
    facts += [
        _plain("difference", diff.sentence) for diff in goal.reads.drift if "drift" in item.id
    ]
    if item.kind == "gate":
        facts += _gate(goal, item.id, pen)[2:]
    elif item.kind == "human_todo":
        facts += _todo(goal, item.id, pen)
    return facts


def _gate(goal: GoalView, gate_id: str, pen: Pen) -> Facts:
    row = next((row for row in goal.gates if row.gate.id == gate_id), None)
    if row is None:
        return []
    gate = row.gate
    facts = [
        _plain("question", gate.question, "ask"),
        _plain("asked by", gate.requested_by),
        _plain("status", row.status),
        _plain("action", gate.action),
        _plain("command", gate.command or "none"),
        _plain("paths", "\n".join(gate.paths) or "none"),
        _plain("undo", "cannot be undone" if gate.irreversible else "can be undone"),
        _plain("digest", gate.digest, "text-dim"),
    ]
    if gate.decision is not None:
        made = gate.decision
        facts.append(_plain("decided", f"{made.outcome} by {made.by} ({made.level})", "verified"))
        facts += [_plain("key", made.key, "text-dim"), *_when("at", made.at, pen)]
        facts += [_plain("reason", made.reason)] if made.reason else []
    return facts


def _todo(goal: GoalView, todo_id: str, pen: Pen) -> Facts:
    row = next((row for row in goal.todos if row.todo.id == todo_id), None)
    if row is None:
        return []
    todo = row.todo
    facts = [
        _plain("title", todo.title),
        Fact("state", todos.state_cell(row, pen)),
        _plain("kind", f"{todo.kind}, {todo.priority}, for {_role(todo.role)}"),
        _plain("scope", "\n".join(todo.write_scope) or "the goal's own"),
    ]
    many = {
        "depends on": todo.depends_on,
        "gated by": row.gated_by,
        "acceptance": todo.acceptance,
        "comes from": todo.lineage_todo_ids,
    }
    facts += [_plain(label, ", ".join(ids)) for label, ids in many.items() if ids]
    if todo.waiting_on is not None:
        every = age(timedelta(seconds=todo.waiting_on.every_seconds))
        facts.append(
            _plain("waits for", f"{todos.waits_for(todo)}, looked at every {every}", "wait")
        )
    facts += [_plain("reason", todo.reason)] if todo.reason else []
    facts += _when("until", todo.resume_at, pen)
    facts += [_evidence(item) for item in todo.evidence]
    if todo.claimed_tests:
        basis = "verified" if todo.proven else "claimed, unproven"
        facts.append(_plain("tests", f"{todo.claimed_tests} ({basis})"))
    facts += _lease(goal, todo_id, pen)
    facts += [
        _plain("origin", f"{todo.origin.actor_kind} {todo.origin.actor_agent_id}"),
        _plain("event", f"{todo.origin.event_id}, last changed by #{todo.seq}", "text-dim"),
    ]
    return [*facts, *_when("added", todo.added_at, pen), *_when("changed", todo.changed_at, pen)]


def _role(role: str) -> str:
    return "a person" if role == "human" else "agents"


def _evidence(item: EvidenceRef) -> Fact:
    result = f", {item.result}" if item.result else ""
    tests = f", {item.tests} tests, {item.failures or 0} failed" if item.tests is not None else ""
    text = f"{item.path} ({item.kind}, {item.size:,} bytes{result}{tests})\n{item.sha256}"
    return _plain("evidence", text, "alert" if item.result == "failed" else "text")


def _lease(goal: GoalView, todo_id: str, pen: Pen) -> Facts:
    row = next((row for row in goal.leases if row.todo_id == todo_id), None)
    if row is None:
        return []
    text = f"{row.owner}, {row.status}, epoch {row.lease_epoch}, version {row.version}"
    return [
        _plain("lease", text, "stale" if row.status == "expired" else "text"),
        _plain("writes", "\n".join(row.write_scopes) or "nothing"),
        *_when("taken", row.acquired_at, pen),
        *_when("renewed", row.renewed_at, pen),
        *_when("ends", row.expires_at, pen),
    ]


def _source(goal: GoalView, source_id: str, pen: Pen) -> Facts:
    row = next((row for row in goal.sources if row.id == source_id), None)
    if row is None:
        return []
    counts = (
        f"{row.item_count} items, {row.unreadable_count} unreadable, {row.pending_count} pending"
    )
    return [
        Fact("status", sources.status_cell(row, pen)),
        _plain("provider", row.provider),
        _plain("window", age(timedelta(seconds=row.window_seconds))),
        _plain("last look", row.read_status.replace("_", " ")),
        *_when("looked at", row.checked_at, pen),
        *_when("succeeded", row.last_success_at, pen),
        _plain("failures", f"{row.failure_streak} in a row"),
        _plain("counts", counts.replace("None", "unknown")),
        _plain("queue", row.queue),
        _plain("required", "yes" if row.required else "no"),
        _plain("enabled", ("yes" if row.enabled else "no") + "; that says nothing about freshness"),
        _plain("bound", "yes" if row.bound else "no"),
        *[_plain("alert", code.replace("_", " "), "alert") for code in row.alert_reasons],
    ]


def _goal(goal: GoalView, _: str, pen: Pen) -> Facts:
    usage, hint = goal.contract.quota, wake(goal, pen)
    facts = [
        _plain("name", goal.display_name),
        Fact("answer", goals.answer_cell(goals.answer(goal), pen)),
        *[_plain("why", reason.message) for reason in goal.contract.reasons],
        Fact("wake", hint),
        _plain("objective", f"{goal.objective}\n(version {goal.objective_version})"),
        _plain("repo", goal.repo),
        _plain("list", goal.state_file),
        Fact("ledger", integrity(goal, pen)),
        _plain("head", goal.head, "text-dim"),
        *_when("last event", goal.last_event_at, pen),
        _plain(
            "quota",
            f"{usage.used} of {usage.allowed} slots used in {usage.window_hours} h, "
            f"{usage.attempts} spends, {usage.voids} void, {usage.aged_out} aged out",
        ),
    ]
    facts += [_plain("no effect", text, "alert") for text in goal.alerts]
    facts += [_plain("damaged", f"{d.path}: {d.reason}", "alert") for d in goal.reads.damage]
    for check in goal.completion.checks:
        mark = pen.glyph("held" if check.ok else "missing")
        text = f"{mark} {completion.name_of(check)}"
        text += "" if check.ok else f" {check.count}: {', '.join(check.ids)}"
        facts.append(_plain(f"gate {check.gate}", text, "text-dim" if check.ok else "repair"))
    return facts


def _event(event_id: str, scene: Scene, pen: Pen) -> Facts:
    row = next((row for row in scene.events if row.event.event_id == event_id), None)
    if row is None:
        return []
    event = row.event
    facts = [
        Fact("type", Cell(safe(event.event_type), events.type_style(event.event_type))),
        _plain("effect", "in effect" if row.effective else f"none: {row.problem}"),
        _plain("actor", f"{event.actor_kind} {event.actor_agent_id}"),
        *_when("recorded", event.recorded_at, pen),
        _plain("seq", f"#{event.seq}"),
        _plain("goal", event.goal_id),
    ]
    if event.signed is not None:
        facts.append(Fact("signature", events.signature_cell(row, pen)))
        facts += [_plain("signer", row.signer)] if row.signer else []
        facts += [_plain("key", row.fingerprint, "text-dim")] if row.fingerprint else []
        witness = event.signed.witnessed
        facts.append(_plain("witnessed", f"#{witness.seq} {witness.head}", "text-dim"))
        facts += _when("signed", event.signed.signed_at, pen)
    payload = json.dumps(event.payload, indent=2, ensure_ascii=False)
    facts.append(_plain("payload", payload))
    return [
        *facts,
        _plain("hash", event.sha256, "text-dim"),
        _plain("previous", event.prev, "text-dim"),
    ]


_BUILDERS: dict[str, Callable[[GoalView, str, Pen], Facts]] = {
    "goal": _goal,
    "todo": _todo,
    "lease": _lease,
    "source": _source,
    "gate": _gate,
}
