"""The index says what the journal says, whatever state it is in; at worst it says nothing."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopx_kernel.clock import format_time
from loopx_kernel.store import index_table
from loopx_kernel.store.files import Files
from loopx_kernel.store.index import FILE, Index
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.line import START, Line, encode
from loopx_kernel.store.seek import line_at
from loopx_kernel.store.terms import TIMES, Kind, key_of, objects_of, terms_of, tick_of

from tests.kernel.store.ledger import AT, append, event, journal_in

IDS = st.sampled_from(["e-1", "e-2", "e-漢", 'e-"', "e-\\", "e\n3", "E-1"]) | st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8
)
TYPES = st.sampled_from(["todo.claimed", "gate.requested", "spend.booked", "x"])
OBJECTS = st.sampled_from(["T1", "T2", "G1", 'T"', "T\u2028"])
PAYLOADS = st.fixed_dictionaries(
    {"note": st.sampled_from(["", '"todo_id":"T1"', "\\", "a\nb"])},
    optional={
        "todo_id": OBJECTS,
        "gate_id": OBJECTS,
        "parts": st.lists(st.fixed_dictionaries({"todo_id": OBJECTS}), max_size=2),
    },
)
ACTORS = st.sampled_from(["claude-code", "codex", "漢", 'a"b'])
TIMES_OF_DAY = st.integers(0, 90).map(lambda minutes: AT + timedelta(minutes=minutes))
EVENTS = st.lists(st.tuples(IDS, TYPES, PAYLOADS, ACTORS, TIMES_OF_DAY), max_size=12)
Row = tuple[Any, ...]


class Counting(Files):
    """Counts the bytes that are read."""

    def __init__(self) -> None:
        self.read = 0

    def read_at(self, fd: int, size: int, offset: int) -> bytes:
        found = super().read_at(fd, size, offset)
        self.read += len(found)
        return found


def fields_of(
    event_id: str,
    event_type: str,
    payload: dict[str, Any],
    actor: str = "claude-code",
    at: datetime = AT,
) -> dict[str, Any]:
    return event(
        event_id=event_id,
        event_type=event_type,
        payload=payload,
        actor_agent_id=actor,
        recorded_at=format_time(at),
    )


def written(folder: Path, events: Sequence[Row]) -> Journal:
    """A journal of these ids, types, payloads, and perhaps actors and times."""
    path, position = folder / "events.jsonl", START
    with path.open("wb") as file:
        for number, row in enumerate(events, 1):
            raw, head = encode(fields_of(*row), seq=number, prev=position.head)
            file.write(raw)
            position = position.__class__(position.offset + len(raw), number, head)
    return Journal(path, Files())


def found(
    index: Index, journal: Journal, kind: Kind, value: str, *, newest: bool = False
) -> list[int]:
    """The lines that really have the value, out of all pages of candidates."""
    end = journal.read().position
    after, before, lines = 0, end.seq + 1, []
    while True:
        rows = index.rows(kind, value, end, after=after, before=before, newest=newest)
        assert rows is not None
        for row in rows:
            line = line_at(journal, row.offset)
            assert line is not None and line.seq == row.seq
            lines.append(line)
        if len(rows) < index.page:
            return [line.seq for line in lines if value in values(line)[kind]]
        after, before = (after, rows[-1].seq) if newest else (rows[-1].seq, before)


def values(line: Line) -> dict[Kind, set[str]]:
    """What a line should be found by."""
    return {
        Kind.ID: {line.event_id},
        Kind.TYPE: {line.record["event_type"]},
        Kind.OBJECT: objects_of(line.record),
        Kind.ACTOR: {line.record["actor_agent_id"]},
    }


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(EVENTS, st.integers(1, 3), st.integers(0, 12))
def test_it_finds_what_a_look_at_every_line_finds(
    tmp_path_factory: pytest.TempPathFactory,
    events: list[Row],
    page: int,
    early: int,
) -> None:
    folder = tmp_path_factory.mktemp("index")
    journal = written(folder, events)
    index = Index(folder / FILE, journal)
    index.page = page
    index.catch_up(journal.read(limit=early).position)
    lines = journal.read().lines
    for line in lines:
        for kind, having in values(line).items():
            for value in having:
                expected = [other.seq for other in lines if value in values(other)[kind]]
                assert found(index, journal, kind, value) == expected
                assert found(index, journal, kind, value, newest=True) == expected[::-1]
    for event_id in ("e-none", *(line.event_id for line in lines)):
        assert index.find(event_id) == journal.find_event_id(event_id)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(EVENTS, st.integers(0, 12), st.none() | TIMES_OF_DAY, st.none() | TIMES_OF_DAY)
def test_stretches_hold_every_line_of_their_times_and_no_other(
    tmp_path_factory: pytest.TempPathFactory,
    events: list[Row],
    early: int,
    since: datetime | None,
    until: datetime | None,
) -> None:
    folder = tmp_path_factory.mktemp("index")
    journal = written(folder, events)
    index = Index(folder / FILE, journal)
    index.catch_up(journal.read(limit=early).position)
    stretches = index.stretches(since, until, journal.read().position)
    assert stretches is not None
    times = [tick_of(row[4]) for row in events]
    low = TIMES if since is None else tick_of(since)
    high = max([*times, low]) if until is None else tick_of(until)
    mine = [seq for seq, tick in enumerate(times, 1) if low <= tick <= high]
    assert [seq for one in stretches for seq in range(one.after + 1, one.before)] == mine
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_table, "_STRETCHES", 0)
        whole = index.stretches(since, until, journal.read().position)
    assert whole == ([(mine[0] - 1, mine[-1] + 1)] if mine else [])


def test_times_that_go_back_and_forth_are_found(tmp_path: Path) -> None:
    hours = [0, 2, 0, 2, 1]
    journal = written(
        tmp_path,
        [(f"e-{n}", "x", {}, "codex", AT + timedelta(hours=hour)) for n, hour in enumerate(hours)],
    )
    end = journal.read().position
    index = Index(tmp_path / FILE, journal)
    late = AT + timedelta(hours=2)
    assert index.stretches(late, None, end) == [(1, 3), (3, 5)]
    assert index.stretches(None, AT + timedelta(hours=1), end) == [(0, 2), (2, 4), (4, 6)]


@given(EVENTS)
def test_a_line_has_the_terms_of_its_values(events: list[Row]) -> None:
    for row in events:
        fields = fields_of(*row)
        raw = encode(fields, seq=1, prev="0" * 64)[0][:-1]
        wanted = {key_of(Kind.ID, row[0]), key_of(Kind.TYPE, row[1]), key_of(Kind.ACTOR, row[3])}
        wanted |= {key_of(Kind.OBJECT, ref) for ref in objects_of(fields)}
        time = tick_of(row[4])
        found, now = terms_of(raw, TIMES)
        assert wanted | {time} <= found and now == time
        assert wanted <= terms_of(raw, time)[0] and time not in terms_of(raw, time)[0]


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01T00:00:00Z", "0001-01-01T00:00:00+14:00"])
def test_a_time_that_cannot_be_read_is_that_of_no_question(text: str) -> None:
    raw = encode(event(recorded_at=text), seq=1, prev="0" * 64)[0][:-1]
    assert terms_of(raw, tick_of(AT))[1] == TIMES < tick_of(datetime(1, 1, 1, tzinfo=UTC))


def test_text_written_with_escapes_is_found_by_what_it_means(tmp_path: Path) -> None:
    journal = written(tmp_path, [("e-1", "todo.claimed", {"todo_id": "T1"})])
    raw = journal.path.read_bytes()[:-78].replace(b'"T1"', b'"\\u0054\\u0031"')
    seal = b',"sha256":"' + hashlib.sha256(raw).hexdigest().encode() + b'"}\n'
    journal.path.write_bytes(raw + seal)
    assert found(Index(tmp_path / FILE, journal), journal, Kind.OBJECT, "T1") == [1]


def test_half_a_line_and_lines_after_the_last_look_are_not_missed(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 3)
    index = Index(tmp_path / FILE, journal)
    index.catch_up(journal.read().position)
    append(journal, 4)
    later = index.find("e-4")
    assert later is not None and later.seq == 4
    with journal.path.open("ab") as file:
        file.write(encode(event(5), seq=5, prev=later.sha256)[0][:-1])
    assert index.find("e-5") is None
    assert found(index, journal, Kind.OBJECT, "T4") == [4]


def edit(*statements: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        db = sqlite3.connect(path)
        with db:
            for statement in statements:
                db.execute(statement)
        db.close()

    return change


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for at in range(4096, len(data), 97):
        data[at] ^= 0x11
    path.write_bytes(data)


def future(path: Path) -> None:
    """The index of the same journal with more lines, as before a roll-back."""
    longer = written(path.parent / "longer", [(f"e-{n}", "x", {}) for n in range(1, 40)])
    other = Index(path.parent / "other.sqlite", longer)
    other.catch_up(longer.read().position)
    shutil.copy(path.parent / "other.sqlite", path)


def of_another_journal(path: Path) -> None:
    longer = written(path.parent / "longer", [(f"f-{n}", "x", {}) for n in range(1, 4)])
    other = Index(path.parent / "other.sqlite", longer)
    other.catch_up(longer.read().position)
    shutil.copy(path.parent / "other.sqlite", path)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


HARMS: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "nul": lambda path: path.write_bytes(bytes(8192)),
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:5000]),
    "half a page": lambda path: path.write_bytes(path.read_bytes()[:100]),
    "text": lambda path: path.write_text("not a database\n" * 100),
    "flipped bits": flip,
    "older tables": edit("DROP TABLE tally", "CREATE TABLE tally (key INTEGER)"),
    "no tables": edit("DROP TABLE tally", "DROP TABLE term", "DROP TABLE place"),
    "no place": edit("DELETE FROM place"),
    "a later version": edit("UPDATE place SET version = 99"),
    "rows removed": edit("DELETE FROM term WHERE seq = 5"),
    "times moved": edit(f"UPDATE term SET key = key + 9 WHERE key >= {TIMES} AND seq = 5"),
    "times removed": edit(f"DELETE FROM term WHERE key >= {TIMES} AND seq = 5"),
    "rows and tallies removed": edit("DELETE FROM term", "DELETE FROM tally"),
    "rows moved": edit("UPDATE term SET offset = offset + 1"),
    "rows of text": edit("UPDATE term SET offset = 'x'"),
    "another head": edit("UPDATE place SET head = '" + "0" * 64 + "'"),
    "a place beyond the end": edit("UPDATE place SET offset = offset * 9, seq = seq * 9"),
    "a place of text": edit("UPDATE place SET seq = 'x'"),
    "from the future": future,
    "of another journal": of_another_journal,
    "a folder": a_folder,
}


@pytest.mark.parametrize("name", HARMS)
def test_a_harmed_index_gives_no_wrong_answer(tmp_path: Path, name: str) -> None:
    (tmp_path / "longer").mkdir()
    journal = journal_in(tmp_path, 12, apart=timedelta(hours=1))
    path = tmp_path / FILE
    Index(path, journal).catch_up(journal.read().position)
    HARMS[name](path)
    index = Index(path, journal)
    for number in range(1, 13):
        line = index.find(f"e-{number}")
        assert line is not None and line.seq == number
    assert index.find("e-13") is None
    end = journal.read().position
    index.catch_up(end)
    fifth = (AT + timedelta(hours=4), AT + timedelta(hours=4, minutes=1))
    if name != "a folder":
        assert found(index, journal, Kind.OBJECT, "T5") == [5]
        assert found(index, journal, Kind.TYPE, "todo.claimed") == list(range(1, 13))
        assert index.stretches(*fifth, end) == [(4, 6)]
    else:
        assert index.stretches(*fifth, end) is None
        assert index.rows(Kind.OBJECT, "T5", end, after=0, before=13, newest=False) is None


def test_the_rows_of_a_term_are_summed_once_for_all_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = journal_in(tmp_path, 6)
    one = Index(tmp_path / FILE, journal)
    one.page = 2
    sums: list[int] = []
    whole = index_table.require_whole
    monkeypatch.setattr(
        index_table, "require_whole", lambda db, key: (sums.append(key), whole(db, key))
    )
    assert found(one, journal, Kind.TYPE, "todo.claimed") == [1, 2, 3, 4, 5, 6]
    assert len(sums) == 1
    append(journal, 7)
    assert found(one, journal, Kind.TYPE, "todo.claimed") == [1, 2, 3, 4, 5, 6, 7]
    assert len(sums) == 2


def test_a_locked_or_unwritable_index_is_left_alone(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 3)
    path = tmp_path / FILE
    Index(path, journal).catch_up(journal.read().position)
    before = path.read_bytes()
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    line = Index(path, journal).find("e-2")
    db.execute("ROLLBACK")
    db.close()
    assert line is not None and line.seq == 2
    assert path.read_bytes() == before
    nowhere = Index(Path("/proc/nowhere") / FILE, journal)
    nowhere.catch_up(journal.read().position)
    assert nowhere.find("e-2") == line


def test_an_event_is_found_without_reading_the_journal(tmp_path: Path) -> None:
    journal = written(
        tmp_path, [(f"e-{n}", "x", {"todo_id": f"T{n % 50}"}) for n in range(1, 5001)]
    )
    files = Counting()
    counted = Journal(journal.path, files)
    index = Index(tmp_path / FILE, counted)
    index.catch_up(journal.read().position)
    files.read = 0
    line = index.find("e-17")
    assert line is not None and line.seq == 17
    assert index.find("e-5001") is None
    assert 0 < files.read < journal.path.stat().st_size / 10
