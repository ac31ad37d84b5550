"""Every kind of damage of a file: listed, repaired by a signature, and the goal goes on."""

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
from loopx_kernel.errors import Storage
from loopx_kernel.store.quarantine import digest_of
from loopx_kernel.workspace import Done
from loopx_kernel.workspace.pieces import Pieces

from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    OWNER,
    PUSH,
    Place,
    ledger_tree,
    open_goal,
    refused,
)
from tests.kernel.workspace.forge import append_raw, records
from tests.kernel.workspace.test_damage import edit_json, say_complete

HOUSE = "_workspace"


def fix(place: Place, path: Path) -> Done[Any]:
    return place.sign(place.ws.repairs.file(path, OWNER))


def kept(place: Place) -> list[bytes]:
    """What repairs set aside, in the goal's and the workspace's quarantine."""
    folders = (place.runtime / "quarantine", place.house_journal.parent / "quarantine")
    return [path.read_bytes() for folder in folders for path in sorted(folder.glob("*-repair*"))]


def assert_whole_and_working(place: Place) -> None:
    """Nothing is damaged, and people and agents write again."""
    assert place.again().repairs.list() == ()
    view = place.again().view(GOAL, CLAUDE)
    assert view.contract.answer == "run" and not view.reads.damage
    place.ws.todos.renew(GOAL, CLAUDE, RenewLease(todo_id="T3", version=5, epoch=2))
    place.ws.quota.spend(GOAL, CLAUDE, SpendSlot(turn="turn-0003"))
    done = place.ws.todos.add(GOAL, CODEX, AddTodo(title="Write the docs"))
    place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id=done.object_id))
    gate_id = place.ask(PUSH)
    assert place.decide(gate_id).state.gates[gate_id].status == "approved"
    open_goal(place, "shop")
    assert place.again().repairs.list() == ()


def bad_entry(place: Place) -> Path:
    edit_json(place.registry, say_complete)
    return place.registry


def entry_from_the_future(place: Place) -> Path:
    def change(value: Any) -> None:
        value["goals"][0]["revision"] = 999

    edit_json(place.registry, change)
    return place.registry


def foreign_entry(place: Place) -> Path:
    edit_json(place.registry, lambda value: value["goals"].append({"id": "ghost"}))
    return place.registry


def nul_registry(place: Place) -> Path:
    place.registry.write_bytes(bytes(80_000))
    return place.registry


def half_registry(place: Place) -> Path:
    place.registry.write_bytes(b'{"goals": [')
    return place.registry


def other_owner(place: Place) -> Path:
    place.owners.write_text(place.owners.read_text().replace("huang ", "eve "))
    return place.owners


def empty_owners(place: Place) -> Path:
    place.owners.write_bytes(b"")
    return place.owners


def lease_of_another(place: Place) -> Path:
    edit_json(place.lease("T3"), lambda value: value.update(owner="codex"))
    return place.lease("T3")


def lease_from_the_future(place: Place) -> Path:
    edit_json(place.lease("T3"), lambda value: value.update(seq=999, version=9), seal=True)
    return place.lease("T3")


def lease_of_nothing(place: Place) -> Path:
    place.lease("T9").write_bytes(place.lease("T3").read_bytes())
    return place.lease("T9")


def cheaper_spend(place: Place) -> Path:
    place.spend.write_bytes(place.spend.read_bytes().replace(b'"slots":1', b'"slots":0'))
    return place.spend


def doubled_spend(place: Place) -> Path:
    place.spend.write_bytes(place.spend.read_bytes() * 2)
    return place.spend


def foreign_tail(place: Place) -> Path:
    with place.spend.open("ab") as file:
        file.write(b'{"goal_id":"x"}\n')
    return place.spend


DAMAGES: list[Callable[[Place], Path]] = [
    bad_entry,
    entry_from_the_future,
    foreign_entry,
    nul_registry,
    half_registry,
    other_owner,
    empty_owners,
    lease_of_another,
    lease_from_the_future,
    lease_of_nothing,
    cheaper_spend,
    doubled_spend,
    foreign_tail,
]
EACH = pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)


@EACH
def test_a_damaged_file_is_repaired_by_a_signature_and_work_goes_on(
    place: Place, damage: Callable[[Place], Path]
) -> None:
    names = ("registry", "owners", "spend")
    sound = {getattr(place, name): getattr(place, name).read_bytes() for name in names}
    sound[place.lease("T3")] = place.lease("T3").read_bytes()
    path = damage(place)
    found, shown = path.read_bytes(), str(path.relative_to(place.root))
    before = ledger_tree(place)
    (row,) = place.again().repairs.list()
    assert (row.damage.path, row.damage.command) == (shown, f"loopx repair file {shown}")
    assert row.damage.reason and row.stops
    unsigned = place.ws.repairs.file(Path(shown), OWNER)
    assert unsigned.statement["payload"] == {
        "kind": "file",
        "files": [{"path": shown, "sha256": digest_of(path, files=place.ws._core.files)}],
    }
    assert ledger_tree(place) == before

    done = place.sign(unsigned)
    assert done.receipt.goal_id == (HOUSE if path in (place.registry, place.owners) else GOAL)
    assert kept(place) == [found]
    for each, data in sound.items():
        if each not in (place.registry, place.owners):
            assert each.read_bytes() == data
    assert json.loads(place.registry.read_text("utf-8")) == json.loads(sound[place.registry])
    assert place.owners.read_bytes() == sound[place.owners]
    assert not place.lease("T9").exists()
    assert_whole_and_working(place)


@EACH
def test_what_changes_after_it_was_looked_at_is_looked_at_again(
    place: Place, damage: Callable[[Place], Path]
) -> None:
    path = damage(place)
    unsigned = place.ws.repairs.file(path, OWNER)
    path.write_bytes(path.read_bytes() + b" ")
    with refused(place, "stale_decision"):
        place.sign(unsigned)
    fix(place, path)
    assert_whole_and_working(place)


@EACH
def test_a_repair_cut_short_by_a_full_disk_is_finished_by_the_next_writer(
    place: Place, damage: Callable[[Place], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = damage(place)
    found = path.read_bytes()

    def full(*_: object) -> None:
        raise Storage("no_space", "full")

    with monkeypatch.context() as patch:
        patch.setattr(Pieces, "renew", full)
        fix(place, path)
    assert path.read_bytes() == found
    assert not place.again().view(GOAL).reads.damage
    place.again().todos.update(GOAL, CLAUDE, "T3", note="going on", version=5, epoch=2)
    assert kept(place) == [found]
    assert place.again().repairs.list() == ()
    place.decide(place.ask(PUSH))


def test_two_damaged_files_are_repaired_one_after_the_other(place: Place) -> None:
    paths = [damage(place) for damage in (lease_of_another, cheaper_spend, other_owner, bad_entry)]
    assert len(place.again().repairs.list()) == 4
    for path in paths:
        fix(place, path)
    assert_whole_and_working(place)


def test_the_same_repair_sent_again_is_its_first_receipt(place: Place) -> None:
    path = cheaper_spend(place)
    first = place.sign(place.ws.repairs.file(path, OWNER, event_id="fix-1"))
    again = place.ws.repairs.file(path, OWNER, event_id="fix-1")
    assert again.done is not None
    assert again.done.receipt.seq == first.receipt.seq


def test_what_is_sound_or_not_the_kernel_s_is_not_repaired(place: Place) -> None:
    for path in (place.registry, place.spend, place.lease("T3"), place.owners):
        with refused(place, "invalid_value"):
            place.ws.repairs.file(path, OWNER)
    for path, step in (
        (place.journal, "loopx repair journal --goal dark-mode"),
        (place.state_file, "loopx state restore --goal dark-mode"),
        (place.root / "mall-frontend" / "dark-mode-notes.md", "loopx repair list"),
        (place.root / ".." / "elsewhere", "loopx repair list"),
    ):
        with pytest.raises(Exception) as caught:
            place.ws.repairs.file(path, OWNER)
        assert caught.value.next == step  # type: ignore[attr-defined]


def test_a_missing_file_is_no_damage(place: Place) -> None:
    place.spend.unlink()
    assert place.again().repairs.list() == ()
    with refused(place, "invalid_value"):
        place.ws.repairs.file(place.spend, OWNER)


def test_a_link_in_the_place_of_a_file_is_named_and_not_followed(place: Place) -> None:
    away = place.root / "elsewhere.json"
    place.lease("T3").rename(away)
    place.lease("T3").symlink_to(away)
    (row,) = place.again().repairs.list()
    assert "link" in row.damage.reason
    with refused(place, "not_regular"):
        place.ws.repairs.file(place.lease("T3"), OWNER)


def test_only_an_owner_s_signature_at_its_place_repairs(place: Place) -> None:
    path = lease_of_another(place)
    damaged = path.read_bytes()
    fix(place, path)
    line = records(place.journal)[-1]
    place.sign(place.ws.goals.change_status(GOAL, OWNER, ChangeGoalStatus(to="paused", reason="x")))
    bare = {key: value for key, value in line.items() if key != "signed"}
    for forged in (line, bare, bare | {"actor_kind": "code", "actor_agent_id": "loopx"}):
        append_raw(place.journal, forged)
    assert place.again().state(GOAL).alert_count == 3
    path.write_bytes(damaged.replace(b"codex", b"other"))
    assert place.again().repairs.list()


def test_a_copy_of_a_repair_of_the_workspace_has_no_effect(place: Place) -> None:
    path = other_owner(place)
    fix(place, path)
    path.write_text(path.read_text().replace("huang ", "mallory "))
    fix(place, path)
    first = next(r for r in records(place.house_journal) if r["event_type"] == "damage.repaired")
    append_raw(place.house_journal, first)
    assert len(place.again().workspace_view().alerts) == 1


def test_the_registry_of_a_goal_with_a_damaged_journal_keeps_its_entry(place: Place) -> None:
    open_goal(place, "shop")
    entry = json.loads(place.registry.read_text("utf-8"))["goals"][1]
    (place.runtime.parent / "shop" / "events.jsonl").unlink()
    edit_json(place.registry, say_complete)
    fix(place, place.registry)
    assert json.loads(place.registry.read_text("utf-8"))["goals"][1] == entry
    (row,) = place.again().repairs.list()
    assert (row.goal_id, row.damage.command) == ("shop", "loopx repair journal --goal shop")
