"""`loopx observe`: facts from outside, and everything bad that may be handed in as one."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.clock import ManualClock
from loopx_kernel.workspace import observations

from tests.cli.helpers import loopx, ok, start, unchanged

AGENT = ("--agent", "claude-code")
GREEN = '<testsuite tests="2"><testcase/><testcase/></testsuite>'
RED = '<testsuite tests="2" failures="1"><testcase><failure/></testcase><testcase/></testsuite>'
PROBES = {
    "passes": "true",
    "fails": "sh -c 'exit 3'",
    "later": "sh -c 'exit 75'",
    "killed": "sh -c 'kill -9 $$'",
    "hangs": "sleep 1000",
    "forks": "sh -c 'sleep 1000 & sleep 1000 & wait'",
    "floods": "yes",
    "missing": "no-such-program-anywhere",
    "unclosed": "don't",
    "counts": "sh -c 'echo >> runs; exit 1'",
    "review:approved": "true",
}


@pytest.fixture
def clock() -> ManualClock:
    """A goal with probes; T1 "Open PR" and T2 are open."""
    clock = ManualClock(datetime(2026, 9, 16, 22, 0, tzinfo=UTC))
    named = [("--probe", f"{name}={command}") for name, command in PROBES.items()]
    start(clock, "shop", *(word for pair in named for word in pair))
    ok("todo", "add", "Open PR", "--write-scope", "src/**", *AGENT, clock=clock)
    return clock


def wait(clock: ManualClock, on: str = "ci") -> None:
    ok("todo", "wait", "T1", "--on", on, "--every", "10m", *AGENT, clock=clock)


def record(status: str, *more: str, ref: str = "pr-7") -> tuple[str, ...]:
    return ("observe", "record", "--kind", "ci", "--status", status, "--ref", ref, *more)


def answer(clock: ManualClock) -> Any:
    return loopx("quota", "should-run", *AGENT, "--json", clock=clock).json


@pytest.mark.parametrize("landed", ["pass", "fail"])
def test_scenario_24_a_wait_costs_nothing_until_the_result_lands(
    clock: ManualClock, landed: str
) -> None:
    wait(clock)
    for _ in range(3):
        clock.advance(minutes=10)
        with unchanged():
            contract = answer(clock)
        assert contract["answer"] == "wait"
        assert [reason["code"] for reason in contract["reasons"]] == ["quota_frozen"]
    assert ok("quota", "status", clock=clock)["quota"]["used"] == 0

    done = ok(*record(landed, *AGENT), clock=clock)

    assert done["thawed"] == ["T1"]
    contract = answer(clock)
    assert contract["answer"] == "run"
    if landed == "pass":
        assert done["fix"] is None
        assert contract["todo"]["id"] == "T1"
        return
    assert contract["todo"]["id"] == done["fix"]["id"] == "T2"
    fix = ok("todo", "show", "T2", clock=clock)["todo"]
    assert (fix["kind"], fix["title"], fix["priority"]) == ("fix", "Fix ci pr-7", "P0")
    assert fix["lineage_todo_ids"] == ["T1"]
    assert fix["origin"]["event_id"] == done["receipt"]["event_id"]
    assert fix["origin"]["actor_kind"] == "code"


def test_a_worker_looks_before_it_gives_a_wait_up_and_a_person_need_not(clock: ManualClock) -> None:
    wait(clock, "ci:passes")
    with unchanged():
        refused = loopx("todo", "reopen", "T1", *AGENT, "--json", clock=clock)
    assert (refused.status, refused.code) == (6, "quota_frozen")
    look = refused.json["error"]["next"]
    assert look == "loopx observe probe passes --todo T1"
    assert ok(*look.split()[1:], clock=clock)["thawed"] == ["T1"]
    wait(clock)
    assert ok(*record("pending"), clock=clock)["thawed"] == []
    ok("todo", "reopen", "T1", *AGENT, clock=clock)
    wait(clock)
    signed = ("todo", "reopen", "T1", "--reason", "CI is gone")
    with unchanged():
        assert loopx(*signed, *AGENT, "--json", clock=clock).code == "not_a_person"
        assert ok(*signed, "--dry-run", clock=clock)["statement"]["payload"]["reason"]
    done = ok(*signed, clock=clock)
    assert (done["todo"]["status"], done["todo"]["reason"]) == ("open", "CI is gone")
    event = ok("event", "show", done["receipt"]["event_id"], clock=clock)["event"]
    assert (event["event_type"], event["signature_ok"]) == ("todo.reopened", True)


def test_a_read_of_the_source_waited_for_lands(clock: ManualClock) -> None:
    for source in ("chat", "tickets"):
        ok("source", "add", source, "--provider", "x", clock=clock)
        ok("source", "bind", source, clock=clock)
    wait(clock, "source:chat")
    for read in (("chat", "--status", "failed"), ("tickets", "--status", "no_change")):
        assert ok("source", "read", *read, clock=clock)["thawed"] == []
    assert loopx("todo", "reopen", "T1", *AGENT, "--json", clock=clock).code == "quota_frozen"
    assert ok("source", "read", "chat", "--status", "no_change", clock=clock)["thawed"] == ["T1"]
    wait(clock, "source:chat")
    assert "T1 open again" in loopx("source", "read", "chat", "--status", "read", clock=clock).out


def test_a_pending_look_moves_the_rhythm_and_nothing_else(clock: ManualClock) -> None:
    wait(clock)
    clock.advance(minutes=7)
    assert ok(*record("pending"), clock=clock)["thawed"] == []
    hint = answer(clock)["scheduler_hint"]
    assert (hint["basis"], hint["next_wake_at"]) == ("fact_rhythm", "2026-09-16T22:17:00Z")


@pytest.mark.parametrize(
    ("probe", "on", "status", "exit_status"),
    [
        ("passes", "ci:passes", "pass", 0),
        ("fails", "ci", "fail", 3),
        ("killed", "ci", "fail", -9),
        ("later", "ci", "pending", 75),
        ("approved", "review:approved", "pass", 0),
    ],
)
def test_a_probe_of_the_rules_is_run(
    clock: ManualClock, probe: str, on: str, status: str, exit_status: int
) -> None:
    wait(clock, on)
    done = ok("observe", "probe", probe, "--todo", "T1", clock=clock)
    seen = done["observation"]
    assert (seen["basis"], seen["status"], seen["ref"]) == ("ran", status, probe)
    assert seen["kind"] == ("review" if probe == "approved" else "ci")
    assert done["thawed"] == ([] if status == "pending" else ["T1"])
    assert (done["fix"] is not None) is (status == "fail")
    event = ok("event", "show", done["receipt"]["event_id"], clock=clock)["event"]
    assert event["payload"]["exit_status"] == exit_status
    assert event["payload"]["by"] == "loopx"


@pytest.mark.parametrize(
    ("probe", "reason"),
    [
        ("hangs", "timed_out"),
        ("forks", "timed_out"),
        ("floods", "too_much"),
        ("missing", "not_started"),
        ("unclosed", "not_started"),
    ],
)
def test_a_probe_that_gives_no_answer_says_nothing(
    clock: ManualClock, probe: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observations, "SECONDS", 0.5 if reason == "timed_out" else 60)
    wait(clock)
    with unchanged():
        result = loopx("observe", "probe", probe, "--json", clock=clock)
    error = result.json["error"]
    assert (result.status, error["code"], error["reason"]) == (6, "not_verified", reason)
    assert error["next"]


def test_it_is_not_run_again_for_a_receipt_nor_for_a_todo_that_is_not_there(
    clock: ManualClock,
) -> None:
    again = ("observe", "probe", "counts", "--event-id", "e-1")
    first = ok(*again, clock=clock)
    second = ok(*again, clock=clock)
    assert second["receipt"] == first["receipt"] | {"replayed": True}
    assert Path("runs").read_text() == "\n"
    assert loopx(*again, "--todo", "T1", "--json", clock=clock).code == "event_conflict"
    assert loopx("observe", "probe", "counts", "--todo", "T9", "--json").code == "unknown_todo"
    assert Path("runs").read_text() == "\n"


@pytest.mark.parametrize(("content", "status"), [(GREEN, "pass"), (RED, "fail")])
def test_a_report_is_read(clock: ManualClock, content: str, status: str) -> None:
    wait(clock, "ci:pr-7")
    Path("report.xml").write_text(content)
    done = ok("observe", "junit", "report.xml", "--ref", "pr-7", *AGENT, clock=clock)
    seen = done["observation"]
    assert (seen["basis"], seen["status"], seen["path"]) == ("read", status, "report.xml")
    assert (seen["by"], seen["todo_id"]) == ("claude-code", "T1")
    assert done["thawed"] == ["T1"]


def test_the_event_of_a_report_shows_how_its_copy_stands(clock: ManualClock) -> None:
    Path("report.xml").write_text(GREEN)
    done = ok("observe", "junit", "report.xml", "--ref", "pr-7", clock=clock)
    show = ("event", "show", done["receipt"]["event_id"])
    event = ok(*show, clock=clock)["event"]
    sha256 = event["payload"]["sha256"]
    assert event["copies"] == {sha256: "kept"}
    copy = Path(".loopx/runtime/shop/objects", sha256)
    assert copy.read_text() == GREEN
    copy.chmod(0o644)
    copy.write_text(RED)
    assert f"copy {sha256}: damaged" in loopx(*show, clock=clock).out
    (row,) = loopx("repair", "list", "--json", clock=clock).json["damage"]
    assert (Path(row["path"]).name, row["stops"]) == (sha256, "nothing")
    assert answer(clock)["answer"] == "run"


def test_the_sentence_says_basis_and_effect(clock: ManualClock) -> None:
    assert "ci:pr-6: fail (told); nothing thaws" in loopx(*record("fail", ref="pr-6")).out
    wait(clock)
    said = loopx(*record("fail"), clock=clock).out
    assert "ci:pr-7: fail (told); T1 open again; T2 is to fix it" in said


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("observe",), "invalid_value"),
        (("observe", "probe", "nope"), "unknown_probe"),
        (("observe", "probe", "pass\x1bes"), "invalid_value"),
        (("observe", "probe", "passes", "--todo", "T9"), "unknown_todo"),
        (("observe", "probe", "passes", "--agent", "stranger"), "unknown_agent"),
        (("observe", "junit", "r.xml"), "invalid_value"),
        (("observe", "junit", "r.xml", "--ref", "a\x1b[2J"), "invalid_value"),
        (("observe", "junit", "r.xml", "--ref", "r", "--todo", "T9"), "unknown_todo"),
        (record("passed"), "invalid_value"),
        (record("pass", ref=""), "invalid_value"),
        (record("pass", ref="two\nlines"), "invalid_value"),
        (record("pass", ref="a\x07"), "invalid_value"),
        (record("pass", ref="x" * 201), "invalid_value"),
        (record("pass", "--todo", "T9"), "unknown_todo"),
        (record("pass", "--todo", ""), "unknown_todo"),
        (record("pass", "--agent", "stranger"), "unknown_agent"),
        (record("pass", "--goal", "nope"), "unknown_goal"),
        (("observe", "record", "--kind", "x", "--status", "pass", "--ref", "r"), "invalid_value"),
        (("todo", "wait", "T1", "--on", "ci:a\x1b[2J", *AGENT), "invalid_value"),
    ],
)
def test_a_bad_look_is_refused(clock: ManualClock, arguments: tuple[str, ...], code: str) -> None:
    with unchanged():
        result = loopx(*arguments, "--json", clock=clock)
    assert (result.status, result.code) == (2, code)
    assert result.json["error"]["next"]


def test_a_probe_has_a_kind_that_exists() -> None:
    start()
    probe = ("--probe", "weather:sun=true")
    result = loopx("start-goal", "--objective", "x", *probe, "--json")
    assert (result.status, result.code) == (2, "invalid_value")


def test_the_registry_says_which_probes_there_are(clock: ManualClock) -> None:
    goals = json.loads(Path(".loopx/registry.json").read_text("utf-8"))["goals"]
    probes = {probe["id"]: probe for probe in goals[0]["probes"]}
    assert probes["passes"] == {"id": "passes", "command": "true"}
    assert probes["approved"] == {"id": "approved", "command": "true", "kind": "review"}


def test_a_todo_shows_what_it_waits_for_and_on_what_basis_it_is_known(clock: ManualClock) -> None:
    wait(clock, "ci:pr-7")
    ok(*record("pending", *AGENT), clock=clock)
    said = loopx("todo", "show", "T1", clock=clock).out
    assert "waits for: ci pr-7, every 600 s" in said
    assert "seen: ci:pr-7 pending (told by claude-code, 2026-09-16T22:00:00Z)" in said
    ok(*record("fail"), clock=clock)
    for todo_id in ("T1", "T2"):
        (seen,) = ok("todo", "show", todo_id, clock=clock)["observations"]
        assert (seen["status"], seen["basis"], seen["fix"]) == ("fail", "told", "T2")
    assert "waits for" not in loopx("todo", "show", "T1", clock=clock).out
