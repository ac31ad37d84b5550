"""Reading journals into states, only ever the part that was not read yet."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from loopx_kernel.domain import fold, roster
from loopx_kernel.domain.event import (
    UNSIGNED,
    WORKSPACE_JOURNAL,
    Event,
    EventType,
    Facts,
    Verdict,
)
from loopx_kernel.domain.roster import OpenedGoal, Owner, WorkspaceState
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Damaged, LoopxError, UsageError
from loopx_kernel.store import checkpoint
from loopx_kernel.store.checkpoint import Checkpoint
from loopx_kernel.store.files import Files
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.layout import Layout
from loopx_kernel.store.line import START, Line, Position
from loopx_kernel.store.seek import line_with_seq
from loopx_kernel.workspace import resume
from loopx_kernel.workspace.verdicts import verdict_on


class Ledger(ABC):
    """A journal, how far it was read, and the state its lines fold to.

    ``damage`` is what stops the reading; ``has_tail`` tells of bytes after the
    last newline, which are not committed.
    """

    state: Any

    def __init__(self, name: str, journal: Journal, start: Position, quarantine: Path) -> None:
        self.name = name
        self.journal = journal
        self.start = start
        self.quarantine = quarantine
        self.position = start
        self.damage: Damaged | None = None
        self.has_tail = False
        self.exists = False
        self._cache: Path | None = None
        self._seen: Checkpoint | None = None
        self._unsaved = 0

    def refresh(self) -> None:
        """Folds the lines that are new; content never raises."""
        self._read_on()
        if self._seen is not None:
            self._confirm(self._seen)
        if self._cache and self.damage is None and self._unsaved >= resume.EVERY:
            resume.save(self, self._cache)
            self._unsaved = 0

    def take(self, line: Line) -> None:
        """Folds one line that follows the present position."""
        event = self.event_of(line)
        self.fold(event)
        self.position = line.position
        self.exists = True
        # A signature is not verified twice if a checkpoint can spare it.
        self._unsaved += resume.EVERY if event.signed else 1

    def _read_on(self, limit: int | None = None) -> None:
        result = self.journal.read(self.position, limit=limit)
        self.exists = result.exists
        self.damage = result.damage
        self.has_tail = bool(result.tail)
        for line in result.lines:
            try:
                self.take(line)
            except Damaged as damage:
                self.damage = damage
                return

    def _resume_from(self, cache: Path) -> None:
        self._cache = cache
        self._seen = resume.resume(self, cache)
        self._unsaved = 0 if self._seen else self._unsaved

    def _confirm(self, seen: Checkpoint) -> None:
        """Looks for the line a checkpoint was made at, until it is found.

        Where the checkpoint does not fit, everything is read again from line 1.
        """
        if self.damage is not None and self.position.seq == seen.seq:
            self.position = self.start
            self.reset()
            self._read_on()
        lost = resume.rolled_back(self, seen)
        if lost is None:
            self._seen = None
        elif self.damage is None:
            self.damage = lost

    def event_of(self, line: Line) -> Event:
        """The event of a line that proved itself; one that is no event of ours is damage."""
        try:
            return Event.model_validate(line.record)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise self.damaged(line, "not_an_event", str(first["msg"])) from None

    def damaged(self, line: Line, kind: str, what: str) -> Damaged:
        """The error for a line that does not belong where it stands."""
        return Damaged(
            "journal_damaged",
            f"{self.journal.path}, line {line.seq}: {what}",
            next="loopx event verify",
            path=str(self.journal.path),
            line=line.seq,
            offset=line.offset,
            kind=kind,
        )

    def hash_at(self, seq: int) -> str | None:
        """The hash of line ``seq`` of this chain; of 0, what the chain grew from."""
        if seq == 0:
            return self.start.head
        if seq == self.position.seq:
            return self.position.head
        line = line_with_seq(self.journal, seq)
        return line.sha256 if line else None

    def require_whole(self) -> None:
        """Raises the damage that was found, if any."""
        if self.damage is not None:
            raise self.damage

    @abstractmethod
    def reset(self) -> None:
        """The state before the first line."""

    @abstractmethod
    def is_own(self, state: Any) -> bool:
        """Whether a stored state is one of this journal."""

    @abstractmethod
    def rests_on(self) -> str:
        """A digest of what, outside this journal, its verdicts depend on."""

    @abstractmethod
    def fold(self, event: Event) -> None:
        """Moves the state by one event."""

    @abstractmethod
    def kind(self, name: str) -> EventType[Any, Any]:
        """The row of this journal's event table, or ``invalid_event``."""

    @abstractmethod
    def normalise(self, name: str, payload: dict[str, Any]) -> dict[str, Any]:
        """A decided payload as it stands in a line."""

    @abstractmethod
    def check(self, goal_id: str, name: str, payload: dict[str, Any], facts: Facts) -> None:
        """Raises the error of an event that may not happen now."""

    @abstractmethod
    def verdict(self, event: Event) -> Verdict:
        """Whether the signature of a line holds at its place."""


class RosterLedger(Ledger):
    """The workspace journal: owners, agents, goals opened."""

    def __init__(self, layout: Layout, files: Files) -> None:
        journal = Journal(layout.workspace_journal, files)
        super().__init__(WORKSPACE_JOURNAL, journal, START, layout.workspace_quarantine)
        self.reset()

    def refresh(self) -> None:
        if self.position == START:
            self._read_on(limit=1)
            if self.state.workspace_id:
                self._resume_from(checkpoint.cache_folder(self.state.workspace_id, self.name))
        super().refresh()

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

    def refresh(self) -> None:
        if self.position == self.start:
            self.reset()
        super().refresh()

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
        if event.seq == 1:
            return self.house.opening_verdict(event, self.opened)
        keys = self.house.state.keys_at(self.name, event.seq)
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
