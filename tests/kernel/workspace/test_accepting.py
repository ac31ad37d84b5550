"""Acceptance on disk: what is run, what is recorded, and what a worker's hands cannot change."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.lease import ClaimTodo
from loopx_kernel.domain.rules import Coordination, JudgeRule, Limits, parse_acceptance
from loopx_kernel.domain.standing import gaps, standing
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import LoopxError
from loopx_kernel.workspace.accepting import run_items
from loopx_kernel.workspace.looking import look_at_work

from tests.kernel.workspace.build import (
    CLAUDE,
    GOAL,
    OWNER,
    Place,
    connected,
    open_goal,
    refused,
)

REPO = "mall-frontend"
EXAMPLE = Path(__file__).parents[3] / "loopx_tui" / "demo" / "judge.py"


def python(code: str) -> str:
    return shlex.join([sys.executable, "-c", code])


IS_DONE = "tests=cmd:test -e ok"
"""Passes where a file ``ok`` is in the repo."""


def goal(folder: Path, *specs: str, **values: Any) -> Place:
    place = connected(folder)
    items = tuple(parse_acceptance(text, n) for n, text in enumerate(specs or (IS_DONE,), 1))
    open_goal(place, acceptance=items, **values)
    return place


def work(
    place: Place, title: str = "Work", *, done: bool = True, items: tuple[str, ...] = ()
) -> str:
    """One more todo, finished unless it should not be."""
    added = place.ws.todos.add(GOAL, CLAUDE, AddTodo(title=title, acceptance=items)).object_id
    if done:
        finish(place, added)


def finish(place: Place, todo_id: str) -> None:
    place.ws.todos.claim(GOAL, CLAUDE, ClaimTodo(todo_id=todo_id))
    place.ws.todos.update(GOAL, CLAUDE, todo_id, complete=True)


def stands(state: GoalState) -> dict[str, str]:
    return {item.id: standing(state, item) for item in state.the_rules.acceptance}


def answer(place: Place) -> tuple[str, list[str]]:
    contract = place.ws.view(GOAL, CLAUDE).contract
    return contract.answer, [reason.code for reason in contract.reasons]


def test_from_all_done_over_a_failure_to_complete(tmp_path: Path) -> None:
    """The books are repaired by a run; it fails, so there is work again; then it passes."""
    place = goal(tmp_path)
    work(place)
    assert answer(place) == ("repair", ["contradiction"])
    done = place.ws.accepting.run(GOAL)
    assert stands(done.state) == {"tests": "failed"}
    assert answer(place) == ("run", ["work_ready"])
    assert place.ws.view(GOAL, CLAUDE).contract.todo.kind == "fix"  # type: ignore[union-attr]
    (place.root / REPO / "ok").touch()
    finish(place, "T2")
    assert answer(place) == ("repair", ["contradiction"])
    done = place.ws.accepting.run(GOAL)
    assert stands(done.state) == {"tests": "passed"}
    assert answer(place) == ("quiet", ["closed"])
    assert place.again().view(GOAL).completion.complete


def test_a_run_is_bound_to_the_repo_it_saw(tmp_path: Path) -> None:
    place = goal(tmp_path, coordination=Coordination(write_scope=("**",)))
    ws, repo = place.ws, place.root / REPO
    first = ws.accepting.run(GOAL).state.results["tests"]
    assert ws.accepting.run(GOAL).state.results["tests"].repo_state == first.repo_state
    work(place)
    again = ws.accepting.run(GOAL).state.results["tests"]
    assert again.repo_state == first.repo_state, "the rendered list is the kernel's own"
    (repo / "src" / "theme").mkdir(parents=True)
    (repo / "src" / "theme" / "a.css").write_text("a")
    assert ws.accepting.run(GOAL).state.results["tests"].repo_state != first.repo_state


def test_only_the_items_of_a_todo(tmp_path: Path) -> None:
    place = goal(tmp_path, "a=cmd:true", "b=cmd:true")
    work(place, items=("b",))
    done = place.ws.accepting.run(GOAL, "T1")
    assert stands(done.state) == {"a": "unchecked", "b": "passed"}
    assert done.object_id == "T1"


@pytest.mark.parametrize(("todo_id", "code"), [("T1", "invalid_value"), ("T9", "unknown_todo")])
def test_nothing_to_run(todo_id: str, code: str, tmp_path: Path) -> None:
    place = goal(tmp_path)
    work(place)
    with refused(place, code):
        place.ws.accepting.run(GOAL, todo_id)
    with pytest.raises(LoopxError) as caught:
        run_items(place.ws._core, place.ws.state(GOAL), ("nope",))
    assert caught.value.code == "invalid_value"


def test_a_goal_without_items_is_not_run(tmp_path: Path) -> None:
    place = connected(tmp_path)
    open_goal(place)
    with refused(place, "invalid_value"):
        place.ws.accepting.run(GOAL)


def test_the_same_command_again_runs_nothing(tmp_path: Path) -> None:
    place = goal(tmp_path, f"cmd:{python('open(chr(110), chr(97)).write(chr(120))')}")
    first = place.ws.accepting.run(GOAL, event_id="e-1")
    again = place.again().accepting.run(GOAL, event_id="e-1")
    assert (again.receipt.replayed, again.receipt.seq) == (True, first.receipt.seq)
    assert (place.root / REPO / "n").read_text() == "x"
    work(place, done=False)
    with refused(place, "event_conflict"):
        place.ws.accepting.run(GOAL, "T1", event_id="e-1")


def test_no_lock_is_held_while_it_runs(tmp_path: Path) -> None:
    """Somebody else can work meanwhile, and what they changed was not looked at."""
    place = goal(tmp_path, "cmd:true", "cmd:true")
    work(place)
    told: list[str] = []

    def meanwhile(done: int, whole: int, item: str) -> None:
        told.append(f"{done}/{whole} {item}")
        if not done:
            place.again().todos.add(GOAL, CLAUDE, AddTodo(title="More"))

    done = place.ws.accepting.run(GOAL, progress=meanwhile)
    assert told == ["0/2 A1", "1/2 A2"]
    assert set(stands(done.state).values()) == {"unchecked"}


def test_the_rules_are_those_that_were_signed(tmp_path: Path) -> None:
    """Not those in a file that anybody can edit."""
    place = goal(tmp_path)
    registry = json.loads(place.registry.read_text())
    registry["goals"][0]["acceptance"][0]["value"] = "true"
    place.registry.write_text(json.dumps(registry))
    results = run_items(place.ws._core, place.ws.state(GOAL), ("tests",))
    assert results[0]["result"] == "failed"
    with pytest.raises(LoopxError) as caught:
        place.ws.accepting.run(GOAL)
    assert caught.value.code == "file_damaged"


def test_how_long_a_command_has_is_a_rule(tmp_path: Path) -> None:
    forever = f"cmd:{python('while True: pass')}"
    place = goal(tmp_path, forever, limits=Limits(acceptance_seconds=1))
    done = place.ws.accepting.run(GOAL)
    assert done.state.results["A1"].detail == "its command did not end within 1 s"


# -- the judge --------------------------------------------------------------------------------


def judged(folder: Path, **values: Any) -> Place:
    command = shlex.join([sys.executable, str(EXAMPLE)])
    judge = JudgeRule(command=command, **values)
    return goal(folder, "rubric:notes.md mentions: contrast, dark, focus>=6", judge=judge)


@pytest.mark.parametrize(
    ("text", "result", "score"),
    [
        ("Contrast and dark", "passed", 6),
        ("contrast only", "failed", 3),
        ("dark contrast, focus", "passed", 10),
        (None, "failed", 0),
    ],
)
def test_the_example_judge(text: str | None, result: str, score: int, tmp_path: Path) -> None:
    place = judged(tmp_path, votes=3)
    if text is not None:
        (place.root / REPO / "notes.md").write_text(text)
    found = place.ws.accepting.run(GOAL).state.results["A1"]
    assert (found.result, found.score) == (result, score)


def test_a_worker_is_no_judge(tmp_path: Path) -> None:
    place = connected(tmp_path)
    item = parse_acceptance("rubric:reads well>=5", 1)
    with refused(place, "invalid_value"):
        open_goal(place, acceptance=(item,), judge=JudgeRule(command="codex exec"))


def test_a_judge_who_becomes_a_worker_judges_no_more(tmp_path: Path) -> None:
    place = connected(tmp_path)
    item = parse_acceptance("rubric:reads well>=5", 1)
    open_goal(place, acceptance=(item,), judge=JudgeRule(command="echo 10"))
    assert stands(place.ws.accepting.run(GOAL).state) == {"A1": "passed"}
    place.ws.agents.add("echo")
    found = place.ws.accepting.run(GOAL).state.results["A1"]
    assert (found.result, found.detail) == ("inconclusive", "its judge names echo, a worker")


@pytest.mark.parametrize(
    ("votes", "outcome", "causes"),
    [("9 9 9", "done", []), ("9 9 1", "failed", ["low_confidence"]), ("1 1 1", "failed", [])],
)
def test_a_judge_who_is_not_sure_asks_a_person(
    votes: str, outcome: str, causes: list[str], tmp_path: Path
) -> None:
    code = f"import json, sys; print({votes.split()}[json.load(sys.stdin)['vote'] - 1])"
    judge = JudgeRule(command=python(code), votes=3, min_confidence="0.9")
    place = goal(tmp_path, "rubric:reads well>=6", judge=judge)
    work(place, items=("A1",), done=False)
    turns = place.ws.turns
    assert turns.begin(GOAL, CLAUDE).turn is not None
    done = turns.settle(GOAL, CLAUDE, "turn-0001", outcome="done", handoff="Next")
    assert done.state.turns["turn-0001"].outcome == outcome
    assert [one.cause for one in done.state.escalations.values()] == causes
    assert place.again().state(GOAL) == done.state


# -- by hand ----------------------------------------------------------------------------------


def test_a_person_closes_a_goal_without_required_items(tmp_path: Path) -> None:
    place = goal(tmp_path, "?lint=cmd:true")
    work(place)
    place.ws.accepting.run(GOAL)
    assert gaps(place.ws.state(GOAL)) == ("by_hand",)
    unsigned = place.ws.accepting.by_hand(GOAL, OWNER, "it is good")
    seen = look_at_work(place.ws._core, place.ws.state(GOAL))
    assert unsigned.preview == (
        "accept the work of dark-mode by hand: 1 done; acceptance: lint passed; "
        f"repo at commit none, files {seen.work}"
    )
    assert unsigned.statement["payload"]["repo_state"] == seen.work
    done = place.sign(unsigned)
    assert gaps(done.state) == ()
    assert place.again().view(GOAL).completion.complete


def test_what_changes_between_looking_and_signing_is_not_accepted(tmp_path: Path) -> None:
    place = goal(tmp_path)
    work(place)
    unsigned = place.ws.accepting.by_hand(GOAL, OWNER, "it is good")
    work(place, "More")
    with refused(place, "stale_decision"):
        place.sign(unsigned)


def test_unfinished_work_is_not_accepted(tmp_path: Path) -> None:
    place = goal(tmp_path)
    work(place, done=False)
    with refused(place, "illegal_transition"):
        place.ws.accepting.by_hand(GOAL, OWNER, "it is good")


def test_a_person_accepts_one_todo(tmp_path: Path) -> None:
    place = goal(tmp_path, "a=cmd:false", "b=cmd:true")
    work(place, "Hard to test", items=("a",))
    unsigned = place.ws.accepting.by_hand(GOAL, OWNER, "no machine can", "T1")
    assert unsigned.preview.startswith("accept the items of T1 of dark-mode by hand: Hard to test")
    assert stands(place.sign(unsigned).state) == {"a": "passed", "b": "unchecked"}


def test_the_line_is_of_the_kernel_and_says_what_was_seen(tmp_path: Path) -> None:
    place = goal(tmp_path)
    work(place)
    done = place.ws.accepting.run(GOAL)
    event = place.ws.events.show(GOAL, done.receipt.event_id).event
    assert (event.event_type, event.actor_kind) == ("acceptance.ran", "code")
    assert event.payload["results"][0]["worked_seq"] == done.state.todo("T1").seq
