"""Looking into a long journal: pages, filters, sending again; without reading all of it."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopx_kernel.domain.lease import ClaimTodo
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import Conflict
from loopx_kernel.store.checkpoint import cache_folder
from loopx_kernel.store.files import Files
from loopx_kernel.store.index import FILE, Index
from loopx_kernel.store.terms import OBJECT_KEYS
from loopx_kernel.workspace import Workspace

from bench.journal import lengthen
from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    OPENED,
    OWNER,
    Place,
    connected,
    copied,
    open_goal,
    with_files,
)

LONG = 50_000
MOMENTS = st.none() | st.integers(-1, 190).map(lambda minutes: OPENED + timedelta(minutes=minutes))


class Counting(Files):
    """Counts the bytes read of journals."""

    def __init__(self) -> None:
        self.bytes = 0
        self.journals: set[int] = set()

    def open_read(self, path: Path) -> int:
        fd = super().open_read(path)
        self.journals.discard(fd)
        if path.name == "events.jsonl":
            self.journals.add(fd)
        return fd

    def read_at(self, fd: int, size: int, offset: int) -> bytes:
        found = super().read_at(fd, size, offset)
        self.bytes += len(found) if fd in self.journals else 0
        return found


@pytest.fixture(scope="module")
def _long(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("long")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOPX_CACHE_DIR", str(folder / "cache"))
        place = connected(folder)
        open_goal(place)
        place.ws.todos.add(GOAL, CODEX, AddTodo(title="Sent once"), event_id="early")
        lengthen(place.journal, GOAL, CODEX, LONG)
    return place


@pytest.fixture
def long(_long: Place, tmp_path: Path) -> Place:
    """A goal with fifty thousand lines, a copy for each test."""
    place = copied(_long, tmp_path)
    place.clock.advance(days=2)
    return place


def seqs(ws: Workspace, limit: int, **wanted: Any) -> list[int]:
    return [row.event.seq for row in ws.events.page(GOAL, limit, **wanted).rows]


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    since=st.none() | st.integers(0, 30),
    wanted=st.fixed_dictionaries(
        {
            "before": st.none() | st.integers(1, 30),
            "event_type": st.none()
            | st.sampled_from(["todo.claimed", "spend.booked", "none.such", "todo", "t", "todo.c"]),
            "about": st.none() | st.sampled_from(["T1", "T3", "turn-0002", "T99"]),
            "actor": st.none() | st.sampled_from([CLAUDE, OWNER, "nobody"]),
            "begin": MOMENTS,
            "end": MOMENTS,
        }
    ),
    limit=st.integers(1, 8),
    page=st.integers(1, 3),
)
def test_a_page_is_what_a_look_at_every_line_gives(
    place: Place, since: int | None, wanted: dict[str, Any], limit: int, page: int
) -> None:
    before, about, actor = (wanted[name] for name in ("before", "about", "actor"))
    begin, end, prefix = wanted["begin"], wanted["end"], wanted["event_type"] or ""
    exact = any(row.event.event_type == prefix for row in place.ws.events.list(GOAL))

    def fits(row: Any) -> bool:
        payload = row.event.payload
        parts = [payload, *payload.get("parts", ())]
        named = {part.get(key) for part in parts for key in OBJECT_KEYS}
        return (
            row.event.seq > (since or 0)
            and (before is None or row.event.seq < before)
            and row.event.event_type.startswith(prefix)
            and (not exact or row.event.event_type == prefix)
            and actor in (None, row.event.actor_agent_id)
            and (begin is None or row.event.recorded_at >= begin)
            and (end is None or row.event.recorded_at < end)
            and (about is None or about in named)
        )

    expected = [row.event.seq for row in place.ws.events.list(GOAL) if fits(row)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Index, "page", page)
        listed = [r.event.seq for r in place.ws.events.list(GOAL, since or 0, **wanted)]
        found = place.ws.events.page(GOAL, limit, since=since, **wanted)
    assert listed == expected
    backwards = since is None and begin is None
    chosen = expected[-limit:] if backwards else expected[:limit]
    assert [row.event.seq for row in found.rows] == chosen
    assert found.more == (len(expected) > limit)


def test_an_index_that_fails_on_the_way_costs_a_scan(place: Place) -> None:
    expected = seqs(place.ws, 99, event_type="todo.updated")
    path = cache_folder(place.ws.workspace_id, GOAL) / FILE
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Index, "page", 1)
        rows = place.ws.events.list(GOAL, event_type="todo.updated")
        found = [next(rows).event.seq]
        path.unlink()
        path.mkdir()
        found += [row.event.seq for row in rows]
    assert found == expected and len(found) > 1


def test_sending_again_over_a_long_journal_reads_next_to_nothing(long: Place) -> None:
    long.ws.state(GOAL)
    # Whoever sends first makes the index; it is there for the process that comes later.
    long.ws.todos.add(GOAL, CODEX, AddTodo(title="Sent late"), event_id="late")
    files = Counting()
    ws = with_files(long.root, files, long.clock)
    size = long.journal.stat().st_size
    for name, title in (("early", "Sent once"), ("late", "Sent late")):
        done = ws.todos.add(GOAL, CODEX, AddTodo(title=title), event_id=name)
        assert done.receipt.replayed
    fresh = ws.todos.add(GOAL, CODEX, AddTodo(title="New"), event_id="new")
    assert not fresh.receipt.replayed
    with pytest.raises(Conflict):
        ws.todos.add(GOAL, CODEX, AddTodo(title="Other"), event_id="early")
    assert files.bytes < size / 20


def test_a_signed_decision_is_found_again_over_a_long_journal(long: Place) -> None:
    gate_id = long.ask()
    first = long.decide(gate_id)
    again = long.again().events.show(GOAL, first.receipt.event_id)
    assert (again.event.seq, again.signature_ok, again.signer) == (first.receipt.seq, True, OWNER)


def test_pages_of_a_long_journal_read_next_to_nothing(long: Place) -> None:
    files = Counting()
    ws = with_files(long.root, files, long.clock)
    ws.state(GOAL)
    middle = LONG // 2
    seqs(ws, 1, event_type="todo.added")
    files.bytes = 0
    assert seqs(ws, 50, since=middle) == list(range(middle + 1, middle + 51))
    assert seqs(ws, 50, before=middle) == list(range(middle - 50, middle))
    booked = seqs(ws, 20, event_type="spend.booked")
    assert len(booked) == 20 and booked[-1] > LONG - 2000
    assert seqs(ws, 3, since=0, about="T2")[0] < 10
    assert files.bytes < long.journal.stat().st_size / 4


def test_a_long_journal_is_read_in_parts_and_its_reader_is_told(long: Place) -> None:
    told: list[tuple[int, int]] = []
    ws = Workspace.open(long.root, clock=long.clock, progress=lambda *part: told.append(part))
    told.clear()
    state = ws.state(GOAL)
    size = long.journal.stat().st_size
    assert state.alert_count == 0 and state.seq == LONG + 2
    assert len(told) > 10 and told == sorted(told) and told[-1] == (size, size)
    assert {whole for _, whole in told} == {size}
    assert ws.events.verify(GOAL).ok


def test_only_looking_up_an_event_opens_the_index(place: Place) -> None:
    ws = place.again()
    ws.view(GOAL)
    ws.todos.add(GOAL, CODEX, AddTodo(title="More"))
    path = cache_folder(ws.workspace_id, GOAL) / FILE
    assert not path.exists()
    ws.todos.claim(GOAL, CLAUDE, ClaimTodo(todo_id="T3", expect_version=4), event_id="e-0142")
    assert path.exists()


def test_an_index_that_lies_about_an_id_makes_nothing_happen_twice(place: Place) -> None:
    place.ws.events.show(GOAL, "e-0142")
    path = cache_folder(place.ws.workspace_id, GOAL) / FILE
    db = sqlite3.connect(path)
    with db:
        db.execute("DELETE FROM term")
    db.close()
    lines = place.lines()
    command = ClaimTodo(todo_id="T3", expect_version=4)
    assert place.again().todos.claim(GOAL, CLAUDE, command, event_id="e-0142").receipt.replayed
    assert place.lines() == lines
