"""Where a goal's journal stood when an owner came: a witness that needs no cache."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.records import Head
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.workspace import Workspace, ledger

from tests.kernel.workspace.build import (
    CODEX,
    GOAL,
    OWNER,
    SECOND,
    Place,
    enrol,
    new_key,
    open_goal,
    refused,
)
from tests.kernel.workspace.forge import append_raw, records, rewrite

Change = Callable[[Place, int], None]


def enrolled(place: Place, name: str = "wu") -> int:
    """The line at which the goal's journal ended when this owner came; three more follow."""
    enrol(place, name, new_key(place.root.parent, name), by=OWNER)
    seq = len(place.lines())
    for number in range(3):
        place.ws.todos.add(GOAL, CODEX, AddTodo(title=f"After {name} {number}"))
    return seq


def keep(place: Place, count: int) -> None:
    lines = place.journal.read_bytes().splitlines(keepends=True)
    place.journal.write_bytes(b"".join(lines[:count]))


def retell(place: Place, number: int) -> None:
    """Another title in line ``number``, and everything after it chained anew."""
    lines = records(place.journal)
    assert lines[number - 1]["event_type"] == "todo.added"
    lines[number - 1]["payload"]["title"] = "Another title"
    rewrite(place.journal, lines)


@pytest.fixture
def newcomer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Place], Workspace]:
    """Somebody who never read this workspace; there is no cache to tell them anything."""
    numbers = iter(range(100))

    def open_(place: Place) -> Workspace:
        monkeypatch.setenv("LOOPX_CACHE_DIR", str(tmp_path / f"nobody-{next(numbers)}"))
        return place.again()

    return open_


GONE: dict[str, tuple[Change, str]] = {
    "one line short": (lambda place, seq: keep(place, seq - 1), "shorter"),
    "the opening alone": (lambda place, seq: keep(place, 1), "shorter"),
    "empty": (lambda place, seq: keep(place, 0), "shorter"),
    "missing": (lambda place, seq: place.journal.unlink(), "shorter"),
    "retold": (lambda place, seq: retell(place, 3), "rewritten"),
}


@pytest.mark.parametrize("name", GONE)
def test_a_journal_without_the_line_an_enrolment_names_was_rolled_back(
    place: Place, newcomer: Callable[[Place], Workspace], name: str
) -> None:
    seq = enrolled(place)
    change, kind = GONE[name]
    change(place, seq)
    stranger = newcomer(place)
    with refused(place, "rolled_back") as error:
        stranger.todos.add(GOAL, CODEX, AddTodo(title="More"))
    assert (error.facts["kind"], error.facts["line"]) == (kind, seq)
    view = stranger.workspace_view()
    assert [item.goal_id for item in view.unread] or view.goals[0].contract.answer == "ask"
    found = newcomer(place).events.audit(GOAL).findings
    (status,) = {item.status for item in found if item.path.endswith("events.jsonl")}
    assert status == ("tampered" if kind == "rewritten" else "rolled_back")


@pytest.mark.parametrize("name", GONE)
def test_one_signature_explains_it_to_everybody(
    place: Place, newcomer: Callable[[Place], Workspace], name: str
) -> None:
    enrolled(place)
    seq = enrolled(place, "wang")
    GONE[name][0](place, seq)
    place.sign(newcomer(place).repairs.journal(GOAL, OWNER))
    for ws in (place.ws, newcomer(place)):
        assert not [row for row in ws.repairs.list() if "events.jsonl" in row.damage.path]
    for row in newcomer(place).repairs.list():
        place.sign(place.ws.repairs.file(Path(row.damage.path), OWNER))
    newcomer(place).todos.add(GOAL, CODEX, AddTodo(title="More"))

    # The explanation is itself a line: without it the loss is one again.
    after = next(i for i, r in enumerate(records(place.journal)) if "cut" in r["payload"])
    keep(place, after)
    with refused(place, "rolled_back"):
        newcomer(place).todos.add(GOAL, CODEX, AddTodo(title="More"))


def test_what_came_after_the_enrolment_is_no_part_of_it(
    place: Place, newcomer: Callable[[Place], Workspace]
) -> None:
    seq = enrolled(place)
    keep(place, seq + 1)
    assert not newcomer(place).view(GOAL).reads.damage
    keep(place, seq)
    assert not newcomer(place).view(GOAL).reads.damage


def test_a_reader_that_stays_looks_for_an_enrolment_that_is_new(place: Place) -> None:
    reader = place.again()
    reader.view(GOAL)
    seq = enrolled(place)
    lines = place.journal.read_bytes()
    reader.agents.list()
    retell(place, 3)
    assert "rewritten" in str(newest_damage(reader))
    place.journal.write_bytes(lines)
    assert newest_damage(reader) is None
    assert reader.view(GOAL).seq == seq + 3


def newest_damage(ws: Workspace) -> Any:
    found = ws._core.fresh_goal(GOAL).damage
    return found and found.facts["kind"]


def forged_heads(place: Place) -> dict[str, Any]:
    enrolment = records(place.house_journal)[-1]
    assert enrolment["event_type"] == "owner.enrolled"
    line = copy.deepcopy(enrolment) | {"event_id": "e-forged"}
    key = new_key(place.root.parent, "eve")
    line["payload"] |= {
        "name": "eve",
        "key": key.public.line,
        "fingerprint": key.public.fingerprint,
        "heads": {GOAL: {"seq": 900, "head": "0" * 64}},
    }
    return line


def bare(line: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in line.items() if key != "signed"}


FORGERIES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "signed for another": dict,
    "unsigned": bare,
    "an agent's": lambda line: bare(line) | {"actor_kind": "agent", "actor_agent_id": CODEX},
    "the kernel's": lambda line: bare(line) | {"actor_kind": "code", "actor_agent_id": "loopx"},
    "for itself": lambda line: line | {"actor_agent_id": "eve"},
    "a revocation": lambda line: bare(line) | {"event_type": "owner.revoked"},
    "of a goal": lambda line: line | {"goal_id": GOAL},
}


@pytest.mark.parametrize("name", FORGERIES)
def test_heads_that_nobody_signed_do_nothing(
    place: Place, newcomer: Callable[[Place], Workspace], name: str
) -> None:
    enrolled(place)
    append_raw(place.house_journal, FORGERIES[name](forged_heads(place)))
    for ws in (place.ws, newcomer(place)):
        assert not ws.view(GOAL).reads.damage
        assert len(ws._core.house.state.alerts) == 1
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))


def test_heads_of_a_signed_line_changed_by_hand_do_nothing(
    place: Place, newcomer: Callable[[Place], Workspace]
) -> None:
    enrolled(place)
    lines = records(place.house_journal)
    lines[-1]["payload"]["heads"][GOAL] = Head(seq=900, head="0" * 64).model_dump()
    rewrite(place.house_journal, lines)
    assert newest_damage(newcomer(place)) is None
    assert [owner.name for owner in newcomer(place).owners.list()] == [OWNER, SECOND]


def test_it_costs_one_look_at_one_line_and_nothing_where_nobody_came(
    place: Place, newcomer: Callable[[Place], Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    watched = place.journal
    find = ledger.line_with_seq

    def counted(journal: Any, seq: int) -> Any:
        if journal.path == watched:
            looks.append(seq)
        return find(journal, seq)

    monkeypatch.setattr(ledger, "line_with_seq", counted)
    enrolled(place)
    head = enrolled(place, "wang")
    open_goal(place, "shop")
    looks.clear()
    reader = newcomer(place)._core
    reader.house.refresh()
    for _ in range(3):
        reader.fresh_goal(GOAL)
    assert looks.count(head) == 1
    looks.clear()
    watched = place.runtime.parent / "shop" / "events.jsonl"
    reader.fresh_goal("shop")
    assert looks == []
