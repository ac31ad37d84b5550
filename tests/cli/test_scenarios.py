"""The scenarios a reader would try first, through the public command."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
from datetime import UTC, datetime, timedelta
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.clock import ManualClock

from tests.cli.helpers import bytes_of, dark_mode, loopx, ok, start, unchanged
from tests.patience import PATIENCE

AGENT = ("--agent", "claude-code")
JUNIT = """<testsuite name="s" tests="3" failures="{failures}" errors="0">
{cases}</testsuite>"""


def at(hour: int, minute: int) -> ManualClock:
    return ManualClock(datetime(2026, 9, 16, hour, minute, tzinfo=UTC))


def report(name: str, failures: int) -> str:
    cases = "".join(
        f'<testcase name="t{n}">{"<failure/>" if n < failures else ""}</testcase>' for n in range(3)
    )
    Path(name).write_text(JUNIT.format(failures=failures, cases=cases), "utf-8")
    return name


def test_scenario_01_the_first_two_commands_make_a_ledger_that_is_proven() -> None:
    start(None, "shop", "--gate", "publish:git push*")

    assert Path(".loopx/registry.json").is_file()
    assert loopx("doctor").status == 0
    ok("todo", "add", "Research styles", *AGENT)
    shown = loopx("status").out
    assert "goal: shop" in shown
    assert "publish:git push*" in shown
    assert "next todo: T1 Research styles" in shown


def test_scenario_02_connecting_again_changes_not_one_byte() -> None:
    start()
    for title in ("Research styles", "Plan CSS variables"):
        todo = ok("todo", "add", title, *AGENT)["todo"]["id"]
        ok("todo", "claim", todo, *AGENT)
        ok("todo", "complete", todo, *AGENT)
    before = bytes_of(Path(".loopx"))

    again = loopx("connect", "--owner", "somebody-else", "--new-key")

    assert again.status == 0
    assert "shop" in again.out
    assert bytes_of(Path(".loopx")) == before
    assert ok("status")["todos"]["done"] == 2


@pytest.mark.parametrize(
    "command",
    [
        ("start-goal", "--objective", "Another", "--gate", "ask me if unsure"),
        ("gate", "request", "--action", "publish", "--question", "ask me if unsure", *AGENT),
    ],
)
def test_scenario_03_a_vague_gate_is_refused(command: tuple[str, ...]) -> None:
    start()

    with unchanged():
        result = loopx(*command, "--json")

    assert (result.status, result.code) == (2, "vague_gate")
    assert result.json["error"]["next"]


def test_scenario_04_the_registry_holds_the_rules_and_no_progress() -> None:
    dark_mode()
    ok("todo", "add", "Convert components", *AGENT)

    registry = json.loads(Path(".loopx/registry.json").read_bytes())

    (goal,) = registry["goals"]
    assert registry["schema_version"] == "0.1"
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
    assert {key: goal[key] for key in expected} == expected
    assert not {"todos", "spent", "complete", "progress", "done"} & set(goal)
    assert ok("quota", "status")["quota"]["allowed"] == 576


def test_scenario_05_a_hand_in_that_does_not_hold_is_refused() -> None:
    start()
    ok("todo", "add", "Convert components", *AGENT)
    ok("todo", "claim", "T1", *AGENT)
    red = report("red.xml", failures=2)
    events = len(ok("event", "list")["events"])

    with unchanged():
        unknown = loopx("todo", "update", "T9", "--status", "done", *AGENT, "--json")
        status = loopx("todo", "update", "T1", "--status", "finished", *AGENT, "--json")
        claim = ("--tests", "passed", "--evidence", red)
        mismatch = loopx("todo", "complete", "T1", *claim, *AGENT, "--json")

    assert (unknown.status, unknown.code) == (2, "unknown_todo")
    assert (status.status, status.code) == (2, "invalid_status")
    assert (mismatch.status, mismatch.code) == (6, "evidence_mismatch")
    assert len(ok("event", "list")["events"]) == events
    assert ok("quota", "status")["quota"]["spent"] == 0


def test_scenario_06_an_agent_cannot_decide_nor_write_rules_or_completion(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start(None, "shop", "--requires-approval", "publish")
    ok("todo", "add", "Ship it", *AGENT)
    ok("gate", "request", "--action", "publish", "--command", "git push", *AGENT)
    monkeypatch.setenv("LOOPX_AGENT", "claude-code")

    with unchanged():
        approve = loopx("gate", "approve", "G1", "--json")
        edit = loopx("goal", "edit", "--write-scope", "**", "--json")
        closing = loopx("completion", "--set", "complete", "--json")

    assert (approve.status, approve.code) == (6, "not_a_person")
    assert edit.status == closing.status == 2
    assert ok("gate", "show", "G1")["gate"]["status"] == "pending"

    path = Path(".loopx/registry.json")
    registry = json.loads(path.read_bytes())
    registry["goals"][0]["status"] = "complete"
    path.write_text(json.dumps(registry, indent=2, ensure_ascii=False), "utf-8")

    contract = loopx("quota", "should-run", "--json")
    assert contract.status == 10
    assert contract.json["reasons"][0]["code"] == "damaged"
    status = ok("status")
    assert status["goal"]["status"] == "active"
    assert status["completion"]["complete"] is False
    assert status["projection_envelope"]["alert"] is True
    doctor = loopx("doctor")
    assert doctor.status == 1
    assert "registry.json" in doctor.out


def test_scenario_08_an_event_id_counts_once() -> None:
    start()
    ok("todo", "add", "Convert components", *AGENT)
    claim = ("todo", "claim", "T1", "--event-id", "e-0142", *AGENT)
    first = ok(*claim, "--expect-version", "0")
    before = bytes_of(Path(".loopx/runtime/shop"))

    again = ok(*claim, "--expect-version", "0")
    other = loopx(*claim, "--expect-version", "3", "--json")

    assert again["receipt"] == first["receipt"] | {"replayed": True}
    assert (other.status, other.code) == (3, "event_conflict")
    journal = "events.jsonl"
    assert bytes_of(Path(".loopx/runtime/shop"))[journal] == before[journal]


def claim_and_note(agent: str, rounds: int, barrier: Barrier, results: Any) -> None:
    for version in range(0, 2 * rounds, 2):
        claim = ("todo", "claim", "T1", "--expect-version", str(version), "--agent", agent)
        barrier.wait(PATIENCE)
        result = loopx(*claim, "--json")
        results.put((version, result.status, result.json))
        if result.status == 0:
            held = ("--version", str(version + 1), "--epoch", str(version // 2 + 1))
            barrier.wait(PATIENCE)
            ok("todo", "release", "T1", *held, "--agent", agent)
        else:
            barrier.wait(PATIENCE)


def test_scenario_11_of_two_who_claim_together_one_is_the_owner() -> None:
    start()
    ok("agent", "add", "codex")
    ok("todo", "add", "add tests", *AGENT)
    rounds = 200
    workers = multiprocessing.get_context("fork")
    barrier, results = workers.Barrier(2), workers.Queue()
    both = [
        workers.Process(target=claim_and_note, args=(name, rounds, barrier, results), daemon=True)
        for name in ("claude-code", "codex")
    ]
    for worker in both:
        worker.start()
    seen: dict[int, list[tuple[int, Any]]] = {}
    for _ in range(2 * rounds):
        version, status, value = results.get(timeout=PATIENCE)
        seen.setdefault(version, []).append((status, value))
    for worker in both:
        worker.join(PATIENCE)

    assert len(seen) == rounds
    for version, pair in seen.items():
        assert sorted(status for status, _ in pair) == [0, 3]
        won = next(value for status, value in pair if status == 0)
        lost = next(value for status, value in pair if status == 3)
        assert won["lease"]["version"] == version + 1
        assert lost["error"]["code"] == "version_mismatch"


def test_scenario_14_a_renewal_moves_version_and_end_but_not_the_epoch() -> None:
    clock = at(22, 40)
    start(clock)
    ok("todo", "add", "Convert components", *AGENT, clock=clock)
    ok("todo", "claim", "T1", *AGENT, clock=clock)
    ok("todo", "release", "T1", "--version", "1", "--epoch", "1", *AGENT, clock=clock)
    ok("todo", "claim", "T1", *AGENT, clock=clock)
    for version in ("3", "4"):
        ok("todo", "renew", "T1", "--version", version, "--epoch", "2", *AGENT, clock=clock)
    clock.advance(minutes=10)

    renew = ("todo", "renew", "T1", "--version", "5", "--epoch", "2", *AGENT)
    lease = ok(*renew, clock=clock)["lease"]

    assert (lease["owner"], lease["version"], lease["lease_epoch"]) == ("claude-code", 6, 2)
    assert lease["expires_at"] == "2026-09-16T23:05:00Z"
    stale = loopx(*renew, "--json", clock=clock)
    assert (stale.status, stale.code) == (3, "version_mismatch")


def test_scenario_19_asking_twice_changes_nothing_and_answers_twice() -> None:
    start(None, "shop", "--acceptance", "tests=cmd:pytest -q")
    ok("todo", "add", "Convert", "--write-scope", "src/**", "--acceptance", "tests", *AGENT)
    before = bytes_of(Path(".loopx"))

    first, second = (loopx("quota", "should-run", *AGENT, "--json") for _ in range(2))

    assert bytes_of(Path(".loopx")) == before
    assert first.status == second.status == 0
    one, two = first.json, second.json
    assert one["schema_version"] == "loopx_interaction_contract_v1"
    assert one["answer"] == two["answer"] == "run"
    assert one["contract_id"] != two["contract_id"]
    assert one["seq"] == two["seq"]
    brief = one["brief"]
    assert brief["todo_id"] == "T1"
    assert brief["write_scope"] == ["src/**"]
    assert any("pytest -q" in check for check in brief["verification"])
    assert brief["commands"] == ["loopx turn begin --goal shop --agent claude-code"]


@pytest.mark.parametrize(
    ("command", "basis"),
    [
        (("todo", "wait", "T1", "--on", "review", "--every", "50m"), "fact_rhythm"),
        (("todo", "defer", "T1", "--until", "2026-09-16T09:00:00Z"), "date"),
    ],
)
def test_scenario_21_before_its_hour_the_answer_is_wait(
    command: tuple[str, ...], basis: str
) -> None:
    clock = at(8, 10)
    start(clock)
    ok("todo", "add", "Merge after review", *AGENT, clock=clock)
    ok(*command, *AGENT, clock=clock)

    for _ in range(3):
        with unchanged():
            result = loopx("quota", "should-run", *AGENT, "--json", clock=clock)
        assert (result.status, result.json["answer"]) == (11, "wait")
        hint = result.json["scheduler_hint"]
        assert (hint["next_wake_at"], hint["basis"]) == ("2026-09-16T09:00:00Z", basis)
        assert result.json["quota"]["used"] == 0
        clock.advance(minutes=10)


def test_scenario_23_with_nothing_to_do_it_is_quiet_and_starts_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start(None, "shop", "--acceptance", "tests=cmd:touch ran")
    ok("todo", "add", "Convert", *AGENT)
    ok("todo", "block", "T1", "--reason", "no access to staging", *AGENT)

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("an external command was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr("os.system", refuse)
    result = loopx("quota", "should-run", *AGENT, "--json")

    assert (result.status, result.json["answer"]) == (13, "quiet")
    assert result.json["reasons"][0]["code"] == "nothing_to_do"
    assert result.json["quota"]["used"] == 0
    assert not Path("ran").exists()
    assert ok("status")["completion"]["complete"] is False


def test_scenario_29_a_used_up_window_frees_by_itself() -> None:
    clock = at(12, 0)
    start(clock)
    ok("todo", "add", "Convert", *AGENT, clock=clock)
    ok("turn", "begin", *AGENT, clock=clock)
    Path("notes.md").write_text("tried\n", "utf-8")
    settle = ("turn", "settle", "--turn", "turn-0001", "--outcome", "progress", *AGENT)
    ok(*settle, "--evidence", "notes.md", "--slots", "576", clock=clock)
    clock.advance(hours=1)

    full = loopx("quota", "should-run", *AGENT, "--json", clock=clock)
    assert (full.status, full.json["answer"]) == (11, "wait")
    assert full.json["reasons"][0]["code"] == "quota_exhausted"
    assert full.json["scheduler_hint"]["next_wake_at"] == "2026-09-17T12:00:00Z"
    assert loopx("todo", "claim", "T1", *AGENT, "--json", clock=clock).code == "quota_exhausted"

    clock.now += timedelta(hours=24)
    free = loopx("quota", "should-run", *AGENT, "--json", clock=clock)
    assert (free.status, free.json["answer"]) == (0, "run")
    assert free.json["quota"]["used"] == 0
    assert free.json["quota"]["aged_out"] == 576
