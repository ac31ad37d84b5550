"""LOOPX_OWNERS can only narrow: a key must be enrolled and stand in it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.goal import ChangeGoalStatus, OpenGoal
from loopx_kernel.errors import LoopxError
from loopx_kernel.workspace import Workspace

from tests.kernel.workspace.build import (
    GOAL,
    OWNER,
    SECOND,
    Place,
    ledger_tree,
    new_key,
    open_goal,
    refused,
    rules,
)
from tests.kernel.workspace.forge import append_raw, signed_line

Named = Callable[..., Path]


@pytest.fixture
def named(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Named:
    """Puts these people's keys into the file that LOOPX_OWNERS names."""

    def name(*people: str, options: str = "", more: str = "") -> Path:
        path = tmp_path / "allowed"
        lines = [f"{one}{options} {place.keys[one].public.line}\n" for one in people]
        path.write_text("".join(lines) + more, "utf-8")
        monkeypatch.setenv("LOOPX_OWNERS", str(path))
        return path

    return name


def pause(place: Place, who: str, ws: Workspace | None = None, to: Any = "paused") -> None:
    ws = ws or place.ws
    command = ChangeGoalStatus(to=to, reason="a look first")
    ws.append(ws.goals.change_status(GOAL, who, command), place.keys[who])


def test_a_key_outside_decides_nothing_at_the_append(place: Place, named: Named) -> None:
    named(OWNER)
    with refused(place, "unknown_signer") as error:
        pause(place, SECOND, place.again())
    assert "LOOPX_OWNERS" in error.message
    with refused(place, "unknown_signer"):
        pause(place, SECOND)
    pause(place, OWNER)


def test_nor_at_any_reading_however_it_was_cached(
    place: Place, named: Named, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state kept by one who looks without the file is none for one who looks with it."""
    pause(place, SECOND)
    core = place.again()._core
    assert core.fresh_goal(GOAL).state.status == "paused"
    stays = place.again()
    stays.view(GOAL)
    for _ in range(2):
        named(OWNER)
        for ws in (stays, place.again()):
            view = ws.view(GOAL)
            assert view.status == "active"
            assert "LOOPX_OWNERS" in view.alerts[-1]
            assert {reason.code for reason in view.envelope.alert_reasons} == {"integrity"}
            assert not ws.events.verify(GOAL).ok
        monkeypatch.delenv("LOOPX_OWNERS")
        for ws in (stays, place.again()):
            assert ws.view(GOAL).status == "paused"
            assert not ws.view(GOAL).alerts


def test_a_file_that_changes_is_read_again(place: Place, named: Named) -> None:
    pause(place, SECOND)
    named(OWNER)
    ws = place.again()
    assert ws.view(GOAL).status == "active"
    named(OWNER, SECOND)
    assert ws.view(GOAL).status == "paused"
    named(SECOND)
    with pytest.raises(LoopxError) as caught:
        ws.view(GOAL)
    assert caught.value.code == "unknown_goal"
    assert ws.workspace_view().alerts


def test_it_adds_nobody(place: Place, named: Named) -> None:
    place.keys["eve"] = new_key(place.root.parent, "eve")
    named(OWNER, "eve")
    with refused(place, "unknown_signer"):
        pause(place, "eve")
    command = ChangeGoalStatus(to="paused", reason="r")
    unsigned = place.ws.goals.change_status(GOAL, "eve", command)
    append_raw(place.journal, signed_line(unsigned, place.keys["eve"]))
    assert place.again().state(GOAL).status == "active"


def test_who_was_revoked_by_somebody_outside_is_revoked(place: Place, named: Named) -> None:
    """Or the file would give a key back what the journal took."""
    place.sign(place.ws.owners.revoke(SECOND, OWNER))
    named(OWNER, SECOND)
    with refused(place, "unknown_signer"):
        pause(place, OWNER)
    named(OWNER)
    ws = place.again()
    assert [one.name for one in ws.owners.list() if one.revoked_seq is None] == [SECOND]
    with refused(place, "unknown_signer"):
        pause(place, OWNER, ws)


def test_a_goal_opened_from_outside_is_none(place: Place, named: Named) -> None:

    command = OpenGoal(goal_id="shop", objective="x", rules=rules(state_file=".codex/shop.md"))
    place.sign(place.ws.goals.open(SECOND, command))
    assert place.again().goal_ids == (GOAL, "shop")
    named(OWNER)
    assert place.again().goal_ids == (GOAL,)
    assert "shop" not in [goal.goal_id for goal in place.again().workspace_view().goals]
    assert "LOOPX_OWNERS" in " ".join(place.again().workspace_view().alerts)


@pytest.mark.parametrize(
    ("options", "counts"),
    [
        (' namespaces="loopx"', True),
        (' namespaces="file"', False),
        (' valid-before="20260901000000Z"', False),
        (' valid-after="20300101000000Z"', False),
        (' valid-after="20260101000000Z",valid-before="20300101000000Z"', True),
    ],
)
def test_its_options_narrow_too(place: Place, named: Named, options: str, counts: bool) -> None:
    """The opening was by the first owner, who must count here throughout."""
    line = f"{SECOND}{options} {place.keys[SECOND].public.line}\n"
    named(OWNER, more=line)
    if counts:
        pause(place, SECOND)
    else:
        with refused(place, "unknown_signer"):
            pause(place, SECOND)


def test_a_bad_line_counts_for_nothing_and_is_told(place: Place, named: Named) -> None:
    named(OWNER, more="lin ssh-ed25519 nonsense\n")
    view = place.again().workspace_view()
    assert any("line 2" in alert for alert in view.alerts)
    with refused(place, "unknown_signer"):
        pause(place, SECOND)


def missing(path: Path) -> None:
    path.unlink()


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def a_loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


def test_a_home_that_nobody_knows_is_a_file_that_is_not_there(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPX_OWNERS", "~nobody-of-that-name/owners")
    with pytest.raises(LoopxError, match="no such file"):
        place.again()


@pytest.mark.parametrize("spoil", [missing, a_folder, a_pipe, a_loop])
def test_a_file_that_cannot_be_read_is_no_leave_for_anybody(
    place: Place, named: Named, spoil: Callable[[Path], None]
) -> None:
    path = named(OWNER)
    ws = place.again()
    spoil(path)
    before = ledger_tree(place)
    for act in (
        place.again,
        lambda: ws.view(GOAL),
        lambda: ws.state(GOAL),
        lambda: pause(place, OWNER, ws),
    ):
        with pytest.raises(LoopxError) as caught:
            act()
        assert (caught.value.code, caught.value.facts["path"]) == ("permission", str(path))
        assert caught.value.next
    assert ledger_tree(place) == before


def test_an_empty_name_is_none_and_an_empty_file_leaves_nobody(
    place: Place, named: Named, monkeypatch: pytest.MonkeyPatch
) -> None:
    named()
    assert place.again().goal_ids == ()
    monkeypatch.setenv("LOOPX_OWNERS", "")
    assert place.again().goal_ids == (GOAL,)


def test_it_may_be_a_link_as_folders_of_the_system_are(
    place: Place, named: Named, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(named(OWNER))
    monkeypatch.setenv("LOOPX_OWNERS", str(link))
    assert place.again().goal_ids == (GOAL,)


def test_only_those_whose_decisions_count_are_asked(place: Place, named: Named) -> None:
    place.ask()
    assert place.ws.workspace_view().owners == (OWNER, SECOND)
    named(OWNER)
    assert place.again().workspace_view().owners == (OWNER,)


def test_a_key_it_leaves_out_is_none_to_choose(place: Place, named: Named) -> None:
    second = new_key(place.root.parent, "again")
    place.sign(place.ws.owners.rotate(OWNER, SECOND, second.public.line, allow_unattended=True))
    file = place.root.parent / "key-again"
    assert place.again().keys.choices(file)[0].usable
    named(OWNER)
    (choice,) = place.again().keys.choices(file)
    assert not choice.usable and "LOOPX_OWNERS" in (choice.problem or "")


def test_files_are_rendered_alike_with_and_without_it(
    place: Place, named: Named, monkeypatch: pytest.MonkeyPatch
) -> None:
    named(OWNER)
    place.keys["wu"] = new_key(place.root.parent, "wu")
    line = place.keys["wu"].public.line
    place.sign(place.ws.owners.enroll(OWNER, "wu", line, allow_unattended=True))
    assert SECOND in place.owners.read_text("utf-8")
    assert not place.again().view(GOAL).reads.damage
    monkeypatch.delenv("LOOPX_OWNERS")
    assert not place.again().view(GOAL).reads.damage
    open_goal(place, "shop")
