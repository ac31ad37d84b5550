"""`loopx accept`: running the items of the rules, and accepting by hand."""

from __future__ import annotations

import json
import os
import pty
import select
import sys
from pathlib import Path

import pytest

from tests.cli.helpers import connect, loopx, ok, start, unchanged

GENEROUS = 60
AGENT = ("--agent", "claude-code")
TESTS = ("--acceptance", "tests=cmd:test -e ok")


def work(*more: str) -> None:
    """A todo that is done."""
    todo = ok("todo", "add", "Work", *more, *AGENT)["todo"]["id"]
    ok("todo", "claim", todo, *AGENT)
    ok("todo", "complete", todo, *AGENT)


def test_a_failed_run_answers_no_and_names_the_fix() -> None:
    start(None, "shop", *TESTS)
    work()
    result = loopx("accept", "run", "--json")
    assert result.status == 1
    found = result.json["acceptance"]
    assert (found["passed"], found["gaps"], found["fix"]) == (False, ["tests"], "T2")
    item = found["items"][0]
    assert (item["id"], item["kind"], item["result"], item["standing"]) == (
        "tests",
        "cmd",
        "failed",
        "failed",
    )
    assert item["detail"] == "exit status 1"
    assert result.json["receipt"]["seq"]
    assert loopx("quota", "should-run", *AGENT).status == 0


def test_a_run_that_passes_completes_the_goal() -> None:
    start(None, "shop", *TESTS)
    work()
    assert loopx("completion").status == 1
    Path("ok").touch()
    assert ok("accept", "run")["acceptance"]["passed"]
    assert loopx("completion").status == 0


def test_people_read_a_table() -> None:
    start(None, "shop", *TESTS, "--acceptance", "?lint=cmd:true")
    result = loopx("accept", "run")
    assert result.status == 1
    assert "lint   cmd (optional)  passed  exit status 0" in result.out
    assert "acceptance of shop: not passed" in result.out
    assert "running" not in result.err


def test_the_items_of_one_todo() -> None:
    start(None, "shop", *TESTS, "--acceptance", "lint=cmd:true")
    work("--acceptance", "lint")
    found = ok("accept", "run", "--todo", "T1")["acceptance"]
    assert [item["id"] for item in found["items"]] == ["lint"]
    assert found["passed"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("--todo", "T9"), "unknown_todo"), (("--todo", "T1"), "invalid_value")],
)
def test_nothing_to_run(arguments: tuple[str, ...], code: str) -> None:
    start(None, "shop", *TESTS)
    work()
    with unchanged():
        result = loopx("accept", "run", *arguments, "--json")
    assert (result.status, result.code) == (2, code)


def test_a_person_accepts_by_hand() -> None:
    start()
    work()
    with unchanged():
        shown = loopx("accept", "by-hand", "--reason", "it is good", "--dry-run", "--json").json
    assert shown["preview"].startswith("accept the work of shop by hand: 1 done")
    assert shown["statement"]["event_type"] == "work.accepted"
    found = ok("accept", "by-hand", "--reason", "it is good")["acceptance"]
    assert (found["by_hand"], found["gaps"]) == (True, [])
    assert loopx("completion").status == 0


def test_no_agent_accepts_by_hand() -> None:
    start()
    work()
    with unchanged():
        result = loopx("accept", "by-hand", "--reason", "it is good", *AGENT, "--json")
    assert (result.status, result.code) == (6, "not_a_person")


def test_on_a_terminal_the_item_that_runs_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    from loopx_kernel.cli.accept import _show_progress

    expected = "\r\x1b[Krunning te␛sts (1 of 2)\r\x1b[K".encode()
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        _show_progress(0, 2, "te\x1bsts")
        _show_progress(0, 0, "")
        monkeypatch.undo()
        shown = b""
        # What a terminal was told arrives in pieces, and is lost once nobody has it open.
        while len(shown) < len(expected) and select.select([ours], [], [], GENEROUS)[0]:
            shown += os.read(ours, 1000)
    os.close(ours)
    assert shown == expected


def test_the_judge_of_a_goal_is_shown_and_is_no_worker() -> None:
    start(None, "shop", "--acceptance", "rubric:reads well>=7", "--judge", "echo 8")
    assert "judge: echo 8, votes: 1" in loopx("goal", "show").out
    assert "acceptance A1: rubric reads well >= 7" in loopx("goal", "show").out
    result = loopx("accept", "run", "--json")
    assert result.status == 0
    assert result.json["acceptance"]["items"][0]["score"] == 8
    again = ("start-goal", "--id", "next", "--objective", "More", "--judge", "claude-code -p")
    assert loopx(*again, "--json").code == "invalid_value"


def test_a_judge_with_votes_from_a_file() -> None:
    judge = "judge: {command: echo 8, votes: 3, min_confidence: 0.6}\n"
    Path("goal.yaml").write_text(f"id: shop\nobjective: Dark mode\n{judge}")
    start_from = ("start-goal", "--from", "goal.yaml")
    connect()
    ok(*start_from)
    rules = ok("goal", "show")["goal"]["rules"]
    assert rules["judge"] == {"command": "echo 8", "votes": 3, "min_confidence": "0.6"}


@pytest.mark.parametrize(
    "judge", ["[]", "{}", "{command: ''}", "{command: x, votes: 0}", "{command: x, min: 1}", "7"]
)
def test_a_judge_that_is_none(judge: str) -> None:
    start()
    Path("goal.yaml").write_text(f"id: next\nobjective: Dark mode\njudge: {judge}\n")
    with unchanged():
        result = loopx("start-goal", "--from", "goal.yaml", "--json")
    assert (result.status, result.code) == (2, "invalid_value")


def program(path: Path, code: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{code}\n")
    path.chmod(0o755)


def test_programs_are_those_of_the_rules_and_the_system_not_of_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("--acceptance", "tests=cmd:checker", "--probe", "tests=checker")
    start(None, "shop", *asked, "--search-path", ".venv/bin")
    program(tmp_path / "agent" / "checker", "exit 0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'agent'}:{os.environ['PATH']}")
    with unchanged():
        assert loopx("observe", "probe", "tests", "--json").code == "not_verified"
    item = loopx("accept", "run", "--json").json["acceptance"]["items"][0]
    assert (item["result"], "search_path" in item["detail"]) == ("inconclusive", True)
    program(Path(".venv/bin/checker"), "exit 3")
    assert ok("observe", "probe", "tests")["observation"]["status"] == "fail"
    assert loopx("accept", "run", "--json").json["acceptance"]["items"][0]["result"] == "failed"
    program(Path(".venv/bin/checker"), "exit 0")
    assert ok("accept", "run")["acceptance"]["passed"]
    assert "search path: .venv/bin, then the system's" in loopx("goal", "show").out


def test_the_registry_says_who_judges_and_where_programs_are() -> None:
    asked = ("--acceptance", "rubric:reads well>=7", "--judge", "echo 8")
    start(None, "shop", *asked, "--search-path", "/opt/tools/bin")
    start(None, "next")
    shop, other = json.loads(Path(".loopx/registry.json").read_text("utf-8"))["goals"]
    assert shop["judge"] == {"command": "echo 8", "votes": 1, "min_confidence": None}
    assert shop["search_path"] == ["/opt/tools/bin"]
    assert (other["judge"], other["search_path"]) == (None, [])


@pytest.mark.parametrize("named", ["", " ", "a:b", "../tools", "a/../../b"])
def test_a_folder_that_no_search_path_can_name(named: str) -> None:
    start()
    with unchanged():
        result = loopx("start-goal", "--objective", "x", "--search-path", named, "--json")
    assert (result.status, result.code) == (2, "invalid_value")


REPORT = '<testsuite tests="1"><testcase/></testsuite>'


@pytest.mark.parametrize(
    ("item", "content"),
    [
        ("junit:report.xml", REPORT),
        ("regex:all is well@notes.md", "all is well\n"),
        ("json:out.json#/ok=true", '{"ok": true}'),
    ],
)
@pytest.mark.parametrize("named", [False, True], ids=["the goal's", "the todo's"])
def test_what_a_worker_hands_in_passes_no_item_though_its_bytes_are_kept(
    item: str, content: str, named: bool
) -> None:
    """A file written by hand has the same bytes as one that a program wrote."""
    path = item.partition(":")[2].partition("@")[2] or item.partition(":")[2].partition("#")[0]
    start(None, "shop", "--acceptance", f"a={item}")
    Path(path).write_text(content)
    ok("todo", "add", "Work", *(("--acceptance", "a") if named else ()), *AGENT)
    ok("turn", "begin", *AGENT)
    done = ("turn", "settle", "--turn", "turn-0001", "--outcome", "done", "--evidence", path)
    ok(*done, "--handoff", "next", *AGENT)
    turn = ok("turn", "show", "turn-0001")["turn"]
    assert turn["outcome"] == ("failed" if named else "done")
    (kept,) = Path(".loopx/runtime/shop/objects").iterdir()
    assert kept.read_text() == content
    found = loopx("accept", "run", "--json")
    (result,) = found.json["acceptance"]["items"]
    assert (found.status, result["result"], result["standing"]) == (
        1,
        "inconclusive",
        "inconclusive",
    )
    assert f"no command of the rules wrote {path} now" in result["detail"]
    assert f"{path} <- COMMAND" in result["detail"]
    assert loopx("completion").status == 1
