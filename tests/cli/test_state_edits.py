"""The state file edited by hand, seen and settled through the public command."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from loopx_kernel.clock import ManualClock

from tests.cli.helpers import dark_mode, loopx, ok, unchanged

AGENT = ("--agent", "claude-code")
PAGE = Path("mall-frontend/.codex/goals/dark-mode/ACTIVE_GOAL_STATE.md")
JOURNAL = Path(".loopx/runtime/dark-mode/events.jsonl")


@pytest.fixture
def clock() -> ManualClock:
    """T1 and T2 done, T3 held by claude-code, T4 free; 22:41."""
    clock = ManualClock(datetime(2026, 9, 16, 22, 40, tzinfo=UTC))
    dark_mode(clock)
    scope = ("--write-scope", "src/theme/**")
    for title in ("Research styles", "CSS-variable plan", "Convert components", "Write the docs"):
        ok("todo", "add", title, *scope, *AGENT, clock=clock)
    for todo in ("T1", "T2"):
        ok("todo", "claim", todo, *AGENT, clock=clock)
        ok("todo", "complete", todo, *AGENT, clock=clock)
    ok("todo", "claim", "T3", *AGENT, clock=clock)
    clock.advance(minutes=1)
    return clock


def save(change: Callable[[str], str]) -> str:
    text = change(PAGE.read_text("utf-8"))
    PAGE.write_text(text, "utf-8")
    return text


def tick_t3(text: str) -> str:
    assert "- [ ] **T3** Convert components" in text
    return text.replace("- [ ] **T3**", "- [x] **T3**")


@pytest.mark.parametrize("way_out", ["adopt", "restore"])
def test_scenario_18_a_tick_without_an_event_stops_new_work_until_a_person_settles_it(
    clock: ManualClock, way_out: str
) -> None:
    ticked = save(tick_t3)
    with unchanged():
        check = loopx("state", "check", "--json", clock=clock)
        answer = loopx("quota", "should-run", *AGENT, "--json", clock=clock)
        claim = loopx("todo", "claim", "T4", *AGENT, "--json", clock=clock)
        shown = loopx("state", "check", clock=clock).out
    assert (check.status, check.json["level"]) == (1, False)
    (drift,) = check.json["drift"]
    line = ticked.splitlines().index("- [x] **T3** Convert components") + 1
    assert (drift["kind"], drift["todo_id"], drift["line"]) == ("ticked", "T3", line)
    assert "-- [ ] **T3** Convert components" in check.json["diff"]
    assert "+- [x] **T3** Convert components" in check.json["diff"]
    assert f"line {line}: T3 was ticked by hand" in shown
    assert (answer.status, answer.json["answer"]) == (12, "repair")
    assert answer.json["repair"]["by"] == "person"
    assert [reason["code"] for reason in answer.json["reasons"]] == ["drift"]
    assert (claim.status, claim.code) == (3, "drift")

    # Refreshing picks no side, and what is under way is handed in.
    ok("refresh-state", "--handoff", "half of it is done", *AGENT, clock=clock)
    assert PAGE.read_text("utf-8") == ticked
    assert ok("todo", "show", "T3", clock=clock)["todo"]["status"] == "claimed"
    lease = ok("lease", "show", "T3", clock=clock)["lease"]
    held = ("--version", str(lease["version"]), "--epoch", str(lease["lease_epoch"]))
    ok("todo", "renew", "T3", *held, *AGENT, clock=clock)
    Path("mall-frontend/notes.md").write_text("done\n", "utf-8")
    done = ok("todo", "complete", "T3", "--evidence", "notes.md", *AGENT, clock=clock)
    assert done["todo"]["status"] == "done"
    assert PAGE.read_text("utf-8") == ticked

    assert loopx("state", way_out, *AGENT, "--json", clock=clock).code == "not_a_person"
    ok("state", way_out, clock=clock)
    assert loopx("state", "check", clock=clock).status == 0
    assert "half of it is done" in PAGE.read_text("utf-8")
    assert loopx("quota", "should-run", *AGENT, clock=clock).status == 0
    ok("todo", "claim", "T4", *AGENT, clock=clock)
    (kept,) = Path(".loopx/runtime/dark-mode/quarantine").glob("*-drift*")
    assert kept.read_text("utf-8") == ticked
    events = [json.loads(line)["event_type"] for line in JOURNAL.read_bytes().splitlines()]
    assert events.count(f"drift.{way_out}{'d' if way_out == 'restore' else 'ed'}") == 1
    assert events.count("todo.completed") == 3


def test_prose_over_the_kernel_s_own_words_is_named_with_its_line_and_stays(
    clock: ManualClock,
) -> None:
    text = save(
        lambda text: text.replace("*held by* claude-code", "*held by* nobody, it seems").replace(
            "- [ ] **T4**", "Ask Bo about this one\n- [ ] **T4**"
        )
    )
    lines = text.splitlines()
    check = ok("state", "check", clock=clock)
    named = [item["line"] for item in check["not_of_the_list"]]
    assert named == [next(n for n, line in enumerate(lines, 1) if "nobody," in line)]
    assert "is no row of the to-do list; what it says is kept" in loopx("state", "check").out
    ok("todo", "add", "One more", *AGENT, clock=clock)
    after = PAGE.read_text("utf-8")
    assert "> - *held by* nobody, it seems" in after.replace(">   -", "> -")
    assert "Ask Bo about this one" in after
    assert "*held by* claude-code" in after
    check = ok("state", "check", clock=clock)
    assert (check["level"], check["drift"], check["not_of_the_list"]) == (True, [], [])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1"])
def test_another_encoding_is_named_and_nothing_is_lost(clock: ManualClock, encoding: str) -> None:
    mine = "\n## Notes\n\ncafé\n"
    PAGE.write_bytes((PAGE.read_text("utf-8") + mine).encode(encoding))
    found = PAGE.read_bytes()
    check = loopx("state", "check", "--json", clock=clock)
    if encoding == "latin-1":
        assert check.status == 0
        ok("todo", "add", "One more", *AGENT, clock=clock)
        assert PAGE.read_bytes().endswith(mine.encode("latin-1"))
        return
    reasons = [p["reason"] for p in check.json["not_of_the_list"]]
    assert check.status == 1 and "is not UTF-8" in reasons
    ok("state", "restore", clock=clock)
    assert loopx("state", "check", clock=clock).status == 0
    (kept,) = Path(".loopx/runtime/dark-mode/quarantine").glob("*-drift*")
    assert kept.read_bytes() == found
