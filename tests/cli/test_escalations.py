"""Work that leads nowhere is stopped, and goes on where a person says so; by the command."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.clock import ManualClock

from tests.cli.helpers import Result, connect, loopx, ok, start, unchanged

AGENT = ("--agent", "claude-code")


def begin(clock: ManualClock | None = None) -> Result:
    return loopx("turn", "begin", *AGENT, "--json", clock=clock)


def settle(turn: str, outcome: str, *more: str) -> Any:
    return ok("turn", "settle", "--turn", turn, "--outcome", outcome, *more, *AGENT)["turn"]


def turn(outcome: str, *more: str) -> Any:
    begun = begin()
    assert begun.status == 0, begun
    return settle(begun.json["turn_id"], outcome, *more)


def escalations() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ok("escalation", "list")["escalations"]
    return found


def answer(how: str, *more: str) -> Any:
    return ok("escalation", "answer", "E1", how, "--reason", "seen", *more)


def fail_for_ever(beats: int) -> int:
    """A worker that fails whenever it may run; how often it could."""
    turns = 0
    for _ in range(beats):
        begun = begin()
        if begun.status == 0:
            settle(begun.json["turn_id"], "failed")
            turns += 1
    return turns


def work(*titles: str) -> None:
    start()
    for title in titles:
        ok("todo", "add", title, *AGENT)


def test_a_worker_that_fails_a_hundred_beats_is_stopped_and_costs_nothing(home: Path) -> None:
    work("Convert components")
    assert fail_for_ever(100) == 3
    (one,) = escalations()
    assert (one["cause"], one["todo_id"], one["turn_id"]) == ("no_progress", "T1", "turn-0003")
    asked = loopx("quota", "should-run", *AGENT, "--json")
    assert asked.status == 10
    assert [reason["code"] for reason in asked.json["reasons"]] == ["escalated"]
    (need,) = ok("status")["needs_you"]
    assert (need["kind"], need["id"]) == ("escalation", "E1")
    quota = ok("quota", "status")["quota"]
    assert (quota["used"], quota["spent"], quota["attempts"]) == (0, 0, 3)
    turns = ok("turn", "list")["turns"]
    assert [one["outcome"] for one in turns] == ["failed"] * 3
    assert ok("todo", "show", "T1")["todo"]["effort"]["failed"] == 3


def test_one_that_fails_at_everything_is_stopped_with_the_whole_goal(home: Path) -> None:
    work(*(f"Part {number}" for number in range(10)))
    assert fail_for_ever(30) == 24
    assert [one["todo_id"] for one in escalations()][-1] is None
    asked = loopx("quota", "should-run", *AGENT, "--json")
    assert (asked.status, asked.json["reasons"][0]["code"]) == (10, "escalated")
    whole = escalations()[-1]["id"]
    refused = loopx("escalation", "answer", whole, "--cancel", "--reason", "x", "--json")
    assert (refused.status, refused.code) == (2, "illegal_transition")
    ok("escalation", "answer", whole, "--go-on", "--reason", "the machine was broken")
    assert begin().status == 0


def test_other_work_goes_on(home: Path) -> None:
    work("Convert components", "Write tests")
    for _ in range(3):
        begun = begin()
        assert begun.json["todo"]["id"] == "T1" or escalations()
        settle(begun.json["turn_id"], "failed")
        ok("todo", "defer", "T2", "--until", "2999-01-01T00:00:00Z", *AGENT)
    ok("todo", "reopen", "T2", *AGENT)
    begun = begin()
    assert (begun.status, begun.json["lease"]["todo_id"]) == (0, "T2")


def test_the_same_result_again_and_again_is_no_progress(home: Path) -> None:
    work("Convert components")
    Path("notes.md").write_text("the same", "utf-8")
    good = ("--evidence", "notes.md", "--handoff", "on it")
    for number in range(1, 5):
        assert turn("progress", *good)["progress"] is True
        assert len(escalations()) == (number == 4)
    assert "the result is as after the turn before" in escalations()[0]["detail"]
    assert begin().status == 10


def test_two_turns_without_a_receipt_within_a_day(home: Path) -> None:
    clock = ManualClock(datetime(2026, 9, 16, 8, 0, tzinfo=UTC))
    start(clock)
    ok("todo", "add", "Convert components", *AGENT, clock=clock)
    for count in (0, 1):
        assert len(ok("escalation", "list", clock=clock)["escalations"]) == 0
        assert begin(clock).status == 0, count
        clock.advance(hours=1)
        ok("turn", "recover", *AGENT, clock=clock)
    (one,) = ok("escalation", "list", clock=clock)["escalations"]
    assert (one["cause"], one["turn_id"]) == ("capped", "turn-0002")
    with unchanged():
        ok("turn", "recover", *AGENT, clock=clock)


def test_going_on_gives_a_new_allowance(home: Path) -> None:
    work("Convert components")
    assert fail_for_ever(5) == 3
    found = answer("--go-on", "--event-id", "answer-1")["escalation"]
    assert (found["status"], found["answer"], found["by"]) == ("answered", "go_on", "huang")
    assert answer("--go-on", "--event-id", "answer-1")["receipt"]["event_id"] == "answer-1"
    assert fail_for_ever(5) == 3
    assert [one["status"] for one in escalations()] == ["answered", "open"]


def test_replanning_is_the_next_thing_to_do(home: Path) -> None:
    work("Convert components")
    fail_for_ever(4)
    answer("--replan")
    begun = begin()
    assert begun.status == 0
    assert ok("todo", "show", begun.json["lease"]["todo_id"])["todo"]["kind"] == "replan"


def test_cancelling_takes_the_todo_away(home: Path) -> None:
    work("Convert components")
    fail_for_ever(4)
    answer("--cancel")
    todo = ok("todo", "show", "T1")["todo"]
    assert (todo["status"], todo["reason"]) == ("cancelled", "seen")


@pytest.fixture
def repo(home: Path) -> Path:
    """A goal in a git repo, whose rules ask before infra is written and before a push."""
    Path("goal.yaml").write_text(
        "id: shop\nobjective: x\ngates: ['write@infra/**', 'publish:git push*']\n", "utf-8"
    )
    connect()
    ok("agent", "add", "claude-code")
    ok("start-goal", "--from", "goal.yaml")
    ok("todo", "add", "Convert components", *AGENT)
    subprocess.run(["git", "init", "-q", "."], check=True)
    Path("infra").mkdir()
    return home


def test_a_risky_hand_in_is_no_success_and_is_shown_to_a_person(repo: Path) -> None:
    begun = begin().json
    Path("infra/x.tf").write_text("x", "utf-8")
    Path("notes.md").write_text("done", "utf-8")
    more = ("--evidence", "notes.md", "--handoff", "all done")
    settled = settle(begun["turn_id"], "done", *more)
    assert (settled["outcome"], settled["progress"], settled["slots_booked"]) == (
        "failed",
        False,
        0,
    )
    (one,) = escalations()
    assert one["cause"] == "high_risk"
    assert "write infra/x.tf (write@infra/**)" in one["detail"]
    assert ok("todo", "show", "T1")["todo"]["status"] == "open"
    answer("--go-on")
    assert turn("done", *more)["outcome"] == "done"
    assert len(escalations()) == 1


def test_what_was_approved_is_no_risk(repo: Path) -> None:
    write = ("--action", "write", "--path", "infra/x.tf")
    ok("gate", "request", *write, *AGENT)
    ok("gate", "approve", "G1")
    begun = begin().json
    ok("gate", "use", *write, *AGENT)
    Path("infra/x.tf").write_text("x", "utf-8")
    more = ("--evidence", "infra/x.tf", "--handoff", "all done")
    assert settle(begun["turn_id"], "done", *more)["outcome"] == "done"


def test_a_record_of_a_command_that_needed_approval_is_a_risk(repo: Path) -> None:
    begun = begin().json
    Path("push.json").write_text('{"command": "git push origin main", "exit_status": 0}', "utf-8")
    settle(begun["turn_id"], "done", "--evidence", "push.json", "--handoff", "x")
    assert "publish: git push origin main (publish:git push*)" in escalations()[0]["detail"]


def test_the_parts_of_a_turn_handed_in_one_by_one_are_no_way_around(repo: Path) -> None:
    begun = begin().json
    Path("infra/x.tf").write_text("x", "utf-8")
    asked = ("todo", "complete", "T1", "--evidence", "infra/x.tf", "--turn", begun["turn_id"])
    with unchanged():
        refused = loopx(*asked, *AGENT, "--json")
    assert (refused.status, refused.code) == (6, "gate_required")
    assert refused.json["error"]["next"].startswith("loopx turn settle --turn turn-0001")


FINISHES = [("complete",), ("update", "--status", "done")]


@pytest.mark.parametrize("words", FINISHES)
def test_nor_is_a_todo_finished_without_a_turn(repo: Path, words: tuple[str, ...]) -> None:
    ok("todo", "claim", "T1", *AGENT)
    Path("infra/x.tf").write_text("x", "utf-8")
    Path("notes.md").write_text("done", "utf-8")
    verb, *more = words
    asked = ("todo", verb, "T1", *more, "--evidence", "notes.md", *AGENT)
    done = ok(*asked, "--event-id", "e-1")
    assert (done["todo"]["status"], done["escalation"]["cause"]) == ("open", "high_risk")
    (one,) = escalations()
    assert "write infra/x.tf (write@infra/**)" in one["detail"]
    event = ok("event", "show", "e-1")["event"]
    assert [part["type"] for part in event["payload"]["parts"]] == [
        "todo.returned",
        "escalation.raised",
    ]
    assert loopx("quota", "should-run", *AGENT, "--json").status == 10
    answer("--go-on")
    ok("todo", "claim", "T1", *AGENT)
    assert ok(*asked)["todo"]["status"] == "done"
    assert len(escalations()) == 1


@pytest.mark.parametrize("words", [*FINISHES, ("update",)])
@pytest.mark.parametrize("command", ["git push", "git -c a=b push origin main"])
def test_nor_is_a_record_handed_in_without_a_turn(
    repo: Path, words: tuple[str, ...], command: str
) -> None:
    ok("todo", "claim", "T1", *AGENT)
    record = {"command": command, "exit_status": 0}
    Path("push.json").write_text(json.dumps(record), "utf-8")
    verb, *more = words
    done = ok("todo", verb, "T1", *more, "--evidence", "push.json", *AGENT)
    assert (done["todo"]["status"], done["escalation"]["cause"]) == ("open", "high_risk")
    assert f"publish: {command} (publish:git push*)" in escalations()[0]["detail"]
    assert ok("todo", "show", "T1")["todo"]["evidence"][0]["path"] == "push.json"


def test_a_turn_without_a_receipt_hides_nothing(repo: Path) -> None:
    lease = begin().json["lease"]
    Path("infra/x.tf").write_text("x", "utf-8")
    held = ("--version", str(lease["version"]), "--epoch", str(lease["lease_epoch"]))
    ok("todo", "release", "T1", *held, *AGENT)
    ok("turn", "recover")
    Path("notes.md").write_text("done", "utf-8")
    done = settle(begin().json["turn_id"], "done", "--evidence", "notes.md", "--handoff", "x")
    assert done["outcome"] == "failed"
    assert "write infra/x.tf (write@infra/**)" in escalations()[0]["detail"]
    answer("--go-on")
    assert turn("done", "--evidence", "notes.md", "--handoff", "x")["outcome"] == "done"


def test_giving_a_todo_back_hides_nothing_that_was_handed_in(repo: Path) -> None:
    lease = ok("todo", "claim", "T1", *AGENT)["lease"]
    Path("infra/x.tf").write_text("x", "utf-8")
    held = ("--version", str(lease["version"]), "--epoch", str(lease["lease_epoch"]))
    asked = ("todo", "update", "T1", "--note", "so far", *held, *AGENT)
    assert ok(*asked)["escalation"]["cause"] == "high_risk"
    assert loopx("todo", "release", "T1", *held, *AGENT, "--json").code == "lease_required"
    assert loopx("todo", "claim", "T1", *AGENT, "--json").code == "illegal_transition"


def test_outside_a_turn_too_what_was_approved_is_no_risk(repo: Path) -> None:
    write = ("--action", "write", "--path", "infra/x.tf")
    ok("gate", "request", *write, *AGENT)
    ok("gate", "approve", "G1")
    ok("todo", "claim", "T1", *AGENT)
    ok("gate", "use", *write, *AGENT)
    Path("infra/x.tf").write_text("x", "utf-8")
    done = ok("todo", "complete", "T1", "--evidence", "infra/x.tf", *AGENT)
    assert (done["todo"]["status"], done["escalation"]) == ("done", None)


@pytest.fixture
def judged(home: Path) -> Path:
    """A goal whose judge votes three times and must be sure."""
    Path("goal.yaml").write_text(
        "id: shop\nobjective: x\nacceptance: ['good=rubric:Is it good>=7']\n"
        "judge: {command: sh judge.sh, votes: 3, min_confidence: 0.8}\n",
        "utf-8",
    )
    connect()
    ok("agent", "add", "claude-code")
    ok("start-goal", "--from", "goal.yaml")
    ok("todo", "add", "Convert components", "--acceptance", "good", *AGENT)
    Path("notes.md").write_text("done", "utf-8")
    return home


MORE = ("--evidence", "notes.md", "--handoff", "all done")


def votes(*words: str) -> None:
    cases = "".join(
        f"*'\"vote\": {number}'*) echo {word};; " for number, word in enumerate(words, 1)
    )
    Path("judge.sh").write_text(f'case "$(cat)" in {cases} esac\n', "utf-8")


def test_a_judge_who_is_not_sure_is_no_success_but_a_question(judged: Path) -> None:
    votes("9", "9", "2")
    begun = begin().json
    asked = ("todo", "complete", "T1", "--evidence", "notes.md", "--turn", begun["turn_id"])
    with unchanged():
        refused = loopx(*asked, *AGENT, "--json")
    assert (refused.status, refused.code) == (6, "not_verified")
    assert settle(begun["turn_id"], "done", *MORE)["outcome"] == "failed"
    (one,) = escalations()
    assert one["cause"] == "low_confidence"
    assert "0.66" in one["detail"]
    assert "0.8" in one["detail"]
    answer("--go-on")
    votes("9", "8", "7")
    assert turn("done", *MORE)["outcome"] == "done"


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (("E9", "--go-on", "--reason", "x"), 2, "unknown_escalation"),
        (("E1", "--reason", "x"), 2, "invalid_value"),
        (("E1", "--go-on"), 2, "invalid_value"),
        (("E1", "--go-on", "--reason", " "), 2, "invalid_value"),
        (("E1", "--go-on", "--reason", "x", *AGENT), 6, "not_a_person"),
    ],
)
def test_answers_that_are_refused(
    home: Path, arguments: tuple[str, ...], status: int, code: str
) -> None:
    work("Convert components")
    fail_for_ever(3)
    with unchanged():
        refused = loopx("escalation", "answer", *arguments, "--json")
        assert (refused.status, refused.code) == (status, code)
        assert refused.json["error"]["next"]
        ok("escalation", "answer", "E1", "--go-on", "--reason", "x", "--dry-run")
    answer("--go-on")
    again = loopx("escalation", "answer", "E1", "--cancel", "--reason", "x", "--json")
    assert (again.status, again.code) == (3, "already_decided")


def test_the_list_for_people(home: Path) -> None:
    work("Convert components")
    fail_for_ever(3)
    answer("--go-on")
    shown = loopx("escalation", "list").out
    assert "no progress" in shown
    assert "go on, by huang: seen" in shown
    assert "escalation.answered  huang  E1" in loopx("event", "list", "--about", "E1").out


def test_a_rule_about_a_folder_that_is_not_there_stops_nobody() -> None:
    subprocess.run(["git", "init", "-q", "."], check=True)
    start(None, "shop", "--gate", "write@infra/**", "--gate", "delete@data/**")
    ok("todo", "add", "Work", *AGENT)
    begun = begin().json["turn_id"]
    Path("notes.md").write_text("what was found", "utf-8")
    done = settle(begun, "done", "--evidence", "notes.md", "--handoff", "h")
    assert (done["outcome"], escalations()) == ("done", [])
