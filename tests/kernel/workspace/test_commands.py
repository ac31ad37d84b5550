"""Every command through the façade: what it does, and what it refuses without a trace."""

from __future__ import annotations

import json
from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from loopx_kernel.domain.aside import ReopenTodo, SetAside
from loopx_kernel.domain.gate import RequestGate, UseGate, WithdrawGate
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.handin import FinishHumanTodo
from loopx_kernel.domain.lease import ClaimTodo
from loopx_kernel.domain.observation import Observe
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.quota import SpendSlot, VoidSlot
from loopx_kernel.domain.records import WaitingOn
from loopx_kernel.domain.rules import SourceRule
from loopx_kernel.domain.source import AddSource, BindSource, ReadSource
from loopx_kernel.domain.todo import AddTodo

from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    OWNER,
    PUSH,
    Place,
    refused,
    tree,
)

RED = '<testsuite tests="2" failures="2"><testcase><failure/></testcase></testsuite>'


GREEN = '<testsuite tests="2" failures="0"><testcase/><testcase/></testsuite>'


def test_a_hand_in_is_checked_before_it_is_recorded(place: Place) -> None:
    (place.root / "mall-frontend" / "red.xml").write_text(RED)
    update = place.ws.todos.update
    with refused(place, "unknown_todo"):
        update(GOAL, CLAUDE, "T9", complete=True)
    with refused(place, "evidence_mismatch"):
        update(GOAL, CLAUDE, "T3", complete=True, evidence=["red.xml"], tests="passed")
    with refused(place, "missing_evidence"):
        update(GOAL, CLAUDE, "T3", complete=True, evidence=["gone.xml"])
    with refused(place, "version_mismatch"):
        update(GOAL, CLAUDE, "T3", complete=True, version=4, epoch=2)
    with refused(place, "unknown_agent"):
        update(GOAL, "stranger", "T3", complete=True)


def test_a_proven_hand_in_ends_the_lease_in_the_same_line(place: Place) -> None:
    (place.root / "mall-frontend" / "green.xml").write_text(GREEN)
    before = len(place.lines())
    done = place.ws.todos.update(
        GOAL, CLAUDE, "T3", complete=True, evidence=["green.xml"], tests="passed", epoch=2
    )
    todo = done.state.todos["T3"]
    assert (todo.status, todo.proven) == ("done", True)
    assert len(place.lines()) == before + 1
    assert json.loads(place.lease("T3").read_text())["status"] == "ended"
    assert "- [x] **T3**" in place.state_file.read_text("utf-8")


def test_setting_aside_and_reopening(place: Place) -> None:
    todos = place.ws.todos
    place.ws.turns.settle(GOAL, CLAUDE, "turn-0003", outcome="failed")
    wait = SetAside(todo_id="T3", status="waiting", waiting_on=WaitingOn(kind="ci", ref="42"))
    todos.set_aside(GOAL, CLAUDE, wait)
    with refused(place, "quota_frozen"):
        todos.claim(GOAL, CLAUDE, ClaimTodo(todo_id="T3"))
    assert place.ws.view(GOAL).contract.answer == "wait"
    with refused(place, "quota_frozen"):
        todos.reopen(GOAL, CLAUDE, ReopenTodo(todo_id="T3"))
    look = Observe(kind="ci", ref="42", status="pending", basis="told", by=CODEX)
    place.ws.observations.record(GOAL, look)
    todos.reopen(GOAL, CLAUDE, ReopenTodo(todo_id="T3"))
    until = place.clock.now + timedelta(hours=1)
    todos.set_aside(GOAL, CLAUDE, SetAside(todo_id="T3", status="deferred", until=until))
    place.clock.advance(hours=2)
    done = todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T3"))
    assert (done.state.todos["T3"].status, done.state.todos["T3"].lease_epoch) == ("claimed", 3)


def test_an_approval_is_used_once(place: Place) -> None:
    gates = place.ws.gates
    assert not gates.check(GOAL, PUSH).allowed
    with refused(place, "gate_required"):
        gates.use(GOAL, CLAUDE, UseGate(action=PUSH))
    gate_id = place.ask()
    with refused(place, "exists"):
        place.ask()
    done = place.decide(gate_id, reason="go on")
    decision = done.state.gates[gate_id].decision
    assert (decision.by, decision.reason, decision.level) == (OWNER, "go on", "software")
    assert gates.check(GOAL, PUSH).allowed
    assert gates.use(GOAL, CLAUDE, UseGate(action=PUSH)).object_id == gate_id
    with refused(place, "gate_required"):
        gates.use(GOAL, CLAUDE, UseGate(action=PUSH))


def test_gates_deferred_rejected_and_withdrawn(place: Place) -> None:
    gate_id = place.ask(PUSH, "T3")
    place.decide(gate_id, "deferred", until=place.clock.now + timedelta(hours=1))
    assert place.ws.view(GOAL).gates[0].status == "deferred"
    place.clock.advance(hours=2)
    assert place.ws.view(GOAL).gates[0].status == "pending"
    place.decide(gate_id, "rejected", reason="not now")
    with refused(place, "already_decided"):
        place.ask()
    other = place.ask(Action(action="publish", command="npm publish"))
    place.ws.gates.withdraw(GOAL, CLAUDE, WithdrawGate(gate_id=other))
    assert place.ws.state(GOAL).gates[other].status == "withdrawn"
    with refused(place, "vague_gate"):
        request = RequestGate(action=Action(action="publish"), question="ask me if unsure")
        place.ws.gates.request(GOAL, CLAUDE, request)


def test_a_person_finishes_their_own_todo(place: Place) -> None:
    added = place.ws.todos.add(GOAL, CODEX, AddTodo(title="Choose a colour", role="human"))
    command = FinishHumanTodo(todo_id=added.object_id, reason="midnight blue")
    done = place.sign(place.ws.todos.finish_human(GOAL, OWNER, command))
    assert done.state.todos[added.object_id].status == "done"
    with refused(place, "illegal_transition"):
        command = FinishHumanTodo(todo_id="T3", reason="I say so")
        place.ws.todos.finish_human(GOAL, OWNER, command)


def test_a_person_may_finish_their_own_todo_on_files(place: Place) -> None:
    repo = place.ws.view(GOAL).repo
    added = place.ws.todos.add(GOAL, CODEX, AddTodo(title="Choose a colour", role="human"))
    command = FinishHumanTodo(todo_id=added.object_id, reason="midnight blue")
    with refused(place, "missing_evidence"):
        place.ws.todos.finish_human(GOAL, OWNER, command, evidence=("colour.md",))
    file = place.ws.root / repo / "colour.md"
    file.write_text("midnight blue\n", "utf-8")
    asked = place.ws.todos.finish_human(
        GOAL, OWNER, command, evidence=("colour.md",), event_id="blue"
    )
    assert asked.preview.endswith("on colour.md")
    digest = sha256(file.read_bytes()).hexdigest()
    # What is signed names the file by its digest; what changes afterwards changes nothing of it.
    assert [item["sha256"] for item in asked.statement["payload"]["evidence"]] == [digest]
    file.write_text("black\n", "utf-8")
    done = place.sign(asked)
    todo = done.state.todos[added.object_id]
    assert (todo.status, [item.sha256 for item in todo.evidence]) == ("done", [digest])
    proof = place.ws.evidence.of(GOAL, todo)
    assert [(row.since, row.copy) for row in proof.evidence] == [("changed", "kept")]
    assert proof.statement is not None
    file.unlink()
    again = place.ws.todos.finish_human(
        GOAL, OWNER, command, evidence=("colour.md",), event_id="blue"
    )
    assert again.done is not None and again.done.receipt.seq == done.receipt.seq


def test_the_spend_ledger_grows_and_is_corrected_by_a_further_line(place: Place) -> None:
    place.ws.quota.spend(GOAL, CLAUDE, SpendSlot(turn="turn-0003", slots=3))
    with refused(place, "already_spent"):
        place.ws.quota.spend(GOAL, CLAUDE, SpendSlot(turn="turn-0003", slots=3))
    with refused(place, "already_voided"):
        place.ws.quota.void(GOAL, OWNER, VoidSlot(turn="turn-0002", reason="again"))
    with refused(place, "unknown_turn"):
        place.ws.quota.void(GOAL, OWNER, VoidSlot(turn="turn-0099", reason="never booked"))
    lines = [json.loads(line) for line in place.spend.read_bytes().splitlines()]
    assert [(item["effect_ref"], item["action"], item["slots"]) for item in lines] == [
        ("turn-0001", "spent", 1),
        ("turn-0002", "spent", 1),
        ("turn-0002", "voided", 1),
        ("turn-0003", "spent", 3),
    ]
    usage = place.ws.view(GOAL).contract.quota
    assert (usage.allowed, usage.spent, usage.voided, usage.used) == (576, 5, 1, 4)


def test_a_used_up_window_waits_and_comes_back_by_itself(place: Place) -> None:
    place.ws.turns.settle(
        GOAL, CLAUDE, "turn-0003", outcome="progress", evidence=["docs/theme-vars.md"], slots=575
    )
    contract = place.ws.view(GOAL, CLAUDE).contract
    assert (contract.answer, contract.reasons[0].code) == ("wait", "quota_exhausted")
    with refused(place, "quota_exhausted"):
        place.ws.todos.claim(GOAL, CLAUDE, ClaimTodo(todo_id="T3"))
    place.clock.advance(hours=24)
    assert place.ws.view(GOAL, CLAUDE).contract.answer == "run"
    assert not [name for name in tree(place.root) if "counter" in name]


def test_sources_are_bound_before_they_are_read(place: Place) -> None:
    sources = place.ws.sources
    rule = SourceRule(id="tickets", provider="jira", required=True, window_seconds=86400)
    sources.add(GOAL, AddSource(rule=rule))
    entry = json.loads(place.registry.read_text("utf-8"))["goals"][0]
    assert [source["id"] for source in entry["sources"]] == ["tickets"]
    with refused(place, "not_verified"):
        sources.read(GOAL, ReadSource(source_id="tickets", status="read", items=1, unreadable=0))
    assert not place.ws.view(GOAL).envelope.complete
    sources.bind(GOAL, BindSource(source_id="tickets"))
    sources.read(GOAL, ReadSource(source_id="tickets", status="read", items=1, unreadable=0))
    view = place.ws.view(GOAL)
    assert (view.sources[0].status, view.envelope.fresh) == ("fresh", True)
    place.clock.advance(days=9)
    assert not place.ws.view(GOAL).envelope.fresh


def test_the_hand_over_reaches_the_state_file_and_the_next_brief(place: Place) -> None:
    place.ws.handoff.write(GOAL, CLAUDE, "Chosen: CSS variables.\nNext: the buttons.")
    assert "Chosen: CSS variables." in place.state_file.read_text("utf-8")
    brief = place.ws.view(GOAL, CLAUDE).contract.brief
    assert brief is not None and brief.handoff.startswith("Chosen")


def test_a_paused_goal_starts_nothing_and_still_takes_work_in(place: Place) -> None:
    def change(to: Any) -> None:
        command = ChangeGoalStatus(to=to, reason="a look first")
        place.sign(place.ws.goals.change_status(GOAL, OWNER, command))

    change("paused")
    assert json.loads(place.registry.read_text("utf-8"))["goals"][0]["status"] == "paused"
    assert place.ws.view(GOAL).contract.answer == "quiet"
    place.ws.todos.update(GOAL, CLAUDE, "T3", complete=True, epoch=2)
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))
    with refused(place, "goal_paused"):
        place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T4"))
    change("resumed")
    place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T4"))
    change("retired")
    with refused(place, "illegal_transition"):
        change("resumed")


def test_should_run_twice_changes_nothing_and_says_the_same(place: Place) -> None:
    before = tree(place.root)
    first = place.ws.view(GOAL, CLAUDE).contract
    second = place.again().view(GOAL, CLAUDE).contract
    assert first == second
    assert (first.answer, first.brief and first.brief.todo_id) == ("run", "T3")
    assert first.brief is not None and first.brief.write_scope == ("src/theme/**",)
    assert tree(place.root) == before


@pytest.mark.parametrize("name", ["", "x" * 200, "a\nb", "../x"])
def test_a_name_that_is_none_is_refused_with_a_code(place: Place, name: str) -> None:
    with refused(place, "unknown_agent"):
        place.ws.todos.claim(GOAL, name, ClaimTodo(todo_id="T3"))
    with refused(place, "invalid_value" if 0 < len(name) < 128 else "unknown_agent"):
        place.ws.agents.add(name)


@pytest.mark.parametrize("text", ["\ud800", "a\0b", "\x1b[2J", "two\nlines", "\u2028"])
def test_text_that_is_no_line_is_refused_before_anything_is_written(
    place: Place, text: str
) -> None:
    code = "invalid_event" if text == "\ud800" else "invalid_value"
    with refused(place, code):
        place.ws.todos.add(GOAL, CODEX, AddTodo(title=text))
    with refused(place, code):
        place.ws.todos.update(GOAL, CLAUDE, "T3", note=text)
    with refused(place, code):
        place.ws.gates.request(GOAL, CLAUDE, RequestGate(action=PUSH, question=text))


@pytest.mark.parametrize("event_id", ["", "x" * 200, "\ud800"])
def test_an_event_id_that_could_not_be_read_back_is_refused(place: Place, event_id: str) -> None:
    with refused(place, "invalid_value"):
        place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"), event_id=event_id)
    assert place.again().events.verify(GOAL).ok
