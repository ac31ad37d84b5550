"""Each command once through its life, as its user sees it."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from loopx_kernel.clock import ManualClock

from tests.cli.helpers import loopx, ok, start, unchanged
from tests.patience import PATIENCE

AGENT = ("--agent", "claude-code")
GREEN = '<testsuite name="s" tests="2" failures="0" errors="0"><testcase name="a"/></testsuite>'
PUSH = ("--action", "publish", "--command", "git push origin main")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 9, 16, 22, 40, tzinfo=UTC))


def add(*more: str, title: str = "Convert", clock: ManualClock | None = None) -> str:
    return str(ok("todo", "add", title, *more, *AGENT, clock=clock)["todo"]["id"])


def test_work_is_taken_handed_in_and_finished_with_evidence() -> None:
    start()
    todo = add("--priority", "P0", "--write-scope", "src/**")
    lease = ok("todo", "claim", todo, "--expect-version", "0", "--ttl", "30m", *AGENT)["lease"]
    assert (lease["schema_version"], lease["status"]) == ("task_lease_v0", "active")
    assert (lease["write_scopes"], lease["lease_epoch"]) == (["src/**"], 1)
    Path("report.xml").write_text(GREEN, "utf-8")

    held = ("--version", "1", "--epoch", "1")
    update = ok("todo", "update", todo, "--note", "half way", *held, *AGENT)["todo"]
    assert (update["status"], update["version"]) == ("claimed", 2)
    proof = ("--evidence", "report.xml", "--tests", "passed")
    done = ok("todo", "complete", todo, *proof, *AGENT)

    assert (done["todo"]["status"], done["todo"]["proven"]) == ("done", True)
    assert done["todo"]["evidence"][0]["kind"] == "junit"
    assert done["lease"]["status"] == "ended"
    assert loopx("todo", "list").out.endswith("\nnone\n")
    assert todo in loopx("todo", "list", "--all").out
    assert "report.xml" in loopx("todo", "show", todo).out
    again = loopx("todo", "update", todo, "--status", "done", *AGENT, "--json")
    assert (again.status, again.code) == (2, "illegal_transition")


def test_status_done_is_the_same_as_complete_and_says_when_nothing_proves_it() -> None:
    start()
    todo = add()
    ok("todo", "claim", todo, *AGENT)

    shown = loopx("todo", "update", todo, "--status", "done", *AGENT)

    assert "T1 is done (unproven" in shown.out


def test_a_lease_is_given_back_and_its_record_stays() -> None:
    start()
    todo = add()
    ok("todo", "claim", todo, *AGENT)
    ok("todo", "release", todo, "--version", "1", "--epoch", "1", *AGENT)

    assert ok("todo", "show", todo)["todo"]["status"] == "open"
    assert ok("lease", "show", todo)["lease"]["status"] == "released"
    assert [row["todo_id"] for row in ok("lease", "list")["leases"]] == [todo]


def test_todos_are_set_aside_and_opened_again(clock: ManualClock) -> None:
    start(clock)
    todo = add(clock=clock)
    for command, status in (
        (("block", todo, "--reason", "no access"), "blocked"),
        (("wait", todo, "--on", "ci:run-7", "--every", "5m"), "waiting"),
        (("defer", todo, "--until", "2026-09-17T09:00:00+02:00"), "deferred"),
    ):
        assert ok("todo", *command, *AGENT, clock=clock)["todo"]["status"] == status
        assert [t["id"] for t in ok("todo", "list", "--status", status)["todos"]] == [todo]
        who = ("--reason", "CI is gone") if status == "waiting" else AGENT
        ok("todo", "reopen", todo, *who, clock=clock)
    assert ok("todo", "list", "--status", "open")["counts"]["open"] == 1
    events = ok("event", "list", "--type", "todo.waiting")["events"]
    waiting = {"kind": "ci", "ref": "run-7", "every_seconds": 300}
    assert events[0]["payload"]["waiting_on"] == waiting


def test_where_a_todo_comes_from_is_shown_back_to_its_origin() -> None:
    start()
    add(title="First")
    add("--lineage", "T1", title="Second")
    add("--lineage", "T2", "--depends-on", "T1", title="Third")

    shown = ok("todo", "show", "T3")

    assert [todo["id"] for todo in shown["lineage"]] == ["T2", "T1"]
    assert shown["todo"]["needs"] == ["T1"]
    assert "comes from: T2 " in loopx("todo", "show", "T3").out


def test_a_gate_is_asked_approved_used_once_and_then_asked_anew() -> None:
    start(None, "shop", "--gate", "publish:git push*")
    todo = add()
    check = ("gate", "check", *PUSH)
    assert loopx(*check).status == 1
    assert loopx("gate", "check", "--action", "publish", "--command", "ls").status == 0

    asked = ok("gate", "request", *PUSH, "--blocks", todo, "--irreversible", *AGENT)["gate"]
    assert (asked["status"], asked["blocks"], asked["irreversible"]) == ("pending", [todo], True)
    assert loopx("quota", "should-run", *AGENT).status == 10
    assert loopx(*check).status == 1

    ok("gate", "approve", "G1", "--reason", "reviewed")
    assert loopx("quota", "should-run", *AGENT).status == 0
    allowed = loopx(*check, "--json")
    assert (allowed.status, allowed.json["allowed"], allowed.json["gate_id"]) == (0, True, "G1")
    assert ok("gate", "use", *PUSH, *AGENT)["gate"]["status"] == "used"
    assert loopx("gate", "use", *PUSH, *AGENT, "--json").code == "gate_required"
    assert loopx(*check).status == 1
    shown = loopx("gate", "show", "G1").out
    assert "approved by huang" in shown
    assert "signature holds" in shown
    assert "used by claude-code" in shown


def test_gates_are_rejected_deferred_and_withdrawn(clock: ManualClock) -> None:
    start(clock, "shop", "--requires-approval", "publish")
    todo = add(clock=clock)
    for number in (1, 2, 3):
        action = ("--action", "publish", "--command", f"push {number}", "--blocks", todo)
        ok("gate", "request", *action, *AGENT, clock=clock)
    ok("gate", "reject", "G1", "--reason", "not before the audit", clock=clock)
    until = ("--until", "2026-09-17T09:00:00Z")
    assert ok("gate", "defer", "G2", *until, clock=clock)["gate"]["until"] == until[1]
    ok("gate", "withdraw", "G3", *AGENT, clock=clock)

    gates = ok("gate", "list", clock=clock)["gates"]
    assert [gate["status"] for gate in gates] == ["rejected", "deferred", "withdrawn"]
    assert gates[0]["decision"]["signature_ok"] is True
    again = ("--action", "publish", "--command", "push 1")
    asked = loopx("gate", "request", *again, *AGENT, "--json", clock=clock)
    assert (asked.status, asked.code) == (3, "already_decided")
    clock.advance(hours=11)
    assert ok("gate", "show", "G2", clock=clock)["gate"]["status"] == "pending"
    brief = loopx("quota", "should-run", *AGENT, clock=clock)
    assert brief.status == 10


def test_an_approval_ends_at_its_time(clock: ManualClock) -> None:
    start(clock, "shop", "--requires-approval", "publish")
    ok("gate", "request", *PUSH, *AGENT, clock=clock)
    ok("gate", "approve", "G1", "--expires", "2026-09-16T23:00:00Z", clock=clock)
    assert loopx("gate", "check", *PUSH, clock=clock).status == 0

    clock.advance(minutes=20)

    assert loopx("gate", "check", *PUSH, clock=clock).status == 1
    assert ok("gate", "show", "G1", clock=clock)["gate"]["status"] == "expired"


def test_a_booking_is_taken_back_by_a_person_once() -> None:
    start()
    ok("todo", "add", "Convert", *AGENT)
    ok("turn", "begin", *AGENT)
    ok("quota", "spend-slot", "--turn", "turn-0001", "--slots", "3", *AGENT)
    void = ("quota", "void-slot", "--turn", "turn-0001", "--reason", "turn failed validation")

    assert ok(*void)["spend"]["void_reason"] == "turn failed validation"

    quota = ok("quota", "status")["quota"]
    assert [quota[key] for key in ("spent", "voided", "used", "spends", "voids")] == [3, 3, 0, 1, 1]
    again = loopx(*void, "--json")
    assert (again.status, again.code) == (3, "already_voided")


def test_a_person_finishes_their_own_todo() -> None:
    start()
    add("--role", "human", title="Sign the contract")
    add("--depends-on", "T1", title="Ship")
    assert loopx("quota", "should-run", *AGENT).status == 10

    done = ok("todo", "complete", "T1", "--reason", "signed on paper")

    assert done["todo"]["status"] == "done"
    assert loopx("quota", "should-run", *AGENT).status == 0
    other = loopx("todo", "complete", "T2", "--reason", "r", "--json")
    assert (other.status, other.code) == (2, "illegal_transition")


def test_the_hand_over_reaches_the_next_brief_and_the_state_file() -> None:
    start()
    add()
    Path("notes.md").write_text("Chose CSS variables.\nNext: T1", "utf-8")
    ok("refresh-state", "--handoff-file", "notes.md", *AGENT)

    shown = loopx("quota", "should-run", *AGENT).out
    assert "  Chose CSS variables.\n  Next: T1\n" in shown
    state_file = Path(".loopx/goals/shop/ACTIVE_GOAL_STATE.md")
    assert "Chose CSS variables." in state_file.read_text("utf-8")


def test_refresh_state_alone_brings_back_a_missing_file() -> None:
    start()
    add()
    state_file = Path(".loopx/goals/shop/ACTIVE_GOAL_STATE.md")
    before = state_file.read_bytes()
    state_file.unlink()

    ok("refresh-state", *AGENT)

    assert state_file.read_bytes() == before
    assert ok("event", "list")["events"][-1]["event_type"] == "file.rebuilt"


def test_a_source_is_healthy_only_when_it_was_read(clock: ManualClock) -> None:
    start(clock)
    window = ("--provider", "jira", "--required", "--window", "3d")
    ok("source", "add", "tickets", *window, clock=clock)
    unbound = loopx("source", "read", "tickets", "--status", "read", "--json", clock=clock)
    assert (unbound.status, unbound.code) == (6, "not_verified")
    ok("source", "bind", "tickets", clock=clock)
    assert loopx("doctor", clock=clock).status == 1

    counts = ("--items", "12", "--unreadable", "0", "--pending", "4")
    read = ok("source", "read", "tickets", "--status", "read", *counts, clock=clock)["source"]
    assert (read["status"], read["read_status"]) == ("fresh", "read")
    assert loopx("doctor", clock=clock).status == 0

    clock.advance(days=9)
    listed = ok("source", "list", clock=clock)
    assert listed["schema_version"] == "decision_source_freshness_v0"
    assert listed["enabled_state_implies_freshness"] is False
    (stale,) = listed["sources"]
    assert (stale["status"], stale["staleness_seconds"]) == ("stale", 777600)
    assert loopx("status", clock=clock).out.splitlines()[1] == "alerts: stale_sources=tickets"
    assert "stale" in loopx("doctor", clock=clock).out


def test_a_hand_edit_is_shown_with_its_line_and_no_side_is_taken() -> None:
    start()
    todo = add()
    page = Path(".loopx/goals/shop/ACTIVE_GOAL_STATE.md")
    assert loopx("state", "check").status == 0
    page.write_text(page.read_text("utf-8").replace("- [ ]", "- [x]"), "utf-8")

    with unchanged():
        check = loopx("state", "check", "--json")
        should_run = loopx("quota", "should-run", *AGENT, "--json")
        claim = loopx("todo", "claim", todo, *AGENT, "--json")

    assert check.status == 1
    (drift,) = check.json["drift"]
    assert (drift["kind"], drift["todo_id"]) == ("ticked", todo)
    assert "ticked by hand" in loopx("state", "check").out
    assert (should_run.status, should_run.json["repair"]["by"]) == (12, "person")
    assert (claim.status, claim.code) == (3, "drift")
    assert ok("todo", "show", todo)["todo"]["status"] == "open"


def test_a_missing_file_is_said_and_rebuilt_by_the_next_writer() -> None:
    start()
    add()
    Path(".loopx/registry.json").unlink()

    assert loopx("doctor").status == 1
    assert "registry.json" in loopx("doctor").out
    assert ok("state", "check")["missing"]
    add(title="Another")
    ok("todo", "claim", "T1", *AGENT)
    assert Path(".loopx/registry.json").is_file()
    assert loopx("doctor").status == 0


def test_a_paused_goal_starts_nothing_new() -> None:
    start()
    todo = add()
    ok("goal", "pause", "--reason", "release freeze")

    assert loopx("quota", "should-run", *AGENT).status == 13
    assert loopx("todo", "claim", todo, *AGENT, "--json").code == "goal_paused"
    assert "paused" in loopx("status", "--line").out
    ok("goal", "resume", "--reason", "released")
    ok("goal", "retire", "--reason", "no longer wanted")
    assert ok("goal", "list")["goals"][0]["status"] == "retired"


def test_the_journal_is_listed_filtered_and_verified() -> None:
    start()
    add()
    add(title="More")

    added = ok("event", "list", "--type", "todo.added")["events"]
    assert [event["payload"]["todo_id"] for event in added] == ["T1", "T2"]
    later = ok("event", "list", "--since", "2")["events"]
    assert [event["seq"] for event in later] == [3]
    verified = ok("event", "verify")
    assert verified["verified"] is True
    assert [one["goal_id"] for one in verified["journals"]] == ["_workspace", "shop"]
    roster = ok("event", "list", "--goal", "_workspace")["events"]
    assert roster[0]["event_type"] == "workspace.created"
    shown = loopx("event", "show", added[0]["event_id"]).out
    assert "todo.added" in shown
    assert added[0]["sha256"] in shown


def test_a_line_copied_to_another_place_is_damage_and_named() -> None:
    start()
    add()
    journal = Path(".loopx/runtime/shop/events.jsonl")
    whole = journal.read_bytes()
    journal.write_bytes(whole + whole.splitlines(keepends=True)[-1])

    verify = loopx("event", "verify", "--goal", "shop", "--json")

    assert verify.status == 1
    assert verify.json["verified"] is False
    assert verify.json["journals"][0]["problems"]
    assert "NOT WHOLE" in loopx("event", "verify").out


def test_status_over_the_workspace_counts_what_could_be_read() -> None:
    start()
    start(None, "docs")
    add("--goal", "docs")
    Path(".loopx/runtime/shop/events.jsonl").unlink()

    result = ok("status", "--scope", "workspace")

    assert [goal["goal"]["id"] for goal in result["goals"]] == ["docs"]
    assert [goal["goal_id"] for goal in result["unread"]] == ["shop"]
    envelope = result["projection_envelope"]
    assert (envelope["complete"], envelope["alert"]) == (False, True)
    assert "coverage=1/2" in loopx("status", "--scope", "workspace").out.splitlines()[0]
    assert loopx("doctor").status == 1


def test_the_dashboard_gets_the_same_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, arguments: called.append(arguments))
    monkeypatch.setattr(sys, "argv", [str(Path(sys.executable).with_name("loopx"))])

    assert loopx("--root", "/w", "--goal", "shop", "dashboard", "--read-only").status == 0
    loopx("dashboard", "demo", "--speed", "4", "--goal", "x")

    assert [words[1:] for words in called] == [
        ["/w", "--goal", "shop", "--read-only"],
        ["demo", "--speed", "4", "--goal", "x"],
    ]
    assert Path(called[0][0]).name == "loopx-tui"


def test_should_run_imports_no_slow_library(folder: Path) -> None:
    start()
    add()
    program = (
        "import sys\n"
        "from loopx_kernel.cli.main import main\n"
        "status = main(['quota', 'should-run', '--agent', 'claude-code'])\n"
        "print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr)\n"
        "sys.exit(status)\n"
    )

    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )

    slow = {"rich", "textual", "watchfiles", "ruamel", "filelock", "defusedxml", "loopx_tui"}
    assert not slow & set(run.stderr.split())
