"""Making a workspace, and the registry as other programs read it."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from loopx_kernel.domain.goal import OpenGoal
from loopx_kernel.domain.rules import Coordination, GateRule
from loopx_kernel.errors import UsageError
from loopx_kernel.workspace import Workspace

from tests.kernel.workspace.build import (
    CLAUDE,
    GOAL,
    OWNER,
    SECOND,
    Place,
    connected,
    open_goal,
    refused,
    rules,
    tree,
)

PROGRESS = {"todos", "done", "progress", "leases", "spent", "used", "completion", "next_action"}


def test_connecting_again_changes_not_one_byte(place: Place) -> None:
    before = tree(place.root)
    times = {path: path.stat().st_mtime_ns for path in place.root.rglob("*")}
    again = Workspace.connect(place.root, clock=place.clock)
    assert again.workspace_id == place.ws.workspace_id
    assert tree(place.root) == before
    assert {path: path.stat().st_mtime_ns for path in place.root.rglob("*")} == times


def test_a_new_workspace_has_an_id_and_hides_itself_from_git(tmp_path: Path) -> None:
    ws = Workspace.connect(tmp_path)
    assert re.fullmatch(r"[0-9a-f]{32}", ws.workspace_id)
    assert ws.goal_ids == ()
    assert (tmp_path / ".loopx" / ".gitignore").read_text() == "*\n"
    assert Workspace.find(tmp_path / "a" / "b", environ={}) == tmp_path


def test_a_connect_that_was_cut_short_is_finished_by_the_next(tmp_path: Path) -> None:
    journal = tmp_path / ".loopx" / "runtime" / "_workspace" / "events.jsonl"
    journal.parent.mkdir(parents=True)
    journal.write_bytes(b'{"event_id":"half')
    ws = Workspace.connect(tmp_path)
    assert ws.events.verify("_workspace").ok
    (kept,) = (journal.parent / "quarantine").iterdir()
    assert kept.read_bytes() == b'{"event_id":"half'


def test_where_there_is_none_the_error_says_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        Workspace.open(tmp_path)
    assert (caught.value.code, caught.value.next) == ("not_initialised", "loopx connect")
    assert not (tmp_path / ".loopx").exists()


def test_the_registry_has_every_field_and_no_progress(place: Place) -> None:
    found = json.loads(place.registry.read_text("utf-8"))
    assert found["schema_version"] == "0.1"
    (entry,) = found["goals"]
    expected = {
        "id": "dark-mode",
        "display_name": "为商城前端添加深色模式",
        "domain": "frontend",
        "status": "active",
        "repo": "mall-frontend",
        "state_file": ".codex/goals/dark-mode/ACTIVE_GOAL_STATE.md",
        "spawn_policy": {"mode": "manual", "max_children": 2},
        "coordination": {
            "write_scope": ["src/theme/**", "tests/theme/**"],
            "requires_parent_approval": ["write", "publish", "production-action"],
        },
        "quota": {"compute": 0.4, "window_hours": 24, "slot_minutes": 1},
    }
    assert {key: entry[key] for key in expected} == expected
    assert not PROGRESS & set(entry)
    assert place.ws.view(GOAL).contract.quota.allowed == 576


def test_work_does_not_touch_the_registry(place: Place) -> None:
    before = place.registry.read_bytes()
    place.ws.todos.update(GOAL, CLAUDE, "T3", note="half way", version=5, epoch=2)
    place.ask()
    assert place.registry.read_bytes() == before


def test_two_goals_keep_each_other_s_entry(place: Place) -> None:
    first = json.loads(place.registry.read_text("utf-8"))["goals"]
    open_goal(place, "shop", state_file=".loopx/goals/shop/ACTIVE_GOAL_STATE.md")
    goals = json.loads(place.registry.read_text("utf-8"))["goals"]
    assert goals[0] == first[0]
    assert [entry["id"] for entry in goals] == ["dark-mode", "shop"]
    assert (place.root / ".loopx/goals/shop/ACTIVE_GOAL_STATE.md").exists()
    with pytest.raises(UsageError) as caught:
        place.ws.pick_goal(None)
    assert caught.value.code == "ambiguous_goal"
    assert caught.value.facts["goals"] == ["dark-mode", "shop"]


@pytest.mark.parametrize(
    ("goal_id", "values", "code"),
    [
        ("shop", {"gates": (GateRule(kind="ask me if unsure"),)}, "vague_gate"),
        ("../shop", {}, "invalid_value"),
        ("shop", {"state_file": "../STATE.md"}, "invalid_scope"),
        ("shop", {"coordination": Coordination(write_scope=("/etc/**",))}, "invalid_scope"),
    ],
)
def test_a_goal_with_wrong_rules_is_refused(
    place: Place, goal_id: str, values: dict[str, object], code: str
) -> None:
    with refused(place, code):
        open_goal(place, goal_id, **values)


def test_two_goals_do_not_share_a_state_file(place: Place) -> None:
    with refused(place, "exists") as error:
        open_goal(place, "shop", state_file=".codex/./goals/dark-mode/ACTIVE_GOAL_STATE.md")
    assert error.facts["goal_id"] == GOAL


def test_a_goal_that_only_files_tell_of_is_not_opened_over_them(place: Place) -> None:
    registry = json.loads(place.registry.read_text("utf-8"))
    registry["goals"].append({"id": "shop", "status": "complete"})
    place.registry.write_text(json.dumps(registry), encoding="utf-8")
    with refused(place, "file_damaged"):
        open_goal(place, "shop", state_file=".loopx/goals/shop/ACTIVE_GOAL_STATE.md")
    assert place.again().goal_ids == (GOAL,)


def test_a_goal_is_opened_once(place: Place) -> None:
    with refused(place, "exists"):
        open_goal(place)
    command = OpenGoal(goal_id="shop", objective=" ", rules=rules(state_file="STATE.md"))
    with refused(place, "invalid_value"):
        place.ws.goals.open(OWNER, command)


def test_people_and_workers_are_listed_in_order(tmp_path: Path) -> None:
    place = connected(tmp_path)
    assert [owner.name for owner in place.ws.owners.list()] == [OWNER, SECOND]
    assert [agent.id for agent in place.ws.agents.list()] == ["claude-code", "codex"]
    with refused(place, "exists"):
        place.ws.agents.add(CLAUDE)
    line = place.keys[SECOND].public.line
    with refused(place, "exists"):
        place.ws.owners.enroll_first("eve", line)


def test_the_clock_of_the_workspace_dates_what_it_records(place: Place) -> None:
    place.clock.advance(hours=1)
    done = place.ws.agents.add("third")
    assert done.receipt.recorded_at == place.clock.now
    assert done.receipt.recorded_at.utcoffset() == timedelta(0)
