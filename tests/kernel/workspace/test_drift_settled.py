"""The two signed ways out of an edit by hand: taken over, or put back; nothing typed is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.lease import ClaimTodo
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import LoopxError, Storage
from loopx_kernel.workspace import Done, Unsigned
from loopx_kernel.workspace.state_files import StateFile

from tests.kernel.workspace.build import CLAUDE, CODEX, GOAL, OWNER, SECOND, Place, refused
from tests.kernel.workspace.forge import append_raw, records
from tests.kernel.workspace.test_drift import (
    EDITS,
    add_row,
    remove_row,
    retitle,
    save,
    tick,
)


def adopt(place: Place) -> Done[Any]:
    return place.sign(place.ws.drift.adopt(GOAL, OWNER))


def restore(place: Place) -> Done[Any]:
    return place.sign(place.ws.drift.restore(GOAL, OWNER))


def kept(place: Place) -> list[str]:
    """What stands in quarantine as an edited list."""
    folder = place.runtime / "quarantine"
    return [path.read_text("utf-8") for path in sorted(folder.glob("*-drift*"))]


def assert_work_goes_on(place: Place) -> None:
    view = place.again().view(GOAL, CLAUDE)
    assert (view.contract.answer, view.reads.drift) == ("run", ())
    done = place.ws.todos.add(GOAL, CODEX, AddTodo(title="Write the docs"))
    place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id=done.object_id))
    assert "Write the docs" in place.state_file.read_text("utf-8")
    assert not place.again().view(GOAL).reads.drift


def test_the_edit_is_shown_as_a_diff_with_the_lines_of_the_file(place: Place) -> None:
    text = save(place, lambda old: add_row(retitle(old)))
    shown = place.ws.drift.look(GOAL)
    assert "-- [ ] **T3** Convert components" in shown.diff
    assert "+- [ ] **T3** Convert every component" in shown.diff
    assert "+- [ ] Ask the designers" in shown.diff
    (added,) = [item for item in shown.drift if item.kind == "added"]
    assert text.splitlines()[added.line - 1] == "- [ ] Ask the designers"
    assert not [line for line in shown.diff if line[1:] == "## Todos" and line[0] in "+-"]


def test_new_rows_and_titles_are_taken_over_in_one_signed_event(place: Place) -> None:
    before = len(place.lines())
    text = save(place, lambda old: add_row(add_row(retitle(old))))
    done = adopt(place)
    assert len(place.lines()) == before + 1
    todos = done.state.todos
    assert todos["T3"].title == "Convert every component"
    assert [todos[name].title for name in ("T4", "T5")] == ["Ask the designers"] * 2
    assert (todos["T4"].origin.actor_kind, todos["T4"].status) == ("owner", "open")
    assert (todos["T3"].status, todos["T3"].lease) == (
        "claimed",
        place.ws.state(GOAL).todos["T3"].lease,
    )
    assert kept(place) == [text]
    assert_work_goes_on(place)
    place.ws.todos.update(GOAL, CLAUDE, "T3", complete=True, version=5, epoch=2)


def test_a_tick_completes_nothing_and_is_taken_back(place: Place) -> None:
    save(place, tick)
    unsigned = place.ws.drift.adopt(GOAL, OWNER)
    assert "T3 was ticked by hand, which needs evidence" in unsigned.preview
    done = place.sign(unsigned)
    assert done.state.todos["T3"].status == "claimed"
    assert "- [ ] **T3**" in place.state_file.read_text("utf-8")
    assert_work_goes_on(place)


def test_a_new_row_that_is_ticked_becomes_open_work(place: Place) -> None:
    save(place, lambda old: add_row(old).replace("- [ ] Ask", "- [x] Ask"))
    unsigned = place.ws.drift.adopt(GOAL, OWNER)
    assert "a row was ticked by hand, which needs evidence" in unsigned.preview
    assert place.sign(unsigned).state.todos["T4"].status == "open"
    assert "- [ ] **T4** Ask the designers" in place.state_file.read_text("utf-8")


def test_a_row_that_was_taken_out_comes_back(place: Place) -> None:
    save(place, remove_row)
    assert adopt(place).state.todos["T3"].status == "claimed"
    assert "**T3** Convert components" in place.state_file.read_text("utf-8")
    assert_work_goes_on(place)


@pytest.mark.parametrize("name", EDITS)
def test_restoring_renders_the_list_again_and_keeps_what_was_typed(place: Place, name: str) -> None:
    before, titles = place.state_file.read_text("utf-8"), titles_of(place)
    mine = "\n## Notes of mine\n\n- [ ] buy milk\n"
    text = save(place, lambda old: EDITS[name][0](old) + mine)
    restore(place)
    after = place.state_file.read_text("utf-8")
    assert rows(after) == rows(before)
    assert after.endswith(mine)
    assert titles_of(place) == titles
    assert kept(place) == [text]
    assert_work_goes_on(place)


def titles_of(place: Place) -> dict[str, str]:
    return {todo.id: todo.title for todo in place.again().state(GOAL).todos.values()}


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("- [") and "milk" not in line]


@pytest.mark.parametrize("name", EDITS)
@pytest.mark.parametrize("settle", [adopt, restore])
def test_a_later_edit_makes_the_decision_stale(
    place: Place, name: str, settle: Callable[[Place], object]
) -> None:
    save(place, EDITS[name][0])
    prepare = place.ws.drift.adopt if settle is adopt else place.ws.drift.restore
    unsigned = prepare(GOAL, OWNER)
    assert unsigned.statement["payload"]["digest"] == place.ws.drift.look(GOAL).digest
    text = save(place, lambda old: old.replace("## Todos\n", "## Todos\n\n- [ ] Later\n", 1))
    with refused(place, "stale_decision"):
        place.sign(unsigned)
    assert place.state_file.read_text("utf-8") == text
    settle(place)
    assert_work_goes_on(place)


def test_an_edit_taken_back_meanwhile_is_not_adopted(place: Place) -> None:
    before = place.state_file.read_bytes()
    save(place, add_row)
    shown = place.ws.drift.look(GOAL)
    unsigned = place.ws.drift.adopt(GOAL, OWNER, shown)
    place.state_file.write_bytes(before)
    with refused(place, "stale_decision"):
        place.sign(unsigned)
    with refused(place, "stale_decision"):
        place.ws.drift.adopt(GOAL, OWNER, shown)


def test_without_an_edit_there_is_nothing_to_settle(place: Place) -> None:
    for prepare in (place.ws.drift.adopt, place.ws.drift.restore):
        with refused(place, "invalid_value"):
            prepare(GOAL, OWNER)


@pytest.mark.parametrize("title", ["x" * 501, "bell \a", "\u200b"], ids=["long", "bell", "blank"])
def test_a_title_that_may_be_none_is_refused_with_its_line_and_can_be_restored(
    place: Place, title: str
) -> None:
    save(place, lambda old: old.replace("## Todos\n", f"## Todos\n\n- [ ] {title}\n", 1))
    with refused(place, "invalid_value") as error:
        place.ws.drift.adopt(GOAL, OWNER)
    assert "line 11" in error.message
    restore(place)
    assert_work_goes_on(place)


def test_two_owners_who_adopt_the_same_edit_add_its_rows_once(place: Place) -> None:
    save(place, add_row)
    first = place.ws.drift.adopt(GOAL, OWNER)
    second = place.ws.drift.adopt(GOAL, SECOND)
    place.sign(first)
    with refused(place, "stale_decision"):
        place.sign(second)
    assert list(place.ws.state(GOAL).todos) == ["T1", "T2", "T3", "T4"]


def test_the_same_decision_sent_again_is_its_first_receipt(place: Place) -> None:
    save(place, add_row)
    first = place.sign(place.ws.drift.adopt(GOAL, OWNER, event_id="adopt-1"))
    again: Unsigned = place.ws.drift.adopt(GOAL, OWNER, event_id="adopt-1")
    assert again.done is not None and again.done.receipt.replayed
    assert again.done.receipt.seq == first.receipt.seq
    assert list(place.ws.state(GOAL).todos) == ["T1", "T2", "T3", "T4"]


@pytest.mark.parametrize("settle", [adopt, restore])
def test_a_crash_after_the_line_is_rolled_forward_and_decides_nothing_twice(
    place: Place, monkeypatch: pytest.MonkeyPatch, settle: Callable[[Place], object]
) -> None:
    text = save(place, lambda old: add_row(tick(old)))

    def crash(*_: object) -> None:
        raise Storage("no_space", "full")

    with monkeypatch.context() as patch:
        patch.setattr(StateFile, "_write", crash)
        settle(place)
    assert place.state_file.read_text("utf-8") == text
    view = place.again().view(GOAL, CLAUDE)
    assert (view.contract.answer, view.reads.drift) == ("run", ())
    assert view.reads.behind_files
    for prepare in (place.ws.drift.adopt, place.ws.drift.restore):
        with refused(place, "invalid_value"):
            prepare(GOAL, OWNER)
    assert_work_goes_on(place)
    assert kept(place) == [text]
    assert place.state_file.read_text("utf-8").count("Ask the designers") == (settle is adopt)


def test_a_save_while_the_list_is_rendered_again_is_drift_and_not_lost(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(place, add_row)
    keep = StateFile._keep

    def saved_meanwhile(self: StateFile, data: bytes) -> None:
        keep(self, data)
        save(place, lambda old: old.replace("Ask the designers", "Ask the owners"))

    with monkeypatch.context() as patch:
        patch.setattr(StateFile, "_keep", saved_meanwhile)
        restore(place)
    assert "Ask the owners" in place.state_file.read_text("utf-8")
    assert place.again().view(GOAL).reads.drift
    restore(place)
    assert_work_goes_on(place)


def test_only_an_owner_s_signature_adopts(place: Place) -> None:
    save(place, retitle)
    adopt(place)
    line = records(place.journal)[-1]
    save(place, lambda old: old.replace("Convert every component", "Convert nothing"))
    restore(place)
    for forged in (
        {**line, "event_id": "e-copy"},
        {key: value for key, value in line.items() if key != "signed"},
        {**line, "actor_kind": "agent", "actor_agent_id": CLAUDE},
        line,
    ):
        append_raw(place.journal, forged)
    state = place.again().state(GOAL)
    assert state.alert_count == 4
    assert state.todos["T3"].title == "Convert every component"


def test_a_line_cannot_add_more_than_was_signed(place: Place) -> None:
    save(place, add_row)
    adopt(place)
    lines = records(place.journal)
    line = lines.pop()
    more = {"type": "todo.added", "todo_id": "T5", "title": "Not signed"}
    line["payload"]["parts"].append(more)
    place.journal.write_bytes(b"".join(place.journal.read_bytes().splitlines(True)[:-1]))
    append_raw(place.journal, line)
    state = place.again().state(GOAL)
    assert list(state.todos) == ["T1", "T2", "T3"]
    assert state.alert_count == 1


def test_a_decision_about_the_goal_made_before_is_stale_afterwards(place: Place) -> None:
    command = ChangeGoalStatus(to="paused", reason="sort it out")
    unsigned = place.ws.goals.change_status(GOAL, OWNER, command)
    save(place, retitle)
    adopt(place)
    with refused(place, "stale_decision"):
        place.sign(unsigned)


ROWS = st.lists(
    st.tuples(st.sampled_from("tick retitle remove add".split()), st.integers(0, 5)), max_size=6
)


@given(edits=ROWS, adopting=st.booleans())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_was_edited_one_decision_makes_the_list_level(
    tmp_path_factory: pytest.TempPathFactory,
    _template: Place,
    edits: list[tuple[str, int]],
    adopting: bool,
) -> None:
    from tests.kernel.workspace.build import copied

    folder: Path = tmp_path_factory.mktemp("edit")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOPX_CACHE_DIR", str(folder / "cache"))
        place = copied(_template, folder)
        lines = place.state_file.read_text("utf-8").splitlines(True)
        for kind, number in edits:
            lines = edited(lines, kind, number)
        place.state_file.write_text("".join(lines), "utf-8")
        before = titles_of(place)
        drift = place.ws.drift.look(GOAL).drift
        try:
            (adopt if adopting else restore)(place)
        except LoopxError as error:
            assert error.code == "invalid_value" and not drift
            return
        added = [item.text for item in drift if item.kind == "added"]
        retitled = {str(i.todo_id): i.text for i in drift if i.kind == "retitled"}
        after = titles_of(place)
        assert list(after.values())[3:] == (added if adopting else [])
        expected = before | retitled if adopting else before
        assert {name: after[name] for name in before} == expected
        assert_work_goes_on(place)


def edited(lines: list[str], kind: str, number: int) -> list[str]:
    places = [n for n, line in enumerate(lines) if line.startswith("- [")]
    if kind == "add" or not places:
        at = (places or [len(lines)])[0]
        return [*lines[:at], f"- [ ] New {number}\n", *lines[at:]]
    at = places[number % len(places)]
    line = lines[at]
    if kind == "remove":
        return lines[:at] + lines[at + 1 :]
    new = line.replace("[ ]", "[x]") if kind == "tick" else line.rstrip("\n") + f" {number}\n"
    return [*lines[:at], new, *lines[at + 1 :]]
