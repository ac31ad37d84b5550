"""Answers about goals: status, boards, reports, contracts."""

# Types made by ``shape`` are values to mypy.
# mypy: disable-error-code="valid-type"

from __future__ import annotations

from datetime import datetime
from typing import Literal

from typing_extensions import TypedDict

from loopx_kernel.cli.bodies_of_work import Counts, HeldLease, ShownTodo, Texts
from loopx_kernel.cli.shapes import shape
from loopx_kernel.domain.answer import Answer, Contract, Reason
from loopx_kernel.domain.completion import Check
from loopx_kernel.domain.freshness import SourceReading
from loopx_kernel.domain.needs_you import LostCopy, NeedsYou
from loopx_kernel.domain.records import Gate
from loopx_kernel.domain.rules import GoalRules
from loopx_kernel.views.board import Monitor
from loopx_kernel.views.everywhere import UnreadWorkspace
from loopx_kernel.views.goal import LeaseRow
from loopx_kernel.views.packet import Cost, Packet
from loopx_kernel.views.packet_subject import Subject
from loopx_kernel.views.report import Report, StillOpen
from loopx_kernel.views.warnings import Warned
from loopx_kernel.views.workspace import Unread
from loopx_kernel.workspace.orders import Receipt


class GoalName(TypedDict):
    """Which goal, in which version of its objective."""

    id: str
    display_name: str
    objective: str
    objective_version: int
    status: str


class Window(TypedDict):
    start: datetime
    end: datetime


class Quota(TypedDict):
    """A sliding window of slots; ``attempts`` are turns."""

    allowed: int
    spent: int
    voided: int
    used: int
    remaining: int
    reserved: int
    attempts: int
    window: Window
    window_hours: int
    slot_minutes: int
    spends: int
    voids: int
    aged_out: int


class FailingCheck(TypedDict):
    check: str
    count: int
    ids: Texts


class Verdict(TypedDict):
    """Whether the goal is complete; derived, never written."""

    complete: bool
    derived: Literal[True]
    source: Literal["validated_goal_closure"]
    failing: tuple[FailingCheck, ...]


class NextTodo(TypedDict):
    id: str
    title: str


class FilesSeen(TypedDict):
    missing: Texts
    behind: Texts
    missing_evidence: tuple[LostCopy, ...]


class GoalStatus(TypedDict):
    """All that `status` says of a goal."""

    goal: GoalName
    answer: Answer
    reasons: tuple[Reason, ...]
    needs_you: tuple[NeedsYou, ...]
    gate_rules: Texts
    next_todo: NextTodo | None
    todos: Counts
    quota: Quota
    leases: tuple[LeaseRow, ...]
    warnings: tuple[Warned, ...]
    sources: tuple[SourceReading, ...]
    completion: Verdict
    files: FilesSeen


class StatusOfGoal(GoalStatus):
    scope: Literal["goal"]


class StatusOfWorkspace(TypedDict):
    scope: Literal["workspace"]
    needs_you: tuple[NeedsYou, ...]
    goals: tuple[GoalStatus, ...]
    unread: tuple[Unread, ...]


class GoalStatusElsewhere(GoalStatus):
    workspace: str


NeedElsewhere = shape("NeedElsewhere", NeedsYou, workspace=str)
UnreadElsewhere = shape("UnreadElsewhere", Unread, workspace=str)


class StatusOfAll(TypedDict):
    scope: Literal["global"]
    needs_you: tuple[NeedElsewhere, ...]
    goals: tuple[GoalStatusElsewhere, ...]
    unread: tuple[UnreadWorkspace, ...]
    unread_goals: tuple[UnreadElsewhere, ...]


class LinePlace(TypedDict):
    seq: int
    head: str
    recorded_at: datetime


class Replay(StatusOfGoal):
    """A goal right after a line, by the clock of that line."""

    past: Literal[True]
    at: LinePlace
    last_seq: int


class GoalAnswer(TypedDict):
    """A goal on a board."""

    goal: GoalName
    answer: Answer
    reasons: tuple[Reason, ...]
    needs_you: tuple[NeedsYou, ...]
    next_todo: NextTodo | None
    todos: Counts
    quota: Quota
    completion: Verdict


class BoardColumn(TypedDict):
    status: str
    count: int
    earlier: int
    todos: tuple[ShownTodo, ...]


class BoardOfGoal(GoalAnswer):
    scope: Literal["goal"]
    columns: tuple[BoardColumn, ...]
    claims: tuple[LeaseRow, ...]
    gates: tuple[Gate, ...]
    monitors: tuple[Monitor, ...]


class BoardOfWorkspace(TypedDict):
    scope: Literal["workspace"]
    goals: tuple[GoalAnswer, ...]
    unread: tuple[Unread, ...]


class GoalAnswerElsewhere(GoalAnswer):
    workspace: str


class BoardOfAll(TypedDict):
    scope: Literal["global"]
    goals: tuple[GoalAnswerElsewhere, ...]
    unread: tuple[UnreadWorkspace, ...]
    unread_goals: tuple[UnreadElsewhere, ...]


class ListedWorkspace(TypedDict):
    path: str
    workspace_id: str
    goals: Texts
    unread_goals: Texts
    needs_you: int


class Workspaces(TypedDict):
    """The person's list of workspaces, and how each could be read."""

    scope: Literal["global"]
    workspaces: tuple[ListedWorkspace, ...]
    unread: tuple[UnreadWorkspace, ...]


class WorkspaceListed(TypedDict):
    """A change of that list; no ledger is read for it."""

    path: str
    changed: bool
    listed: Texts


class NamedText(TypedDict):
    name: str
    value: str


ReportBody = shape(
    "ReportBody",
    Report,
    without=("envelope",),
    still_open=shape("OpenThen", StillOpen, todos=tuple[ShownTodo, ...]),
)


PacketBody = shape(
    "PacketBody",
    Packet,
    without=("envelope",),
    subject=shape("PacketSubject", Subject, action=tuple[NamedText, ...], open=bool),
    cost=shape("PacketCost", Cost, quota=Quota),
)


AskedNow = shape("AskedNow", Contract, contract_id=str, quota=Quota)


ContractOfTurn = shape(
    "ContractOfTurn",
    AskedNow,
    turn_id=str | None,
    lease=HeldLease | None,
    receipt=Receipt | None,
)


class Goals(TypedDict):
    goals: tuple[GoalName, ...]
    unread: tuple[Unread, ...]


ShownRules = shape("ShownRules", GoalRules, gates=Texts)


class GoalShown(GoalName):
    domain: str
    repo: str
    rules: ShownRules


class OneGoal(TypedDict):
    goal: GoalShown


class QuotaNow(TypedDict):
    quota: Quota


class CompletionBody(TypedDict):
    goal_id: str
    complete: bool
    derived: Literal[True]
    source: Literal["validated_goal_closure"]
    checks: tuple[Check, ...]


class RulesChanged(TypedDict):
    id: str
    changed: Texts
