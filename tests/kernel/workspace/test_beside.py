"""The leases of the goals beside one come from a small cache, and never say what is not so."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from loopx_kernel.domain.event import LiveLease
from loopx_kernel.domain.lease import ClaimTodo, ReleaseLease
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.store.checkpoint import cache_folder
from loopx_kernel.workspace import Workspace
from loopx_kernel.workspace.beside import FILE, leases_of, live_leases

from tests.kernel.workspace.build import CLAUDE, CODEX, GOAL, Place, open_goal, refused

BESIDE = "shop"


@pytest.fixture
def two(place: Place) -> Place:
    """A second goal without work beside the first, in which T3 is leased."""
    open_goal(place, BESIDE)
    return place


def kept(place: Place) -> Path:
    return cache_folder(place.ws.workspace_id, GOAL) / FILE


def leases(ws: Workspace) -> tuple[LiveLease, ...]:
    """The live leases beside the second goal, as they are looked up for every projection."""
    core = ws._core
    return live_leases(core, core.clock.read(), beside=BESIDE)


def truly(ws: Workspace) -> tuple[LiveLease, ...]:
    """The same from the whole state."""
    core = ws._core
    return leases_of(core, core.fresh_goal(GOAL).state, core.clock.read())


def read_small(ws: Workspace) -> bool:
    """Whether the goal was left unread."""
    return GOAL not in ws._core._goals


def test_what_is_kept_says_the_same_as_the_whole_goal(two: Place) -> None:
    first = two.again()
    found = leases(first)
    assert not read_small(first) and kept(two).exists()

    later = two.again()
    assert leases(later) == found == truly(two.again())
    assert [lease.todo_id for lease in found] == ["T3"]
    assert read_small(later)
    two.clock.advance(minutes=20)
    ended = two.again()
    assert leases(ended) == () == truly(two.again())
    assert read_small(ended)


def test_it_is_small_whatever_the_goal_has_done(two: Place) -> None:
    for number in range(30):
        two.ws.todos.add(GOAL, CODEX, AddTodo(title=f"More {number}"))
    leases(two.again())
    state = json.loads(json.loads(kept(two).read_bytes())["state"])
    # T2 was leased once, and what is left of that holds nobody.
    assert set(state) <= {"goal_id", "seq", "head", "rules", "todos"}
    assert set(state["todos"]) <= {"T1", "T2", "T3"}


def _released(place: Place) -> None:
    place.ws.todos.release(GOAL, CLAUDE, ReleaseLease(todo_id="T3", version=5, epoch=2))


def _claimed(place: Place) -> None:
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Other", write_scope=("docs/**",)))
    place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T4"))


@pytest.mark.parametrize("change", [_released, _claimed])
def test_a_line_more_and_it_is_read_anew(two: Place, change: Callable[[Place], None]) -> None:
    before = leases(two.again())
    change(two)
    ws = two.again()
    assert leases(ws) == truly(two.again()) != before
    assert not read_small(ws)
    assert leases(two.again()) == truly(two.again())


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def _other_state(path: Path) -> None:
    value = json.loads(path.read_bytes())
    path.write_text(json.dumps(value | {"state": value["state"].replace("T3", "T2")}))


def _other_code(path: Path) -> None:
    value = json.loads(path.read_bytes())
    path.write_text(json.dumps(value | {"fingerprint": "0" * 64}))


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("spoil", [_cut, _other_state, _other_code, _folder, Path.unlink])
def test_one_that_is_not_whole_is_none(two: Place, spoil: Callable[[Path], None]) -> None:
    leases(two.again())
    spoil(kept(two))
    ws = two.again()
    assert leases(ws) == truly(two.again())
    assert not read_small(ws)


def test_a_journal_that_ends_with_another_line_of_the_same_length(two: Place) -> None:
    leases(two.again())
    raw = two.journal.read_bytes()
    two.journal.write_bytes(raw[:-10] + b"0" * 7 + raw[-3:])
    ws = two.again()
    leases(ws)
    assert not read_small(ws)


def test_a_shorter_journal_is_read_anew(two: Place) -> None:
    leases(two.again())
    two.journal.write_bytes(b"".join(two.journal.read_bytes().splitlines(keepends=True)[:-1]))
    ws = two.again()
    leases(ws)
    assert not read_small(ws)


def test_the_same_files_are_refused_to_another_goal_by_what_is_kept(two: Place) -> None:
    work = AddTodo(title="Same files", write_scope=("src/theme/**",))
    two.ws.todos.add(BESIDE, CODEX, work)
    leases(two.again())
    fresh = Place(two.again(), two.clock, two.keys)
    with refused(fresh, "scope_overlap") as error:
        fresh.ws.todos.claim(BESIDE, CODEX, ClaimTodo(todo_id="T1"))
    assert error.facts["held_by"] == "dark-mode/T3"
    two.clock.now += timedelta(hours=1)
    two.clock.advance(hours=1)
    done = two.again().todos.claim(BESIDE, CODEX, ClaimTodo(todo_id="T1"))
    assert done.state.todos["T1"].status == "claimed"


def test_a_view_of_one_goal_reads_no_other(two: Place) -> None:
    two.again().view(BESIDE)
    ws = two.again()
    assert ws.view(BESIDE).goal_id == BESIDE
    assert read_small(ws)
