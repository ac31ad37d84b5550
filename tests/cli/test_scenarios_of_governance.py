"""The scenarios of turns and decisions, through the public command."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from loopx_kernel.clock import ManualClock

from tests.cli.governing import AGENT, REPO, add, codes, failing, refused, researched, should_run
from tests.cli.helpers import PROGRAM, Result, loopx, ok, start, unchanged
from tests.patience import PATIENCE

PAGE = REPO / ".codex/goals/dark-mode/ACTIVE_GOAL_STATE.md"
GREEN = '<testsuite tests="2"><testcase/><testcase/></testsuite>'
RED = '<testsuite tests="2" failures="2"><testcase><failure/></testcase><testcase/></testsuite>'


def do_next(command: str) -> Result:
    """Runs the command that an answer names, as it stands."""
    program, *arguments = shlex.split(command)
    assert program == "loopx"
    return loopx(*arguments, "--json")


def test_scenario_05_a_refused_hand_in_leaves_the_turn_and_the_books_alone() -> None:
    researched()
    assert ok("turn", "begin", *AGENT)["lease"]["todo_id"] == "T3"
    (REPO / "red.xml").write_text(RED, "utf-8")
    journal = Path(".loopx/runtime/dark-mode/events.jsonl").read_bytes()

    refused("unknown_todo", "todo", "update", "T9", "--status", "done", *AGENT)
    refused("invalid_status", "todo", "update", "T3", "--status", "finished", *AGENT)
    claim = ("--evidence", "red.xml", "--tests", "passed", "--turn", "turn-0001")
    refused("evidence_mismatch", "todo", "update", "T3", *claim, *AGENT)

    assert Path(".loopx/runtime/dark-mode/events.jsonl").read_bytes() == journal
    quota = ok("quota", "status")["quota"]
    assert (quota["spent"], quota["used"], quota["reserved"]) == (0, 0, 1)
    assert ok("turn", "show", "turn-0001")["turn"]["status"] == "open"


def test_scenario_18_a_turn_that_was_open_before_the_hand_edit_still_settles() -> None:
    researched()
    begun = ok("turn", "begin", *AGENT)
    ticked = PAGE.read_text("utf-8").replace("- [ ] **T3**", "- [x] **T3**")
    PAGE.write_text(ticked, "utf-8")

    answer = should_run()
    assert (answer.status, answer.json["answer"], codes(answer)) == (12, "repair", ["drift"])
    assert answer.json["repair"]["by"] == "person"
    with unchanged():
        again = loopx("turn", "begin", *AGENT, "--json")
    assert (again.status, codes(again)) == (12, ["drift"])
    assert do_next(answer.json["repair"]["command"]).status == 1

    (REPO / "out.xml").write_text(GREEN, "utf-8")
    more = ("--evidence", "out.xml", "--tests", "passed", "--handoff", "converted")
    settle = ("turn", "settle", "--turn", begun["turn_id"], "--outcome", "done")
    turn = ok(*settle, *more, *AGENT)["turn"]
    assert (turn["outcome"], turn["progress"]) == ("done", True)
    assert PAGE.read_text("utf-8") == ticked
    ok("state", "restore")
    assert loopx("state", "check").status == 0
    assert "converted" in PAGE.read_text("utf-8")


def test_scenario_22_a_list_that_says_done_is_set_right_before_anything_else() -> None:
    start(None, "shop", "--acceptance", "tests=cmd:test -e ok")
    todo = add("Convert")
    ok("todo", "claim", todo, *AGENT)
    ok("todo", "complete", todo, *AGENT)
    assert failing() == {"acceptance": (1, ["tests"])}

    answer = should_run()
    assert (answer.status, answer.json["answer"]) == (12, "repair")
    assert codes(answer) == ["contradiction"]
    assert "tests" in answer.json["reasons"][0]["message"]
    assert answer.json["repair"]["by"] == "agent"
    assert answer.json["brief"] is None
    assert answer.json["scheduler_hint"]["basis"] == "work_ready"
    with unchanged():
        assert loopx("turn", "begin", *AGENT).status == 12

    ran = do_next(answer.json["repair"]["command"])
    assert (ran.status, ran.json["acceptance"]["fix"]) == (1, "T2")
    begun = ok("turn", "begin", *AGENT)
    assert begun["lease"]["todo_id"] == "T2"
    Path("ok").touch()
    Path("notes.md").write_text("fixed\n", "utf-8")
    more = ("--evidence", "notes.md", "--handoff", "fixed")
    ok("turn", "settle", "--turn", begun["turn_id"], "--outcome", "done", *more, *AGENT)
    assert failing() == {}
    assert codes(should_run()) == ["closed"]


@contextlib.contextmanager
def worker() -> Iterator[subprocess.Popen[bytes]]:
    """A worker in a process of its own that begins a turn and never hands it in."""
    begin = f"{shlex.quote(str(PROGRAM))} turn begin --agent claude-code"
    child = subprocess.Popen(
        ["sh", "-c", f"{begin} && sleep 900"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield child
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate(timeout=PATIENCE)


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "what was waited for did not happen"
        time.sleep(0.05)


def test_scenario_26_a_worker_that_was_killed_leaves_a_failure_and_no_progress() -> None:
    start()
    add("Convert components")
    with worker():
        wait_until(lambda: bool(ok("turn", "list")["turns"]))
    assert should_run().status == 0  # Its lease still runs: the same worker may come back.

    clock = ManualClock(datetime.now(UTC) + timedelta(hours=1))
    answer = should_run(clock)
    assert (answer.status, codes(answer)) == (12, ["unclosed_turn"])
    assert answer.json["repair"]["command"] == "loopx turn recover --goal shop"
    found = ok("turn", "recover", "--goal", "shop", clock=clock)
    assert found["recovered"] == ["turn-0001"]
    (turn,) = ok("turn", "list", clock=clock)["turns"]
    assert (turn["status"], turn["progress"], turn["slots_booked"]) == ("recovered", False, 0)
    todo = ok("todo", "show", "T1", clock=clock)["todo"]
    assert (todo["status"], todo["effort"]["failed"]) == ("open", 1)
    quota = ok("quota", "status", clock=clock)["quota"]
    assert (quota["spent"], quota["used"], quota["reserved"], quota["attempts"]) == (0, 0, 0, 1)
    with unchanged():
        assert ok("turn", "recover", clock=clock)["recovered"] == []
    late = ("turn", "settle", "--turn", "turn-0001", "--outcome", "done", *AGENT)
    refused("turn_closed", *late, clock=clock)


VERIFIED, WRITTEN, BOOKED = "verified", "state_written", "slots_booked"
PARTS = {
    VERIFIED: ("todo", "update", "T1", "--evidence", "out.xml", "--tests", "passed"),
    WRITTEN: ("refresh-state", "--handoff", "converted half of it"),
    BOOKED: ("quota", "spend-slot", "--slots", "1"),
}
ASKED = {
    VERIFIED: ("--evidence", "out.xml", "--tests", "passed"),
    WRITTEN: ("--handoff", "converted half of it"),
    BOOKED: ("--slots", "1"),
}


def progress() -> int:
    return sum(turn["progress"] for turn in ok("turn", "list")["turns"])


@pytest.fixture
def begun() -> str:
    """A turn on T1, and a green report."""
    start()
    add("Convert components")
    Path("out.xml").write_text(GREEN, "utf-8")
    return str(ok("turn", "begin", *AGENT)["turn_id"])


@pytest.mark.parametrize("order", itertools.permutations(PARTS))
def test_scenario_27_two_of_three_are_no_progress_one_by_one(
    begun: str, order: tuple[str, ...]
) -> None:
    *first, absent = order
    for part in first:
        ok(*PARTS[part], "--turn", begun, *AGENT)
    turn = ok("turn", "show", begun)["turn"]
    assert (turn["missing"], turn["progress"], turn["status"]) == ([absent], False, "open")
    assert progress() == 0

    ok(*PARTS[absent], "--turn", begun, *AGENT)
    turn = ok("turn", "show", begun)["turn"]
    assert (turn["missing"], turn["progress"], turn["status"]) == ([], True, "settled")
    assert progress() == 1
    twice = "already_spent" if absent == BOOKED else "turn_closed"
    refused(twice, *PARTS[absent], "--turn", begun, *AGENT)
    assert ok("quota", "status")["quota"]["spent"] == 1


@pytest.mark.parametrize("absent", [VERIFIED, WRITTEN, BOOKED])
def test_scenario_27_two_of_three_are_no_progress_in_one_step(begun: str, absent: str) -> None:
    settle = ("turn", "settle", "--outcome", "progress")
    asked = [word for part, words in ASKED.items() if part != absent for word in words]
    none = ("--slots", "0") if absent == BOOKED else ()
    turn = ok(*settle, *asked, *none, "--turn", begun, *AGENT)["turn"]
    assert turn["progress"] is False
    assert not turn[absent]
    assert progress() == 0

    again = str(ok("turn", "begin", *AGENT)["turn_id"])
    everything = [word for words in ASKED.values() for word in words]
    turn = ok(*settle, *everything, "--turn", again, *AGENT)["turn"]
    assert (turn["progress"], turn["slots_booked"]) == (True, 1)
    assert progress() == 1


def test_scenario_40_status_tells_a_cold_reader_what_waits_and_on_what_ground() -> None:
    clock = ManualClock(datetime(2026, 9, 16, 22, 40, tzinfo=UTC))
    researched(clock)
    add("Convert with variables", "--lineage", "T3", clock=clock)
    ok("todo", "supersede", "T3", "--by", "T4", "--reason", "simpler", clock=clock)
    ok("source", "add", "chat", "--provider", "slack", "--window", "3d", clock=clock)
    ok("source", "bind", "chat", clock=clock)
    read = ("--status", "read", "--items", "2", "--unreadable", "0")
    ok("source", "read", "chat", *read, clock=clock)
    clock.advance(days=9)
    push = ("--action", "publish", "--command", "git push origin main")
    ok("gate", "request", *push, "--blocks", "T4", *AGENT, clock=clock)

    status = ok("status", clock=clock)
    (need,) = status["needs_you"]
    assert (need["id"], need["kind"], need["blocks"]) == ("G1", "gate", ["T4"])
    assert (need["goal_id"], need["asked_by"]) == ("dark-mode", "claude-code")
    assert status["todos"]["superseded"] == 1
    alerts = {one["code"]: one["ids"] for one in status["projection_envelope"]["alert_reasons"]}
    assert alerts == {"stale_sources": ["chat"]}
    assert (status["answer"], status["completion"]["complete"]) == ("ask", False)
    lines = loopx("status", clock=clock).out.splitlines()
    assert lines[0].startswith("projection: ")
    assert lines[1].startswith("alerts: stale_sources")
    shown = "\n".join(lines)
    assert all(word in shown for word in ("needs you: G1 gate", "1 superseded", "0 of 576 slots"))
    assert "[derived]" in shown
    assert len(lines) <= 24

    use = ("gate", "use", *push, *AGENT)
    assert refused("gate_required", *use, clock=clock)
    decided = ok("gate", "approve", "G1", "--reason", "go", clock=clock)
    event = ok("event", "show", decided["receipt"]["event_id"], clock=clock)["event"]
    assert (event["event_type"], event["actor_kind"]) == ("gate.approved", "owner")
    assert event["signature_ok"] is True
    statement = json.loads(loopx("event", "show", event["event_id"], "--statement").out)
    assert (statement["payload"]["gate_id"], statement["goal_id"]) == ("G1", "dark-mode")
    assert ok(*use, clock=clock)["gate"]["status"] == "used"
    assert refused("gate_required", *use, clock=clock)


def test_a_turn_whose_work_was_given_up_is_over_before_its_deadline(begun: str) -> None:
    lease = ok("lease", "show", "T1")["lease"]
    held = ("--version", str(lease["version"]), "--epoch", str(lease["lease_epoch"]))
    ok("todo", "release", "T1", *held, *AGENT)
    assert "(over: loopx turn recover)" in loopx("turn", "show", begun).out
    answer = should_run()
    assert codes(answer) == ["unclosed_turn"]
    assert do_next(answer.json["repair"]["command"]).json["recovered"] == [begun]
