"""Files that are missing, behind or not what the journal says: each told apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.lease import ClaimTodo, RenewLease
from loopx_kernel.domain.quota import SpendSlot
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.store.records import sealed
from loopx_kernel.workspace import health
from loopx_kernel.workspace.findings import Finding
from loopx_kernel.workspace.snapshots import state_at

from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    OWNER,
    Place,
    ledger_tree,
    open_goal,
    rebuilt,
    refused,
)


def edit_json(path: Path, change: Callable[[Any], None], *, seal: bool = False) -> None:
    """Saves a JSON file changed by hand; with ``seal``, its digest made to fit again."""
    value = json.loads(path.read_text("utf-8"))
    change(value)
    path.write_text(json.dumps(sealed(value) if seal else value, ensure_ascii=False), "utf-8")


def say_complete(value: Any) -> None:
    value["goals"][0]["status"] = "complete"


def test_a_status_written_into_the_registry_is_damage_and_true_of_nothing(place: Place) -> None:
    before = place.ws.state(GOAL)
    edit_json(place.registry, say_complete)
    fresh = place.again()
    assert fresh.state(GOAL) == before
    contract = fresh.view(GOAL, CLAUDE).contract
    assert contract.answer == "ask"
    (damage,) = fresh.view(GOAL).reads.damage
    assert damage.path == ".loopx/registry.json"
    assert len(damage.expected_digest) == len(damage.found_digest) == 64
    assert damage.expected_digest in (contract.question or "")
    assert not fresh.view(GOAL).completion.complete
    for act in (
        lambda: place.ws.todos.update(GOAL, CLAUDE, "T3", complete=True, epoch=2),
        lambda: place.ws.todos.add(GOAL, CODEX, AddTodo(title="More")),
        lambda: place.sign(
            place.ws.goals.change_status(GOAL, OWNER, ChangeGoalStatus(to="paused", reason="why"))
        ),
    ):
        with refused(place, "file_damaged") as error:
            act()
        assert error.facts["found_digest"] != error.facts["expected_digest"]


def test_a_registry_entry_with_a_digest_made_to_fit_is_damage_all_the_same(place: Place) -> None:
    def change(value: Any) -> None:
        entry = value["goals"][0]
        entry["quota"]["compute"] = 1
        value["goals"][0] = sealed(entry)

    edit_json(place.registry, change)
    assert place.again().view(GOAL).contract.answer == "ask"
    with refused(place, "file_damaged"):
        place.ws.todos.renew(GOAL, CLAUDE, RenewLease(todo_id="T3", version=5, epoch=2))


def test_a_registry_entry_from_the_future_is_damage(place: Place) -> None:
    def change(value: Any) -> None:
        entry = value["goals"][0]
        entry |= {"revision": 999, "status": "complete"}
        value["goals"][0] = sealed(entry)

    edit_json(place.registry, change)
    view = place.again().view(GOAL)
    assert view.contract.answer == "ask"
    assert "ahead" in view.reads.damage[0].reason
    with refused(place, "file_damaged"):
        place.ws.todos.renew(GOAL, CLAUDE, RenewLease(todo_id="T3", version=5, epoch=2))


@pytest.mark.parametrize(
    "content",
    [b"", bytes(80_000), b'{"goals": [', b"\xff\xfe{\0}\0", b'{"schema_version":"0.1","goals":{}}'],
    ids=["empty", "nul", "half", "utf-16", "no list"],
)
def test_an_unreadable_registry_is_not_taken_for_an_empty_one(place: Place, content: bytes) -> None:
    good = place.registry.read_bytes()
    place.registry.write_bytes(content)
    assert place.again().view(GOAL).contract.answer == "ask"
    with refused(place, "file_damaged"):
        place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))
    with refused(place, "file_damaged"):
        open_goal(place, "shop")
    place.registry.write_bytes(good)
    assert place.ws.view(GOAL, CLAUDE).contract.answer == "run"
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: json.dumps(json.loads(data)).encode(),
    ],
    ids=["bom", "crlf", "one line"],
)
def test_a_registry_saved_by_another_editor_is_read_as_it_is(
    place: Place, change: Callable[[bytes], bytes]
) -> None:
    place.registry.write_bytes(change(place.registry.read_bytes()))
    assert not place.again().view(GOAL).reads.damage
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))


def test_a_damaged_lease_stops_its_todo_and_nothing_else(place: Place) -> None:
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Write the docs"))
    edit_json(place.lease("T3"), lambda value: value.update(owner="codex"))
    view = place.again().view(GOAL)
    assert view.contract.answer == "run"
    assert view.contract.todo is not None and view.contract.todo.id == "T4"
    assert [row.todo.id for row in view.todos if row.damaged] == ["T3"]
    with refused(place, "file_damaged"):
        place.ws.todos.update(GOAL, CLAUDE, "T3", complete=True, epoch=2)
    with refused(place, "file_damaged"):
        place.ws.todos.renew(GOAL, CLAUDE, RenewLease(todo_id="T3", version=5, epoch=2))
    place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T4"))


def test_a_lease_from_the_future_is_damage(place: Place) -> None:
    edit_json(place.lease("T3"), lambda value: value.update(seq=999, version=9), seal=True)
    (damage,) = place.again().view(GOAL).reads.damage
    assert (damage.todo_id, damage.blocks_goal) == ("T3", False)
    with refused(place, "file_damaged"):
        place.ws.todos.renew(GOAL, CLAUDE, RenewLease(todo_id="T3", version=5, epoch=2))


def test_an_edited_owners_file_is_damage_and_makes_nobody_an_owner(place: Place) -> None:
    gate_id = place.ask()
    text = place.owners.read_text()
    place.owners.write_text(text.replace("huang ", "eve "))
    fresh = place.again()
    assert [owner.name for owner in fresh.owners.list()] == ["huang", "lin"]
    assert fresh.view(GOAL).contract.answer == "ask"
    with refused(place, "owners_changed") as error:
        place.decide(gate_id)
    assert "eve" in error.message
    with refused(place, "owners_changed"):
        open_goal(place, "shop")
    # Work that was done is taken in meanwhile.
    place.ws.quota.spend(GOAL, CLAUDE, SpendSlot(turn="turn-0003"))
    place.owners.write_text(text)
    assert place.decide(gate_id).state.gates[gate_id].status == "approved"


def test_an_edited_spend_ledger_is_damage(place: Place) -> None:
    place.spend.write_bytes(place.spend.read_bytes().replace(b'"slots":1', b'"slots":0'))
    assert place.again().view(GOAL).contract.quota.used == 1
    assert place.again().view(GOAL).contract.answer == "ask"
    with refused(place, "file_damaged"):
        place.ws.quota.spend(GOAL, CLAUDE, SpendSlot(turn="turn-0003"))


@pytest.mark.parametrize("name", ["registry", "owners", "spend", "lease", "state_file"])
def test_a_deleted_file_is_missing_then_rebuilt_and_recorded_once(place: Place, name: str) -> None:
    path: Path = place.lease("T3") if name == "lease" else getattr(place, name)
    before = path.read_bytes()
    path.unlink()
    tree = ledger_tree(place)
    view = place.again().view(GOAL)
    shown = str(path.relative_to(place.root))
    assert shown in view.reads.missing_files
    assert view.contract.answer == "run" and not view.envelope.alert
    assert ledger_tree(place) == tree
    place.ws.todos.update(GOAL, CLAUDE, "T3", note="going on", version=5, epoch=2)
    assert rebuilt(place) == [shown]
    if name in ("registry", "owners", "spend"):
        assert path.read_bytes() == before
    assert not place.ws.view(GOAL).reads.missing_files
    place.ws.todos.update(GOAL, CLAUDE, "T3", note="going on", version=6, epoch=2)
    assert rebuilt(place) == [shown]
    place.spend.unlink()
    place.ws.todos.update(GOAL, CLAUDE, "T3", note="going on", version=7, epoch=2)
    assert rebuilt(place) == [shown, str(place.spend.relative_to(place.root))]


def test_a_deleted_lease_is_made_again_by_whoever_writes_next(place: Place) -> None:
    path = place.lease("T3")
    before = path.read_bytes()
    path.unlink()
    place.ws.handoff.write(GOAL, CODEX, "on it")
    assert path.read_bytes() == before
    assert rebuilt(place) == [str(path.relative_to(place.root))]
    assert not place.ws.view(GOAL).reads.missing_files


def test_the_state_file_of_a_long_goal_is_rebuilt_as_it_was(place: Place) -> None:
    for number in range(60):
        place.ws.todos.add(GOAL, CODEX, AddTodo(title=f"Step {number}"))
        place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id=f"T{number + 4}"))
        place.ws.todos.update(GOAL, CODEX, f"T{number + 4}", complete=True)
    before = place.state_file.read_text("utf-8")
    middle = place.ws.state(GOAL).seq - 90
    place.state_file.unlink()
    place.ws.quota.spend(GOAL, CLAUDE, SpendSlot(turn="turn-0003"))
    assert place.state_file.read_text("utf-8") == before
    early = state_at(place.ws._core.goal(GOAL), middle)
    assert (early.seq, sum(todo.finished for todo in early.todos.values())) == (middle, 32)


def test_where_the_repo_is_missing_nothing_is_run(place: Place) -> None:
    place.ws.turns.settle(GOAL, CLAUDE, "turn-0003", outcome="failed")
    assert place.ws.view(GOAL, CLAUDE).contract.answer == "run"
    (place.root / "mall-frontend").rename(place.root / "moved")
    view = place.ws.view(GOAL, CLAUDE)
    assert view.contract.answer != "run"
    assert not view.reads.repo_present
    assert repo_finding(place).ok is False
    retire = ChangeGoalStatus(to="retired", reason="x")
    place.sign(place.ws.goals.change_status(GOAL, OWNER, retire))
    assert repo_finding(place).ok is True


def repo_finding(place: Place) -> Finding:
    ws = place.again()
    found = health.look(ws, ws.workspace_view())
    return next(one for one in found if one.name == f"{GOAL}: repo")


@pytest.mark.parametrize("name", ["registry", "owners", "spend", "lease"])
def test_what_stands_in_the_place_of_a_file_is_moved_and_not_repaired(
    place: Place, name: str
) -> None:
    path = place.lease("T3") if name == "lease" else getattr(place, name)
    path.unlink()
    path.mkdir()
    (damage,) = place.again().view(GOAL).reads.damage
    assert damage.path.endswith(path.name)
    assert damage.command == "move what stands in its place"
    path.rmdir()
    place.again().handoff.bring_level(GOAL, CLAUDE)
    assert place.again().view(GOAL).reads.damage == ()
    assert path.is_file()
