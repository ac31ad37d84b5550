"""Names, times, ids and paths borrowed by an agent: none of them carries a decision."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from loopx_kernel.clock import format_time
from loopx_kernel.domain.alerts import MAX_ALERTS
from loopx_kernel.domain.gate import DecideGate, UseGate
from loopx_kernel.domain.lease import ClaimTodo
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.rules import Coordination, parse_gate_rule
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import Conflict

from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    OWNER,
    PUSH,
    Place,
    enrol,
    new_key,
    open_goal,
    refused,
)
from tests.kernel.workspace.forge import append_raw

WORK = {"event_type": "todo.added", "payload": {"todo_id": "T4", "title": "Write the docs"}}


def raw(place: Place, **values: Any) -> dict[str, Any]:
    """An agent's line as anybody could type it."""
    return {
        "event_id": "e-raw",
        "goal_id": GOAL,
        "recorded_at": format_time(place.clock.now),
        "actor_kind": "agent",
        "actor_agent_id": CLAUDE,
        "request": "0" * 64,
    } | values


@pytest.mark.parametrize("name", [OWNER, OWNER.upper()])
def test_no_agent_has_an_owner_s_name(place: Place, name: str) -> None:
    with refused(place, "exists") as caught:
        place.ws.agents.add(name)
    assert "owner" in caught.message


def test_no_owner_has_an_agent_s_name(place: Place) -> None:
    with pytest.raises(Conflict) as caught:
        enrol(place, CODEX.upper(), new_key(place.root.parent, "third"), by=OWNER)
    assert caught.value.code == "exists"


@pytest.mark.parametrize("kind", ["agent", "code"])
def test_a_line_by_hand_cannot_name_a_person_as_its_agent(place: Place, kind: str) -> None:
    by = {"actor_kind": kind, "actor_agent_id": OWNER}
    unit = {"event_type": "source.added", "payload": {"source_id": "s", "provider": "p"}}
    append_raw(place.journal, raw(place, **(WORK if kind == "agent" else unit)) | by)
    state = place.again().state(GOAL)
    assert "T4" not in state.todos and not state.sources
    assert OWNER in state.alerts[-1].message


@pytest.mark.parametrize("name", [OWNER, OWNER.upper()])
def test_nobody_says_by_hand_that_a_person_saw_something(place: Place, name: str) -> None:
    look = {"kind": "ci", "ref": "main", "status": "pass", "basis": "told", "by": name}
    line = raw(place, event_type="observation.recorded", payload=look, actor_kind="code")
    append_raw(place.journal, line | {"actor_agent_id": "loopx"})
    state = place.again().state(GOAL)
    assert not state.observations
    assert state.alerts[-1].code == "unsigned"


def test_what_was_done_before_somebody_was_enrolled_stays_done(place: Place) -> None:
    append_raw(place.journal, raw(place, **WORK) | {"actor_agent_id": "wang"})
    enrol(place, "wang", new_key(place.root.parent, "wang"), by=OWNER)
    later = {"event_type": "todo.added", "payload": {"todo_id": "T5", "title": "Ship"}}
    append_raw(place.journal, raw(place, **later) | {"actor_agent_id": "wang", "event_id": "e-2"})
    todos = place.again().state(GOAL).todos
    assert "T4" in todos and "T5" not in todos


def test_a_flood_of_bad_lines_makes_no_forged_approval_look_good(place: Place) -> None:
    gate_id = place.ask()
    forged = {"gate_id": gate_id, "digest": PUSH.digest}
    owner = {"actor_kind": "owner", "actor_agent_id": OWNER, "event_id": "e-forged"}
    append_raw(place.journal, raw(place, event_type="gate.approved", payload=forged) | owner)
    for number in range(MAX_ALERTS):
        bad = raw(place, event_type="goal.completed", payload={}, event_id=f"e-{number}x")
        append_raw(place.journal, bad)
    row = place.again().events.show(GOAL, "e-forged")
    assert not row.effective and row.problem


@pytest.mark.parametrize("by", ["owner", "agent"])
def test_nobody_can_answer_for_a_decision_under_its_event_id(place: Place, by: str) -> None:
    gate_id = place.ask()
    reject = DecideGate(gate_id=gate_id, outcome="rejected")
    asked = place.ws.gates.decide(GOAL, OWNER, reject, event_id="e-no").order.request
    squatter = {"event_id": "e-no", "request": asked}
    if by == "owner":
        forged = {"gate_id": gate_id, "digest": PUSH.digest}
        owner = {"actor_kind": "owner", "actor_agent_id": OWNER}
        line = raw(place, event_type="gate.rejected", payload=forged) | owner
    else:
        line = raw(place, **WORK)
    append_raw(place.journal, line | squatter)
    with refused(place, "event_conflict"):
        place.again().gates.decide(GOAL, OWNER, reject, event_id="e-no")
    assert place.decide(gate_id, "rejected").state.gates[gate_id].status == "rejected"


def test_an_approval_that_ran_out_is_not_used_by_a_line_with_an_earlier_time(place: Place) -> None:
    gate_id = place.ask()
    place.decide(gate_id, expires_at=place.clock.now + timedelta(minutes=10))
    early = format_time(place.clock.now + timedelta(minutes=1))
    place.clock.advance(hours=3)
    place.ws.todos.add(GOAL, CLAUDE, AddTodo(title="Later"))
    used = {"gate_id": gate_id, "digest": PUSH.digest}
    append_raw(place.journal, raw(place, event_type="gate.used", payload=used, recorded_at=early))
    state = place.again().state(GOAL)
    assert state.gates[gate_id].status == "approved" and len(state.alerts) == 1
    place.clock.advance(hours=-3)
    assert not place.again().gates.check(GOAL, PUSH).allowed


def write(*paths: str) -> Action:
    return Action(action="write", paths=paths)


def test_a_link_is_no_way_around_a_rule(place: Place) -> None:
    rules = (parse_gate_rule("write@infra/**"), parse_gate_rule("delete@**/.env"))
    scope = Coordination(write_scope=("src/**",), requires_parent_approval=("write",))
    open_goal(place, "shop", gates=rules, coordination=scope)
    repo = place.root / "mall-frontend"
    for folder in ("infra", "src", "config"):
        (repo / folder).mkdir()
    (repo / "src" / "here").mkdir()
    (repo / "src" / "link").symlink_to("../infra")
    (repo / "src" / "out").symlink_to("/etc")
    check = place.ws.gates.check
    assert check("shop", write("src/here/x", "src/new")).allowed
    assert not check("shop", write("src/link/prod.tf")).allowed
    assert not check("shop", write("src/out/passwd")).allowed
    assert not check("shop", Action(action="delete", paths=("config",))).allowed
    assert check("shop", Action(action="delete", paths=("src/new",))).allowed


def test_an_approval_for_where_a_link_leads_can_be_used(place: Place) -> None:
    (place.root / "mall-frontend" / "src" / "theme").mkdir(parents=True)
    (place.root / "mall-frontend" / "src" / "theme" / "out").symlink_to("/etc")
    action = write("src/theme/out/x")
    gate_id = place.ask(action)
    place.decide(gate_id)
    assert place.ws.gates.check(GOAL, action).allowed
    done = place.ws.gates.use(GOAL, CLAUDE, UseGate(action=action))
    assert done.state.gates[gate_id].status == "used"


@pytest.mark.parametrize("goal_id", [GOAL, "shop"])
def test_two_agents_do_not_hold_the_same_files_by_way_of_a_link(place: Place, goal_id: str) -> None:
    """T3, which covers src/theme, is held by claude-code."""
    (place.root / "mall-frontend" / "src" / "theme").mkdir(parents=True)
    (place.root / "mall-frontend" / "look").symlink_to("src/theme")
    if goal_id != GOAL:
        open_goal(place, goal_id)
    work = AddTodo(title="The same by another name", write_scope=("look/*.css",))
    todo_id = place.ws.todos.add(goal_id, CODEX, work).object_id
    with refused(place, "scope_overlap"):
        place.ws.todos.claim(goal_id, CODEX, ClaimTodo(todo_id=todo_id))
    (place.root / "mall-frontend" / "look").unlink()
    place.ws.todos.claim(goal_id, CODEX, ClaimTodo(todo_id=todo_id))


def test_a_person_s_todo_is_not_finished_by_lines_of_an_agent(place: Place) -> None:
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Look at it", role="human"))
    until = format_time(place.clock.now + timedelta(minutes=5))
    claim = {"todo_id": "T4", "lease_epoch": 1, "version": 1, "expires_at": until}
    done = {"todo_id": "T4", "lease_epoch": 1, "version": 2}
    append_raw(place.journal, raw(place, event_type="todo.claimed", payload=claim))
    append_raw(place.journal, raw(place, event_type="todo.completed", payload=done, event_id="e"))
    assert place.again().state(GOAL).todos["T4"].status == "open"
