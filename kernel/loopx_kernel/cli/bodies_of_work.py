"""Answers about work: todos, turns, leases, gates, duties, sources."""

# Types made by ``shape`` are values to mypy.
# mypy: disable-error-code="valid-type"

from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from loopx_kernel.cli.file_types import StatementFile
from loopx_kernel.cli.shapes import shape
from loopx_kernel.domain.event import ActorKind
from loopx_kernel.domain.freshness import HostReading, SourceReading
from loopx_kernel.domain.records import Alert, Decision, EvidenceRef, Gate, Lease, Todo
from loopx_kernel.domain.records_of_work import Escalation, Obligation, Observation, Turn
from loopx_kernel.views.goal import LeaseRow
from loopx_kernel.views.warnings import Warned
from loopx_kernel.workspace.objectives import Version
from loopx_kernel.workspace.orders import Receipt

Counts = dict[str, int]


Texts = tuple[str, ...]


ShownTodo = shape(
    "ShownTodo",
    Todo,
    display_status=str,
    holder=str | None,
    gated_by=Texts,
    needs=Texts,
    damaged=bool,
)


ShownDecision = shape("ShownDecision", Decision, signature_ok=bool)


ShownGate = shape("ShownGate", Gate, decision=ShownDecision | None)


HeldLease = shape(
    "HeldLease", Lease, schema_version=Literal["task_lease_v0"], goal_id=str, todo_id=str
)


SeenLease = shape("SeenLease", LeaseRow, schema_version=Literal["task_lease_v0"], goal_id=str)


ShownTurn = shape(
    "ShownTurn", Turn, progress=bool, missing=Texts, deadline=datetime | None, unclosed=bool
)


ShownVersion = shape("ShownVersion", Version, diff=Texts)


ShownItem = shape(
    "ShownItem",
    EvidenceRef,
    basis=Literal["read", "told"],
    since=str,
    copy=str,
)


class Refreshed(TypedDict):
    """The files say what the journal says up to this line."""

    seq: int


From = TypedDict("From", {"from": Texts})
"""A key that is a word of Python's."""


class OneTurn(TypedDict):
    turn: ShownTurn


class Turns(TypedDict):
    turns: tuple[ShownTurn, ...]


class Recovered(TypedDict):
    recovered: Texts
    turns: tuple[Turn, ...]
    receipts: tuple[Receipt, ...]


class Todos(TypedDict):
    todos: tuple[ShownTodo, ...]
    counts: Counts


class Origin(TypedDict):
    """A todo, what it comes from, and the event that made it."""

    todo_id: str
    title: str
    facts: Texts
    event_id: str
    seq: int
    event_type: str
    recorded_at: datetime
    actor_kind: ActorKind
    actor_agent_id: str


OriginFrom = shape("OriginFrom", Origin, also=From)


ShownStatement = shape("ShownStatement", StatementFile, file=str, found_sha256=str | None)


class OneTodo(TypedDict):
    todo: ShownTodo
    lease: HeldLease | None
    lineage: tuple[Todo, ...]
    origins: tuple[OriginFrom, ...]
    statement: ShownStatement | None
    evidence: tuple[ShownItem, ...]
    observations: tuple[Observation, ...]


class Leases(TypedDict):
    leases: tuple[LeaseRow, ...]
    warnings: tuple[Warned, ...]
    refused: tuple[Alert, ...]


class OneLease(TypedDict):
    lease: SeenLease


class Gates(TypedDict):
    gates: tuple[ShownGate, ...]


class OneGate(TypedDict):
    gate: ShownGate


class GateLook(TypedDict):
    """Whether an action is allowed now, and by what."""

    allowed: bool
    reason: str
    rule: str | None
    gate_id: str | None


class Replans(TypedDict):
    obligations: tuple[Obligation, ...]
    earlier: int


class Escalations(TypedDict):
    escalations: tuple[Escalation, ...]


class Objective(TypedDict):
    versions: tuple[ShownVersion, ...]


class Freshness(TypedDict):
    enabled_state_implies_freshness: Literal[False]
    sources: tuple[SourceReading, ...]
    hosts: tuple[HostReading, ...]


class AcceptanceRow(TypedDict):
    id: str
    kind: str
    optional: bool
    standing: str
    result: str | None
    detail: str
    repo_state: NotRequired[str]
    digest: NotRequired[str]
    score: NotRequired[int | None]
    at: NotRequired[datetime]


class Acceptance(TypedDict):
    passed: bool
    by_hand: bool
    gaps: Texts
    fix: str | None
    items: tuple[AcceptanceRow, ...]


class TurnResult(TypedDict):
    id: str
    todo_id: str
    outcome: str
    verified: bool
    unproven: bool
    state_written: bool
    slots_booked: int
    progress: bool
    reason: str
