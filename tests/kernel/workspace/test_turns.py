"""Turns through the façade: decided again under the lock, verified on disk, kept for ever."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.answer import Contract
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.lease import ClaimTodo, RenewLease
from loopx_kernel.domain.quota import SpendSlot
from loopx_kernel.domain.rules import parse_acceptance
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import LoopxError
from loopx_kernel.workspace import Done, Workspace
from loopx_kernel.workspace.materials import Materials
from loopx_kernel.workspace.turns import Turns

from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    OWNER,
    Place,
    connected,
    ledger_tree,
    open_goal,
    rebuilt,
    refused,
)
from tests.kernel.workspace.test_crash import crashing

ID = "turn-0001"
NOTES = "dark-mode-notes.md"
RED = '<testsuite tests="1" failures="1"><testcase name="a"><failure/></testcase></testsuite>'


@pytest.fixture
def fresh(tmp_path: Path) -> Place:
    """A goal with T1, which checks a command, and T2."""
    place = connected(tmp_path)
    item = parse_acceptance("there=cmd:test -f done.txt", 1)
    open_goal(place, acceptance=(item,))
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Convert", write_scope=("src/theme/**",)))
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Prove it", acceptance=("there",)))
    return place


def settled(place: Place, ref: str = ID, agent: str = CLAUDE, **asked: Any) -> Done[GoalState]:
    values = {"outcome": "done", "evidence": [NOTES], "handoff": "Next: buttons"} | asked
    return place.ws.turns.settle(GOAL, agent, ref, **values)


def spends(place: Place) -> list[tuple[str, str]]:
    lines = [json.loads(line) for line in place.spend.read_bytes().splitlines()]
    return [(line["effect_ref"], line["action"]) for line in lines]


def test_beginning_takes_the_todo_and_says_how_to_hand_in(fresh: Place) -> None:
    begun = fresh.ws.turns.begin(GOAL, CLAUDE, event_id="e-begin")
    assert begun.contract.answer == "run"
    assert begun.turn is not None and begun.receipt is not None
    assert (begun.turn.id, begun.turn.todo_id) == (ID, "T1")
    assert begun.turn.contract_id == begun.contract_id
    assert json.loads(fresh.lease("T1").read_text())["owner"] == CLAUDE
    assert begun.contract.brief is not None
    assert all(ID in one for one in begun.contract.brief.commands[:4])


def test_beginning_again_is_the_same_turn_and_writes_nothing(fresh: Place) -> None:
    first = fresh.ws.turns.begin(GOAL, CLAUDE, event_id="e-begin")
    before = ledger_tree(fresh)
    for again in (
        fresh.ws.turns.begin(GOAL, CLAUDE),
        fresh.again().turns.begin(GOAL, CLAUDE, event_id="e-begin"),
        fresh.again().turns.begin(GOAL, CLAUDE, event_id="e-other"),
    ):
        assert (again.turn, again.contract_id) == (first.turn, first.contract_id)
        assert again.receipt is not None and first.receipt is not None
        assert (again.receipt.seq, again.receipt.replayed) == (first.receipt.seq, True)
        assert again.contract.todo is not None and again.contract.todo.id == "T1"
    assert ledger_tree(fresh) == before


def test_each_answer_has_its_own_name(fresh: Place) -> None:
    fresh.ws.turns.begin(GOAL, CLAUDE)
    fresh.ws.turns.begin(GOAL, CODEX)
    names = [one.contract_id for one in fresh.ws.turns.list(GOAL)]
    assert len(set(names)) == 2


def test_where_nothing_may_run_nothing_is_opened(fresh: Place) -> None:
    pause = ChangeGoalStatus(to="paused", reason="holiday")
    fresh.sign(fresh.ws.goals.change_status(GOAL, OWNER, pause))
    before = ledger_tree(fresh)
    begun = fresh.ws.turns.begin(GOAL, CLAUDE)
    assert (begun.contract.answer, begun.turn, begun.receipt) == ("quiet", None, None)
    assert ledger_tree(fresh) == before


def test_drift_is_repaired_first_and_an_open_turn_still_settles(fresh: Place) -> None:
    fresh.ws.turns.begin(GOAL, CLAUDE)
    text = fresh.state_file.read_text("utf-8")
    fresh.state_file.write_text(text.replace("- [ ] **T2**", "- [x] **T2**"), "utf-8")
    begun = fresh.ws.turns.begin(GOAL, CODEX)
    assert (begun.contract.answer, begun.turn) == ("repair", None)
    settled(fresh)
    assert fresh.ws.turns.show(GOAL, ID).progress


def test_nobody_unknown_begins(fresh: Place) -> None:
    with refused(fresh, "unknown_agent"):
        fresh.ws.turns.begin(GOAL, "nobody")


def test_somebody_quicker_takes_the_todo_and_the_next_one_is_begun(
    fresh: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = fresh.again()
    contract = Turns._contract
    seen: list[int] = []

    def looking(self: Turns, *args: Any) -> Contract:
        found = contract(self, *args)
        if not seen:
            seen.append(1)
            other.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T1"))
        return found

    monkeypatch.setattr(Turns, "_contract", looking)
    begun = fresh.ws.turns.begin(GOAL, CLAUDE)
    assert begun.turn is not None and begun.turn.todo_id == "T2"


def test_one_line_settles_all_of_it(fresh: Place) -> None:
    fresh.ws.turns.begin(GOAL, CLAUDE)
    before = len(fresh.lines())
    settled(fresh, event_id="e-settle")
    assert len(fresh.lines()) == before + 1
    turn = fresh.ws.turns.show(GOAL, ID)
    assert turn.progress and turn.unproven and turn.result_digest
    assert spends(fresh) == [(ID, "spent")]
    assert json.loads(fresh.lease("T1").read_text())["status"] == "ended"
    assert json.loads((fresh.lease("T1").parent.parent / "statements" / "T1.json").read_text())
    page = fresh.state_file.read_text("utf-8")
    assert "- [x] **T1**" in page and "Next: buttons" in page
    assert fresh.again().state(GOAL) == fresh.ws.state(GOAL)
    assert not fresh.ws.view(GOAL).reads.behind_files


def test_a_receipt_sent_again_is_the_first_one(fresh: Place) -> None:
    fresh.ws.turns.begin(GOAL, CLAUDE)
    first = settled(fresh, event_id="e-settle")
    (fresh.root / "mall-frontend" / NOTES).unlink()
    again = settled(fresh, event_id="e-settle")
    assert again.receipt.seq == first.receipt.seq and again.receipt.replayed
    with refused(fresh, "event_conflict"):
        settled(fresh, outcome="failed", event_id="e-settle")


def test_a_report_that_says_otherwise_makes_it_a_failure(fresh: Place) -> None:
    fresh.ws.turns.begin(GOAL, CLAUDE)
    fresh.ws.quota.spend(GOAL, CLAUDE, SpendSlot(turn=ID))
    (fresh.root / "mall-frontend" / "report.xml").write_text(RED)
    settled(fresh, evidence=["report.xml"], tests="passed")
    turn = fresh.ws.turns.show(GOAL, ID)
    assert (turn.outcome, turn.verified, turn.slots_booked) == ("failed", False, 0)
    assert spends(fresh) == [(ID, "spent"), (ID, "voided")]
    assert fresh.ws.state(GOAL).todos["T1"].status == "open"


def test_what_is_missing_on_disk_is_refused_and_changes_nothing(fresh: Place) -> None:
    fresh.ws.turns.begin(GOAL, CLAUDE)
    with refused(fresh, "missing_evidence"):
        settled(fresh, evidence=["nowhere.md"])


def test_acceptance_items_are_run_now(fresh: Place) -> None:
    for number, there in ((1, False), (2, True)):
        fresh.ws.turns.begin(GOAL, CODEX)
        if number == 1:
            settled(fresh, agent=CODEX)
            fresh.ws.turns.begin(GOAL, CODEX)
        if there:
            (fresh.root / "mall-frontend" / "done.txt").write_text("yes")
        ref = f"turn-{number + 1:04}"
        settled(fresh, ref, CODEX, evidence=[])
        turn = fresh.ws.turns.show(GOAL, ref)
        assert (turn.outcome, turn.progress) == (("done", True) if there else ("failed", False))
    assert fresh.ws.state(GOAL).results["there"].result == "passed"


def test_a_todo_completed_for_a_turn_runs_its_items_too(fresh: Place) -> None:
    fresh.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T1"))
    fresh.ws.turns.begin(GOAL, CLAUDE)
    update: dict[str, Any] = {"complete": True, "evidence": [NOTES], "turn": ID}
    with refused(fresh, "not_verified"):
        fresh.ws.todos.update(GOAL, CLAUDE, "T2", **update)
    (fresh.root / "mall-frontend" / "done.txt").write_text("yes")
    fresh.ws.todos.update(GOAL, CLAUDE, "T2", **update)
    fresh.ws.handoff.write(GOAL, CLAUDE, "Next: ship", turn=ID)
    assert not fresh.ws.turns.show(GOAL, ID).progress
    fresh.ws.quota.spend(GOAL, CLAUDE, SpendSlot(turn=ID))
    assert fresh.ws.turns.show(GOAL, ID).progress


def test_scenario_26_recovered_once(fresh: Place) -> None:
    fresh.ws.turns.begin(GOAL, CLAUDE)
    fresh.ws.quota.spend(GOAL, CLAUDE, SpendSlot(turn=ID))
    assert fresh.ws.turns.recover(GOAL) == ()
    fresh.clock.advance(minutes=16)
    contract = fresh.ws.view(GOAL, CODEX).contract
    assert contract.repair is not None and contract.repair.command.startswith("loopx turn recover")
    (done,) = fresh.ws.turns.recover(GOAL, event_id="e-recover")
    turn = done.state.turns[done.object_id]
    assert (turn.status, turn.progress) == ("recovered", False)
    assert done.state.todos["T1"].status == "open"
    assert spends(fresh) == [(ID, "spent"), (ID, "voided")]
    before = ledger_tree(fresh)
    assert fresh.ws.turns.recover(GOAL) == ()
    (again,) = fresh.ws.turns.recover(GOAL, event_id="e-recover")
    assert again.receipt.replayed and ledger_tree(fresh) == before
    assert fresh.ws.view(GOAL, CODEX).contract.answer == "run"


def test_a_renewal_keeps_a_turn_alive(fresh: Place) -> None:
    fresh.ws.turns.begin(GOAL, CLAUDE)
    fresh.clock.advance(minutes=10)
    fresh.ws.todos.renew(GOAL, CLAUDE, RenewLease(todo_id="T1", version=1, epoch=1))
    fresh.clock.advance(minutes=10)
    assert fresh.ws.turns.recover(GOAL) == ()
    fresh.clock.advance(minutes=10)
    assert len(fresh.ws.turns.recover(GOAL)) == 1


def test_turns_that_left_the_state_are_still_shown_and_listed(fresh: Place) -> None:
    for number in range(1, 36):
        fresh.ws.turns.begin(GOAL, CLAUDE)
        name = f"note-{number}.md"
        (fresh.root / "mall-frontend" / name).write_text(f"step {number}")
        (fresh.root / "mall-frontend" / "src" / "theme").mkdir(parents=True, exist_ok=True)
        (fresh.root / "mall-frontend" / "src" / "theme" / name).write_text(f"step {number}")
        settled(fresh, f"turn-{number:04}", outcome="progress", evidence=[name])
    ws = fresh.again()
    assert ID not in ws.state(GOAL).turns
    assert [one.id for one in ws.turns.list(GOAL, everything=True)] == [
        f"turn-{number:04}" for number in range(1, 36)
    ]
    assert len(ws.turns.list(GOAL)) == 32
    assert ws.turns.show(GOAL, ID).progress
    assert sum(one.progress for one in ws.turns.list(GOAL, everything=True)) == 35
    fresh.spend.unlink()
    ws.handoff.bring_level(GOAL, CLAUDE)
    assert len(spends(fresh)) == 35
    with pytest.raises(LoopxError) as caught:
        ws.turns.show(GOAL, "turn-0036")
    assert caught.value.code == "unknown_turn"


CRASHES: dict[str, Callable[[Workspace], object]] = {
    "begin": lambda ws: ws.turns.begin(GOAL, CODEX),
    "settle": lambda ws: ws.turns.settle(
        GOAL, CLAUDE, ID, outcome="done", evidence=[NOTES], handoff="Next"
    ),
    "recover": lambda ws: ws.turns.recover(GOAL),
}


@pytest.mark.parametrize("name", CRASHES)
def test_after_a_crash_the_next_writer_rolls_the_files_forward(fresh: Place, name: str) -> None:
    fresh.ws.turns.begin(GOAL, CLAUDE)
    fresh.ws.quota.spend(GOAL, CLAUDE, SpendSlot(turn=ID))
    if name == "recover":
        fresh.clock.advance(minutes=20)
    crashing(lambda: CRASHES[name](fresh.ws), Materials, "follow")
    ws = fresh.again()
    assert not ws.view(GOAL).reads.damage
    ws.handoff.write(GOAL, CODEX, "Next: buttons")
    view = ws.view(GOAL)
    assert not (view.reads.missing_files or view.reads.behind_files or view.reads.damage)
    assert rebuilt(fresh) == []
    assert ws.events.verify(GOAL).ok
