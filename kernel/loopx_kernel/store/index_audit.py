"""Whether an index says exactly what its journal says: for the deep check alone."""

from __future__ import annotations

import contextlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from loopx_kernel.store.index_table import MASK, MIX, Unfit, place_of
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.line import START
from loopx_kernel.store.terms import TIMES, terms_of

if TYPE_CHECKING:
    import sqlite3

Sums = dict[int, tuple[int, int]]
"""By term: how many rows it has, and the sum over them."""


def is_true(path: Path, journal: Journal) -> bool | None:
    """Reads the whole journal up to where the table at ``path`` goes.

    ``None`` where there is no table, or none that anybody would use. Raises ``Storage`` and
    ``Damaged`` for the journal.
    """
    import sqlite3

    if not path.is_file():
        return None
    try:
        with contextlib.closing(
            sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)
        ) as db:
            covered = place_of(db)
            if covered is None or not journal.holds(covered):
                return None
            return _rows(db) == _tallies(db) == _from(journal, covered.offset)
    except (sqlite3.Error, Unfit):
        return None


def _from(journal: Journal, end: int) -> Sums:
    counts: Counter[int] = Counter()
    mixes: Counter[int] = Counter()
    tick = TIMES
    for seq, (offset, raw) in enumerate(journal.raw_lines(START), 1):
        if offset >= end:
            break
        terms, tick = terms_of(raw, tick)
        for key in terms:
            counts[key] += 1
            mixes[key] += (seq * 7 + offset) & MASK
    return {key: (count, mixes[key]) for key, count in counts.items()}


def _rows(db: sqlite3.Connection) -> Sums:
    query = f"SELECT key, count(*), sum({MIX}) FROM term GROUP BY key"
    return {key: (rows, mix) for key, rows, mix in db.execute(query)}


def _tallies(db: sqlite3.Connection) -> Sums:
    return {key: (rows, mix) for key, rows, mix in db.execute("SELECT key, rows, mix FROM tally")}
