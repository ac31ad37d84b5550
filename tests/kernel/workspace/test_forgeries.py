"""Lines written past every command: they stand there, do nothing, and raise the alert."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from loopx_kernel.domain.gate import DecideGate, RequestGate
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.lease import ClaimTodo
from loopx_kernel.errors import Damaged
from loopx_kernel.trust.sshsig import sign

from tests.kernel.workspace.build import (
    CLAUDE,
    GOAL,
    OWNER,
    PUSH,
    SECOND,
    Place,
    copied,
    dark_mode,
    new_key,
    open_goal,
)
from tests.kernel.workspace.forge import append_raw, records, rewrite

Forgery = Callable[[dict[str, Any], Place], dict[str, Any]]


def approval_of(place: Place, gate_id: str) -> dict[str, Any]:
    """The line that approving would append."""
    return line_of(place, lambda there: there.decide(gate_id))


def line_of(place: Place, act: Callable[[Place], object]) -> dict[str, Any]:
    """The line a command would append, made in a copy of the ledger."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        # The copy is the same workspace, and what was seen there must not be looked for here.
        patch.setenv("LOOPX_CACHE_DIR", f"{folder}/cache")
        patch.setenv("XDG_CONFIG_HOME", f"{folder}/config")
        there = copied(place, Path(folder))
        act(there)
        return records(there.journal)[-1]


def unsigned(record: dict[str, Any], place: Place) -> dict[str, Any]:
    record.pop("signed")
    return record


def agent_s(record: dict[str, Any], place: Place) -> dict[str, Any]:
    return record | {"actor_kind": "agent", "actor_agent_id": CLAUDE}


def by_a_stranger(record: dict[str, Any], place: Place) -> dict[str, Any]:
    key = new_key(place.root.parent, "stranger")
    statement = place.ws.gates.decide(GOAL, OWNER, DecideGate(gate_id="G1", outcome="approved"))
    record["event_id"] = statement.event_id
    record["signed"] = record["signed"] | {
        "signature": sign(statement.statement_bytes, key),
        "signed_at": statement.statement["signed_at"],
    }
    return record


def altered(record: dict[str, Any], place: Place) -> dict[str, Any]:
    record["payload"]["reason"] = "of course"
    return record


def other_outcome(record: dict[str, Any], place: Place) -> dict[str, Any]:
    return record | {"event_type": "gate.rejected"}


def other_name(record: dict[str, Any], place: Place) -> dict[str, Any]:
    return record | {"actor_agent_id": SECOND}


def other_id(record: dict[str, Any], place: Place) -> dict[str, Any]:
    return record | {"event_id": "e-9999"}


def broken_armour(record: dict[str, Any], place: Place) -> dict[str, Any]:
    record["signed"]["signature"] = "-----BEGIN SSH SIGNATURE-----\nAAAA\n"
    return record


def other_witness(record: dict[str, Any], place: Place) -> dict[str, Any]:
    record["signed"]["witnessed"]["head"] = "0" * 64
    return record


def kernel_s(record: dict[str, Any], place: Place) -> dict[str, Any]:
    return record | {"actor_kind": "code", "actor_agent_id": "loopx"}


def respelled(record: dict[str, Any], place: Place) -> dict[str, Any]:
    at = record["signed"]["signed_at"].replace("Z", "+00:00")
    record["signed"] = record["signed"] | {"signed_at": at}
    return record


FORGERIES: list[Forgery] = [
    unsigned,
    respelled,
    agent_s,
    kernel_s,
    by_a_stranger,
    altered,
    other_outcome,
    other_name,
    other_id,
    other_witness,
    broken_armour,
]


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_forged_approval_has_no_effect_and_raises_the_alert(place: Place, forge: Forgery) -> None:
    gate_id = place.ask()
    record = forge(copy.deepcopy(approval_of(place, gate_id)), place)
    append_raw(place.journal, record)
    fresh = place.again()
    view = fresh.view(GOAL)
    assert fresh.state(GOAL).gates[gate_id].status == "pending"
    assert not fresh.gates.check(GOAL, PUSH).allowed
    seq = len(place.lines())
    assert any(alert.startswith(f"#{seq} ") for alert in view.alerts)
    assert {reason.code for reason in view.envelope.alert_reasons} == {"integrity"}
    row = fresh.events.tail(GOAL, 1)[0]
    assert not row.effective and row.problem
    verification = fresh.events.verify(GOAL)
    assert not verification.ok and not verification.problems and len(verification.alerts) == 1
    assert place.decide(gate_id).state.gates[gate_id].status == "approved"


def test_the_genuine_line_put_back_by_hand_counts(place: Place) -> None:
    """So that the forgeries above fail for what was forged, and not for being put there."""
    gate_id = place.ask()
    append_raw(place.journal, approval_of(place, gate_id))
    assert place.again().state(GOAL).gates[gate_id].status == "approved"
    assert place.again().events.verify(GOAL).ok


def test_a_genuine_line_copied_to_a_later_place_does_nothing(place: Place) -> None:
    def change(to: Any) -> None:
        command = ChangeGoalStatus(to=to, reason="a look first")
        place.sign(place.ws.goals.change_status(GOAL, OWNER, command))

    change("paused")
    paused = records(place.journal)[-1]
    change("resumed")
    append_raw(place.journal, paused)
    fresh = place.again()
    assert fresh.state(GOAL).status == "active"
    assert len(fresh.view(GOAL).alerts) == 1


def test_a_genuine_line_copied_to_another_goal_does_nothing(place: Place) -> None:
    open_goal(place, "shop")
    for goal_id in (GOAL, "shop"):
        place.ws.gates.request(goal_id, CLAUDE, RequestGate(action=PUSH))
    record = approval_of(place, "G1")
    other = place.root / ".loopx" / "runtime" / "shop" / "events.jsonl"
    append_raw(other, record)
    append_raw(other, record | {"goal_id": "shop"})
    fresh = place.again()
    assert fresh.state("shop").gates["G1"].status == "pending"
    assert len(fresh.view("shop").alerts) == 2


def test_a_genuine_line_copied_to_another_workspace_does_nothing(tmp_path: Path) -> None:
    one = dark_mode(tmp_path / "one")
    two = dark_mode(tmp_path / "two")
    for place in (one, two):
        place.ask()
    record = approval_of(one, "G1")
    append_raw(two.journal, record)
    assert two.again().state(GOAL).gates["G1"].status == "pending"
    assert len(two.again().view(GOAL).alerts) == 1


def test_an_agent_s_line_by_hand_can_do_nothing_a_command_could_not(place: Place) -> None:
    claim = next(r for r in records(place.journal) if r["event_id"] == "e-0142")
    append_raw(place.journal, claim | {"event_id": "e-0500"})
    spend = next(r for r in records(place.journal) if r["event_type"] == "turn.settled")
    append_raw(place.journal, spend | {"event_id": "e-0501"})
    fresh = place.again()
    assert fresh.state(GOAL).todos["T3"].version == 5
    assert fresh.view(GOAL).contract.quota.used == 1
    assert len(fresh.view(GOAL).alerts) == 2


def test_an_agent_s_hand_in_cannot_carry_a_gate_away(place: Place) -> None:
    gate_id = place.ask()
    record = line_of(
        place, lambda there: there.ws.todos.update(GOAL, CLAUDE, "T3", complete=True, epoch=2)
    )
    record["payload"]["parts"].append({"type": "gate.mooted", "gate_id": gate_id})
    append_raw(place.journal, record)
    state = place.again().state(GOAL)
    assert (state.gates[gate_id].status, state.todos["T3"].status) == ("pending", "claimed")
    assert len(state.alerts) == 1


def test_a_decision_does_not_outlive_a_change_of_what_its_maker_saw(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gate_id = place.ask()
    place.decide(gate_id)
    lines = records(place.journal)
    note = next(line for line in lines if line["payload"].get("note") == "first look")
    note["payload"]["note"] = "all tests passed"
    rewrite(place.journal, lines)
    # Even for somebody who never saw the journal as it was.
    monkeypatch.setenv("LOOPX_CACHE_DIR", str(tmp_path / "other cache"))
    fresh = place.again()
    assert fresh.state(GOAL).gates[gate_id].status == "pending"
    assert fresh.view(GOAL).alerts


def test_an_owner_who_signs_for_themselves_later_is_none(place: Place) -> None:
    enrolment = next(r for r in records(place.house_journal) if r["event_type"] == "owner.enrolled")
    key = new_key(place.root.parent, "eve")
    forged = copy.deepcopy(enrolment) | {"actor_agent_id": "eve", "event_id": "e-eve"}
    forged["payload"] |= {
        "name": "eve",
        "key": key.public.line,
        "fingerprint": key.public.fingerprint,
        "heads": {},
    }
    append_raw(place.house_journal, forged)
    fresh = place.again()
    assert [owner.name for owner in fresh.owners.list()] == [OWNER, SECOND]
    assert fresh.workspace_view().envelope.alert
    assert not fresh.events.verify("_workspace").ok


def test_a_goal_slipped_into_the_workspace_journal_is_none(place: Place) -> None:
    opening = next(r for r in records(place.house_journal) if r["event_type"] == "goal.opened")
    append_raw(place.house_journal, opening | {"goal_id": "shop", "event_id": "e-shop"})
    assert place.again().goal_ids == (GOAL,)
    assert place.again().workspace_view().alerts


def test_rules_changed_in_the_first_line_are_damage(place: Place) -> None:
    lines = records(place.journal)
    lines[0]["payload"]["rules"]["quota"]["compute"] = "1"
    rewrite(place.journal, lines)
    fresh = place.again()
    with pytest.raises(Damaged) as caught:
        fresh.view(GOAL)
    assert (caught.value.code, caught.value.facts["line"]) == ("journal_damaged", 1)
    assert fresh.events.verify(GOAL).problems
    with pytest.raises(Damaged):
        fresh.todos.claim(GOAL, CLAUDE, ClaimTodo(todo_id="T3"))
