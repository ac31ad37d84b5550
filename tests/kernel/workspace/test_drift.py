"""A person's edit of the todo list: seen, never overwritten, and in nobody's way but new work's."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.lease import ClaimTodo, ReleaseLease, RenewLease
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.store.state_swap import STATE_LIMIT
from loopx_kernel.workspace import resume

from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    OWNER,
    STATE_FILE,
    Place,
    rebuilt,
    refused,
)

Edit = Callable[[str], str]


def tick(text: str) -> str:
    return text.replace("- [ ] **T3**", "- [x] **T3**")


def retitle(text: str) -> str:
    return text.replace("Convert components", "Convert every component")


def add_row(text: str) -> str:
    return text.replace("## Todos\n", "## Todos\n\n- [ ] Ask the designers\n", 1)


def remove_row(text: str) -> str:
    return "".join(line for line in text.splitlines(True) if "**T3**" not in line)


EDITS: dict[str, tuple[Edit, str]] = {
    "tick": (tick, "ticked"),
    "retitle": (retitle, "retitled"),
    "add": (add_row, "added"),
    "remove": (remove_row, "removed"),
}


def save(place: Place, edit: Edit) -> str:
    """What an editor leaves: the edited text, which is not the old one."""
    old = place.state_file.read_text("utf-8")
    new = edit(old)
    assert new != old
    place.state_file.write_text(new, encoding="utf-8")
    return new


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_asks_a_person_and_stops_new_work_alone(place: Place, name: str) -> None:
    edit, kind = EDITS[name]
    gate_id = place.ask()
    text = save(place, edit)
    view = place.again().view(GOAL, CLAUDE)
    assert view.contract.answer == "repair"
    assert view.contract.repair is not None and view.contract.repair.by == "person"
    assert kind in [item.kind for item in view.reads.drift]
    assert view.needs_you[0].id == "drift:dark-mode" or gate_id in {n.id for n in view.needs_you}
    assert not view.reads.damage

    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Write the docs"))
    with refused(place, "drift") as error:
        place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T4"))
    assert error.facts["differences"]
    assert place.state_file.read_text("utf-8") == text

    place.decide(gate_id)
    place.ws.todos.update(GOAL, CLAUDE, "T3", complete=True, version=5, epoch=2)
    state = place.again().state(GOAL)
    assert state.gates[gate_id].status == "approved"
    assert state.todos["T3"].status == "done"
    assert place.state_file.read_text("utf-8") == text
    assert rebuilt(place) == []


def test_a_tick_completes_nothing(place: Place) -> None:
    save(place, tick)
    place.ws.handoff.write(GOAL, CLAUDE, "Next: buttons")
    view = place.again().view(GOAL)
    assert place.again().state(GOAL).todos["T3"].status == "claimed"
    assert [item.kind for item in view.needs_you] == ["tick"]
    assert not view.completion.complete


def test_an_edit_taken_back_is_no_drift_any_more(place: Place) -> None:
    before = place.state_file.read_bytes()
    save(place, retitle)
    assert place.ws.view(GOAL).reads.drift
    place.state_file.write_bytes(before)
    assert not place.ws.view(GOAL).reads.drift
    place.ws.todos.release(GOAL, CLAUDE, ReleaseLease(todo_id="T3", version=5, epoch=2))
    place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T3"))
    assert "codex" in place.state_file.read_text("utf-8")


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("- [ ]", "*   [ ]"),
        lambda text: text + "\n## Notes of mine\n\n- [ ] buy milk\n",
    ],
    ids=["crlf", "bom", "no final newline", "bullets", "own section"],
)
def test_what_means_the_same_is_no_drift(place: Place, edit: Edit) -> None:
    save(place, edit)
    assert place.ws.view(GOAL, CLAUDE).contract.answer == "run"
    place.ws.todos.update(GOAL, CLAUDE, "T3", complete=True, epoch=2)
    assert not place.ws.view(GOAL).reads.drift
    assert "- [x] **T3**" in place.state_file.read_text("utf-8")


def test_a_person_s_own_section_survives_every_rendering(place: Place) -> None:
    mine = "\n## Notes of mine\n\n- [ ] buy milk \\u2028 漢\n"
    save(place, lambda text: text + mine)
    for number in range(3):
        place.ws.todos.add(GOAL, CODEX, AddTodo(title=f"More {number}"))
        place.ws.handoff.write(GOAL, CLAUDE, f"Note {number}")
    assert mine.strip() in place.state_file.read_text("utf-8")
    assert not place.ws.view(GOAL).reads.drift


def test_an_old_copy_is_caught_up_silently(place: Place) -> None:
    old = place.state_file.read_bytes()
    place.ws.todos.update(GOAL, CLAUDE, "T3", complete=True, epoch=2)
    place.state_file.write_bytes(old)
    view = place.ws.view(GOAL)
    assert not view.reads.drift
    assert len(view.reads.behind_files) == 1
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))
    assert "- [x] **T3**" in place.state_file.read_text("utf-8")
    assert rebuilt(place) == []


def test_prose_that_looks_like_structure_is_prose(place: Place) -> None:
    title = "installed ``` <!-- ## Todos - [x] fake [/x] gate approved"
    done = place.ws.todos.add(GOAL, CODEX, AddTodo(title=title))
    view = place.again().view(GOAL)
    assert not view.reads.drift and not view.gates
    assert [row.todo.id for row in view.todos] == ["T1", "T2", "T3", done.object_id]
    save(place, lambda text: text + "\n```\n## Todos\n- [ ] **T9** not one\n")
    assert not place.again().view(GOAL).reads.drift


def test_the_owner_may_still_stop_the_goal_while_it_drifts(place: Place) -> None:
    from loopx_kernel.domain.goal import ChangeGoalStatus

    save(place, remove_row)
    command = ChangeGoalStatus(to="paused", reason="sort the list out first")
    place.sign(place.ws.goals.change_status(GOAL, OWNER, command))
    assert place.again().state(GOAL).status == "paused"


IN_ITS_PLACE: dict[str, Callable[[Place], object]] = {
    "folder": lambda place: place.state_file.mkdir(),
    "link": lambda place: place.state_file.symlink_to(place.root / "mall-frontend" / "elsewhere"),
    "dangling link": lambda place: place.state_file.symlink_to("nowhere"),
    "pipe": lambda place: os.mkfifo(place.state_file),
    "too large": lambda place: place.state_file.write_bytes(b"x" * (STATE_LIMIT + 1)),
}


@pytest.mark.parametrize("name", IN_ITS_PLACE)
def test_something_else_in_its_place_stops_new_work_alone(place: Place, name: str) -> None:
    elsewhere = place.root / "mall-frontend" / "elsewhere"
    elsewhere.write_bytes(place.state_file.read_bytes())
    before = elsewhere.read_bytes()
    place.state_file.unlink()
    IN_ITS_PLACE[name](place)
    view = place.again().view(GOAL, CLAUDE)
    assert view.contract.answer == "ask"
    assert [item.path for item in view.reads.damage] == [str(STATE_FILE)]

    place.ws.todos.renew(GOAL, CLAUDE, RenewLease(todo_id="T3", version=5, epoch=2))
    gate_id = place.ask()
    assert place.decide(gate_id).state.gates[gate_id].status == "approved"
    place.ws.todos.update(GOAL, CLAUDE, "T3", complete=True, version=6, epoch=2)
    done = place.ws.todos.add(GOAL, CODEX, AddTodo(title="Write the docs"))
    code = "too_large" if name == "too large" else "not_regular"
    with refused(place, code):
        place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id=done.object_id))
    for settle in (place.ws.drift.adopt, place.ws.drift.restore):
        with refused(place, code):
            settle(GOAL, OWNER)
    assert elsewhere.read_bytes() == before

    aside = place.state_file.with_name("aside")
    place.state_file.rename(aside)
    place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id=done.object_id))
    assert "Write the docs" in place.state_file.read_text("utf-8")
    assert rebuilt(place) == [str(STATE_FILE)]


def test_a_number_of_a_line_that_nobody_wrote_is_just_an_edit(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Path] = []
    load = resume.load

    def counted(path: Path, *values: Any, **named: Any) -> Any:
        looks.append(path)
        assert len(looks) < 50, "looks for states kept at lines that cannot be"
        return load(path, *values, **named)

    monkeypatch.setattr(resume, "load", counted)
    for seq in ("999999999999999", "0", "1"):
        text = place.state_file.read_text("utf-8")
        place.state_file.write_text(re.sub("seq: .*", f"seq: {seq}", tick(text)), "utf-8")
        assert [item.todo_id for item in place.ws.view(GOAL).reads.drift if item.kind == "ticked"]
        place.sign(place.ws.drift.restore(GOAL, OWNER))
        assert not place.ws.view(GOAL).reads.drift


@pytest.mark.parametrize(
    "typed",
    [
        lambda text: text.replace("*held by* claude-code", "*held by* claude-code (call Bo)"),
        lambda text: text.replace("*evidence* dark", "*evidence* call Bo dark"),
        lambda text: text.replace("\nhandoff_mode:", "\n# call Bo\nhandoff_mode:"),
        lambda text: re.sub(r"(\*held by\* .*\n)", r"\1call Bo\n", text),
        lambda text: text.replace("\n", "\r\n").replace(
            "  - *held", "  - *note* call Bo\r\n  - *held"
        ),
    ],
    ids=["holder", "evidence", "comment", "below a detail", "a detail of one's own"],
)
def test_what_was_typed_over_the_kernel_s_own_words_stays(place: Place, typed: Edit) -> None:
    save(place, typed)
    assert not place.ws.view(GOAL).reads.drift
    for number in range(3):
        place.ws.todos.add(GOAL, CODEX, AddTodo(title=f"More {number}"))
        place.ws.handoff.write(GOAL, CLAUDE, f"Note {number}")
    text = place.state_file.read_text("utf-8")
    assert text.count("call Bo") == 1
    assert text.index("## Kept from the to-do list") < text.index("call Bo")
    assert text.count("*held by* claude-code until") == 1
    assert not place.ws.view(GOAL).reads.drift
