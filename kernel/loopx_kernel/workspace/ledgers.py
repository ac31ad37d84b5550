"""The two kinds of journal, the workspace's and a goal's, and how their lines fold."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from loopx_kernel.domain import fold, roster
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
from loopx_kernel.errors import Damaged, LoopxError, UsageError
from loopx_kernel.store import checkpoint
from loopx_kernel.store.files import Files
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.layout import Layout
from loopx_kernel.store.line import START, Line, Position
from loopx_kernel.workspace import resume
from loopx_kernel.workspace.ledger import Ledger, Progress
from loopx_kernel.workspace.verdicts import verdict_on


class RosterLedger(Ledger):
    """The workspace journal: owners, agents, goals opened."""

    def __init__(self, layout: Layout, files: Files, *, cached: bool = True) -> None:
        journal = Journal(layout.workspace_journal, files)
        super().__init__(WORKSPACE_JOURNAL, journal, START, layout.workspace_quarantine)
        self._cached = cached
        self.reset()

    def refresh(self, progress: Progress | None = None) -> None:
        if self._cached and self.position == START:
            self._read_on(limit=1)
            if self.state.workspace_id:
                self._resume_from(checkpoint.cache_folder(self.state.workspace_id, self.name))
        super().refresh(progress)

    def reset(self) -> None:
        self.state = WorkspaceState()

    def is_own(self, state: Any) -> bool:
        return bool(state.workspace_id == self.state.workspace_id)

    def rests_on(self) -> str:
        return ""

    def fold(self, event: Event) -> None:
        self.state = roster.evolve(self.state, event, self.verdict(event))

    def kind(self, name: str) -> EventType[Any, Any]:
        return roster.workspace_event_type(name)

    def normalise(self, name: str, payload: dict[str, Any]) -> dict[str, Any]:
        return roster.normalise(name, payload)

    def check(self, goal_id: str, name: str, payload: dict[str, Any], facts: Facts) -> None:
        roster.check(self.state, name, goal_id, payload, facts)

    def verdict(self, event: Event) -> Verdict:
        """The first owner signs for itself; everybody later is vouched for by an owner."""
        keys: Iterable[Owner] = self.state.present_owners
        if not self.state.owners and event.event_type == "owner.enrolled":
            keys = _self_signed(event)
        return self._judge(event, keys)

    def opening_verdict(self, event: Event, opened: OpenedGoal) -> Verdict:
        """The verdict on a goal's first line: that of the line it was made from."""
        original = event.model_copy(update={"seq": opened.seq})
        return self._judge(original, self.state.owners_at(opened.seq))

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

    def _judge(self, event: Event, keys: Iterable[Owner]) -> Verdict:
        return _judge(self, event, self.state.workspace_id, keys)


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
        self.reset()
        if cache is not None:
            self._resume_from(cache)

    def refresh(self, progress: Progress | None = None) -> None:
        if self.position == self.start:
            self.reset()
        super().refresh(progress)

    def foresee(self, line: Line) -> None:
        """Shows the state after a first line that is not in the journal yet."""
        self.fold(self.event_of(line))

    def reset(self) -> None:
        self.state = GoalState(goal_id=self.name)

    def is_own(self, state: Any) -> bool:
        return bool(state.goal_id == self.name)

    def rests_on(self) -> str:
        return resume.owners_digest(self.house.state)

    def fold(self, event: Event) -> None:
        verdict = self.verdict(event)
        begins = event.event_id == self.opened.event_id and verdict.ok
        if event.seq == 1 and not begins:
            raise Damaged(
                "journal_damaged",
                f"{self.journal.path} does not begin with the opening of {self.name}",
                next="loopx event verify",
                path=str(self.journal.path),
                line=1,
                kind="broken_chain",
            )
        self.state = fold.evolve(self.state, event, verdict)

    def kind(self, name: str) -> EventType[Any, Any]:
        return fold.event_type(name)

    def normalise(self, name: str, payload: dict[str, Any]) -> dict[str, Any]:
        return fold.normalise(name, payload)

    def check(self, goal_id: str, name: str, payload: dict[str, Any], facts: Facts) -> None:
        fold.check(self.state, name, payload, facts)

    def verdict(self, event: Event) -> Verdict:
        if event.actor_kind != "owner":
            name, cuts = event.actor_agent_id, self.state.cuts
            borrowed = self.house.state.is_person_at(name, self.name, event.seq, cuts)
            return BORROWED_NAME if borrowed else UNSIGNED
        if event.seq == 1:
            return self.house.opening_verdict(event, self.opened)
        cuts = (*self.state.cuts, *_cut_by(event))
        keys = self.house.state.keys_at(self.name, event.seq, cuts)
        return _judge(self, event, self.house.state.workspace_id, keys)

    def require_whole(self) -> None:
        self.house.require_whole()
        super().require_whole()


def _judge(ledger: Ledger, event: Event, workspace_id: str, keys: Iterable[Owner]) -> Verdict:
    if event.actor_kind != "owner" or event.signed is None:
        return UNSIGNED
    try:
        kind = ledger.kind(event.event_type)
    except LoopxError:
        return UNSIGNED
    return verdict_on(event, kind, workspace_id=workspace_id, keys=keys, hash_at=ledger.hash_at)


def _cut_by(event: Event) -> tuple[Cut, ...]:
    if event.event_type != "damage.repaired":
        return ()
    from loopx_kernel.domain.repair import cut_of

    return cut_of(event)


def _self_signed(event: Event) -> tuple[Owner, ...]:
    try:
        payload = roster.Enrolled.model_validate(event.payload)
    except ValidationError:
        return ()
    return (
        Owner(
            name=payload.name,
            key=payload.key,
            fingerprint=payload.fingerprint,
            allow_unattended=payload.allow_unattended,
            enrolled_seq=event.seq,
        ),
    )
