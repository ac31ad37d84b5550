"""The nouns of a goal as they stand in its folded state."""

from datetime import datetime
from typing import Any, Literal

from loopx_kernel.domain.event import ActorKind, Level
from loopx_kernel.domain.record import Count, Flag, Hex, Int, Line, Name, Record, Seconds, Time
from loopx_kernel.domain.records_of_work import Effort, Proposal

TodoStatus = Literal[
    "open", "claimed", "blocked", "waiting", "deferred", "done", "superseded", "cancelled"
]
FINISHED: frozenset[str] = frozenset({"done", "superseded", "cancelled"})

Role = Literal["agent", "human"]
TodoKind = Literal["work", "fix", "monitor", "replan"]
Priority = Literal["P0", "P1", "P2", "P3"]
LeaseStatus = Literal["active", "released", "ended"]
GateStatus = Literal[
    "pending", "approved", "rejected", "deferred", "used", "expired", "mooted", "withdrawn"
]
ReadStatus = Literal[
    "read",
    "no_change",
    "not_read",
    "missing",
    "unreadable",
    "partially_unreadable",
    "unverified",
    "failed",
]


class EvidenceRef(Record):
    """A file handed in: where it was, what it was, and what a machine read in it. ``kept`` says
    that its bytes were put into ``objects`` before the event was."""

    path: Line
    sha256: Hex
    size: Count
    kind: Literal["junit", "exit_status", "file"] = "file"
    result: Literal["passed", "failed"] | None = None
    tests: Count | None = None
    failures: Count | None = None
    kept: Flag = False


class Origin(Record):
    """Where a record comes from: who, by which event, on which facts."""

    actor_kind: ActorKind
    actor_agent_id: Name
    event_id: Name
    facts: tuple[str, ...] = ()


class WaitingOn(Record):
    """The outside fact a todo waits for, and how often to look (seconds)."""

    kind: Literal["ci", "review", "source"]
    ref: Line = ""
    every_seconds: Seconds = 600

    @property
    def fact(self) -> str:
        """The fact in words; without a ref any of its kind."""
        return fact_in_words(self.kind, self.ref)


def fact_in_words(kind: str, ref: str) -> str:
    """A fact from outside, named once where its ref says no more than its kind."""
    return kind if ref in ("", kind) else f"{kind} {ref}"


class Lease(Record):
    """Time-limited ownership of one todo. ``by_wall_clock`` flags one that took over from a
    holder whose end no boot clock could tell."""

    owner: Name
    write_scopes: tuple[str, ...] = ()
    version: Count
    lease_epoch: Count
    acquired_at: Time
    expires_at: Time
    renewed_at: Time
    status: LeaseStatus
    seq: Count
    host_id: str = ""
    boot_id: str = ""
    boot_deadline_ms: Int | None = None
    by_wall_clock: Flag = False


class Todo(Record):
    """One piece of work. ``done_at`` and ``done_seq`` are of the event that finished it."""

    id: Name
    title: Line
    role: Role = "agent"
    kind: TodoKind = "work"
    priority: Priority = "P2"
    status: TodoStatus = "open"
    depends_on: tuple[str, ...] = ()
    write_scope: tuple[str, ...] = ()
    acceptance: tuple[str, ...] = ()
    evidence: tuple[EvidenceRef, ...] = ()
    requires_statement: Flag = False
    waiting_on: WaitingOn | None = None
    resume_at: Time | None = None
    next_check_at: Time | None = None
    reason: Line = ""
    result_hash: Hex | None = None
    claimed_tests: Literal["passed", "failed"] | None = None
    proven: Flag = False
    lineage_todo_ids: tuple[str, ...] = ()
    superseded_by: Name | None = None
    origin: Origin
    version: Count = 0
    lease_epoch: Count = 0
    lease: Lease | None = None
    effort: Effort = Effort()
    added_at: Time
    changed_at: Time
    done_at: Time | None = None
    done_seq: Count = 0
    seq: Count

    @property
    def finished(self) -> bool:
        """Done, superseded or cancelled."""
        return self.status in FINISHED

    @property
    def stated(self) -> bool:
        """Done, and on evidence: then there is a statement about it."""
        return self.status == "done" and bool(self.evidence)


class Decision(Record):
    """How a person decided a gate; ``key`` is the fingerprint of their key."""

    outcome: Literal["approved", "rejected", "deferred"]
    by: Name
    key: str
    level: Level
    at: Time
    event_id: Name
    reason: Line = ""


class Gate(Record):
    """One concrete request for a decision; approving one with a ``proposal`` carries that out.

    It is ``judged`` where a judge was asked first and did not admit the action; ``basis`` says
    that one did.
    """

    id: Name
    status: GateStatus
    action: Name
    command: Line = ""
    paths: tuple[str, ...] = ()
    question: Line
    blocks: tuple[str, ...] = ()
    irreversible: Flag = False
    proposal: Proposal | None = None
    judged: Flag = False
    basis: Literal["judge"] | None = None
    digest: Hex
    requested_by: Name
    requested_at: Time
    decision: Decision | None = None
    expires_at: Time | None = None
    until: Time | None = None
    used_by: Name | None = None
    used_at: Time | None = None
    seq: Count

    def status_at(self, now: datetime) -> GateStatus:
        """The status as it is at ``now``: approvals expire and deferrals come back."""
        if self.status == "approved" and self.expires_at is not None and self.expires_at <= now:
            return "expired"
        if self.status == "deferred" and self.until is not None and self.until <= now:
            return "pending"
        return self.status


class Spend(Record):
    """One booking in the quota ledger; a void counts at its spend's time. ``of_failed`` says that
    the kernel voided it, because its turn failed. ``counts_at`` stands where that is later than
    the time its line bears."""

    effect_ref: Name
    slots: Count
    at: Time
    by: Name
    voided_at: Time | None = None
    void_reason: Line = ""
    of_failed: Flag = False
    seq: Count
    void_seq: Count | None = None
    counts_at: Time | None = None

    @property
    def counted_at(self) -> datetime:
        """When it counts, in the window that slides; UTC."""
        return self.counts_at or self.at

    @property
    def net_slots(self) -> int:
        """The slots that count: none of a booking that was voided."""
        return 0 if self.voided_at else self.slots


class Source(Record):
    """Something the goal reads decisions from, with attempts and successes apart, and both apart
    from settling. ``seq`` is of the last look; ``paused`` is its queue."""

    id: Name
    provider: Name
    required: Flag = False
    enabled: Flag = True
    bound: Flag = False
    on_demand: Flag = False
    window_seconds: Seconds
    last_read_at: Time | None = None
    last_success_at: Time | None = None
    checked_at: Time | None = None
    read_status: ReadStatus = "not_read"
    item_count: Count | None = None
    unreadable_count: Count | None = None
    failure_streak: Count = 0
    pending_count: Count | None = None
    pending_since: Time | None = None
    cursor: Line | None = None
    cursor_moved_at: Time | None = None
    paused: Flag = False
    seq: Count


class SourceHost(Record):
    """The program that reads a provider's sources, by its own reports. ``scanned`` are those its
    last run looked at; ``expires_at`` is when that report is none any more."""

    provider: Name
    status: Literal["ok", "failed"]
    checked_at: Time
    last_success_at: Time | None = None
    expires_at: Time
    failure_streak: Count = 0
    scanned: tuple[str, ...] = ()
    seq: Count


class Handoff(Record):
    """What one turn leaves for the next; ``replaces`` is the one before it."""

    text: str
    replaces: str = ""
    by: Name
    at: Time
    seq: Count


class Head(Record):
    """Where a journal ended: its last line's ``seq`` and hash."""

    seq: Count
    head: str


class Cut(Record):
    """A journal cut by a signed repair after the line ``after``; ``lines`` were set aside.
    ``missed`` is a line seen earlier that was gone; ``roster_seq`` is where the workspace's journal
    stood then, and ``roster_cuts`` the repairs of that one known then, by event id."""

    event_id: Name
    after: Head
    lines: Count = 0
    missed: Head | None = None
    roster_seq: Count = 0
    roster_cuts: tuple[Name, ...] = ()


class Objective(Record):
    """The goal's objective in one of its versions, counted from 1."""

    text: str
    version: Count


class Alert(Record):
    """A line that stays in the journal and has no effect, and why."""

    seq: Count
    event_id: Name
    event_type: Name
    actor_agent_id: Name
    code: Name
    message: str

    @property
    def is_zombie(self) -> bool:
        """Whether it is a write by somebody whose time on a todo was over, or never came."""
        return self.code in ("stale_epoch", "not_holder")


JsonObject = dict[str, Any]
