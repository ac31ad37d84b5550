"""Looking into a journal: its lines, what they did, and whether the chain holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from loopx_kernel.domain.event import WORKSPACE_JOURNAL, Event
from loopx_kernel.errors import Denied, UsageError
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.ledger import Ledger
from loopx_kernel.workspace.ledgers import GoalLedger, RosterLedger
from loopx_kernel.workspace.paging import Wanted, first_to_last, last_to_first
from loopx_kernel.workspace.verdicts import statement_bytes

if TYPE_CHECKING:
    from loopx_kernel.store.line import Line
    from loopx_kernel.workspace.audit import Audit


@dataclass(frozen=True, slots=True)
class EventRow:
    """A line and what it is worth. ``problem`` says why it had no effect; the signature's
    fields are ``None`` for lines that need none."""

    event: Event
    effective: bool
    problem: str | None = None
    signature_ok: bool | None = None
    level: str | None = None
    signer: str | None = None
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class EventPage:
    """Some lines, oldest first; ``more`` tells that there are others in the same direction."""

    rows: tuple[EventRow, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class Verification:
    """A journal replayed from its first line. ``problems`` are damage; ``alerts`` are lines
    that stand there without effect."""

    goal_id: str
    lines: int
    head: str
    problems: tuple[str, ...]
    alerts: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whole, and every line had its effect."""
        return not self.problems and not self.alerts


class Events:
    """The journals of a workspace; ``_workspace`` names its own."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def tail(self, goal_id: str, count: int) -> tuple[EventRow, ...]:
        """The last good lines, oldest first."""
        with self._core.lock:
            ledger = self._ledger(goal_id)
            page = ledger.journal.scan_backwards(count, ledger.position.offset)
            return tuple(self._row(ledger, line) for line in page.lines)

    def list(
        self,
        goal_id: str,
        since: int = 0,
        event_type: str | None = None,
        *,
        before: int | None = None,
        about: str | None = None,
    ) -> Iterator[EventRow]:
        """The lines after ``since`` and before ``before``, oldest first; of one type, or about
        one todo, gate, source, turn or agent, if it is named. Read a part at a time."""
        with self._core.lock:
            ledger = self._ledger(goal_id)
            lines = first_to_last(ledger, Wanted(since, before, event_type, about))
        while True:
            with self._core.lock:
                line = next(lines, None)
                row = None if line is None else self._row(ledger, line)
            if row is None:
                return
            yield row

    def page(
        self,
        goal_id: str,
        limit: int,
        *,
        since: int | None = None,
        before: int | None = None,
        event_type: str | None = None,
        about: str | None = None,
    ) -> EventPage:
        """At most ``limit`` of the lines that ``list`` gives: the first ones after ``since``,
        or without it the last ones."""
        with self._core.lock:
            ledger = self._ledger(goal_id)
            wanted = Wanted(since or 0, before, event_type, about)
            order = last_to_first if since is None else first_to_last
            found = [*islice(order(ledger, wanted), limit + 1)]
            more = len(found) > limit
            lines = sorted(found[:limit], key=lambda line: line.seq)
            return EventPage(tuple(self._row(ledger, line) for line in lines), more)

    def show(self, goal_id: str, event_id: str) -> EventRow:
        """One line by its event id; ``unknown_event``."""
        with self._core.lock:
            ledger = self._ledger(goal_id)
            return self._row(ledger, self._find(ledger, event_id))

    def statement(self, goal_id: str, event_id: str) -> bytes:
        """The exact bytes that were signed; ``unsigned`` for an event that needs no signature."""
        with self._core.lock:
            ledger = self._ledger(goal_id)
            event = self._signed(ledger, event_id)
            kind = ledger.kind(event.event_type)
            return statement_bytes(event, kind, self._core.house.state.workspace_id)

    def signature(self, goal_id: str, event_id: str) -> str:
        """The armored OpenSSH signature of an event."""
        with self._core.lock:
            event = self._signed(self._ledger(goal_id), event_id)
            assert event.signed is not None
            return event.signed.signature

    def verify(self, goal_id: str) -> Verification:
        """Replays a journal from line 1, trusting no cache."""
        with self._core.lock:
            self._core.house.refresh()
            ledger = self._from_line_one(goal_id)
            ledger.refresh(self._core.progress)
            state = ledger.state
            problems = [str(ledger.damage)] if ledger.damage else []
            if not ledger.exists:
                problems.append(f"{ledger.journal.path} is missing")
            alerts = tuple(
                f"#{alert.seq} {alert.event_type} has no effect: {alert.message}"
                for alert in state.alerts
            )
            position = ledger.position
            return Verification(goal_id, position.seq, position.head, tuple(problems), alerts)

    def audit(self, goal_id: str) -> Audit:
        """The same, and every file made from the journal and the reader's checkpoint compared
        with it; what could not be looked at is said."""
        from loopx_kernel.workspace.audit import Auditor

        with self._core.lock:
            return Auditor(self._core).audit(goal_id)

    def _from_line_one(self, goal_id: str) -> Ledger:
        if goal_id == WORKSPACE_JOURNAL:
            return RosterLedger(self._core.layout, self._core.files, cached=False)
        house = RosterLedger(self._core.layout, self._core.files, cached=False)
        house.refresh()
        return GoalLedger(self._core.layout, goal_id, house, self._core.files, cache=None)

    def _ledger(self, goal_id: str) -> Ledger:
        self._core.house.refresh()
        if goal_id == WORKSPACE_JOURNAL:
            return self._core.house
        return self._core.fresh_goal(goal_id)

    def _find(self, ledger: Ledger, event_id: str) -> Line:
        ledger.catch_up_index()
        line = ledger.find(event_id)
        if line is None:
            raise UsageError(
                "unknown_event",
                f"There is no event {event_id} in {ledger.name}",
                next=f"loopx event list --goal {ledger.name}",
                event_id=event_id,
            )
        return line

    def _signed(self, ledger: Ledger, event_id: str) -> Event:
        event = ledger.event_of(self._find(ledger, event_id))
        if event.signed is None:
            raise Denied(
                "unsigned",
                f"{event_id} carries no signature; {event.event_type} needs none",
                next=f"loopx event show {event_id}",
                event_id=event_id,
            )
        return event

    def _row(self, ledger: Ledger, line: Line) -> EventRow:
        event = ledger.event_of(line)
        problem = ledger.fault_at(event.seq)
        if event.actor_kind != "owner":
            return EventRow(event, problem is None, problem)
        verdict = ledger.verdict(event)
        return EventRow(
            event=event,
            effective=problem is None,
            problem=problem,
            signature_ok=verdict.ok,
            level=verdict.level,
            signer=verdict.signer,
            fingerprint=verdict.fingerprint,
        )
