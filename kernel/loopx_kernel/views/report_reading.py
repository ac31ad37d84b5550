"""What happened in a stretch of a journal, gathered line by line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from loopx_kernel.domain.records import EvidenceRef, Spend, Todo
from loopx_kernel.domain.records_of_work import Turn
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.steps import Step
from loopx_kernel.views.report_rows import (
    Added,
    Asked,
    Booking,
    Changed,
    Decided,
    Ended,
    Incident,
    Place,
    Shown,
    TurnEnd,
)
from loopx_kernel.views.report_words import CHANGES, INCIDENTS, text_of

_ABOUT = ("gate_id", "escalation_id", "obligation_id", "todo_id", "effect_ref", "source_id")


@dataclass
class Reading:
    """Everything of a period, in the order of its lines."""

    first: Step | None = None
    last: Step | None = None
    lines: int = 0
    opened: int = 0
    added: list[Added] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)
    evidence: list[Shown] = field(default_factory=list)
    turns: list[TurnEnd] = field(default_factory=list)
    bookings: list[Booking] = field(default_factory=list)
    decisions: list[Decided] = field(default_factory=list)
    gates: list[Asked] = field(default_factory=list)
    changes: list[Changed] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)
    late_voids: int = 0
    """Slots given back in the period that had been booked before it."""

    def take(self, step: Step) -> None:
        """One more line."""
        self.first, self.last = self.first or step, step
        self.lines += 1
        event = step.event
        place = Place(event.actor_agent_id, event.recorded_at, event.seq)
        if step.goes_back:
            self._note("clock", "its time is before that of the line before it", place)
        if event.actor_kind == "owner":
            self.decisions.append(_decision(step, place))
        if step.problem is not None:
            self._note("no_effect", f"{event.event_type}: {step.problem}", place)
            return
        for name, payload in step.effects():
            self._effect(name, payload, step, place)
        self._things(step, place)

    def _effect(self, name: str, payload: Mapping[str, Any], step: Step, place: Place) -> None:
        if name in CHANGES:
            self.changes.append(_change(name, payload, step, place))
        if (told := INCIDENTS.get(name)) is not None:
            self.incidents += [Incident(name, what, place) for what in told(payload)]
        if name == "observation.recorded":
            self.evidence.append(_observed(payload, place))
        elif name == "acceptance.ran":
            self.evidence += (_accepted(result, place) for result in payload["results"])
        elif name == "turn.opened":
            self.opened += 1

    def _things(self, step: Step, place: Place) -> None:
        """What became of the objects the line names, told from the states around it."""
        before, after = step.before, step.after
        for ref in _named(step, "todo_id"):
            self._todo(before.todos.get(ref), after.todos.get(ref), place)
        for ref in _named(step, "turn_id"):
            self._turn(before.turns.get(ref), after.turns.get(ref), place)
        for ref in _named(step, "effect_ref"):
            self._spend(before.spends.get(ref), after.spends.get(ref), place)
        for ref in _named(step, "gate_id"):
            gate = after.gates.get(ref)
            if gate is not None and ref not in before.gates:
                row = Asked(ref, gate.action, gate.question, gate.blocks, gate.status, place)
                self.gates.append(row)

    def _todo(self, before: Todo | None, after: Todo | None, place: Place) -> None:
        if after is None:
            return
        if before is None:
            row = Added(after.id, after.title, after.kind, after.lineage_todo_ids, place)
            self.added.append(row)
        known = before.evidence if before else ()
        new = (ref for ref in after.evidence if ref not in known)
        self.evidence += (_handed_in(after.id, ref, place) for ref in new)
        if after.finished and not (before and before.finished):
            self.ended.append(_end(after, place))

    def _turn(self, before: Turn | None, after: Turn | None, place: Place) -> None:
        if after is None or after.status == "open" or (before and before.status != "open"):
            return
        row = _turn_end(after, place)
        self.turns.append(row)
        if row.outcome in ("failed", "recovered"):
            what = f"{row.turn_id} on {row.todo_id} by {row.agent_id}: {row.reason or row.outcome}"
            self._note(f"turn_{row.outcome}", what, place)

    def _spend(self, before: Spend | None, after: Spend | None, place: Place) -> None:
        if after is None:
            return
        if before is None:
            self.bookings.append(Booking(after.effect_ref, after.slots, False, "", place))
        if after.voided_at is not None and not (before and before.voided_at):
            row = Booking(after.effect_ref, after.slots, True, after.void_reason, place)
            self.bookings.append(row)
            self.late_voids += after.slots if self._booked_before(after.seq) else 0

    def _booked_before(self, seq: int) -> bool:
        return self.first is not None and seq < self.first.event.seq

    def _note(self, kind: str, what: str, place: Place) -> None:
        self.incidents.append(Incident(kind, what, place))


def read(steps: Iterable[Step], since: datetime, until: datetime) -> Reading:
    """Gathers a stretch of lines; one that bears a time outside the period is an incident, as
    order is position and not the clock."""
    found = Reading()
    for step in steps:
        found.take(step)
        if not since <= step.event.recorded_at < until:
            place = Place(step.event.actor_agent_id, step.event.recorded_at, step.event.seq)
            what = "it stands in the period by its place, and bears a time outside"
            found.incidents.append(Incident("clock", what, place))
    return found


def state_after(reading: Reading, start: GoalState) -> GoalState:
    """The state at the end of what was read."""
    return reading.last.after if reading.last is not None else start


def _named(step: Step, key: str) -> list[str]:
    found = (payload.get(key) for _, payload in step.effects())
    return list(dict.fromkeys(ref for ref in found if isinstance(ref, str)))


def _decision(step: Step, place: Place) -> Decided:
    event, payload = step.event, step.event.payload
    about = next((payload[key] for key in _ABOUT if isinstance(payload.get(key), str)), "")
    verdict = step.verdict
    return Decided(
        event_id=event.event_id,
        event_type=event.event_type,
        about=about or event.goal_id,
        what=_subject(step, payload),
        reason=text_of(payload, "reason"),
        signature_ok=verdict.ok,
        level=verdict.level,
        fingerprint=verdict.fingerprint,
        effective=step.problem is None,
        problem=step.problem,
        place=place,
    )


def _subject(step: Step, payload: Mapping[str, Any]) -> str:
    """What an act is about, in the words it has in the ledger."""
    gate = step.before.gates.get(text_of(payload, "gate_id"))
    if gate is not None:
        return gate.command or ", ".join(gate.paths) or gate.question
    todo = step.before.todos.get(text_of(payload, "todo_id"))
    if todo is not None:
        return todo.title
    one = step.before.escalations.get(text_of(payload, "escalation_id"))
    if one is not None:
        return f"{text_of(payload, 'answer')}: {one.cause}: {one.detail}"
    return text_of(payload, "text") or text_of(payload, "path") or text_of(payload, "objective")


def _change(name: str, payload: Mapping[str, Any], step: Step, place: Place) -> Changed:
    return Changed(
        event_type=name,
        what=CHANGES[name](payload),
        reason=text_of(payload, "reason") or text_of(step.event.payload, "reason"),
        facts=tuple(payload.get("facts") or ()),
        place=place,
    )


def _end(todo: Todo, place: Place) -> Ended:
    return Ended(
        todo_id=todo.id,
        title=todo.title,
        outcome=todo.status,
        proven=todo.proven,
        evidence=len(todo.evidence),
        superseded_by=todo.superseded_by,
        reason=todo.reason,
        place=place,
    )


def _turn_end(turn: Turn, place: Place) -> TurnEnd:
    ended = turn.outcome or "closed"
    return TurnEnd(
        turn_id=turn.id,
        todo_id=turn.todo_id,
        agent_id=turn.agent_id,
        outcome=ended if turn.status == "settled" else turn.status,
        progress=turn.progress,
        verified=turn.verified,
        unproven=turn.unproven,
        slots=turn.slots_booked,
        reason=turn.reason,
        place=place,
    )


def _handed_in(todo_id: str, ref: EvidenceRef, place: Place) -> Shown:
    basis: Any = "told" if ref.result is None else "read"
    return Shown(todo_id, ref.path, ref.kind, basis, ref.result, ref.sha256, place)


def _observed(payload: Mapping[str, Any], place: Place) -> Shown:
    of = f"{payload['kind']}:{payload['ref']}"
    what = text_of(payload, "path") or text_of(payload, "command") or "word of mouth"
    place = Place(payload["by"], place.at, place.seq)
    digest = payload.get("sha256")
    return Shown(of, what, payload["kind"], payload["basis"], payload["status"], digest, place)


def _accepted(result: Mapping[str, Any], place: Place) -> Shown:
    of = f"acceptance:{result['item_id']}"
    said = text_of(result, "detail")
    return Shown(of, said, "acceptance", "ran", result["result"], result["digest"], place)
