"""Looking into a journal: its lines, what they did, and whether the chain holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, TypedDict, Unpack

from loopx_kernel.domain.event import WORKSPACE_JOURNAL, Event, Level
from loopx_kernel.errors import Damaged, Denied, UsageError
from loopx_kernel.value import Value
from loopx_kernel.views.envelope import Omission
from loopx_kernel.workspace import proven
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.damage import unread_lines
from loopx_kernel.workspace.ledger import Ledger
from loopx_kernel.workspace.ledgers import GoalLedger, RosterLedger
from loopx_kernel.workspace.paging import Wanted, first_to_last, last_to_first
from loopx_kernel.workspace.verdicts import statement_bytes

if TYPE_CHECKING:
    from loopx_kernel.store.line import Line
    from loopx_kernel.workspace.audit import Audit


class EventRow(Value):
    """A line and what it is worth. ``problem`` says why it had no effect; ``goes_back`` flags a
    time before that of the line before it, which changes nothing: order is position. The
    signature's fields are ``None`` for lines that need none; ``user_verified`` tells that a
    hardware key checked a PIN or a finger."""

    event: Event
    effective: bool
    problem: str | None = None
    goes_back: bool = False
    signature_ok: bool | None = None
    level: Level | None = None
    signer: str | None = None
    fingerprint: str | None = None
    user_verified: bool | None = None


class EventPage(Value):
    """Some lines, oldest first; ``more`` tells that there are others in the same direction, which
    is ``forward`` to later ones."""

    rows: tuple[EventRow, ...]
    more: bool
    forward: bool = False


class Verification(Value):
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


class Asked(TypedDict, total=False):
    """What may be asked of a list of lines besides their types: only those before a line, about
    one todo, gate, source, turn or agent, by one actor, with times from ``begin`` on and before
    ``end`` (UTC)."""

    before: int | None
    about: str | None
    actor: str | None
    begin: datetime | None
    end: datetime | None


class Events:
    """The journals of a workspace; ``_workspace`` names its own."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def tail(self, goal_id: str, count: int) -> tuple[EventRow, ...]:
        """The last good lines, oldest first."""
        with self._core.lock:
            ledger = self._ledger(goal_id)
            page = ledger.journal.scan_backwards(count, ledger.position.offset)
            return tuple(self._rows(ledger, page.lines))

    def list(
        self,
        goal_id: str,
        since: int = 0,
        event_type: str | None = None,
        **more: Unpack[Asked],
    ) -> Iterator[EventRow]:
        """The lines after ``since``, oldest first; of one type, or of those whose names begin so,
        if that is asked, and as ``more`` says. Read a part at a time."""
        with self._core.lock:
            ledger = self._ledger(goal_id)
            wanted = _wanted(ledger, since, event_type, more)
            rows = self._rows(ledger, first_to_last(ledger, wanted))
        while True:
            with self._core.lock:
                row = next(rows, None)
            if row is None:
                return
            yield row

    def page(
        self,
        goal_id: str,
        limit: int,
        *,
        since: int | None = None,
        event_type: str | None = None,
        **more: Unpack[Asked],
    ) -> EventPage:
        """At most ``limit`` of the lines that ``list`` gives: where it is told from where on,
        the first ones, else the last ones."""
        with self._core.lock:
            ledger = self._ledger(goal_id)
            forward = since is not None or more.get("begin") is not None
            order = first_to_last if forward else last_to_first
            wanted = _wanted(ledger, since or 0, event_type, more)
            found = [*islice(order(ledger, wanted), limit + 1)]
            lines = sorted(found[:limit], key=lambda line: line.seq)
            rows = tuple(self._rows(ledger, lines))
            return EventPage(rows, more=len(found) > limit, forward=forward)

    def left_out(self, goal_id: str) -> tuple[Omission, ...]:
        """The lines that are no part of a journal: those that repairs set aside, and those after
        damage, which nobody can read in their place."""
        with self._core.lock:
            ledger = self._ledger(goal_id)
            counts = {
                "quarantined": sum(cut.lines for cut in ledger.state.cuts),
                "unreachable": unread_lines(ledger),
            }
            return tuple(Omission(reason, count) for reason, count in counts.items() if count)

    def show(self, goal_id: str, event_id: str) -> EventRow:
        """One line by its event id; ``unknown_event``."""
        with self._core.lock:
            ledger = self._ledger(goal_id)
            return next(self._rows(ledger, [self._find(ledger, event_id)]))

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
            file_before = proven.signature(ledger.journal.path)
            ledger.refresh(self._core.progress)
            state = ledger.state
            damage = ledger.damage or self._seen_before(goal_id)
            problems = [str(damage)] if damage else []
            if not ledger.exists:
                problems.append(f"{ledger.journal.path} is missing")
            alerts = tuple(
                f"#{alert.seq} {alert.event_type} has no effect: {alert.message}"
                for alert in state.alerts
            )
            position = ledger.position
            if not problems and not alerts:
                proven.note(self._core, ledger, file_before)
            return Verification(goal_id, position.seq, position.head, tuple(problems), alerts)

    def _seen_before(self, goal_id: str) -> Damaged | None:
        """A line that was seen earlier and is gone, which line 1 and what follows cannot tell."""
        try:
            return self._ledger(goal_id).damage
        except Damaged as damage:
            return damage

    def verified(self, goal_id: str) -> tuple[Verification, datetime | None]:
        """The same, unless this user's kernel did it before, found all whole, and the journal's
        file did not change since: then that is told again, with when it was (UTC)."""
        with self._core.lock:
            ledger = self._ledger(goal_id)
            known = None if ledger.damage else proven.look(self._core, ledger)
            if known is None:
                return self.verify(goal_id), None
            position = known.position
            return Verification(goal_id, position.seq, position.head, (), ()), known.at

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

    def _rows(self, ledger: Ledger, lines: Iterable[Line]) -> Iterator[EventRow]:
        before: Line | None = None
        for line in lines:
            if before is None or before.seq != line.seq - 1:
                before = next(iter(ledger.journal.scan_backwards(1, line.offset).lines), None)
            event = ledger.event_of(line)
            earlier = before and ledger.event_of(before).recorded_at
            row = self._row(ledger, event)
            yield replace(row, goes_back=earlier is not None and event.recorded_at < earlier)
            before = line

    def _row(self, ledger: Ledger, event: Event) -> EventRow:
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
            user_verified=verdict.verified,
        )


def _wanted(ledger: Ledger, since: int, event_type: str | None, more: Asked) -> Wanted:
    # Nothing begins with the name of a type that is not known; its lines are found all the same.
    types = () if event_type is None else ledger.types_named(event_type) or (event_type,)
    return Wanted(since=since, types=types, **more)
