"""Gates: one concrete request, approved, rejected or put off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from loopx_kernel.errors import UsageError
from loopx_kernel.text import safe
from loopx_kernel.views.proposal import told

from loopx_tui.cases.case import (
    REASON,
    Asked,
    Case,
    Field,
    Matter,
    Section,
    Values,
    Way,
    own_packet,
)
from loopx_tui.cases.times import parse_until
from loopx_tui.presentation.lines import Line, field, head, moment

if TYPE_CHECKING:
    from loopx_kernel.domain.records import Gate
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.workspace import Unsigned

    from loopx_tui.decisions import Ledger

_MEANING = ("status", "question", "action", "command", "paths", "blocks", "irreversible", "digest")
_UNTIL = Field(
    "until",
    "ask again",
    "time",
    hint="10m, 3h, 2d from now, or a time like 2026-09-17T09:00:00Z",
    fresh=True,
)


def look(ledger: Ledger, goal_id: str, gate_id: str) -> Matter:
    """The gate as it is now; ``unknown_gate`` where there is none."""
    view = ledger.view(goal_id)
    for row in view.gates:
        if row.gate.id == gate_id:
            return matter_of(goal_id, row.gate, row.status, view)
    raise UsageError("unknown_gate", f"There is no gate {gate_id} in {goal_id}")


def matter_of(goal_id: str, gate: Gate, status: str, view: GoalView | None = None) -> Matter:
    """A gate as what is decided about."""
    proposed = [] if gate.proposal is None else [text for _, text in told(gate.proposal)]
    return Matter(
        goal_id=goal_id,
        object_id=gate.id,
        open=status in ("pending", "deferred"),
        status=status,
        meaning=meaning(gate),
        record=gate,
        view=view,
        version=gate.seq,
        signs={"digest": gate.digest},
        irreversible=gate.irreversible,
        texts=(gate.question, gate.action, gate.command, *gate.paths, *proposed),
        settled=tuple(_settled(gate)),
    )


def meaning(gate: Gate) -> Values:
    """Everything about a gate that a decision is about, in words."""
    values = ((name, getattr(gate, name)) for name in _MEANING)
    return {name: ", ".join(v) if isinstance(v, tuple) else str(v) for name, v in values}


def _settled(gate: Gate) -> Iterator[Line]:
    made = gate.decision
    if made is not None:
        by = f"{made.by}, {moment(made.at)}, event {made.event_id}"
        yield field(made.outcome, f"by {by}")


def show(matter: Matter, values: Values, width: int) -> Iterator[Section]:
    """The question with the exact action, and what it blocks."""
    gate: Gate = matter.record
    yield list(_question(gate, matter.status))
    yield list(_blocks(gate, matter.view))


def _question(gate: Gate, status: str) -> Iterator[Line]:
    yield Line(safe(gate.question), "ask")
    yield field("action", gate.action)
    if gate.command:
        yield field("command", gate.command)
    for path in gate.paths:
        yield field("path", path)
    if gate.proposal is not None:
        for name, value in told(gate.proposal):
            yield field(name, value)
    yield field("asked by", f"{gate.requested_by}, {moment(gate.requested_at)}", "text-dim")
    yield field("status", status, "text-dim")
    yield field("digest", gate.digest, "text-dim")


def _blocks(gate: Gate, view: GoalView | None) -> Iterator[Line]:
    titles = {row.todo.id: row.todo.title for row in view.todos} if view else {}
    yield head("Blocks" if gate.blocks else "Blocks no todo")
    for todo_id in gate.blocks:
        yield Line(f"  {safe(todo_id)}  {safe(titles.get(todo_id, 'not in this goal'))}")


def prepare(ledger: Ledger, asked: Asked) -> Unsigned:
    """The statement of a decision about the gate."""
    from loopx_kernel.domain.gate_decide import DecideGate, Outcome

    outcome: Outcome = asked.way.name  # type: ignore[assignment]
    until = parse_until(asked.values["until"], ledger.clock.read().now) if asked.way.needs else None
    command = DecideGate(
        gate_id=asked.matter.object_id,
        outcome=outcome,
        reason=asked.values.get("reason", ""),
        until=until,
    )
    return ledger.gates.decide(asked.goal_id, asked.owner, command)


def loopx(matter: Matter, values: Values, way: Way) -> Sequence[str]:
    """The options of the same command."""
    reason = values.get("reason", "")
    more = ["--until", "2026-09-17T09:00:00Z"] if way.needs else []
    more += ["--reason", reason] if reason else []
    return ["gate", way.title, matter.object_id, *more]


CASE: Final = Case(
    "gate",
    "gate",
    (
        Way("review.approve", "approved", "approve", "approved"),
        Way("review.reject", "rejected", "reject", "rejected", grants=False),
        Way("review.defer", "deferred", "defer", "deferred", (_UNTIL,), grants=False),
    ),
    look,
    show,
    prepare,
    loopx,
    fields=(Field("reason", "reason", required=False, hint=REASON.hint),),
    packet=own_packet,
)
