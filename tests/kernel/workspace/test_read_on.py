"""What did not change is not read again, and what did is always seen: by one who reads for long."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from loopx_kernel.domain.lease import ClaimTodo, ReleaseLease
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.store import disk, journal
from loopx_kernel.store.disk import is_at_rest
from loopx_kernel.store.files import Files
from loopx_kernel.workspace import Workspace, state_files

from tests.kernel.workspace.build import CLAUDE, CODEX, GOAL, Place, open_goal, with_files


class Counting(Files):
    """Counts how often each file was opened for reading."""

    def __init__(self) -> None:
        self.opened: Counter[str] = Counter()

    def open_read(self, path: Path) -> int:
        self.opened[path.name] += 1
        return super().open_read(path)


@pytest.fixture
def at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were written this very moment count as older ones."""
    for module in (state_files, journal):
        monkeypatch.setattr(module, "is_at_rest", lambda _: True)


@pytest.fixture
def files() -> Counting:
    return Counting()


@pytest.fixture
def reader(place: Place, files: Counting) -> Workspace:
    """Somebody who has looked once, and looks on."""
    open_goal(place, "shop")
    ws = with_files(place.root, files, place.clock)
    ws.view(GOAL)
    ws.view("shop")
    files.opened.clear()
    return ws


@pytest.mark.usefixtures("at_rest")
def test_what_did_not_change_is_not_opened(reader: Workspace, files: Counting) -> None:
    reader.view(GOAL)
    files.opened.clear()
    reader.view(GOAL)
    assert files.opened["events.jsonl"] == 0
    assert files.opened["ACTIVE_GOAL_STATE.md"] == 0


def _line_more(place: Place) -> None:
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))


def _released(place: Place) -> None:
    place.ws.todos.release(GOAL, CLAUDE, ReleaseLease(todo_id="T3", version=5, epoch=2))


def _line_behind(place: Place) -> None:
    """A commit whose files were not written yet."""
    _append(place)


def _ticked(place: Place) -> None:
    """Of the same size, in the same file, with its old time."""
    info = place.state_file.stat()
    text = place.state_file.read_text("utf-8")
    place.state_file.write_text(text.replace("- [ ] **T3**", "- [x] **T3**"), "utf-8")
    os.utime(place.state_file, ns=(info.st_atime_ns, info.st_mtime_ns))


def _unticked(place: Place) -> None:
    text = place.state_file.read_text("utf-8")
    place.state_file.write_text(text.replace("- [x] **T3**", "- [ ] **T3**"), "utf-8")


def _noted(place: Place) -> None:
    with place.state_file.open("a", encoding="utf-8") as file:
        file.write("\n## Notes\n\nMine.\n")


def _without_front(place: Place) -> None:
    text = place.state_file.read_text("utf-8")
    place.state_file.write_text(text[text.index("## Todos") :], "utf-8")


def _gone(place: Place) -> None:
    place.state_file.unlink(missing_ok=True)


def _a_folder(place: Place) -> None:
    place.state_file.unlink()
    place.state_file.mkdir()


def _mended(place: Place) -> None:
    if place.state_file.is_dir():
        place.state_file.rmdir()
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Rendered again"))


def _beside(place: Place) -> None:
    """Another goal takes hold of files that are waited for here."""
    place.ws.todos.add("shop", CODEX, AddTodo(title="Same", write_scope=("src/other/**",)))
    place.ws.todos.claim("shop", CODEX, ClaimTodo(todo_id="T1"))


def _late(place: Place) -> None:
    place.clock.advance(minutes=20)


def _altered(place: Place) -> None:
    """The last line is another one of the same length."""
    raw = place.journal.read_bytes()
    place.journal.write_bytes(raw[:-10] + b"0" * 7 + raw[-3:])


STORIES: list[list[Callable[[Place], None]]] = [
    [_line_more, _line_more],
    [_released, _late],
    [_late, _released],
    [_line_behind, _line_behind, _mended],
    [_line_behind, _ticked, _line_behind],
    [_ticked, _line_behind, _unticked],
    [_ticked, _unticked, _line_more],
    [_noted, _line_behind, _noted, _line_more],
    [_without_front, _line_behind, _mended],
    [_gone, _line_behind, _gone, _mended],
    [_a_folder, _mended],
    [_beside, _late],
    [_altered],
]


@pytest.mark.usefixtures("at_rest")
@pytest.mark.parametrize(
    "story", STORIES, ids=lambda story: "-".join(one.__name__[1:] for one in story)
)
def test_who_looks_on_sees_what_a_newcomer_sees(
    place: Place, reader: Workspace, story: list[Callable[[Place], None]]
) -> None:
    for act in story:
        act(place)
        for _ in range(2):
            seen = reader.view(GOAL)
            fresh = place.again().view(GOAL)
            assert (seen.reads.drift, seen.reads.damage) == (fresh.reads.drift, fresh.reads.damage)
            assert seen == fresh


def test_a_journal_that_was_cut_is_damage_to_who_saw_its_last_line(
    place: Place, reader: Workspace
) -> None:
    place.journal.write_bytes(b"".join(place.journal.read_bytes().splitlines(keepends=True)[:-1]))
    assert "ends before line" in reader.view(GOAL).reads.damage[0].reason


@pytest.mark.usefixtures("at_rest")
def test_a_file_that_is_behind_is_not_taken_apart_again_for_each_line(
    place: Place, reader: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parse(*_: object) -> None:
        raise AssertionError("the file was taken apart")

    reader.view(GOAL)
    monkeypatch.setattr(state_files, "_parse", parse)
    for _ in range(3):
        _append(place)
        assert reader.view(GOAL).reads.behind_files


def _append(place: Place) -> None:
    """A line whose files nobody writes."""
    core = place.again()._core
    ledger = core.fresh_goal(GOAL)
    number = ledger.state.next_todo
    ledger.write(
        {
            "event_id": f"appended-{number}",
            "goal_id": GOAL,
            "event_type": "todo.added",
            "recorded_at": "2026-09-16T22:40:00Z",
            "actor_kind": "agent",
            "actor_agent_id": CODEX,
            "payload": {"todo_id": f"T{number}", "title": "Appended", "role": "agent"},
            "request": "0" * 64,
        }
    )


def test_what_changed_this_very_moment_is_looked_at_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")
    found = disk.signature(file, files=Files())
    assert found is not None
    for later, rests in ((0, False), (20_000_000, False), (20_000_001, True), (-5, False)):
        monkeypatch.setattr(disk.time, "time_ns", lambda later=later: max(found[1:3]) + later)
        assert is_at_rest(found) == rests


def test_a_file_that_is_not_there_tells_nothing(tmp_path: Path) -> None:
    assert disk.signature(tmp_path / "none", files=Files()) is None


def test_a_journal_that_changed_this_very_moment_is_read_again(
    reader: Workspace, files: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    for rests in (True, False):
        monkeypatch.setattr(journal, "is_at_rest", lambda _, rests=rests: rests)
        reader.view(GOAL)
        files.opened.clear()
        reader.view(GOAL)
        assert (files.opened["events.jsonl"] == 0) == rests


def test_state_files_elsewhere_are_watched_once_their_goals_were_read(place: Place) -> None:
    open_goal(place, "shop", state_file=".loopx/goals/shop/ACTIVE_GOAL_STATE.md")
    ws = place.again()
    own = place.root / ".loopx"
    assert ws.watch_directories() == {own}
    ws.view(GOAL)
    ws.view("shop")
    assert ws.watch_directories() == {own, place.state_file.parent}
