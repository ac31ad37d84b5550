"""Where events stand in a journal, by id, type and object: a table in the reader's cache.

Never an authority: it maps terms to places, and what stands at a place is read and tested.
Many values share a term, so a hit is a candidate. Sums over the rows show rows that are
missing or changed. Whatever does not fit costs a rebuild or a scan by the caller.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from loopx_kernel.errors import LoopxError
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.line import START, Line, Position, event_id_prefix, seal
from loopx_kernel.store.seek import line_at, starting_with
from loopx_kernel.store.terms import Kind, key_of, terms_of

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")
FILE = "index.sqlite"
_BATCH = 50_000
_WAIT_SECONDS = 0.5
_CACHE_KIB = 32 * 1024
_VERSION = 1
_TABLES = (
    "CREATE TABLE place (version INTEGER, seq INTEGER, offset INTEGER, head TEXT, rows INTEGER)",
    "CREATE TABLE term (key INTEGER, seq INTEGER, offset INTEGER, PRIMARY KEY (key, seq))"
    " WITHOUT ROWID",
    "CREATE TABLE tally (key INTEGER PRIMARY KEY, rows INTEGER, mix INTEGER)",
)
# Small enough that the sum over a billion rows is still an integer of SQLite's.
_MASK = 0xFFFFFFFF
_MIX = f"(seq * 7 + offset) & {_MASK}"
_FITTING = f"SELECT count(*), coalesce(sum({_MIX}), 0) FROM term WHERE key = ?"
_ALL_TALLIED = "SELECT (SELECT coalesce(sum(rows), 0) FROM tally) = (SELECT rows FROM place)"


class Row(NamedTuple):
    """The line ``seq`` begins at ``offset`` and may have the term asked for."""

    seq: int
    offset: int


class _Unfit(Exception):
    """The table is not one of this journal, or not whole."""


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
            with _transaction(db, "DEFERRED"):
                self._prove(db, key)
                return _select(db, key, after, before, newest=newest)

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
                with contextlib.closing(_connect(self._path)) as db:
                    return work(db)
            except (sqlite3.Error, _Unfit, OSError) as error:
                if _is_passing(error):
                    return None
                self.discard()
            except LoopxError:
                return None
        return None

    def _candidates(
        self, db: sqlite3.Connection, event_id: str
    ) -> tuple[Sequence[int], Position] | None:
        with _transaction(db, "DEFERRED"):
            covered = _place(db)
            if covered is None:
                return None
            if not self._journal.holds(covered):
                raise _Unfit
            key = key_of(Kind.ID, event_id)
            self._prove(db, key)
            query = "SELECT seq, offset FROM term WHERE key = ? ORDER BY seq"
            return [row.offset for row in _rows(db.execute(query, (key,)))], covered

    def _prove(self, db: sqlite3.Connection, key: int) -> None:
        """Sums over the rows of a term: once for as long as the table goes no further."""
        covered = _place(db)
        if covered is None:
            raise _Unfit
        if self._proven.get(key) != covered:
            _require_whole(db, key)
            self._proven[key] = covered

    def _advance(self, db: sqlite3.Connection, upto: Position) -> None:
        """Takes in what is new. A table of another journal, or of one that was cut since,
        is not gone on with."""
        covered = _place(db)
        if covered is not None and covered.offset >= upto.offset:
            if not self._journal.holds(covered):
                raise _Unfit
            return
        with _transaction(db, "IMMEDIATE"):
            covered = _place(db) or _make(db)
            if not self._journal.holds(covered):
                raise _Unfit
            if covered.offset < upto.offset:
                self._take_in(db, covered, upto)

    def _take_in(self, db: sqlite3.Connection, covered: Position, upto: Position) -> None:
        batch = _Batch(db)
        seq, last = covered.seq, b""
        for offset, raw in self._journal.raw_lines(covered):
            if offset >= upto.offset:
                break
            seq, last = seq + 1, raw
            batch.add(seq, offset, raw)
        batch.write()
        if seq != upto.seq or not last.endswith(seal(upto.head)[:-1]):
            raise _Unfit
        place = (seq, upto.offset, upto.head, batch.rows)
        db.execute("UPDATE place SET seq = ?, offset = ?, head = ?, rows = rows + ?", place)


class _Batch:
    """Rows on their way into the table, so many at a time."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._terms: list[tuple[int, int, int]] = []
        self.rows = 0

    def add(self, seq: int, offset: int, raw: bytes) -> None:
        self._terms += [(key, seq, offset) for key in terms_of(raw)]
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
            mixes[key] += (seq * 7 + offset) & _MASK
        self._db.executemany(
            "INSERT INTO tally VALUES (?, ?, ?) ON CONFLICT (key)"
            " DO UPDATE SET rows = rows + excluded.rows, mix = mix + excluded.mix",
            [(key, count, mixes[key]) for key, count in counts.items()],
        )
        self.rows += len(self._terms)
        self._terms.clear()


def _connect(path: Path) -> sqlite3.Connection:
    import sqlite3

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    db = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
    db.execute("PRAGMA synchronous = OFF")
    db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    return db


@contextlib.contextmanager
def _transaction(db: sqlite3.Connection, kind: str) -> Iterator[None]:
    db.execute(f"BEGIN {kind}")
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _place(db: sqlite3.Connection) -> Position | None:
    """How far the table goes; ``None`` for one that was not begun."""
    names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    if not names:
        return None
    found = db.execute("SELECT version, offset, seq, head FROM place").fetchone()
    if found is None or found[0] != _VERSION:
        raise _Unfit
    _, offset, seq, head = found
    if type(offset) is not int or type(seq) is not int or type(head) is not str:
        raise _Unfit
    return Position(offset, seq, head)


def _make(db: sqlite3.Connection) -> Position:
    for table in _TABLES:
        db.execute(table)
    begin = (_VERSION, START.seq, START.offset, START.head)
    db.execute("INSERT INTO place VALUES (?, ?, ?, ?, 0)", begin)
    return START


def _require_whole(db: sqlite3.Connection, key: int) -> None:
    """The rows of a term are those that were put in, and no term is missing."""
    tally = db.execute("SELECT rows, mix FROM tally WHERE key = ?", (key,)).fetchone()
    if db.execute(_FITTING, (key,)).fetchone() != (tally or (0, 0)):
        raise _Unfit
    if db.execute(_ALL_TALLIED).fetchone() != (1,):
        raise _Unfit


def _select(
    db: sqlite3.Connection, key: int, after: int, before: int, *, newest: bool
) -> Sequence[Row]:
    query = "SELECT seq, offset FROM term WHERE key = ? AND seq > ? AND seq < ? ORDER BY seq"
    query += " DESC LIMIT ?" if newest else " LIMIT ?"
    return _rows(db.execute(query, (key, after, before, Index.page)))


def _rows(found: Iterable[tuple[object, object]]) -> Sequence[Row]:
    rows = []
    for seq, offset in found:
        # SQLite keeps any type in any column.
        if not isinstance(seq, int) or not isinstance(offset, int) or seq < 1 or offset < 0:
            raise _Unfit
        rows.append(Row(seq, offset))
    return rows


def _is_passing(error: Exception) -> bool:
    """Whether the table may be sound and only cannot be used now."""
    import sqlite3

    if isinstance(error, OSError):
        return True
    code = getattr(error, "sqlite_errorcode", None)
    if not isinstance(error, sqlite3.OperationalError) or code is None:
        return False
    return code & 0xFF not in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT)
