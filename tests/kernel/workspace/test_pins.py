"""What a person knew a workspace to be, and everything that is not that any more."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.event import Event
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.roster import workspace_event_type
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import LoopxError, Storage
from loopx_kernel.store.files import Files
from loopx_kernel.store.known_file import Known, KnownFile
from loopx_kernel.trust.sshsig import sign
from loopx_kernel.workspace import Workspace
from loopx_kernel.workspace.verdicts import statement_bytes

from tests.kernel.workspace.build import (
    CODEX,
    GOAL,
    OWNER,
    SECOND,
    Place,
    connected,
    copied,
    new_key,
    open_goal,
    refused,
)
from tests.kernel.workspace.forge import records, rewrite


@pytest.fixture
def file(home: Path) -> Path:
    return home / ".config" / "loopx" / "known_workspaces"


@pytest.fixture
def seen(place: Place) -> Place:
    """The dark-mode workspace after its person looked at it."""
    place.ws.owners.pins.see()
    return place


def pause(place: Place, ws: Workspace | None = None, who: str = OWNER) -> None:
    ws = ws or place.again()
    command = ChangeGoalStatus(to="paused", reason="a look first")
    ws.append(ws.goals.change_status(GOAL, who, command), place.keys[who])


def come(place: Place, name: str, by: str = OWNER) -> None:
    key = new_key(place.root.parent, name)
    place.sign(place.ws.owners.enroll(by, name, key.public.line, allow_unattended=True))
    place.keys[name] = key


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_bytes().splitlines()]


def pin_of(place: Place, file: Path) -> dict[str, Any]:
    return next(row for row in rows(file) if row["root"] == os.path.realpath(place.root))


def test_the_first_sight_pins_and_agents_never_do(place: Place, file: Path) -> None:
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))
    place.again().view(GOAL, CODEX)
    assert not file.exists()
    assert place.again().owners.pins.look().known is None
    place.again().owners.pins.see()
    (row,) = rows(file)
    assert row["root"] == os.path.realpath(place.root)
    assert row["workspace_id"] == place.ws.workspace_id
    assert sorted(row["owners"].values()) == [OWNER, SECOND]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert place.again().owners.pins.look().change is None


def test_nothing_is_pinned_in_an_agent_s_shell(
    place: Place, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPX_AGENT", CODEX)
    place.again().owners.pins.see()
    assert not file.exists()


def test_a_signature_pins_too(place: Place, file: Path) -> None:
    pause(place)
    assert len(rows(file)) == 1


def test_owners_that_the_chain_explains_move_the_pin(seen: Place, file: Path) -> None:
    come(seen, "wu")
    seen.sign(seen.ws.owners.revoke("wu", SECOND))
    (row,) = rows(file)
    assert sorted(row["owners"].values()) == [OWNER, "wu"]
    pause(seen, who="wu")


def test_owners_that_came_elsewhere_are_no_change(seen: Place, file: Path) -> None:
    """Somebody else's machine enrolled them; this person only reads."""
    before = file.read_bytes()
    come(seen, "wu")
    file.write_bytes(before)
    assert not seen.again().view(GOAL).reads.damage
    seen.again().owners.pins.see()
    assert "wu" in rows(file)[0]["owners"].values()


def made_again(place: Place) -> None:
    shutil.rmtree(place.root / ".loopx")
    other = connected(place.root.parent / "other")
    open_goal(other)
    shutil.copytree(other.root / ".loopx", place.root / ".loopx")
    place.keys.update(other.keys)


def with_another_first_owner(place: Place) -> None:
    """The same workspace id, and everything signed by somebody else."""
    lines = records(place.house_journal)
    number = next(n for n, r in enumerate(lines) if r["event_type"] == "owner.enrolled")
    first = lines[number]
    key = new_key(place.root.parent, "other")
    first["payload"] |= {"key": key.public.line, "fingerprint": key.public.fingerprint}
    kind = workspace_event_type("owner.enrolled")
    words = statement_bytes(Event.model_validate(first), kind, place.ws.workspace_id)
    first["signed"]["signature"] = sign(words, key)
    rewrite(place.house_journal, lines[: number + 1])
    forget_the_rest(place)


def forget_the_rest(place: Place) -> None:
    shutil.rmtree(place.runtime)
    place.registry.unlink()
    place.owners.unlink()


def without_the_last_owner(place: Place) -> None:
    """Rolled back to before somebody came, by one who keeps no journal of their own."""
    lines = records(place.house_journal)
    last = max(n for n, r in enumerate(lines) if r["event_type"] == "owner.enrolled")
    rewrite(place.house_journal, lines[:last])
    forget_the_rest(place)


CHANGES: dict[str, Callable[[Place], None]] = {
    "made again": made_again,
    "another first owner": with_another_first_owner,
    "an owner less": without_the_last_owner,
}


@pytest.mark.parametrize("name", CHANGES)
def test_another_workspace_in_its_place_is_told_before_anything_else(
    seen: Place, file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    # Whoever reads has no cache to tell them anything.
    monkeypatch.setenv("LOOPX_CACHE_DIR", str(tmp_path / "none"))
    pinned = pin_of(seen, file)
    CHANGES[name](seen)
    monkeypatch.setenv("LOOPX_CACHE_DIR", str(tmp_path / "nobody"))
    ws = seen.again()
    view = ws.workspace_view()
    assert view.alerts[0].startswith("owners_changed: ")
    assert "owners_changed" in view.envelope.alert_reasons[0].ids[0]
    for goal in view.goals:
        assert goal.contract.answer == "ask"
        assert goal.needs_you[0].question.startswith("owners_changed: ")
        assert goal.needs_you[0].next == "loopx owner trust"
        assert goal.envelope.alert_reasons[0].ids[0] == "owners_changed"
    for act in (
        lambda: ws.owners.enroll(OWNER, "eve", new_key(tmp_path, "eve").public.line),
        lambda: ws.owners.revoke(OWNER, OWNER),
        lambda: open_goal(Place(ws, seen.clock, seen.keys), "extra"),
    ):
        with pytest.raises(LoopxError) as caught:
            act()
        assert (caught.value.code, caught.value.next) == ("owners_changed", "loopx owner trust")
    ws.owners.pins.see()
    assert pin_of(seen, file) == pinned
    ws.owners.pins.trust()
    assert not any("owners_changed" in alert for alert in seen.again().workspace_view().alerts)
    assert pin_of(seen, file)["workspace_id"] == ws.workspace_id


def test_a_decision_prepared_before_the_swap_is_not_signed_after_it(
    seen: Place, file: Path
) -> None:
    ws = seen.again()
    unsigned = ws.goals.change_status(GOAL, OWNER, ChangeGoalStatus(to="paused", reason="r"))
    row = rows(file)[0] | {"workspace_id": "0" * 32}
    file.write_text(json.dumps(row) + "\n", "utf-8")
    with refused(seen, "owners_changed"):
        ws.append(unsigned, seen.keys[OWNER])


def test_a_copy_elsewhere_is_the_same_workspace(seen: Place, tmp_path: Path) -> None:
    there = copied(seen, tmp_path / "there")
    assert there.ws.owners.pins.look().change is None
    pause(there, there.ws)


@pytest.mark.parametrize(
    "changed",
    [{"owners": {"SHA256:x": "eve"}}, {"head": "0" * 64}, {"seq": 2}, {"workspace_id": "0" * 32}],
    ids=lambda changed: next(iter(changed)),
)
def test_everything_of_a_pin_is_compared_and_work_that_was_done_is_taken_in(
    seen: Place, file: Path, changed: dict[str, Any]
) -> None:
    file.write_text(json.dumps(rows(file)[0] | changed) + "\n", "utf-8")
    ws = seen.again()
    ws.todos.add(GOAL, CODEX, AddTodo(title="More"))
    assert ws.view(GOAL, CODEX).contract.answer == "ask"
    with refused(seen, "owners_changed"):
        pause(seen)


@pytest.mark.parametrize("content", [b"{", b"[]\n", b'{"root": 1}\n', b"\xff\n", b'"x"\n'])
def test_a_file_that_cannot_be_understood_is_not_taken_for_an_empty_one(
    seen: Place, file: Path, content: bytes
) -> None:
    file.write_bytes(content)
    with refused(seen, "invalid_value"):
        pause(seen)
    view = seen.again().view(GOAL)
    assert str(file) in view.needs_you[0].question
    seen.again().owners.pins.see()
    assert file.read_bytes() == content


def test_without_a_place_to_keep_it_nothing_is_pinned_and_all_works(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/proc/nowhere")
    pause(place)
    assert place.again().owners.pins.look().known is None
    assert not place.again().view(GOAL).reads.damage


def test_a_home_of_somebody_else_keeps_no_agent_from_working_and_lets_nobody_sign(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(self: KnownFile) -> None:
        raise Storage("permission", "not yours", path=str(self.path))

    monkeypatch.setattr(KnownFile, "read", denied)
    assert not place.again().view(GOAL).reads.damage
    with refused(place, "permission"):
        pause(place)


def test_many_workspaces_and_their_changes_are_kept_apart(tmp_path: Path) -> None:
    file = KnownFile(tmp_path / "known", Files())
    one = Known("/a b", "1" * 32, 2, "h", {"SHA256:a": "huang"})
    two = Known("/c\n", "2" * 32, 3, "h", {})
    for known in (two, one, two):
        file.put(known)
    assert file.read() == (one, two)
    moved = Known("/a b", "1" * 32, 9, "i", {"SHA256:b": "lin"})
    file.put(moved)
    assert file.read() == (moved, two)


def test_it_costs_a_look_at_one_file(seen: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[Path] = []
    ws = seen.again()
    read = KnownFile.read

    def counted(self: KnownFile) -> Any:
        reads.append(self.path)
        return read(self)

    monkeypatch.setattr(KnownFile, "read", counted)
    for _ in range(5):
        ws.view(GOAL)
    assert len(reads) == 1


def test_a_workspace_that_is_gone_is_not_made_again_without_a_word(seen: Place, file: Path) -> None:
    shutil.rmtree(seen.root / ".loopx")
    with pytest.raises(LoopxError) as caught:
        Workspace.connect(seen.root, clock=seen.clock)
    assert caught.value.code == "owners_changed"
    assert "loopx connect --replaces" in (caught.value.next or "")
    assert not (seen.root / ".loopx").exists()
    file.unlink()
    Workspace.connect(seen.root, clock=seen.clock)


def begun_anew(place: Place) -> Workspace:
    ws = Workspace.replace(place.root, clock=place.clock)
    key = new_key(place.root.parent, "anew")
    ws.append(ws.owners.enroll_first("wang", key.public.line, allow_unattended=True), key)
    return ws


@pytest.mark.parametrize("known", [True, False])
def test_losing_the_last_key_ends_in_a_break_everybody_sees(
    place: Place, file: Path, known: bool
) -> None:
    if known:
        place.ws.owners.pins.see()
    old = place.ws.workspace_id
    end = records(place.house_journal)[-1]
    before = file.read_bytes() if known else None
    ws = begun_anew(place)
    assert ws.goal_ids == () and ws.workspace_id != old
    first = records(place.house_journal)[0]
    assert first["payload"]["replaces"] == {
        "workspace_id": old,
        "seq": end["seq"],
        "head": end["sha256"],
    }
    aside = place.root / f".loopx-{old}"
    assert (aside / "runtime" / GOAL / "events.jsonl").exists()
    assert rows(file)[0]["workspace_id"] == ws.workspace_id
    if before is not None:
        # Somebody else, who knew the old one.
        file.write_bytes(before)
        assert place.again().workspace_view().alerts[0].startswith("owners_changed")


def test_what_was_begun_anew_and_broken_off_is_gone_on_with(seen: Place) -> None:
    old = seen.ws.workspace_id
    Workspace.replace(seen.root, clock=seen.clock)
    begun_anew(seen)
    assert records(seen.house_journal)[0]["payload"]["replaces"]["workspace_id"] == old


def test_a_crash_after_setting_the_old_one_aside_loses_nothing(place: Place) -> None:
    old = place.ws.workspace_id
    (place.root / ".loopx").rename(place.root / f".loopx-{old}")
    begun_anew(place)
    assert records(place.house_journal)[0]["payload"]["replaces"]["workspace_id"] == old


def test_there_is_nothing_to_replace_where_nothing_was(tmp_path: Path) -> None:
    with pytest.raises(LoopxError) as caught:
        Workspace.replace(tmp_path)
    assert caught.value.code == "not_initialised"
    assert not (tmp_path / ".loopx").exists()


def test_a_workspace_that_cannot_be_read_at_all_is_replaced_too(place: Place) -> None:
    place.house_journal.write_bytes(b"spoiled\n" + place.house_journal.read_bytes())
    begun_anew(place)
    assert records(place.house_journal)[0]["payload"]["replaces"]["workspace_id"] == "unknown"
