"""Where events stand in a journal, by id, type, object, actor and time: a table in the reader's
cache.

Never an authority: it maps terms to places, and what stands at a place is read and tested.
Many values share a term, so a hit is a candidate. Sums over the rows show rows that are
missing or changed. Whatever does not fit costs a rebuild or a scan by the caller.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from loopx_kernel.errors import LoopxError
from loopx_kernel.store import index_table
from loopx_kernel.store.index_table import MASK, Row, Stretch, Unfit, place_of
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.line import Line, Position, event_id_prefix, seal
from loopx_kernel.store.seek import line_at, line_before, starting_with
from loopx_kernel.store.terms import TIMES, Kind, key_of, terms_of, tick_of

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

T = TypeVar("T")
FILE = "index.sqlite"
_BATCH = 50_000


class Index:
    """The table at ``path`` for one journal. No method raises for what is wrong with it.

    ``page`` is how many rows are given at a time.
    """

    page = 512

    def __init__(self, path: Path, journal: Journal) -> None:
        self._path = path
        self._journal = journal
        self._proven: dict[int, Position] = {}

    def catch_up(self, upto: Position) -> None:
        """Takes in the lines up to ``upto``, a place the caller has read to."""
        self._tried(lambda db: self._advance(db, upto))

    def rows(
        self,
        kind: Kind,
        value: str,
        upto: Position,
        *,
        after: int,
        before: int,
        newest: bool,
    ) -> Sequence[Row] | None:
        """Candidates for ``value`` among the lines between ``after`` and ``before``, both left
        out: the first ``page`` of them in their order, or the last, ``newest`` first.

        Complete up to ``upto``, a place the caller has read to; ``None`` means: scan.
        """
        key = key_of(kind, value)

        def ask(db: sqlite3.Connection) -> Sequence[Row]:
            self._advance(db, upto)
            with index_table.transaction(db, "DEFERRED"):
                self._prove(db, key)
                return index_table.select(db, key, after, before, self.page, newest=newest)

        return self._tried(ask)

    def stretches(
        self, since: datetime | None, until: datetime | None, upto: Position
    ) -> Sequence[Stretch] | None:
        """Where every line stands that bears a time from ``since`` on and before ``until``, in the
        order of the journal; others may stand there too.

        Of the lines up to ``upto``, a place the caller has read to; ``None`` means: scan.
        """
        low = TIMES if since is None else tick_of(since)
        high = 2**62 if until is None else tick_of(until)

        def ask(db: sqlite3.Connection) -> Sequence[Stretch]:
            self._advance(db, upto)
            with index_table.transaction(db, "DEFERRED"):
                self._prove(db, TIMES)
                return index_table.stretches(db, low, high, upto.seq + 1)

        return self._tried(ask)

    def find(self, event_id: str) -> Line | None:
        """The committed line of that event; a scan where the table is of no use.

        Only looks: lines after the last catching up are searched, and the table stays as it is.
        """
        found = self._tried(lambda db: self._candidates(db, event_id))
        if found is None:
            return self._journal.find_event_id(event_id)
        offsets, covered = found
        for offset in starting_with(self._journal, event_id_prefix(event_id), offsets):
            line = line_at(self._journal, offset)
            if line is not None:
                return line
        return self._journal.find_event_id(event_id, since=covered.offset)

    def discard(self) -> None:
        """Removes the table; the next question makes it anew."""
        self._proven.clear()
        for path in (self._path, self._path.with_name(FILE + "-journal")):
            with contextlib.suppress(OSError):
                path.unlink()

    def _tried(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        import sqlite3

        for _ in range(2):
            try:
                with contextlib.closing(index_table.connect(self._path)) as db:
                    return work(db)
            except (sqlite3.Error, Unfit, OSError) as error:
                if index_table.is_passing(error):
                    return None
                self.discard()
            except LoopxError:
                return None
        return None

    def _candidates(
        self, db: sqlite3.Connection, event_id: str
    ) -> tuple[Sequence[int], Position] | None:
        with index_table.transaction(db, "DEFERRED"):
            covered = place_of(db)
            if covered is None:
                return None
            if not self._journal.holds(covered):
                raise Unfit
            key = key_of(Kind.ID, event_id)
            self._prove(db, key)
            query = "SELECT seq, offset FROM term WHERE key = ? ORDER BY seq"
            return [row.offset for row in index_table.rows_of(db.execute(query, (key,)))], covered

    def _prove(self, db: sqlite3.Connection, key: int) -> None:
        """Sums over the rows of a term, ``TIMES`` for those of all times, and over how many rows
        there are: once for as long as the table goes no further."""
        covered = place_of(db)
        if covered is None:
            raise Unfit
        if self._proven.get(key) != covered:
            index_table.require_whole(db, key)
            self._proven[key] = covered

    def _advance(self, db: sqlite3.Connection, upto: Position) -> None:
        """Takes in what is new. A table of another journal, or of one that was cut since,
        is not gone on with."""
        covered = place_of(db)
        if covered is not None and covered.offset >= upto.offset:
            if not self._journal.holds(covered):
                raise Unfit
            return
        with index_table.transaction(db, "IMMEDIATE"):
            covered = place_of(db) or index_table.make(db)
            if not self._journal.holds(covered):
                raise Unfit
            if covered.offset < upto.offset:
                self._take_in(db, covered, upto)

    def _take_in(self, db: sqlite3.Connection, covered: Position, upto: Position) -> None:
        batch = _Batch(db, self._tick_before(covered))
        seq, last = covered.seq, b""
        for offset, raw in self._journal.raw_lines(covered):
            if offset >= upto.offset:
                break
            seq, last = seq + 1, raw
            batch.add(seq, offset, raw)
        batch.write()
        if seq != upto.seq or not last.endswith(seal(upto.head)[:-1]):
            raise Unfit
        place = (seq, upto.offset, upto.head, batch.rows)
        db.execute("UPDATE place SET seq = ?, offset = ?, head = ?, rows = rows + ?", place)

    def _tick_before(self, covered: Position) -> int:
        """The term of the time of the last line that was taken in."""
        line = line_before(self._journal, covered.offset)
        return TIMES if line is None else terms_of(line.raw, TIMES)[1]


class _Batch:
    """Rows on their way into the table, so many at a time."""

    def __init__(self, db: sqlite3.Connection, tick: int) -> None:
        self._db = db
        self.tick = tick
        self._terms: list[tuple[int, int, int]] = []
        self.rows = 0

    def add(self, seq: int, offset: int, raw: bytes) -> None:
        terms, self.tick = terms_of(raw, self.tick)
        self._terms += [(key, seq, offset) for key in terms]
        if len(self._terms) >= _BATCH:
            self.write()

    def write(self) -> None:
        # In the order of the table, which then grows in fewer places at once.
        self._terms.sort()
        self._db.executemany("INSERT INTO term VALUES (?, ?, ?)", self._terms)
        counts: Counter[int] = Counter()
        mixes: Counter[int] = Counter()
        for key, seq, offset in self._terms:
            counts[key] += 1
            mixes[key] += (seq * 7 + offset) & MASK
        self._db.executemany(
            "INSERT INTO tally VALUES (?, ?, ?) ON CONFLICT (key)"
            " DO UPDATE SET rows = rows + excluded.rows, mix = mix + excluded.mix",
            [(key, count, mixes[key]) for key, count in counts.items()],
        )
        self.rows += len(self._terms)
        self._terms.clear()
