"""The folded state of the workspace journal: its owners, its agents, the goals opened."""

from __future__ import annotations

from loopx_kernel.domain.alerts import Runs
from loopx_kernel.domain.event import WORKSPACE_JOURNAL
from loopx_kernel.domain.record import Count, Flag, Hex, Line, Name, Record, Time
from loopx_kernel.domain.records import Alert, Cut, Head

WRITER_GENERATION = 1


class Owner(Record):
    """A person whose key is enrolled. The key counts for lines of a goal after
    ``from_heads`` and, once revoked, up to ``to_heads``; in the workspace's own
    journal from ``enrolled_seq`` and before ``revoked_seq``."""

    name: Name
    key: Line
    fingerprint: Name
    allow_unattended: Flag = False
    enrolled_seq: Count
    from_heads: dict[str, Head] = {}
    revoked_seq: Count | None = None
    to_heads: dict[str, Head] = {}

    def is_known_at(self, goal_id: str, seq: int, cuts: tuple[Cut, ...] = ()) -> bool:
        """Whether the line ``seq`` of a goal's journal came after this person's enrolment."""
        start = _place(self.from_heads.get(goal_id), self.enrolled_seq, cuts)
        return start is None or seq > start

    def counts_at(self, goal_id: str, seq: int, cuts: tuple[Cut, ...] = ()) -> bool:
        """Whether this key counts for the line ``seq`` of a goal's journal, which was cut by
        the repairs ``cuts``."""
        if not self.is_known_at(goal_id, seq, cuts):
            return False
        if self.revoked_seq is None:
            return True
        end = _place(self.to_heads.get(goal_id), self.revoked_seq, cuts)
        return end is not None and seq <= end


def _place(head: Head | None, noted_at: int, cuts: tuple[Cut, ...]) -> int | None:
    """Where a head noted at that line of the workspace's journal stands in the goal's: lines
    that a later repair cut off are no place any more."""
    if head is None:
        return None
    later = [cut.after.seq for cut in cuts if noted_at <= cut.roster_seq]
    return min([head.seq, *later])


class Agent(Record):
    """A registered worker identity."""

    id: Name
    note: Line = ""
    added_at: Time


class OpenedGoal(Record):
    """A goal's place in the workspace journal: the line its own journal starts from."""

    goal_id: Name
    event_id: Name
    seq: Count
    sha256: Hex
    opened_by: Name


class WorkspaceState(Record):
    """The folded state of the workspace journal."""

    workspace_id: str = ""
    created_at: Time | None = None
    seq: Count = 0
    head: str = ""
    owners: tuple[Owner, ...] = ()
    owners_seq: Count = 0
    agents: dict[str, Agent] = {}
    goals: dict[str, OpenedGoal] = {}
    fence: Count = WRITER_GENERATION
    settled: dict[str, str] = {}
    settled_seq: Count = 0
    cuts: tuple[Cut, ...] = ()
    alerts: tuple[Alert, ...] = ()
    idle: Runs = ()

    @property
    def present_owners(self) -> tuple[Owner, ...]:
        """Owners whose key is enrolled and not revoked."""
        return tuple(owner for owner in self.owners if owner.revoked_seq is None)

    def keys_at(self, goal_id: str, seq: int, cuts: tuple[Cut, ...] = ()) -> tuple[Owner, ...]:
        """The keys that count for one line of a goal's journal, cut by the repairs ``cuts``."""
        return tuple(owner for owner in self.owners if owner.counts_at(goal_id, seq, cuts))

    def is_person_at(self, name: str, goal_id: str, seq: int, cuts: tuple[Cut, ...] = ()) -> bool:
        """Whether somebody enrolled before that line of a goal's journal has this name."""
        return any(
            same_name(owner.name, name) and owner.is_known_at(goal_id, seq, cuts)
            for owner in self.owners
        )

    def owners_at(self, seq: int) -> tuple[Owner, ...]:
        """The owners whose key counts for the line ``seq`` of this journal."""
        return tuple(
            owner
            for owner in self.owners
            if owner.enrolled_seq < seq and (owner.revoked_seq is None or seq < owner.revoked_seq)
        )

    def object_version(self, object_id: str) -> int:
        """The ``seq`` that last changed an owner or repaired this journal; 0 for a new one."""
        if object_id == WORKSPACE_JOURNAL:
            return self.settled_seq
        versions = [
            owner.revoked_seq or owner.enrolled_seq
            for owner in self.owners
            if owner.name == object_id
        ]
        return max(versions, default=0)


def same_name(one: str, two: str) -> bool:
    """Whether people would take two names for the same: letter case tells nobody apart."""
    return one.casefold() == two.casefold()
