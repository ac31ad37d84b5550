"""`loopx turn`: what an agent calls at each beat, and what it gets back."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.clock import ManualClock

from tests.cli.helpers import PROGRAM, bytes_of, loopx, ok, start, unchanged
from tests.patience import PATIENCE

AGENT = ("--agent", "claude-code")
ID = "turn-0001"
BEGIN = ("turn", "begin", *AGENT)
SETTLE = ("turn", "settle", "--turn", ID, *AGENT, "--outcome")
FULL = ("--evidence", "notes.md", "--handoff", "next: T2")
KEYS = {
    *("id", "todo_id", "outcome", "verified", "unproven", "state_written"),
    *("slots_booked", "progress", "reason"),
}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 9, 16, 12, 0, tzinfo=UTC))


@pytest.fixture
def ledger(clock: ManualClock) -> None:
    """Two todos, and a file to hand in."""
    start(clock)
    ok("agent", "add", "codex", clock=clock)
    for title in ("Convert", "Test"):
        ok("todo", "add", title, *AGENT, clock=clock)
    Path("notes.md").write_text("tried\n", "utf-8")


def shown(clock: ManualClock, ref: str = ID) -> dict[str, Any]:
    found: dict[str, Any] = ok("turn", "show", ref, clock=clock)["turn"]
    return found


def test_beginning_gives_the_contract_the_turn_and_the_lease(
    ledger: None, clock: ManualClock
) -> None:
    asked = loopx("quota", "should-run", *AGENT, "--json", clock=clock)
    begun = loopx(*BEGIN, "--json", clock=clock)
    assert (asked.status, begun.status) == (0, 0)
    assert set(asked.json) | {"turn_id", "lease", "receipt"} == set(begun.json)
    assert begun.json["schema_version"] == "loopx_interaction_contract_v1"
    assert (begun.json["turn_id"], begun.json["lease"]["todo_id"]) == (ID, "T1")
    assert shown(clock)["contract_id"] == begun.json["contract_id"] != asked.json["contract_id"]
    before = bytes_of(Path(".loopx"))
    again = loopx(*BEGIN, "--json", clock=clock).json
    assert bytes_of(Path(".loopx")) == before
    assert again["contract_id"] == begun.json["contract_id"]
    assert again["receipt"]["seq"] == begun.json["receipt"]["seq"]


def test_its_commands_run_as_they_stand(ledger: None, clock: ManualClock) -> None:
    brief = ok("quota", "should-run", *AGENT, clock=clock)["brief"]
    ok(*brief["commands"][0].split()[1:], clock=clock)
    commands = ok(*BEGIN, clock=clock)["brief"]["commands"]
    renew = next(one for one in commands if "renew" in one)
    ok(*renew.split()[1:], clock=clock)
    settle = next(one for one in commands if "--outcome progress" in one)
    ok(*settle.replace("PATH", "notes.md").split()[1:], clock=clock)
    assert shown(clock)["progress"] is True


def test_every_answer_has_its_status(ledger: None, clock: ManualClock) -> None:
    ok(*BEGIN, clock=clock)
    gate = ("--action", "publish", "--command", "npm publish", "--blocks", "T2")
    ok("gate", "request", *gate, *AGENT, clock=clock)
    codex = ("turn", "begin", "--agent", "codex", "--json")
    assert loopx(*codex, clock=clock).status == 10
    ok("gate", "reject", "G1", clock=clock)
    ok("todo", "defer", "T2", "--until", "2026-09-16T15:00:00Z", *AGENT, clock=clock)
    with unchanged():
        waits = loopx(*codex, clock=clock)
    assert (waits.status, waits.json["turn_id"], waits.json["lease"]) == (11, None, None)
    clock.advance(minutes=16)
    late = loopx(*codex, clock=clock)
    assert (late.status, late.json["repair"]["kind"]) == (12, "unclosed_turn")
    # Whoever must mend something first is told that, and not to go on as well.
    own = loopx(*BEGIN, "--json", clock=clock)
    assert (own.status, own.json["turn_id"], own.json["lease"]) == (12, None, None)
    assert "is open on" not in loopx(*BEGIN, clock=clock).out
    ok("turn", "recover", clock=clock)
    ok("goal", "pause", "--reason", "holiday", clock=clock)
    assert loopx(*codex, clock=clock).status == 13


def test_settling_prints_what_came_of_it(ledger: None, clock: ManualClock) -> None:
    ok(*BEGIN, clock=clock)
    done = ok(*SETTLE, "done", *FULL, "--event-id", "e-1", clock=clock)
    assert set(done["turn"]) == KEYS
    assert done["turn"] == {
        **{"id": ID, "todo_id": "T1", "outcome": "done", "verified": True, "unproven": True},
        **{"state_written": True, "slots_booked": 1, "progress": True, "reason": ""},
    }
    with unchanged():
        again = ok(*SETTLE, "done", *FULL, "--event-id", "e-1", clock=clock)
    assert again["receipt"] == done["receipt"] | {"replayed": True}
    assert loopx(*SETTLE, "done", *FULL, "--json", clock=clock).code == "turn_closed"
    assert "progress, unproven" in loopx("turn", "show", ID, clock=clock).out
    assert ok("todo", "show", "T1", clock=clock)["todo"]["status"] == "done"


@pytest.mark.parametrize(
    ("words", "lacks", "sentence"),
    [
        (("--handoff", "next"), "verified", "without evidence that code could verify"),
        (("--evidence", "notes.md"), "state_written", "without a hand-over"),
        ((*FULL, "--slots", "0"), "slots_booked", "without booked slots"),
    ],
)
def test_scenario_27_two_of_three_are_no_progress(
    ledger: None, clock: ManualClock, words: tuple[str, ...], lacks: str, sentence: str
) -> None:
    ok(*BEGIN, clock=clock)
    done = ok(*SETTLE, "progress", *words, clock=clock)["turn"]
    assert (done["outcome"], done["progress"]) == ("progress", False)
    assert shown(clock)["missing"] == [lacks]
    assert sentence in loopx("turn", "show", ID, clock=clock).out
    listed = ok("turn", "list", clock=clock)["turns"]
    assert sum(one["progress"] for one in listed) == 0


PARTS = {
    "verified": ("todo", "complete", "T1", "--turn", ID, "--evidence", "notes.md", *AGENT),
    "state_written": ("refresh-state", "--turn", ID, "--handoff", "next", *AGENT),
    "slots_booked": ("quota", "spend-slot", "--turn", ID, *AGENT),
}


@pytest.mark.parametrize("order", permutations(PARTS))
def test_the_three_one_by_one_and_show_says_what_is_missing(
    ledger: None, clock: ManualClock, order: tuple[str, ...]
) -> None:
    ok(*BEGIN, clock=clock)
    for number, part in enumerate(order):
        assert set(shown(clock)["missing"]) == set(order[number:])
        assert shown(clock)["status"] == "open"
        ok(*PARTS[part], clock=clock)
    assert (shown(clock)["status"], shown(clock)["progress"]) == ("settled", True)
    assert sum(one["progress"] for one in ok("turn", "list", clock=clock)["turns"]) == 1


def test_a_claim_that_a_report_denies_settles_as_failed(ledger: None, clock: ManualClock) -> None:
    red = '<testsuite tests="1" failures="1"><testcase name="a"><failure/></testcase></testsuite>'
    Path("report.xml").write_text(red, "utf-8")
    ok(*BEGIN, clock=clock)
    ok("quota", "spend-slot", "--turn", ID, *AGENT, clock=clock)
    words = ("--evidence", "report.xml", "--tests", "passed", "--handoff", "next")
    done = ok(*SETTLE, "done", *words, clock=clock)["turn"]
    assert (done["outcome"], done["verified"], done["slots_booked"]) == ("failed", False, 0)
    assert done["reason"]
    quota = ok("quota", "status", clock=clock)["quota"]
    assert [quota[key] for key in ("used", "voids", "attempts", "reserved")] == [0, 1, 1, 0]
    assert ok("todo", "show", "T1", clock=clock)["todo"]["status"] == "open"


def test_scenario_26_a_turn_without_a_receipt_is_recovered_once(
    ledger: None, clock: ManualClock
) -> None:
    ok(*BEGIN, clock=clock)
    assert ok("quota", "status", clock=clock)["quota"]["reserved"] == 1
    with unchanged():
        assert ok("turn", "recover", clock=clock)["recovered"] == []
    clock.advance(minutes=16)
    assert shown(clock)["unclosed"] is True
    assert loopx("quota", "should-run", *AGENT, clock=clock).status == 12
    first = ok("turn", "recover", clock=clock)
    assert (first["recovered"], len(first["receipts"])) == ([ID], 1)
    turn = shown(clock)
    assert (turn["status"], turn["outcome"], turn["progress"]) == ("recovered", "failed", False)
    assert ok("todo", "show", "T1", clock=clock)["todo"]["status"] == "open"
    with unchanged():
        said = loopx("turn", "recover", clock=clock)
    assert said.status == 0
    assert "nothing to recover" in said.out
    assert loopx(*SETTLE, "done", *FULL, "--json", clock=clock).code == "turn_closed"
    assert loopx("quota", "should-run", *AGENT, clock=clock).status == 0


def test_a_receipt_stands_in_one_line_of_the_journal(ledger: None, clock: ManualClock) -> None:
    ok(*BEGIN, clock=clock)
    done = ok(*SETTLE, "done", *FULL, clock=clock)
    line = Path(".loopx/runtime/shop/events.jsonl").read_text("utf-8").splitlines()[-1]
    event = json.loads(line)
    assert (event["seq"], event["event_type"]) == (done["receipt"]["seq"], "turn.settled")
    kinds = [part["type"] for part in event["payload"]["parts"]]
    assert kinds == ["todo.completed", "handoff.written", "spend.booked"]
    listed = ok("event", "list", "--about", ID, clock=clock)["events"]
    assert [one["event_type"] for one in listed] == ["turn.opened", "turn.settled"]


def test_beginnings_at_once_are_one_turn_for_each_agent() -> None:
    start()
    ok("agent", "add", "codex")
    for title in ("Convert", "Test"):
        ok("todo", "add", title, *AGENT)
    beats = [
        subprocess.Popen(
            [str(PROGRAM), "turn", "begin", "--agent", agent, "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for agent in ("claude-code", "codex", "claude-code", "codex", "claude-code", "codex")
    ]
    said = [json.loads(beat.communicate(timeout=PATIENCE)[0]) for beat in beats]
    assert [beat.returncode for beat in beats] == [0] * 6
    turns = ok("turn", "list")["turns"]
    assert sorted((turn["agent_id"], turn["status"]) for turn in turns) == [
        *(("claude-code", "open"), ("codex", "open")),
    ]
    assert {turn["todo_id"] for turn in turns} == {"T1", "T2"}
    mine = {turn["agent_id"]: turn["id"] for turn in turns}
    assert [one["turn_id"] for one in said] == [mine[one["agent_id"]] for one in said]
