"""Only a person's signature over this event at this place decides anything."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from loopx_kernel.domain.gate import DecideGate
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.lease import ReleaseLease
from loopx_kernel.domain.quota import SpendSlot, VoidSlot
from loopx_kernel.errors import Conflict, Denied

from tests.kernel.workspace.build import (
    CLAUDE,
    GOAL,
    OWNER,
    SECOND,
    Place,
    copied,
    new_key,
    refused,
)


def test_a_changed_object_makes_the_decision_stale(place: Place) -> None:
    place.ws.quota.spend(GOAL, CLAUDE, SpendSlot(turn="turn-0003"))
    void = VoidSlot(turn="turn-0003", reason="wrong turn")
    prepared = place.ws.goals.change_status(
        GOAL, OWNER, ChangeGoalStatus(to="paused", reason="a look first")
    )
    later = place.ws.goals.change_status(
        GOAL, SECOND, ChangeGoalStatus(to="retired", reason="enough")
    )
    place.sign(prepared)
    with refused(place, "stale_decision") as error:
        place.sign(later)
    assert error.facts["object_id"] == GOAL
    place.sign(place.ws.quota.void(GOAL, OWNER, void))


def test_more_events_meanwhile_are_no_reason_to_refuse(place: Place) -> None:
    gate_id = place.ask()
    prepared = place.ws.gates.decide(GOAL, OWNER, DecideGate(gate_id=gate_id, outcome="approved"))
    place.ws.todos.release(GOAL, CLAUDE, ReleaseLease(todo_id="T3", version=5, epoch=2))
    place.ws.handoff.write(GOAL, CLAUDE, "Next: buttons")
    assert place.sign(prepared).state.gates[gate_id].status == "approved"


def test_of_two_racing_decisions_one_counts_and_the_other_is_told_who_and_when(
    place: Place,
) -> None:
    gate_id = place.ask()
    other = place.again()
    yes = place.ws.gates.decide(GOAL, OWNER, DecideGate(gate_id=gate_id, outcome="approved"))
    no = other.gates.decide(GOAL, SECOND, DecideGate(gate_id=gate_id, outcome="rejected"))
    place.clock.advance(minutes=1)
    first = place.sign(yes)
    with pytest.raises(Conflict) as caught:
        other.append(no, place.keys[SECOND])
    assert caught.value.code == "already_decided"
    assert caught.value.facts["by"] == OWNER
    assert caught.value.facts["at"] == first.receipt.recorded_at.isoformat().replace("+00:00", "Z")
    assert place.again().state(GOAL).gates[gate_id].status == "approved"


def test_a_key_that_is_nobody_s_here_cannot_sign(place: Place) -> None:
    gate_id = place.ask()
    prepared = place.ws.gates.decide(GOAL, OWNER, DecideGate(gate_id=gate_id, outcome="approved"))
    with refused(place, "unknown_signer"):
        place.ws.append(prepared, new_key(place.root.parent, "stranger"))
    with refused(place, "unknown_signer"):
        place.ws.append(prepared, place.keys[SECOND])
    assert place.sign(prepared).state.gates[gate_id].status == "approved"


def test_preparing_writes_nothing(place: Place) -> None:
    gate_id = place.ask()
    before = place.journal.read_bytes()
    prepared = place.ws.gates.decide(GOAL, OWNER, DecideGate(gate_id=gate_id, outcome="rejected"))
    assert prepared.preview == f"reject {gate_id} of {GOAL}"
    assert prepared.statement["object"]["id"] == gate_id
    assert place.journal.read_bytes() == before


@pytest.mark.parametrize("who", [OWNER, SECOND])
def test_ssh_keygen_alone_can_check_a_decision(place: Place, who: str, tmp_path: Path) -> None:
    gate_id = place.ask()
    command = DecideGate(gate_id=gate_id, outcome="approved", reason="looks good, 很好")
    done = place.sign(place.ws.gates.decide(GOAL, who, command))
    event_id = done.receipt.event_id
    signature = tmp_path / "decision.sig"
    signature.write_text(place.ws.events.signature(GOAL, event_id))
    call = ["ssh-keygen", "-Y", "verify", "-f", str(place.owners), "-I", who, "-n", "loopx"]
    call += ["-s", str(signature)]
    statement = place.ws.events.statement(GOAL, event_id)
    good = subprocess.run(call, input=statement, capture_output=True, check=False)
    assert good.returncode == 0, good.stderr
    bad = subprocess.run(call, input=statement + b" ", capture_output=True, check=False)
    assert bad.returncode != 0


def test_an_event_that_needs_no_signature_has_none(place: Place) -> None:
    with pytest.raises(Denied) as caught:
        place.ws.events.statement(GOAL, "e-0142")
    assert caught.value.code == "unsigned"
    row = place.ws.events.show(GOAL, "e-0142")
    assert (row.effective, row.signature_ok) == (True, None)


def test_a_copied_ledger_still_verifies(place: Place, tmp_path: Path) -> None:
    moved = copied(place, tmp_path / "elsewhere")
    assert moved.ws.events.verify(GOAL).ok
    assert moved.ws.events.verify("_workspace").ok
