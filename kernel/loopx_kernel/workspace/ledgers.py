"""The two kinds of journal, the workspace's and a goal's, and how their lines fold."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from loopx_kernel.domain import fold, owner, roster
from loopx_kernel.domain.event import (
    BORROWED_NAME,
    UNSIGNED,
    WORKSPACE_JOURNAL,
    Event,
    EventType,
    Facts,
    Verdict,
)
from loopx_kernel.domain.records import Cut
from loopx_kernel.domain.roster_state import OpenedGoal, Owner, WorkspaceState
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import LoopxError, UsageError
from loopx_kernel.store import checkpoint
from loopx_kernel.store.files import Files
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.layout import Layout
from loopx_kernel.store.line import START, Line, Position, encode, fields_of
from loopx_kernel.workspace import narrowing, resume, snapshots
from loopx_kernel.workspace.ledger import Ledger, Progress
from loopx_kernel.workspace.narrowing import Narrowing
from loopx_kernel.workspace.resume import Seen
from loopx_kernel.workspace.verdicts import verdict_on


class RosterLedger(Ledger):
    """The workspace journal: owners, agents, goals opened."""

    def __init__(self, layout: Layout, files: Files, *, cached: bool = True) -> None:
        journal = Journal(layout.workspace_journal, files)
        super().__init__(WORKSPACE_JOURNAL, journal, START, layout.workspace_quarantine)
        self._cached = cached
        self.narrowing: Narrowing | None = None
        self.reset()

    def refresh(self, progress: Progress | None = None) -> None:
        """Reads on; from line 1 where ``$LOOPX_OWNERS`` narrows otherwise than before.

        Raises ``permission`` where that names a file that cannot be read.
        """
        if self.narrow() and self.has_begun:
            self.read_again()
        if self._cached and self.position == START:
            self._read_on(limit=1)
            if self.state.workspace_id:
                self._resume_from(checkpoint.cache_folder(self.state.workspace_id, self.name))
        super().refresh(progress)

    def narrow(self) -> bool:
        """Looks at ``$LOOPX_OWNERS`` again; whether it says something else than before."""
        before = self.narrowing
        self.narrowing = narrowing.look(before, files=self.journal.files)
        return self.narrowing is not before

    def reset(self) -> None:
        self.state = WorkspaceState()

    def is_own(self, state: Any) -> bool:
        return bool(state.workspace_id == self.state.workspace_id)

    def rests_on(self) -> str:
        return self.narrowing.digest if self.narrowing else ""

    def fold(self, event: Event) -> None:
        self.state = roster.evolve(self.state, event, self.verdict(event))

    def kind(self, name: str) -> EventType[Any, Any]:
        return roster.workspace_event_type(name)

    def types_named(self, prefix: str) -> tuple[str, ...]:
        return roster.types_named(prefix)

    def normalise(self, name: str, payload: dict[str, Any]) -> dict[str, Any]:
        return roster.normalise(name, payload)

    def check(self, goal_id: str, name: str, payload: dict[str, Any], facts: Facts) -> None:
        roster.check(self.state, name, goal_id, payload, facts)

    def verdict(self, event: Event) -> Verdict:
        """The first owner signs for itself; everybody later is vouched for by an owner."""
        return self._judge(event, event.seq)

    def opening_verdict(self, event: Event, opened: OpenedGoal) -> Verdict:
        """The verdict on a goal's first line: that of the line it was made from."""
        return self._judge(event.model_copy(update={"seq": opened.seq}), opened.seq)

    @property
    def deciders(self) -> tuple[str, ...]:
        """Who may be asked for a decision: the present owners whose decisions count here."""
        present = self.state.present_owners
        narrow = self.narrowing
        return tuple(one.name for one in present if narrow is None or narrow.names(one.fingerprint))

    @property
    def repair_command(self) -> str:
        """Without an owner in its good part nobody can sign a repair."""
        if self.state.present_owners:
            return super().repair_command
        return f"restore {self.journal.path} from a backup"

    def opened(self, goal_id: str) -> OpenedGoal:
        """The goal's place in the workspace journal, or ``unknown_goal``."""
        goal: OpenedGoal | None = self.state.goals.get(goal_id)
        if goal is None:
            raise UsageError(
                "unknown_goal",
                f"There is no goal {goal_id} in this workspace",
                next="loopx goal list",
                goal_id=goal_id,
            )
        return goal

    def _judge(self, event: Event, seq: int) -> Verdict:
        keys, gone = self.state.owners_at(seq), self.state.owners_gone_at(seq)
        if event.event_type == "owner.enrolled" and not (keys or gone):
            keys = _self_signed(event)
        return self.judge(self, event, keys, gone)

    def judge(
        self, ledger: Ledger, event: Event, keys: Iterable[Owner], gone: Iterable[Owner]
    ) -> Verdict:
        """The verdict on a line of that journal, where ``keys`` count and ``gone`` did."""
        if event.actor_kind != "owner" or event.signed is None:
            return UNSIGNED
        try:
            kind = ledger.kind(event.event_type)
        except LoopxError:
            return UNSIGNED
        narrow = None if event.event_type in narrowing.EVERYWHERE else self.narrowing
        verdict = verdict_on(
            event,
            kind,
            workspace_id=self.state.workspace_id,
            keys=narrow.within(keys) if narrow else keys,
            gone=gone,
            hash_at=ledger.hash_at,
            before=partial(ledger.time_at, event.seq - 1),
        )
        return narrow.judge(verdict) if narrow else verdict


def rests_on(house: RosterLedger) -> str:
    """What the verdicts on a goal's lines depend on outside its journal."""
    return resume.owners_digest(house.state) + house.rests_on()


class GoalLedger(Ledger):
    """One goal's journal. Its chain starts from the workspace's line that opened it."""

    def __init__(
        self, layout: Layout, goal_id: str, house: RosterLedger, files: Files, cache: Path | None
    ) -> None:
        self.opened = house.opened(goal_id)
        journal = Journal(layout.goal_journal(goal_id), files)
        start = Position(0, 0, self.opened.sha256)
        super().__init__(goal_id, journal, start, layout.quarantine(goal_id))
        self.house = house
        self._owners, self._rested = house.state.owners, self.rests_on()
        self._doubtful = False
        self.reset()
        if cache is not None:
            self._resume_from(cache)

    def refresh(self, progress: Progress | None = None) -> None:
        if self.position == self.start:
            self.reset()
        self._follow_owners()
        super().refresh(progress)
        if self._doubtful:
            # Somebody may have been enrolled since the workspace's journal was read.
            self._doubtful = False
            self.house.refresh()
            self._follow_owners()

    def _follow_owners(self) -> None:
        """Judges again whose signatures count, where the owners are not those of the reading so
        far: it may have come upon lines that were written after an owner came or went."""
        owners = self.house.state.owners
        if owners is self._owners:
            return
        rested, self._owners, self._rested = self._rested, owners, self.rests_on()
        if rested != self._rested and self.position != self.start:
            self.read_again()

    def take(self, line: Line) -> None:
        if line.seq == 1 and not self._is_opening(line):
            what = f"it does not begin with the opening of {self.name}"
            raise self.damaged(line, "broken_chain", what)
        super().take(line)
        snapshots.keep(self, self.state, self.position)

    def _is_opening(self, line: Line) -> bool:
        """Whether a first line says, to the byte, what the workspace's line says."""
        before = self.house.hash_at(self.opened.seq - 1)
        if before is None:
            return False
        _, told = encode(fields_of(line), seq=self.opened.seq, prev=before)
        return told == self.opened.sha256

    def foresee(self, line: Line) -> None:
        """Shows the state after a first line that is not in the journal yet."""
        self.fold(self.event_of(line))

    def reset(self) -> None:
        self.state = GoalState(goal_id=self.name)

    def is_own(self, state: Any) -> bool:
        return bool(state.goal_id == self.name)

    def rests_on(self) -> str:
        return rests_on(self.house)

    def told(self) -> Seen | None:
        """Where this journal ended when an owner was last enrolled or revoked."""
        noted = self.house.state.last_head(self.name)
        if noted is None:
            return None
        cuts = self.state.cuts
        placed = zip(cuts, self.house.state.placed(cuts), strict=True)
        known = (cut.event_id for cut, place in placed if place.roster_seq < noted[0])
        return Seen(noted[1], frozenset(known))

    def fold(self, event: Event) -> None:
        verdict = self.verdict(event)
        self.state = fold.evolve(self.state, event, verdict)

    def kind(self, name: str) -> EventType[Any, Any]:
        return fold.event_type(name)

    def types_named(self, prefix: str) -> tuple[str, ...]:
        return fold.types_named(prefix)

    def normalise(self, name: str, payload: dict[str, Any]) -> dict[str, Any]:
        return fold.normalise(name, payload)

    def check(self, goal_id: str, name: str, payload: dict[str, Any], facts: Facts) -> None:
        fold.check(self.state, name, payload, facts)

    def verdict(self, event: Event) -> Verdict:
        if event.actor_kind != "owner":
            borrowed = any(
                self.house.state.is_person_at(name, self.name, event.seq, self.state.cuts)
                for name in (event.actor_agent_id, _teller(event))
                if name is not None
            )
            return BORROWED_NAME if borrowed else UNSIGNED
        if event.seq == 1:
            return self.house.opening_verdict(event, self.opened)
        cuts = (*self.state.cuts, *_cut_by(event))
        house = self.house.state
        keys = house.keys_at(self.name, event.seq, cuts)
        gone = house.gone_at(self.name, event.seq, cuts)
        verdict = self.house.judge(self, event, keys, gone)
        self._doubtful = self._doubtful or not verdict.ok
        return verdict

    def require_whole(self) -> None:
        self.house.require_whole()
        super().require_whole()


def _teller(event: Event) -> str | None:
    """Whom a line of the kernel's own names as the one who handed in what it says."""
    by = event.payload.get("by") if event.event_type == "observation.recorded" else None
    return by if isinstance(by, str) else None


def _cut_by(event: Event) -> tuple[Cut, ...]:
    if event.event_type != "damage.repaired":
        return ()
    from loopx_kernel.domain.repair import cut_of

    return cut_of(event)


def _self_signed(event: Event) -> tuple[Owner, ...]:
    try:
        return (owner.self_signed(event.payload, fold.facts_of(event)),)
    except ValidationError:
        return ()
