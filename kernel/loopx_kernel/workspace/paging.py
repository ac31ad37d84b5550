"""Which lines of a journal a question is about: a stretch of it, perhaps of one type or object."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from loopx_kernel.store.index import Index
from loopx_kernel.store.seek import line_at, line_with_seq
from loopx_kernel.store.terms import Kind, objects_of

if TYPE_CHECKING:
    from loopx_kernel.store.line import Line, Position
    from loopx_kernel.workspace.ledger import Ledger

_BACK = 512


@dataclass(frozen=True, slots=True)
class Wanted:
    """Lines after ``since`` and before ``before``, of one type, about one object; without
    ``before`` up to the end."""

    since: int = 0
    before: int | None = None
    event_type: str | None = None
    about: str | None = None

    @property
    def term(self) -> tuple[Kind, str] | None:
        """What to look up: objects are rarer than types."""
        if self.about is not None:
            return Kind.OBJECT, self.about
        return None if self.event_type is None else (Kind.TYPE, self.event_type)

    def fits(self, line: Line) -> bool:
        """Whether a line of the stretch is one of them."""
        if self.event_type not in (None, line.record["event_type"]):
            return False
        return self.about is None or self.about in objects_of(line.record)


def first_to_last(ledger: Ledger, wanted: Wanted) -> Iterator[Line]:
    """The lines in their order, read a part at a time, up to where the ledger stands now."""
    return _lines(ledger, wanted, ledger.position, newest=False)


def last_to_first(ledger: Ledger, wanted: Wanted) -> Iterator[Line]:
    """The same lines, the newest first."""
    return _lines(ledger, wanted, ledger.position, newest=True)


def _lines(ledger: Ledger, wanted: Wanted, end: Position, *, newest: bool) -> Iterator[Line]:
    last = end.seq + 1
    wanted = replace(wanted, before=last if wanted.before is None else min(wanted.before, last))
    if wanted.term is not None and ledger.index is not None:
        for line in _indexed(ledger, ledger.index, wanted, end, newest=newest):
            if line is None:
                break
            # Should the index fail from here on, the rest is scanned.
            at = line.seq
            wanted = replace(wanted, before=at) if newest else replace(wanted, since=at)
            if wanted.fits(line):
                yield line
        else:
            return
    scan = _backwards if newest else _forwards
    for line in scan(ledger, wanted):
        if wanted.fits(line):
            yield line


def _indexed(
    ledger: Ledger, index: Index, wanted: Wanted, end: Position, *, newest: bool
) -> Iterator[Line | None]:
    """Lines that may be wanted; a ``None`` where the index turns out to be of no use."""
    assert wanted.term is not None and wanted.before is not None
    after, before = wanted.since, wanted.before
    while True:
        rows = index.rows(*wanted.term, end, after=after, before=before, newest=newest)
        for row in rows or ():
            line = line_at(ledger.journal, row.offset)
            if line is None or line.seq != row.seq:
                index.discard()
                rows = None
                break
            yield line
        if rows is None:
            yield None
            return
        if len(rows) < index.page:
            return
        after, before = (after, rows[-1].seq) if newest else (rows[-1].seq, before)


def _forwards(ledger: Ledger, wanted: Wanted) -> Iterator[Line]:
    assert wanted.before is not None
    start = ledger.start
    if wanted.since > 0:
        line = line_with_seq(ledger.journal, wanted.since)
        start = line.position if line else ledger.position
    count = wanted.before - 1 - start.seq
    if count > 0:
        for result in ledger.journal.batches(start, count):
            yield from result.lines


def _backwards(ledger: Ledger, wanted: Wanted) -> Iterator[Line]:
    assert wanted.before is not None
    last = line_with_seq(ledger.journal, wanted.before - 1)
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
