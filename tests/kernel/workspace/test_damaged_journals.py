"""A journal that is not what was written: read up to there, and written no more."""

from __future__ import annotations

import pytest
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.lease import ClaimTodo, ReleaseLease
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import Damaged

from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    OWNER,
    Place,
    open_goal,
    refused,
)


def test_a_damaged_journal_is_read_up_to_the_damage_and_written_no_more(place: Place) -> None:
    lines = place.journal.read_bytes().splitlines(keepends=True)
    lines[10] = lines[10].replace(b"agent", b"owner", 1)
    place.journal.write_bytes(b"".join(lines))
    fresh = place.again()
    view = fresh.view(GOAL, CLAUDE)
    assert (view.seq, view.contract.answer) == (10, "ask")
    assert [row.event.seq for row in fresh.events.tail(GOAL, 3)] == [8, 9, 10]
    assert [row.event.seq for row in fresh.events.list(GOAL, since=8)] == [9, 10]
    problems = fresh.events.verify(GOAL).problems
    assert len(problems) == 1 and "line 11" in problems[0]
    with refused(place, "journal_damaged") as error:
        fresh.todos.add(GOAL, CODEX, AddTodo(title="More"))
    assert error.facts["kind"] == "bad_hash"


def test_a_journal_saved_with_other_line_ends_says_so(place: Place) -> None:
    place.journal.write_bytes(place.journal.read_bytes().replace(b"\n", b"\r\n"))
    with pytest.raises(Damaged) as caught:
        place.again().todos.add(GOAL, CODEX, AddTodo(title="More"))
    assert caught.value.facts["kind"] == "line_ends_changed"


def test_a_deleted_journal_is_damage_and_never_a_new_start(place: Place) -> None:
    place.journal.unlink()
    fresh = place.again()
    view = fresh.workspace_view()
    assert [(item.goal_id, item.reason) for item in view.unread] == [(GOAL, "unreachable")]
    assert not view.envelope.complete
    for act in (
        lambda: fresh.view(GOAL),
        lambda: fresh.todos.add(GOAL, CODEX, AddTodo(title="More")),
        lambda: fresh.goals.change_status(GOAL, OWNER, ChangeGoalStatus(to="paused", reason="?")),
    ):
        with refused(place, "rolled_back"):
            act()
    place.registry.unlink()
    with refused(place, "rolled_back"):
        place.again().todos.add(GOAL, CODEX, AddTodo(title="More"))
    assert not place.journal.exists()


def test_lines_removed_from_the_end_are_noticed_by_whoever_saw_them(place: Place) -> None:
    seen = place.ws.view(GOAL).seq
    lines = place.journal.read_bytes().splitlines(keepends=True)
    place.journal.write_bytes(b"".join(lines[:-2]))
    for ws in (place.ws, place.again(), place.again()):
        ws.view(GOAL)
        # Looking once more does not make it go away.
        view = ws.view(GOAL)
        assert view.contract.answer == "ask"
        assert f"line {seen}" in view.reads.damage[0].reason
    with refused(place, "rolled_back"):
        place.again().todos.update(GOAL, CLAUDE, "T3", complete=True)
    place.journal.write_bytes(b"".join(lines))
    assert not place.ws.view(GOAL).reads.damage
    place.ws.todos.update(GOAL, CLAUDE, "T3", complete=True)


def test_a_goal_beside_a_damaged_one_goes_on(place: Place) -> None:
    open_goal(place, "shop")
    place.journal.write_bytes(b"{}\n" + place.journal.read_bytes())
    fresh = place.again()
    fresh.todos.add("shop", CODEX, AddTodo(title="Own work"))
    done = fresh.todos.claim("shop", CODEX, ClaimTodo(todo_id="T1"))
    fresh.todos.release("shop", CODEX, ReleaseLease(todo_id="T1", version=1, epoch=1))
    assert done.object_id == "T1"
    assert fresh.workspace_view().envelope.alert


def test_a_damaged_workspace_journal_stops_every_goal_and_hides_none(place: Place) -> None:
    lines = place.house_journal.read_bytes().splitlines(keepends=True)
    place.house_journal.write_bytes(b"".join(lines) + b"{}\n")
    fresh = place.again()
    view = fresh.workspace_view()
    assert view.envelope.alert and view.alerts
    assert [goal.contract.answer for goal in view.goals] == ["ask"]
    assert len(view.goals[0].todos) == 3
    with refused(place, "journal_damaged"):
        fresh.todos.add(GOAL, CODEX, AddTodo(title="More"))
    with refused(place, "journal_damaged"):
        fresh.agents.add("third")


def test_an_owner_whose_enrolment_was_cut_out_is_missed(place: Place) -> None:
    place.again().view(GOAL)
    lines = place.house_journal.read_bytes().splitlines(keepends=True)
    place.house_journal.write_bytes(b"".join(lines[:2]))
    with refused(place, "rolled_back"):
        place.again().agents.add("third")
