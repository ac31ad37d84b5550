"""The table of an index: what it holds, and whether that is what was put in."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from loopx_kernel.store.line import START, Position
from loopx_kernel.store.terms import TIMES

if TYPE_CHECKING:
    import sqlite3

_WAIT_SECONDS = 0.5
_CACHE_KIB = 32 * 1024
_VERSION = 3
_STRETCHES = 64
_TABLES = (
    "CREATE TABLE place (version INTEGER, seq INTEGER, offset INTEGER, head TEXT, rows INTEGER)",
    "CREATE TABLE term (key INTEGER, seq INTEGER, offset INTEGER, PRIMARY KEY (key, seq))"
    " WITHOUT ROWID",
    "CREATE TABLE tally (key INTEGER PRIMARY KEY, rows INTEGER, mix INTEGER)",
)
# Small enough that the sum over a billion rows is still an integer of SQLite's.
MASK = 0xFFFFFFFF
MIX = f"(seq * 7 + offset) & {MASK}"
_FITTING = f"SELECT count(*), coalesce(sum({MIX}), 0) FROM term WHERE key = ?"
_TIMES_FITTING = (
    f"SELECT NOT EXISTS (SELECT key, count(*), sum({MIX}) FROM term WHERE key >= {TIMES}"
    f" GROUP BY key EXCEPT SELECT key, rows, mix FROM tally) AND (SELECT count(*) FROM term"
    f" WHERE key >= {TIMES}) = (SELECT coalesce(sum(rows), 0) FROM tally WHERE key >= {TIMES})"
)
_ALL_TALLIED = "SELECT (SELECT coalesce(sum(rows), 0) FROM tally) = (SELECT rows FROM place)"


class Row(NamedTuple):
    """The line ``seq`` begins at ``offset`` and may have the term asked for."""

    seq: int
    offset: int


class Stretch(NamedTuple):
    """The lines between two, which are left out."""

    after: int
    before: int


class Unfit(Exception):
    """The table is not one of this journal, or not whole."""


def connect(path: Path) -> sqlite3.Connection:
    """The table's file, made where it is missing; ``OSError`` or an error of SQLite's."""
    import sqlite3

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    db = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
    db.execute("PRAGMA synchronous = OFF")
    db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    return db


@contextlib.contextmanager
def transaction(db: sqlite3.Connection, kind: str) -> Iterator[None]:
    """All of it, or none."""
    db.execute(f"BEGIN {kind}")
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def place_of(db: sqlite3.Connection) -> Position | None:
    """How far the table goes; ``None`` for one that was not begun."""
    names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    if not names:
        return None
    found = db.execute("SELECT version, offset, seq, head FROM place").fetchone()
    if found is None or found[0] != _VERSION:
        raise Unfit
    _, offset, seq, head = found
    if type(offset) is not int or type(seq) is not int or type(head) is not str:
        raise Unfit
    return Position(offset, seq, head)


def make(db: sqlite3.Connection) -> Position:
    """Begins an empty table."""
    for table in _TABLES:
        db.execute(table)
    begin = (_VERSION, START.seq, START.offset, START.head)
    db.execute("INSERT INTO place VALUES (?, ?, ?, ?, 0)", begin)
    return START


def stretches(db: sqlite3.Connection, low: int, high: int, end: int) -> Sequence[Stretch]:
    """The runs of lines whose times are of the ticks from ``low`` to ``high``. Where times go back
    and forth too often for that, the one stretch that holds them all."""
    found: list[Stretch] = []
    begin = 0
    query = f"SELECT seq, key FROM term WHERE key >= {TIMES} ORDER BY seq"
    for seq, key in rows_of(db.execute(query)):
        inside = low <= key <= high
        if inside and not begin:
            begin = seq
        elif begin and not inside:
            found.append(Stretch(begin - 1, seq))
            begin = 0
    if begin:
        found.append(Stretch(begin - 1, end))
    return found if len(found) <= _STRETCHES else [Stretch(found[0].after, found[-1].before)]


def require_whole(db: sqlite3.Connection, key: int) -> None:
    """``Unfit`` unless the rows of a term, ``TIMES`` for those of all times, are those that were
    put in, and no term is missing."""
    if key == TIMES:
        whole = db.execute(_TIMES_FITTING).fetchone() == (1,)
    else:
        tally = db.execute("SELECT rows, mix FROM tally WHERE key = ?", (key,)).fetchone()
        whole = db.execute(_FITTING, (key,)).fetchone() == (tally or (0, 0))
    if not whole or db.execute(_ALL_TALLIED).fetchone() != (1,):
        raise Unfit


def select(
    db: sqlite3.Connection, key: int, after: int, before: int, most: int, *, newest: bool
) -> Sequence[Row]:
    """The rows of a term between two lines, the first ``most`` or the last, newest first."""
    query = "SELECT seq, offset FROM term WHERE key = ? AND seq > ? AND seq < ? ORDER BY seq"
    query += " DESC LIMIT ?" if newest else " LIMIT ?"
    return rows_of(db.execute(query, (key, after, before, most)))


def rows_of(found: Iterable[tuple[object, object]]) -> Sequence[Row]:
    """What a query gave as rows; ``Unfit`` where it cannot be."""
    rows = []
    for seq, offset in found:
        # SQLite keeps any type in any column.
        if not isinstance(seq, int) or not isinstance(offset, int) or seq < 1 or offset < 0:
            raise Unfit
        rows.append(Row(seq, offset))
    return rows


def is_passing(error: Exception) -> bool:
    """Whether the table may be sound and only cannot be used now."""
    import sqlite3

    if isinstance(error, OSError):
        return True
    code = getattr(error, "sqlite_errorcode", None)
    if not isinstance(error, sqlite3.OperationalError) or code is None:
        return False
    return code & 0xFF not in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT)
