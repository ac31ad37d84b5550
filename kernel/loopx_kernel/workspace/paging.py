"""Which lines of a journal a question is about: a stretch of it, perhaps of some types, about one
object, by one actor."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from loopx_kernel.clock import parse_time
from loopx_kernel.store.seek import line_at, line_with_seq
from loopx_kernel.store.terms import Kind, objects_of
from loopx_kernel.value import Value

if TYPE_CHECKING:
    from datetime import datetime

    from loopx_kernel.store.index import Index
    from loopx_kernel.store.index_table import Row
    from loopx_kernel.store.line import Line, Position
    from loopx_kernel.workspace.ledger import Ledger

_BACK = 512


class Wanted(Value):
    """Lines after ``since`` and before ``before``, of one of ``types``, about one object, by one
    actor, that bear a time from ``begin`` on and before ``end`` (UTC). What is left out, or empty,
    is not asked."""

    since: int = 0
    before: int | None = None
    types: tuple[str, ...] = ()
    about: str | None = None
    actor: str | None = None
    begin: datetime | None = None
    end: datetime | None = None

    @property
    def terms(self) -> tuple[tuple[Kind, str], ...]:
        """What to look up: objects are rarer than types, and types than actors."""
        if self.about is not None:
            return ((Kind.OBJECT, self.about),)
        if self.types:
            return tuple((Kind.TYPE, name) for name in self.types)
        return () if self.actor is None else ((Kind.ACTOR, self.actor),)

    def fits(self, line: Line) -> bool:
        """Whether a line of the stretch is one of them."""
        record = line.record
        if self.types and record["event_type"] not in self.types:
            return False
        if self.actor not in (None, record["actor_agent_id"]):
            return False
        if self.about is not None and self.about not in objects_of(record):
            return False
        return self._in_time(record["recorded_at"])

    def _in_time(self, text: str) -> bool:
        if self.begin is None and self.end is None:
            return True
        at = parse_time(text)
        return (self.begin is None or self.begin <= at) and (self.end is None or at < self.end)


class _NoIndex(Exception):
    """The index turned out to be of no use."""


def first_to_last(ledger: Ledger, wanted: Wanted) -> Iterator[Line]:
    """The lines in their order, read a part at a time, up to where the ledger stands now."""
    return _lines(ledger, wanted, ledger.position, newest=False)


def last_to_first(ledger: Ledger, wanted: Wanted) -> Iterator[Line]:
    """The same lines, the newest first."""
    return _lines(ledger, wanted, ledger.position, newest=True)


def _lines(ledger: Ledger, wanted: Wanted, end: Position, *, newest: bool) -> Iterator[Line]:
    last = end.seq + 1
    wanted = replace(wanted, before=last if wanted.before is None else min(wanted.before, last))
    stretches = list(_within_time(ledger, wanted, end))
    for stretch in reversed(stretches) if newest else stretches:
        yield from _of_stretch(ledger, stretch, end, newest=newest)


def _within_time(ledger: Ledger, wanted: Wanted, end: Position) -> Iterator[Wanted]:
    """The same question of the stretches that surely hold all lines of its times."""
    found = None
    if ledger.index is not None and not (wanted.begin is None and wanted.end is None):
        found = ledger.index.stretches(wanted.begin, wanted.end, end)
    if found is None:
        yield wanted
        return
    assert wanted.before is not None
    for after, before in found:
        since, last = max(wanted.since, after), min(wanted.before, before)
        if since + 1 < last:
            yield replace(wanted, since=since, before=last)


def _of_stretch(ledger: Ledger, wanted: Wanted, end: Position, *, newest: bool) -> Iterator[Line]:
    if wanted.terms and ledger.index is not None:
        try:
            for line in _indexed(ledger, ledger.index, wanted, end, newest=newest):
                # Should the index fail from here on, the rest is scanned.
                at = line.seq
                wanted = replace(wanted, before=at) if newest else replace(wanted, since=at)
                if wanted.fits(line):
                    yield line
        except _NoIndex:
            pass
        else:
            return
    scan = _backwards if newest else _forwards
    for line in scan(ledger, wanted):
        if wanted.fits(line):
            yield line


def _indexed(
    ledger: Ledger, index: Index, wanted: Wanted, end: Position, *, newest: bool
) -> Iterator[Line]:
    """Lines that may be wanted, found by their terms."""
    found = (_rows(index, term, wanted, end, newest=newest) for term in wanted.terms)
    last = None
    for row in heapq.merge(*found, key=lambda row: row.seq, reverse=newest):
        # Two terms may be one in the table.
        if row == last:
            continue
        last = row
        line = line_at(ledger.journal, row.offset)
        if line is None or line.seq != row.seq:
            index.discard()
            raise _NoIndex
        yield line


def _rows(
    index: Index, term: tuple[Kind, str], wanted: Wanted, end: Position, *, newest: bool
) -> Iterator[Row]:
    assert wanted.before is not None
    after, before = wanted.since, wanted.before
    while True:
        rows = index.rows(*term, end, after=after, before=before, newest=newest)
        if rows is None:
            raise _NoIndex
        yield from rows
        if len(rows) < index.page:
            return
        after, before = (after, rows[-1].seq) if newest else (rows[-1].seq, before)


def _forwards(ledger: Ledger, wanted: Wanted) -> Iterator[Line]:
    assert wanted.before is not None
    start = ledger.start
    if wanted.since > 0:
        line = line_with_seq(ledger.journal, wanted.since, ledger.position.offset)
        start = line.position if line else ledger.position
    count = wanted.before - 1 - start.seq
    if count > 0:
        for result in ledger.journal.batches(start, count):
            yield from result.lines


def _backwards(ledger: Ledger, wanted: Wanted) -> Iterator[Line]:
    assert wanted.before is not None
    last = line_with_seq(ledger.journal, wanted.before - 1, ledger.position.offset)
    offset = last.position.offset if last else 0
    while offset > 0:
        page = ledger.journal.scan_backwards(_BACK, offset)
        for line in reversed(page.lines):
            if line.seq <= wanted.since:
                return
            yield line
        if page.damage is not None or not page.lines:
            return
        offset = page.start
