"""A journal read into a state, only ever the part that was not read yet."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from loopx_kernel.domain.alerts import fault_at
from loopx_kernel.domain.event import (
    Event,
    EventType,
    Facts,
    Verdict,
)
from loopx_kernel.domain.records import Head
from loopx_kernel.errors import Damaged, Storage
from loopx_kernel.store.disk import Signature
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.line import Line, Position
from loopx_kernel.store.seek import line_with_seq
from loopx_kernel.store.writer import Writer
from loopx_kernel.workspace import resume
from loopx_kernel.workspace.resume import Seen

if TYPE_CHECKING:
    from loopx_kernel.store.index import Index

Progress = Callable[[int, int], None]
"""Called while much is read: how much was read so far, and how much there is in all. The last
call of a reading has both alike."""


class Ledger(ABC):
    """A journal, how far it was read, and the state its lines fold to.

    ``damage`` is what stops the reading; ``has_tail`` tells of bytes after the
    last newline, which are not committed. ``cache`` is the reader's own folder for it;
    without one no cache is trusted.
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
        self.cache: Path | None = None
        self._seen: Seen | None = None
        self._found: Seen | None = None
        self._unsaved = 0
        self._level_with: tuple[Signature, Position] | None = None

    def refresh(self, progress: Progress | None = None) -> None:
        """Folds the lines that are new; content never raises.

        They are read a bounded part at a time, and ``progress`` is told after each.
        """
        before = self._mark()
        self._read_on(progress=progress)
        if self._lost(before):
            self._seen = self._seen or before
            self.read_again()
        told = self.told()
        self._seen = self._missing(self._seen, None if told == self._found else told)
        self._found = self._found if self._seen else told
        if self.cache and self.damage is None and self._unsaved >= resume.EVERY:
            self._save(self.cache)
            self._unsaved = 0

    def read_again(self) -> None:
        """Folds everything from line 1, as if there were no cache; the next one is made new."""
        self.position = self.start
        self.reset()
        self._read_on()
        self._unsaved = resume.EVERY

    def read_up_to(self, seq: int) -> None:
        """Folds the lines up to ``seq``, as far as they are good."""
        if seq > self.position.seq:
            self._read_on(limit=seq - self.position.seq)

    def take(self, line: Line) -> None:
        """Folds one line that follows the present position."""
        event = self.event_of(line)
        self.fold(event)
        self.position = line.position
        self.exists = True
        # A signature is not verified twice if a checkpoint can spare it.
        self._unsaved += resume.EVERY if event.signed else 1

    def _read_on(self, limit: int | None = None, progress: Progress | None = None) -> None:
        signature, size = self.journal.signature(), 0
        if limit is None and signature and self._level_with == (signature, self.position):
            return
        for result in self.journal.batches(self.position, limit):
            self.exists = result.exists
            self.damage = result.damage
            self.has_tail = bool(result.tail)
            size = result.size
            try:
                for line in result.lines:
                    self.take(line)
            except Damaged as damage:
                self.damage = damage
                break
            if self._unsaved >= resume.MIDWAY:
                self._keep_midway()
            if progress is not None:
                progress(self.position.offset, size)
        whole = limit is None and self.damage is None
        self._level_with = (signature, self.position) if whole and signature else None
        if progress is not None:
            progress(size, size)

    def _keep_midway(self) -> None:
        """A long reading that is broken off goes on from here the next time."""
        if self.cache and self.damage is None and self._seen is None:
            self._save(self.cache)
            self._unsaved = 0

    def _resume_from(self, cache: Path) -> None:
        self.cache = cache
        found = resume.load(cache / resume.FILE, self.rests_on(), files=self.journal.files)
        state = found and resume.state_of(found, type(self.state))
        if found is None or state is None or not self.is_own(state):
            return
        self.state, self.position = state, found.position
        self._seen = self._mark()
        self._unsaved = 0

    def _save(self, cache: Path) -> None:
        files = self.journal.files
        with contextlib.suppress(Storage):
            self.journal.flush()
            path = cache / resume.FILE
            resume.save(path, self.state, self.position, self.rests_on(), files=files)

    @property
    def has_begun(self) -> bool:
        """Whether a line of it was read."""
        return self.position != self.start

    @property
    def missed(self) -> Head | None:
        """A line that was seen earlier and is gone, where that is the damage."""
        if self._seen is None or self.damage is None or self.damage.code != "rolled_back":
            return None
        return self._seen.line

    def _mark(self) -> Seen:
        cuts = frozenset(cut.event_id for cut in self.state.cuts)
        return Seen(Head(seq=self.position.seq, head=self.position.head), cuts)

    def _lost(self, before: Seen) -> bool:
        """Whether the very line read last is not there any more."""
        if self.damage is None or before.line.seq == 0:
            return False
        return self.position.seq == before.line.seq == self.damage.facts.get("line")

    def told(self) -> Seen | None:
        """The last line of this journal that another journal tells of."""
        return None

    def _missing(self, *lines: Seen | None) -> Seen | None:
        """The first of these lines that is not found and whose loss no repair explains."""
        return next((seen for seen in lines if seen and not self._confirm(seen)), None)

    def _confirm(self, seen: Seen) -> bool:
        """Whether a line that was seen earlier is there, or a signed repair made since
        explains that it is not."""
        last, head = self.position.seq, self.hash_at(seen.line.seq)
        lost = resume.rolled_back(self.journal.path, seen.line, last, head)
        if lost is None:
            return True
        if seen.explained_by(self.state.cuts):
            self._unsaved += resume.EVERY
            return True
        self.damage = self.damage or lost
        return False

    def write(self, fields: Mapping[str, Any]) -> Line:
        """Appends an event after the present position; committed and durable on return."""
        with Writer(self.journal, self.quarantine) as writer:
            return writer.append(fields, self.position)

    @cached_property
    def index(self) -> Index | None:
        """Where events stand in this journal; ``None`` for a reading that trusts no cache."""
        if self.cache is None:
            return None
        from loopx_kernel.store import index

        return index.Index(self.cache / index.FILE, self.journal)

    def catch_up_index(self) -> None:
        """Makes looking up an event quick. Takes a while where much is new, so no lock is held."""
        if self.index is not None:
            self.index.catch_up(self.position)

    def find(self, event_id: str) -> Line | None:
        """The committed line of an event, quickly after ``catch_up_index``; none is missed."""
        if self.index is None:
            return self.journal.find_event_id(event_id)
        return self.index.find(event_id)

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
            next=self.repair_command,
            path=str(self.journal.path),
            line=line.seq,
            offset=line.offset,
            kind=kind,
        )

    @property
    def repair_command(self) -> str:
        """The way out where this journal is damaged."""
        return f"loopx repair journal --goal {self.name}"

    def hash_at(self, seq: int) -> str | None:
        """The hash of line ``seq`` of this chain; of 0, what the chain grew from."""
        if seq == 0:
            return self.start.head
        if seq == self.position.seq:
            return self.position.head
        line = line_with_seq(self.journal, seq)
        return line.sha256 if line else None

    def time_at(self, seq: int) -> datetime | None:
        """The time of line ``seq`` of this journal; ``None`` where there is none."""
        if seq == self.position.seq:
            last: datetime | None = self.state.last_at
            return last
        line = line_with_seq(self.journal, seq) if seq > 0 else None
        return self.event_of(line).recorded_at if line else None

    def fault_at(self, seq: int) -> str | None:
        """Why the line ``seq``, which was read, had no effect; ``None`` where it had one."""
        fault: str | None = fault_at(self.state.alerts, self.state.idle, seq)
        return fault

    def require_whole(self) -> None:
        """Raises the damage that was found, if any."""
        if self.damage is not None:
            if self.damage.code != "format_too_new":
                self.damage.next = self.repair_command
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
    def types_named(self, prefix: str) -> tuple[str, ...]:
        """The types of this journal's table that begin so; one that is a type itself alone."""

    @abstractmethod
    def normalise(self, name: str, payload: dict[str, Any]) -> dict[str, Any]:
        """A decided payload as it stands in a line."""

    @abstractmethod
    def check(self, goal_id: str, name: str, payload: dict[str, Any], facts: Facts) -> None:
        """Raises the error of an event that may not happen now."""

    @abstractmethod
    def verdict(self, event: Event) -> Verdict:
        """Whether the signature of a line holds at its place."""
