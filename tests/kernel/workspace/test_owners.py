"""People come, go and change their keys: which lines each key counts for, whatever happens."""

from __future__ import annotations

import copy
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.gate import DecideGate
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import LoopxError
from loopx_kernel.workspace import Workspace

from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    OWNER,
    PUSH,
    SECOND,
    Place,
    connected,
    new_key,
    open_goal,
    refused,
)
from tests.kernel.workspace.forge import append_raw, records, rewrite
from tests.kernel.workspace.test_forgeries import line_of


def come(place: Place, name: str, by: str = OWNER, **values: Any) -> None:
    key = new_key(place.root.parent, f"{name}-{len(place.keys)}")
    unsigned = place.ws.owners.enroll(by, name, key.public.line, allow_unattended=True, **values)
    place.sign(unsigned)
    place.keys[name] = key


def go(place: Place, name: str, by: str = OWNER) -> None:
    place.sign(place.ws.owners.revoke(by, name, "left"))


def decide(place: Place, who: str, to: Any = "paused", at: Workspace | None = None) -> None:
    command = ChangeGoalStatus(to=to, reason="a look first")
    unsigned = (at or place.ws).goals.change_status(GOAL, who, command)
    (at or place.ws).append(unsigned, place.keys[who])


def present(ws: Workspace) -> list[str]:
    return [owner.name for owner in ws.owners.list() if owner.revoked_seq is None]


def test_who_comes_decides_and_who_goes_does_not(place: Place) -> None:
    come(place, "wu")
    decide(place, "wu")
    go(place, "wu", by=SECOND)
    assert present(place.again()) == [OWNER, SECOND]
    assert place.again().state(GOAL).status == "paused"
    assert "wu" not in place.owners.read_text("utf-8")
    with refused(place, "unknown_signer") as error:
        decide(place, "wu", "resumed")
    assert "revoked" in error.message
    last = place.again().owners.list()[-1]
    assert (last.enrolled_by, last.revoked_by) == (OWNER, SECOND)


def test_a_revoked_key_with_an_old_date_changes_nothing(place: Place) -> None:
    come(place, "wu")
    early = line_of(place, lambda there: decide(there, "wu"))
    go(place, "wu")
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))
    append_raw(place.journal, early)
    fresh = place.again()
    assert fresh.state(GOAL).status == "active"
    assert "revoked" in fresh.view(GOAL).alerts[-1]


def test_the_same_line_before_the_revocation_keeps_its_effect(place: Place) -> None:
    come(place, "wu")
    early = line_of(place, lambda there: decide(there, "wu"))
    append_raw(place.journal, early)
    go(place, "wu")
    assert place.again().state(GOAL).status == "paused"
    assert not place.again().view(GOAL).alerts


def test_the_last_owner_stays(place: Place) -> None:
    go(place, SECOND)
    with refused(place, "last_owner") as error:
        place.ws.owners.revoke(OWNER, OWNER)
    assert OWNER in error.message


def test_an_owner_whose_time_ends_first_is_nobody_to_leave_it_to(place: Place) -> None:
    go(place, SECOND)
    come(place, "wu", valid_before=place.clock.now + timedelta(days=1))
    place.clock.advance(days=2)
    with refused(place, "last_owner"):
        place.ws.owners.revoke(OWNER, OWNER)


def test_a_new_key_in_place_of_the_old_one(place: Place) -> None:
    old = place.keys[OWNER]
    new = new_key(place.root.parent, "new")
    decide(place, OWNER)
    unsigned = place.ws.owners.rotate(OWNER, OWNER, new.public.line, allow_unattended=True)
    assert old.public.fingerprint in unsigned.preview
    place.ws.append(unsigned, old)
    with refused(place, "unknown_signer"):
        decide(place, OWNER, "resumed")
    place.keys[OWNER] = new
    decide(place, OWNER, "resumed")
    fresh = place.again()
    assert present(fresh) == [SECOND, OWNER]
    assert fresh.state(GOAL).status == "active" and not fresh.view(GOAL).alerts
    assert fresh.events.verify("_workspace").ok


def test_the_only_owner_may_change_their_key(tmp_path: Path) -> None:
    place = connected(tmp_path)
    go(place, SECOND)
    new = new_key(tmp_path, "new")
    place.sign(place.ws.owners.rotate(OWNER, OWNER, new.public.line, allow_unattended=True))
    assert present(place.again()) == [OWNER]
    place.keys[OWNER] = new
    open_goal(place)


@pytest.mark.parametrize(
    ("after", "before", "code"),
    [
        (-2, 2, ""),
        (1, None, "unknown_signer"),
        (None, -1, "invalid_value"),
        (2, 1, "invalid_value"),
    ],
)
def test_a_key_may_count_for_some_days_only(
    place: Place, after: int | None, before: int | None, code: str
) -> None:
    def day(number: int | None) -> Any:
        return None if number is None else place.clock.now + timedelta(days=number)

    if code == "invalid_value":
        with refused(place, code):
            come(place, "wu", valid_after=day(after), valid_before=day(before))
        return
    come(place, "wu", valid_after=day(after), valid_before=day(before))
    if code:
        with refused(place, code):
            decide(place, "wu")
        return
    decide(place, "wu")
    place.clock.advance(days=3)
    with refused(place, "unknown_signer") as error:
        decide(place, "wu", "resumed")
    assert "no longer valid" in error.message
    fresh = place.again()
    assert fresh.state(GOAL).status == "paused"
    assert next(fresh.events.list(GOAL, event_type="goal.paused")).signature_ok
    assert 'valid-before="' in place.owners.read_text("utf-8")


def test_an_old_date_does_not_help_a_key_whose_time_is_over(place: Place) -> None:
    come(place, "wu", valid_before=place.clock.now + timedelta(days=1))
    early = line_of(place, lambda there: decide(there, "wu"))
    place.clock.advance(days=2)
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))
    append_raw(place.journal, early)
    assert place.again().state(GOAL).status == "active"
    assert "no longer valid" in place.again().view(GOAL).alerts[-1]


Act = Any
ABOUT: dict[str, Act] = {
    "enrolled": lambda ws, line: ws.owners.enroll(OWNER, "wu", line, allow_unattended=True),
    "revoked": lambda ws, line: ws.owners.revoke(OWNER, SECOND),
    "replaced": lambda ws, line: ws.owners.rotate(OWNER, SECOND, line, allow_unattended=True),
}


@pytest.mark.parametrize("name", ABOUT)
def test_work_goes_on_while_somebody_types_their_passphrase(place: Place, name: str) -> None:
    key = new_key(place.root.parent, "wu")
    unsigned = ABOUT[name](place.ws, key.public.line)
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))
    decide(place, OWNER)
    place.sign(unsigned)


@pytest.mark.parametrize("name", ["revoked", "replaced"])
def test_what_they_decide_meanwhile_is_not_undone_behind_their_back(
    place: Place, name: str
) -> None:
    key = new_key(place.root.parent, "wu")
    unsigned = ABOUT[name](place.ws, key.public.line)
    decide(place, SECOND)
    with refused(place, "stale_decision"):
        place.sign(unsigned)
    place.sign(ABOUT[name](place.ws, key.public.line))
    assert place.again().state(GOAL).status == "paused"
    assert not place.again().view(GOAL).alerts


def test_nobody_writes_ahead_of_their_enrolment(place: Place) -> None:
    """What a newcomer's line did not do when it was written it does not do later either."""
    key = new_key(place.root.parent, "wu")
    unsigned = place.ws.owners.enroll(OWNER, "wu", key.public.line, allow_unattended=True)

    def ahead(there: Place) -> None:
        there.sign(there.ws.owners.enroll(OWNER, "wu", key.public.line, allow_unattended=True))
        there.keys["wu"] = key
        decide(there, "wu")

    append_raw(place.journal, line_of(place, ahead))
    with refused(place, "stale_decision"):
        place.sign(unsigned)
    place.sign(place.ws.owners.enroll(OWNER, "wu", key.public.line, allow_unattended=True))
    assert place.again().state(GOAL).status == "active"


def test_a_goal_opened_meanwhile_asks_for_another_look(place: Place) -> None:
    unsigned = place.ws.owners.revoke(OWNER, SECOND)
    open_goal(place, "shop")
    with refused(place, "stale_decision"):
        place.sign(unsigned)


def test_of_two_who_revoke_the_same_key_the_second_is_told_who_and_when(place: Place) -> None:
    come(place, "wu")
    one = place.ws.owners.revoke(OWNER, "wu")
    two = place.again().owners.revoke(SECOND, "wu")
    place.sign(one)
    with refused(place, "already_decided") as error:
        place.sign(two)
    assert error.facts["by"] == OWNER and error.facts["at"]


def test_of_two_who_revoke_each_other_one_stays(place: Place) -> None:
    one = place.ws.owners.revoke(OWNER, SECOND)
    two = place.again().owners.revoke(SECOND, OWNER)
    place.sign(one)
    with pytest.raises(LoopxError) as caught:
        place.sign(two)
    assert caught.value.code in ("last_owner", "unknown_signer")
    assert present(place.again()) == [OWNER]


def test_a_reader_that_stays_sees_who_came_and_went(place: Place) -> None:
    """It read the workspace's journal before, and the goal's after somebody came or went."""
    reader = place.again()
    reader.view(GOAL)
    come(place, "wu")
    decide(place, "wu")
    assert reader._core.fresh_goal(GOAL).state.status == "paused"
    assert not reader.view(GOAL).alerts

    stale = place.again()
    stale.view(GOAL)
    late = line_of(place, lambda there: decide(there, "wu", "resumed"))
    go(place, "wu")
    append_raw(place.journal, late)
    stale._core.fresh_goal(GOAL)
    assert stale.view(GOAL).status == "paused"
    assert place.again().view(GOAL).status == "paused"


def test_the_same_command_again_is_recorded_once(place: Place) -> None:
    key = new_key(place.root.parent, "wu")

    def enroll() -> Any:
        line = key.public.line
        return place.ws.owners.enroll(OWNER, "wu", line, allow_unattended=True, event_id="e-wu")

    first = place.sign(enroll())
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))
    assert enroll().done.receipt.seq == first.receipt.seq


def raw_copy(place: Place, event_type: str) -> dict[str, Any]:
    found = [r for r in records(place.house_journal) if r["event_type"] == event_type]
    return copy.deepcopy(found[-1])


def test_an_enrolment_or_revocation_copied_to_a_later_place_does_nothing(place: Place) -> None:
    come(place, "wu")
    enrolled = raw_copy(place, "owner.enrolled")
    go(place, "wu")
    revoked = raw_copy(place, "owner.revoked")
    append_raw(place.house_journal, enrolled)
    assert present(place.again()) == [OWNER, SECOND]
    line = place.keys["wu"].public.line
    place.sign(place.ws.owners.enroll(OWNER, "wu", line, allow_unattended=True))
    append_raw(place.house_journal, revoked)
    append_raw(place.house_journal, revoked | {"event_id": "e-other"})
    fresh = place.again()
    assert present(fresh) == [OWNER, SECOND, "wu"]
    assert len(fresh.workspace_view().alerts) == 3


def test_heads_of_a_revocation_moved_by_hand_undo_it_for_nobody(place: Place) -> None:
    """Later heads would let a stolen key go on; they are signed, so the line does nothing."""
    come(place, "wu")
    go(place, "wu")
    lines = records(place.house_journal)
    lines[-1]["payload"]["heads"][GOAL]["seq"] += 50
    rewrite(place.house_journal, lines)
    fresh = place.again()
    assert fresh._core.house.damage is not None or fresh.workspace_view().alerts


def test_two_owners_everywhere(place: Place) -> None:
    """Who is asked, who is told, and whose decision it was."""
    come(place, "wu")
    gate_id = place.ask()
    view = place.ws.view(GOAL)
    asked = next(item for item in view.needs_you if item.id == gate_id)
    assert asked.asked_by == CLAUDE
    assert place.ws.workspace_view().owners == (OWNER, SECOND, "wu")
    place.sign(place.ws.gates.decide(GOAL, "wu", DecideGate(gate_id=gate_id, outcome="approved")))
    go(place, "wu")
    row = place.again().events.tail(GOAL, 1)[0]
    assert (row.signer, row.signature_ok, row.effective) == ("wu", True, True)
    house = place.again().events.list("_workspace")
    assert all(row.signature_ok in (None, True) for row in house)
    assert place.again().gates.check(GOAL, PUSH).allowed
