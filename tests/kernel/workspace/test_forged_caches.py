"""Caches forged by somebody who may write them: no leave to act comes from one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from loopx_kernel.domain.event import WORKSPACE_JOURNAL
from loopx_kernel.domain.gate import DecideGate, UseGate
from loopx_kernel.domain.patched_rules import PatchRules
from loopx_kernel.domain.records import Decision
from loopx_kernel.domain.rules import Coordination, parse_gate_rule
from loopx_kernel.errors import Denied
from loopx_kernel.store.checkpoint import cache_folder
from loopx_kernel.store.files import Files
from loopx_kernel.workspace import resume
from loopx_kernel.workspace.ledger import Ledger

from bench.journal import lengthen
from tests.kernel.workspace.build import (
    CLAUDE,
    GOAL,
    OWNER,
    PUSH,
    SECOND,
    Place,
    new_key,
    refused,
    rules,
)
from tests.kernel.workspace.forge import append_raw, records


def forge_checkpoint(place: Place, ledger: Ledger, update: Mapping[str, Any]) -> None:
    """Puts a checkpoint there that proves itself and says something else of the last line."""
    path = cache_folder(place.ws.workspace_id, ledger.name) / resume.FILE
    state = ledger.state.model_copy(update=update)
    assert resume.save(path, state, ledger.position, ledger.rests_on(), files=Files())


def forge_gate(place: Place, gate_id: str, **values: Any) -> None:
    ledger = place.again()._core.fresh_goal(GOAL)
    gate = ledger.state.gates[gate_id].model_copy(update=values)
    forge_checkpoint(place, ledger, {"gates": {gate_id: gate}})
    assert place.again().state(GOAL).gates[gate_id].status == values["status"], "not believed"


def assert_nothing_is_allowed(place: Place) -> None:
    assert not place.again().gates.check(GOAL, PUSH).allowed
    with refused(Place(place.again(), place.clock, place.keys), "gate_required"):
        place.again().gates.use(GOAL, CLAUDE, UseGate(action=PUSH))


def decision(place: Place) -> Decision:
    return Decision(
        outcome="approved",
        by=OWNER,
        key=place.keys[OWNER].public.fingerprint,
        level="passphrase",
        at=place.clock.now,
        event_id="e-none",
    )


def test_an_approval_that_only_a_checkpoint_knows(place: Place) -> None:
    gate_id = place.ask()
    forge_gate(place, gate_id, status="approved", decision=decision(place))
    assert_nothing_is_allowed(place)


def test_an_approval_that_was_used_and_that_a_checkpoint_gives_back(place: Place) -> None:
    gate_id = place.ask()
    place.decide(gate_id)
    approval = records(place.journal)[-1]
    place.ws.gates.use(GOAL, CLAUDE, UseGate(action=PUSH))
    append_raw(place.journal, approval)
    for seq in (approval["seq"], len(place.lines())):
        forge_gate(place, gate_id, status="approved", seq=seq)
        assert_nothing_is_allowed(place)


def test_a_level_that_only_a_checkpoint_knows(place: Place) -> None:
    gate_id = place.ask()
    place.decide(gate_id)
    strict = rules(gates=(parse_gate_rule("publish level:presence"),))
    place.sign(place.ws.goals.patch_rules(GOAL, OWNER, PatchRules(rules=strict)))
    decided = place.again().state(GOAL).gates[gate_id].decision
    assert decided is not None
    ledger = place.again()._core.fresh_goal(GOAL)
    stronger = decided.model_copy(update={"level": "presence"})
    gate = ledger.state.gates[gate_id].model_copy(update={"decision": stronger})
    forge_checkpoint(place, ledger, {"gates": {gate_id: gate}})
    assert place.again().state(GOAL).gates[gate_id].decision == stronger, "not believed"
    assert_nothing_is_allowed(place)


def test_rules_that_a_checkpoint_leaves_out(place: Place) -> None:
    ledger = place.again()._core.fresh_goal(GOAL)
    none = rules(coordination=Coordination(write_scope=("**",)))
    forge_checkpoint(place, ledger, {"rules": none})
    assert_nothing_is_allowed(place)


def test_a_true_checkpoint_is_believed(place: Place) -> None:
    gate_id = place.ask()
    place.decide(gate_id, expires_at=place.clock.now.replace(hour=23))
    ledger = place.again()._core.fresh_goal(GOAL)
    forge_checkpoint(place, ledger, {})
    assert place.again().gates.check(GOAL, PUSH).allowed
    done = place.again().gates.use(GOAL, CLAUDE, UseGate(action=PUSH))
    assert done.state.gates[gate_id].status == "used"


@pytest.fixture
def by_eve(place: Place) -> str:
    """A gate approved with a key that only a forged checkpoint of the owners knows."""
    key = new_key(place.root.parent, "eve")
    house = place.again()._core.house
    values = {"key": key.public.line, "fingerprint": key.public.fingerprint}
    eve = house.state.owners[1].model_copy(update=values)
    gate_id = place.ask()
    forge_checkpoint(place, house, {"owners": (house.state.owners[0], eve)})
    # The owners' file would give it away: it is made anew from what is believed.
    place.owners.unlink()
    ws = place.again()
    there = Place(ws, place.clock, {**place.keys, SECOND: key})
    there.sign(ws.gates.decide(GOAL, SECOND, DecideGate(gate_id=gate_id, outcome="approved")))
    assert place.again().state(GOAL).gates[gate_id].status == "approved", "not believed"
    return gate_id


def test_an_owner_that_only_a_checkpoint_knows(place: Place, by_eve: str) -> None:
    assert not place.again().events.verify(GOAL).ok
    assert not place.again().gates.check(GOAL, PUSH).allowed
    with pytest.raises(Denied):
        place.again().gates.use(GOAL, CLAUDE, UseGate(action=PUSH))
    assert place.again().events.verify(WORKSPACE_JOURNAL).ok


def test_rules_of_before_that_a_checkpoint_gives_back(place: Place) -> None:
    lax = rules(coordination=Coordination(write_scope=("src/theme/**", "tests/theme/**")))
    strict = place.ws.state(GOAL).the_rules
    for new in (lax, strict):
        place.sign(place.ws.goals.patch_rules(GOAL, OWNER, PatchRules(rules=new)))
    assert not place.again().gates.check(GOAL, PUSH).allowed
    ledger = place.again()._core.fresh_goal(GOAL)
    seq = ledger.state.rules_seq
    for told in (seq, seq - 1, 1):
        forge_checkpoint(place, ledger, {"rules": lax, "rules_seq": told})
        assert place.again().state(GOAL).the_rules == lax, "not believed"
        assert_nothing_is_allowed(place)


@pytest.fixture
def patched(place: Place) -> dict[str, Any]:
    """The line that laid the rules of the goal anew; an approval stands under them."""
    lax = rules(coordination=Coordination(write_scope=("src/theme/**",)))
    strict = place.ws.state(GOAL).the_rules
    for new in (lax, strict):
        place.sign(place.ws.goals.patch_rules(GOAL, OWNER, PatchRules(rules=new)))
    place.decide(place.ask())
    return records(place.journal)[-4]


@pytest.mark.parametrize("author", ["the person who signed it", "an agent", "nobody's key"])
def test_a_line_that_lays_no_rules_costs_nobody_a_replay(
    place: Place, patched: dict[str, Any], author: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert patched["event_type"] == "rules.patched"
    if author == "an agent":
        del patched["signed"]
        patched |= {"actor_kind": "agent", "actor_agent_id": CLAUDE, "event_id": "e-forged"}
    elif author == "nobody's key":
        patched["event_id"] = "e-forged"
    append_raw(place.journal, patched)
    place.again().state(GOAL)

    def replayed(ledger: Ledger) -> None:
        raise AssertionError(f"{ledger.name} was read from line 1")

    monkeypatch.setattr(Ledger, "read_again", replayed)
    assert place.again().gates.check(GOAL, PUSH).allowed
    assert place.again().gates.use(GOAL, CLAUDE, UseGate(action=PUSH)).receipt.seq


def test_an_answer_reads_little_of_a_long_journal(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.decide(place.ask())

    lengthen(place.journal, GOAL, CLAUDE, 12_000)
    assert place.again().gates.check(GOAL, PUSH).allowed
    ws = place.again()
    ws.state(GOAL)
    read: list[int] = []
    real = Files.read_at

    def counted(files: Files, fd: int, size: int, offset: int) -> bytes:
        found = real(files, fd, size, offset)
        read.append(len(found))
        return found

    monkeypatch.setattr(Files, "read_at", counted)
    assert ws.gates.check(GOAL, PUSH).allowed
    assert sum(read) < place.journal.stat().st_size / 3
