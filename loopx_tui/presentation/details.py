"""Everything known about one object, and where it came from, as labelled lines."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from loopx_kernel.text import counted, safe
from loopx_kernel.views.proposal import told as told_of

from loopx_tui import strings
from loopx_tui.presentation import (
    completion,
    goals,
    known,
    sources,
    story_details,
    todos,
)
from loopx_tui.presentation.ages import age
from loopx_tui.presentation.beat import wake
from loopx_tui.presentation.facts import OWNERS, Fact, Facts, Subject, plain, when
from loopx_tui.presentation.finding import NAMED
from loopx_tui.presentation.header import integrity
from loopx_tui.presentation.known_lines import of_line
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene

if TYPE_CHECKING:
    from loopx_kernel.domain.records import EvidenceRef, Gate
    from loopx_kernel.views.goal import GoalView


class Detail(NamedTuple):
    """A title and what is known; ``facts`` is empty where the object is not there any more."""

    title: str
    facts: tuple[Fact, ...]


def detail(subject: Subject, scene: Scene, pen: Pen) -> Detail:
    """What is known about ``subject`` in this scene."""
    kind = "" if subject.kind == NAMED else subject.kind.replace("_", " ")
    title = f"{kind} {safe(subject.id)}".strip()
    if subject.kind == OWNERS:
        return Detail(strings.OWNERS, tuple(_owners(scene)))
    goal = scene.find(subject.goal_id)
    if subject.kind == "need":
        return Detail(safe(subject.id), tuple(_need(subject, scene, goal, pen)))
    if subject.kind == "event":
        return Detail(title, tuple(_event(subject.id, scene, pen)))
    return Detail(title, tuple(_of_goals(subject, scene, goal, pen)))


def _of_goals(subject: Subject, scene: Scene, goal: GoalView | None, pen: Pen) -> Facts:
    """An object of one goal, from what was read of it or from its view."""
    told = story_details.of(subject.kind, scene.story, subject.id, pen) if scene.story else None
    if told is not None:
        return told
    if goal is None:
        return _unread(subject.goal_id, scene)
    build = _BUILDERS.get(subject.kind)
    return build(goal, subject.id, pen) if build else []


def _owners(scene: Scene) -> Facts:
    names = scene.view.owners if scene.view else ()
    return [plain("now", ", ".join(names) or strings.NO_OWNERS)]


def _unread(goal_id: str, scene: Scene) -> Facts:
    items = scene.view.unread if scene.view else ()
    for item in items:
        if item.goal_id == goal_id:
            facts = [plain("goal", goal_id), plain("unread", item.message, "alert")]
            return facts + ([plain("next", item.next)] if item.next else [])
    return []


def _need(subject: Subject, scene: Scene, goal: GoalView | None, pen: Pen) -> Facts:
    if goal is None:
        return _unread(subject.goal_id, scene)
    item = next((item for item in goal.needs_you if item.id == subject.id), None)
    if item is None:
        return []
    facts = [
        plain("question", item.question, "ask"),
        plain("goal", goal.goal_id),
        plain("asked by", item.asked_by),
        *when("since", item.since, pen),
        plain("blocks", ", ".join(item.blocks) or "nothing"),
        plain("next", item.next, "accent"),
    ]
    facts += [plain("difference", diff.sentence) for diff in goal.reads.drift if "drift" in item.id]
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
        plain("question", gate.question, "ask"),
        plain("asked by", gate.requested_by),
        plain("status", row.status),
        plain("action", gate.action),
        *_asked(gate),
        plain("undo", "cannot be undone" if gate.irreversible else "can be undone"),
        plain("digest", gate.digest, "text-dim"),
    ]
    if gate.decision is not None:
        made = gate.decision
        facts.append(plain("decided", f"{made.outcome} by {made.by} ({made.level})", "verified"))
        facts += [plain("key", made.key, "text-dim"), *when("at", made.at, pen)]
        facts += [plain("reason", made.reason)] if made.reason else []
    return facts


def _asked(gate: Gate) -> Facts:
    if gate.proposal is not None:
        return [plain(name, text) for name, text in told_of(gate.proposal)]
    return [
        plain("command", gate.command or "none"),
        plain("paths", "\n".join(gate.paths) or "none"),
    ]


def _todo(goal: GoalView, todo_id: str, pen: Pen) -> Facts:
    row = next((row for row in goal.todos if row.todo.id == todo_id), None)
    if row is None:
        return []
    todo = row.todo
    facts = [
        plain("title", todo.title),
        Fact("state", todos.state_cell(row, pen)),
        plain("kind", f"{todo.kind}, {todo.priority}, for {_role(todo.role)}"),
        plain("scope", "\n".join(todo.write_scope) or "the goal's own"),
    ]
    many = {
        "depends on": todo.depends_on,
        "gated by": row.gated_by,
        "acceptance": todo.acceptance,
        "comes from": todo.lineage_todo_ids,
    }
    facts += [plain(label, ", ".join(ids)) for label, ids in many.items() if ids]
    if todo.waiting_on is not None:
        every = age(timedelta(seconds=todo.waiting_on.every_seconds))
        facts.append(
            plain("waits for", f"{todos.waits_for(todo)}, looked at every {every}", "wait")
        )
    facts += [plain("reason", todo.reason)] if todo.reason else []
    facts += when("until", todo.resume_at, pen)
    facts += [_evidence(item) for item in todo.evidence]
    if todo.claimed_tests:
        basis = "verified" if todo.proven else "claimed, unproven"
        facts.append(plain("tests", f"{todo.claimed_tests} ({basis})"))
    facts += known.of_effort(todo.effort)
    facts += _lease(goal, todo_id, pen)
    facts += [
        plain("origin", f"{todo.origin.actor_kind} {todo.origin.actor_agent_id}"),
        plain("event", f"{todo.origin.event_id}, last changed by #{todo.seq}", "text-dim"),
    ]
    return [*facts, *when("added", todo.added_at, pen), *when("changed", todo.changed_at, pen)]


def _role(role: str) -> str:
    return "a person" if role == "human" else "agents"


def _evidence(item: EvidenceRef) -> Fact:
    result = f", {item.result}" if item.result else ""
    tests = f", {item.tests} tests, {item.failures or 0} failed" if item.tests is not None else ""
    text = f"{item.path} ({item.kind}, {item.size:,} bytes{result}{tests})\n{item.sha256}"
    return plain("evidence", text, "alert" if item.result == "failed" else "text")


def _lease(goal: GoalView, todo_id: str, pen: Pen) -> Facts:
    row = next((row for row in goal.leases if row.todo_id == todo_id), None)
    if row is None:
        return []
    text = f"{row.owner}, {row.status}, epoch {row.lease_epoch}, version {row.version}"
    return [
        plain("lease", text, "stale" if row.status == "expired" else "text"),
        plain("writes", "\n".join(row.write_scopes) or "nothing"),
        *when("taken", row.acquired_at, pen),
        *when("renewed", row.renewed_at, pen),
        *when("ends", row.expires_at, pen),
        *([plain("judged", strings.BY_WALL_CLOCK, "stale")] if row.by_wall_clock else []),
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
        plain("provider", row.provider),
        plain("window", age(timedelta(seconds=row.window_seconds))),
        plain("last look", row.read_status.replace("_", " ")),
        *when("looked at", row.checked_at, pen),
        *when("succeeded", row.last_success_at, pen),
        plain("failures", f"{row.failure_streak} in a row"),
        plain("counts", counts.replace("None", "unknown")),
        plain("queue", row.queue),
        plain("required", "yes" if row.required else "no"),
        plain("enabled", ("yes" if row.enabled else "no") + "; that says nothing about freshness"),
        plain("bound", "yes" if row.bound else "no"),
        *[plain("alert", code.replace("_", " "), "alert") for code in row.alert_reasons],
    ]


def _goal(goal: GoalView, _: str, pen: Pen) -> Facts:
    usage, hint = goal.contract.quota, wake(goal, pen)
    facts = [
        plain("name", goal.display_name),
        Fact("answer", goals.answer_cell(goal.display_answer, pen)),
        *[plain("why", reason.message) for reason in goal.contract.reasons],
        Fact("wake", hint),
        plain("objective", f"{goal.objective}\n(version {goal.objective_version})"),
        plain("repo", goal.repo),
        plain("list", goal.state_file),
        Fact("ledger", integrity(goal, pen)),
        plain("head", goal.head, "text-dim"),
        *when("last event", goal.last_event_at, pen),
        plain(
            "quota",
            f"{usage.used} of {usage.allowed} slots used in {usage.window_hours} h, "
            f"{counted(usage.spends, 'spend')}, {counted(usage.voids, 'void')}, "
            f"{counted(usage.attempts, 'attempt')}, {usage.aged_out} aged out",
        ),
    ]
    facts += [plain("no effect", text, "alert") for text in goal.alerts]
    facts += [plain("damaged", f"{d.path}: {d.reason}", "alert") for d in goal.reads.damage]
    for check in goal.completion.checks:
        mark = pen.glyph("held" if check.ok else "missing")
        text = f"{mark} {completion.name_of(check)}"
        text += "" if check.ok else f" {check.count}: {', '.join(check.ids)}"
        facts.append(plain(f"gate {check.gate}", text, "text-dim" if check.ok else "repair"))
    return facts


def _event(event_id: str, scene: Scene, pen: Pen) -> Facts:
    shown = scene.story.events if scene.story else scene.events
    row = next((row for row in shown if row.event.event_id == event_id), None)
    return of_line(row, pen) if row else []


_BUILDERS: dict[str, Callable[[GoalView, str, Pen], Facts]] = {
    "goal": _goal,
    "todo": _todo,
    "lease": _lease,
    "source": _source,
    "gate": _gate,
}
