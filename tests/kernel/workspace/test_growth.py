"""What is finished long ago: out of the way of every command, and still to be read."""

from __future__ import annotations

import json
import shutil

import pytest
from loopx_kernel.domain import hot
from loopx_kernel.domain.lease import ClaimTodo
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import UsageError
from loopx_kernel.store import journal
from loopx_kernel.store.checkpoint import cache_folder
from loopx_kernel.workspace import Workspace, resume, snapshots

from tests.kernel.workspace.build import CODEX, GOAL, Place, rebuilt, refused

KEPT = 2


@pytest.fixture
def old(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The dark-mode goal after eight more todos, of which only the last two are kept."""
    monkeypatch.setattr(hot, "KEPT", KEPT)
    monkeypatch.setattr(snapshots, "EVERY", 8)
    for number in range(4, 12):
        place.ws.todos.add(GOAL, CODEX, AddTodo(title=f"Work {number}", lineage=("T1",)))
        place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id=f"T{number}"))
        place.ws.todos.update(GOAL, CODEX, f"T{number}", complete=True)
    return place


def finished_all(place: Place) -> list[Todo]:
    """Every finished todo as a fold that lets nothing go has it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hot, "KEPT", 10**9)
        ledger = place.again()._core.goal(GOAL)
        ledger.read_again()
        return [todo for todo in ledger.state.todos.values() if todo.finished]


def without_cache(place: Place) -> Workspace:
    shutil.rmtree(cache_folder(place.ws.workspace_id, GOAL), ignore_errors=True)
    return place.again()


@pytest.mark.parametrize("cached", [True, False])
def test_every_finished_todo_can_be_shown_as_it_was(old: Place, cached: bool) -> None:
    ws = old.again() if cached else without_cache(old)
    whole = finished_all(old)
    assert list(ws.state(GOAL).todos) == ["T3", "T10", "T11"]
    assert [ws.history.todo(GOAL, todo.id) for todo in whole] == whole
    assert ws.history.finished(GOAL) == whole[:-KEPT]
    assert ws.view(GOAL).earlier == len(whole) - KEPT
    earlier = whole[:-KEPT]
    for most in range(len(whole)):
        assert ws.history.finished(GOAL, most) == (earlier[-most:] if most else [])


@pytest.mark.parametrize("todo_id", ["T12", "T0", "x"])
def test_what_never_was_is_not_found(old: Place, todo_id: str) -> None:
    with pytest.raises(UsageError) as caught:
        old.ws.history.todo(GOAL, todo_id)
    assert caught.value.code == "unknown_todo"


def test_what_left_is_changed_by_nobody(old: Place) -> None:
    with refused(old, "illegal_transition"):
        old.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T4"))
    with refused(old, "illegal_transition"):
        old.ws.todos.update(GOAL, CODEX, "T4", note="again")


def test_their_lease_files_go_and_one_left_behind_alarms_nobody(old: Place) -> None:
    assert sorted(path.name for path in old.lease("x").parent.iterdir()) == [
        "T10.json",
        "T11.json",
        "T3.json",
    ]
    shutil.copy(old.lease("T11"), old.lease("T4"))
    assert old.ws.view(GOAL).reads.damage == ()
    shutil.copy(old.lease("T11"), old.lease("T99"))
    assert [item.todo_id for item in old.ws.view(GOAL).reads.damage] == ["T99"]


def test_the_list_says_how_many_it_leaves_out_and_drifts_for_no_reason(old: Place) -> None:
    text = old.state_file.read_text("utf-8")
    assert "- *earlier* 8 more are finished: loopx todo list --all\n" in text
    assert "**T4**" not in text
    assert "**T11**" in text
    assert old.ws.view(GOAL).reads.drift == ()
    old.state_file.write_text(text + "\n## Mine\n\nkept\n", "utf-8")
    old.ws.todos.add(GOAL, CODEX, AddTodo(title="One more"))
    again = old.state_file.read_text("utf-8")
    assert again.count("*earlier*") == 1
    assert "kept" in again
    old.state_file.unlink()
    old.ws.todos.add(GOAL, CODEX, AddTodo(title="And one"))
    assert old.state_file.read_text("utf-8").count("*earlier*") == 1
    assert rebuilt(old) == [str(old.state_file.relative_to(old.root))]


def test_a_first_reading_keeps_states_on_its_way(old: Place) -> None:
    folder = cache_folder(old.ws.workspace_id, GOAL) / snapshots.FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    ws = without_cache(old)
    last = ws.state(GOAL).seq
    kept = {int(path.stem) for path in folder.iterdir()}
    assert kept == set(range(8, last + 1, 8))


class Stop(Exception):
    """Somebody pressed Ctrl+C."""


def test_a_reading_broken_off_goes_on_where_it_was(
    old: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resume, "MIDWAY", 10)
    monkeypatch.setattr(journal, "BATCH", 5)
    path = cache_folder(old.ws.workspace_id, GOAL) / resume.FILE
    without_cache(old)
    assert not path.exists()

    def stop(done: int, size: int) -> None:
        if path.exists():
            raise Stop

    ledger = old.again()._core.goal(GOAL)
    with pytest.raises(Stop):
        ledger.refresh(stop)
    seq = json.loads(path.read_text("utf-8"))["seq"]
    again = old.again()._core.goal(GOAL)
    assert again.position.seq == seq > 0
    again.refresh()
    assert again.position.seq > seq
    assert again.state == old.ws.state(GOAL)
