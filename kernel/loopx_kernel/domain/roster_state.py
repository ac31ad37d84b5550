"""The folded state of the workspace journal: its owners, its agents, the goals opened."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from loopx_kernel.domain.event import WORKSPACE_JOURNAL, Level
from loopx_kernel.domain.levels import level_of_key
from loopx_kernel.domain.record import Count, Flag, Hex, Line, Name, Record, Time
from loopx_kernel.domain.records import Alert, Cut, Head
from loopx_kernel.domain.runs import Runs

FIRST_GENERATION = 1


class PlacedCut(NamedTuple):
    """A cut of a goal's journal after line ``after_seq``, and up to which line of the
    workspace's journal, as that stands today, everything was there before it."""

    after_seq: int
    roster_seq: int


class Owner(Record):
    """A person whose key is enrolled. The key counts for lines of a goal after
    ``from_heads`` and, once revoked, up to ``to_heads``; in the workspace's own
    journal from ``enrolled_seq`` and before ``revoked_seq``."""

    name: Name
    key: Line
    fingerprint: Name
    allow_unattended: Flag = False
    confirmed: Flag = False
    valid_after: Time | None = None
    valid_before: Time | None = None
    enrolled_seq: Count
    enrolled_by: Name = "-"
    enrolled_at: Time | None = None
    from_heads: dict[str, Head] = {}
    revoked_seq: Count | None = None
    revoked_by: Name | None = None
    revoked_at: Time | None = None
    to_heads: dict[str, Head] = {}

    @property
    def level(self) -> Level:
        """How strongly a decision with this key speaks for its owner."""
        return level_of_key(
            self.key, allow_unattended=self.allow_unattended, confirmed=self.confirmed
        )

    def is_known_at(self, goal_id: str, seq: int, cuts: tuple[PlacedCut, ...] = ()) -> bool:
        """Whether the line ``seq`` of a goal's journal came after this person's enrolment."""
        start = _place(self.from_heads.get(goal_id), self.enrolled_seq, cuts)
        return start is None or seq > start

    def counts_at(self, goal_id: str, seq: int, cuts: tuple[PlacedCut, ...] = ()) -> bool:
        """Whether this key counts for the line ``seq`` of a goal's journal, which was cut by
        the repairs ``cuts``."""
        if not self.is_known_at(goal_id, seq, cuts):
            return False
        if self.revoked_seq is None:
            return True
        end = _place(self.to_heads.get(goal_id), self.revoked_seq, cuts)
        return end is not None and seq <= end


def _place(head: Head | None, noted_at: int, cuts: tuple[PlacedCut, ...]) -> int | None:
    """Where a head noted at that line of the workspace's journal stands in the goal's: lines
    that a later repair cut off are no place any more."""
    if head is None:
        return None
    later = [cut.after_seq for cut in cuts if noted_at <= cut.roster_seq]
    return min([head.seq, *later])


class Agent(Record):
    """A registered worker identity; ``parent`` is the worker that registered it, if one did."""

    id: Name
    note: Line = ""
    parent: Name | None = None
    added_at: Time


class OpenedGoal(Record):
    """A goal's place in the workspace journal: the line its own journal starts from."""

    goal_id: Name
    event_id: Name
    seq: Count
    sha256: Hex
    opened_by: Name


class Replaced(Record):
    """The workspace in whose place another was begun, whose owners had lost their keys, and
    where its journal ended."""

    workspace_id: Name
    seq: Count
    head: str


class WorkspaceState(Record):
    """The folded state of the workspace journal."""

    workspace_id: str = ""
    created_at: Time | None = None
    replaces: Replaced | None = None
    seq: Count = 0
    head: str = ""
    last_at: Time | None = None
    owners: tuple[Owner, ...] = ()
    owners_seq: Count = 0
    agents: dict[str, Agent] = {}
    goals: dict[str, OpenedGoal] = {}
    fence: Count = FIRST_GENERATION
    fence_seq: Count = 0
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
        placed = self.placed(cuts)
        return tuple(owner for owner in self.owners if owner.counts_at(goal_id, seq, placed))

    def placed(self, cuts: Iterable[Cut]) -> tuple[PlacedCut, ...]:
        """Cuts of a goal's journal against this one. Where this one was cut since, its numbers
        were given a second time."""
        return tuple(PlacedCut(cut.after.seq, self._was_there(cut)) for cut in cuts)

    def _was_there(self, cut: Cut) -> int:
        since = [own.after.seq for own in self.cuts if own.event_id not in cut.roster_cuts]
        return min([cut.roster_seq, *since])

    def is_person_at(self, name: str, goal_id: str, seq: int, cuts: tuple[Cut, ...] = ()) -> bool:
        """Whether somebody enrolled before that line of a goal's journal has this name."""
        placed = self.placed(cuts)
        return any(
            same_name(owner.name, name) and owner.is_known_at(goal_id, seq, placed)
            for owner in self.owners
        )

    def gone_at(self, goal_id: str, seq: int, cuts: tuple[Cut, ...] = ()) -> tuple[Owner, ...]:
        """The keys that were enrolled before that line of a goal's journal, and revoked too."""
        placed = self.placed(cuts)
        return tuple(
            owner
            for owner in self.owners
            if owner.is_known_at(goal_id, seq, placed) and not owner.counts_at(goal_id, seq, placed)
        )

    def owners_at(self, seq: int) -> tuple[Owner, ...]:
        """The owners whose key counts for the line ``seq`` of this journal."""
        return tuple(owner for owner in self._enrolled_at(seq) if not _is_gone(owner, seq))

    def owners_gone_at(self, seq: int) -> tuple[Owner, ...]:
        """The owners whose key was revoked before the line ``seq`` of this journal."""
        return tuple(owner for owner in self._enrolled_at(seq) if _is_gone(owner, seq))

    def _enrolled_at(self, seq: int) -> Iterator[Owner]:
        return (owner for owner in self.owners if owner.enrolled_seq < seq)

    def last_head(self, goal_id: str) -> tuple[int, Head] | None:
        """Where a goal's journal ended when an owner was last enrolled or revoked, and the
        line of this journal that says so."""
        noted = [
            (seq, heads[goal_id])
            for owner in self.owners
            for seq, heads in (
                (owner.enrolled_seq, owner.from_heads),
                (owner.revoked_seq or 0, owner.to_heads),
            )
            if goal_id in heads
        ]
        return max(noted, key=lambda one: one[0], default=None)

    def object_version(self, object_id: str) -> int:
        """The ``seq`` that last changed an owner or repaired this journal; 0 for a new one."""
        if object_id == WORKSPACE_JOURNAL:
            return self.settled_seq
        versions = [
            owner.revoked_seq or owner.enrolled_seq
            for owner in self.owners
            if same_name(owner.name, object_id)
        ]
        return max(versions, default=0)


def _is_gone(owner: Owner, seq: int) -> bool:
    """Whether an owner was revoked before line ``seq``; the line that revokes still counts."""
    return owner.revoked_seq is not None and owner.revoked_seq < seq


def same_name(one: str, two: str) -> bool:
    """Whether people would take two names for the same: letter case tells nobody apart, nor do
    letters and digits that look alike."""
    return _shape(one) == _shape(two)


@lru_cache(maxsize=1024)
def _shape(name: str) -> str:
    # Each line of a journal names one of the same few.
    return name.replace("I", "l").casefold().replace("1", "l").replace("0", "o")
