"""What commands say, where a word was wrong once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.helpers import loopx, ok, start

AGENT = ("--agent", "claude-code")


def test_a_fact_whose_ref_says_no_more_than_its_kind_is_named_once() -> None:
    start(None, "shop", "--probe", "ci=true")
    for title in ("Convert", "Merge"):
        ok("todo", "add", title, *AGENT)
    ok("todo", "wait", "T1", "--on", "ci:ci", *AGENT)
    ok("todo", "wait", "T2", "--on", "ci:pr-7", *AGENT)
    told = [reason["message"] for reason in loopx("status", "--json").json["reasons"]]
    assert told == ["T1 waits for ci", "T2 waits for ci pr-7"]
    assert "waits for: ci, every" in loopx("todo", "show", "T1").out
    ok("observe", "record", "--kind", "ci", "--ref", "ci", "--status", "fail", *AGENT)
    ok("observe", "record", "--kind", "ci", "--ref", "pr-7", "--status", "fail", *AGENT)
    titles = [row["title"] for row in ok("todo", "list")["todos"]]
    assert titles[2:] == ["Fix ci", "Fix ci pr-7"]


def test_numbers_go_with_their_nouns() -> None:
    start()
    assert "0 spends, 0 voids, 0 attempts, 0 slots aged out" in loopx("quota", "status").out
    ok("todo", "add", "Convert", *AGENT)
    turn = ok("turn", "begin", *AGENT)["turn_id"]
    ok("quota", "spend-slot", "--turn", turn, *AGENT)
    ok("quota", "void-slot", "--turn", turn, "--reason", "wrong")
    assert "1 spend, 1 void, " in loopx("quota", "status").out


def test_a_turn_says_why_it_began_and_then_that_it_goes_on() -> None:
    start()
    ok("todo", "add", "Convert", *AGENT)
    reasons = [ok("turn", "begin", *AGENT)["reasons"][0]["code"] for _ in range(2)]
    assert reasons == ["work_ready", "continue_own"]


@pytest.mark.parametrize("command", [("turn", "begin", *AGENT), ("quota", "should-run", *AGENT)])
def test_an_answer_that_asks_names_the_command_that_shows_the_question(
    command: tuple[str, ...],
) -> None:
    start(None, "shop", "--requires-approval", "publish")
    ok("todo", "add", "Publish", *AGENT)
    asked = ("--action", "publish", "--command", "npm publish", "--blocks", "T1")
    ok("gate", "request", *asked, *AGENT)
    answer = loopx(*command)
    assert answer.status == 10
    assert "needs a person: G1 gate: " in answer.out
    assert "  next: loopx gate show G1 --goal shop\n" in answer.out
    shown = loopx("gate", "show", "G1", "--goal", "shop")
    assert "decide it: loopx gate approve G1" in shown.out
    ok("gate", "reject", "G1", "--reason", "not now")
    assert "decide it" not in loopx("gate", "show", "G1").out


def test_a_goal_that_is_closed_says_so_in_every_line() -> None:
    start(None, "shop", "--acceptance", "tests=cmd:true")
    ok("todo", "add", "Convert", *AGENT)
    ok("todo", "claim", "T1", *AGENT)
    Path("notes.md").write_text("done\n", "utf-8")
    ok("todo", "complete", "T1", "--evidence", "notes.md", *AGENT)
    assert "shop repair |" in loopx("status", "--line", "--no-color").out
    ok("accept", "run")
    assert loopx("status", "--line", "--no-color").out.startswith("shop closed | 1/1 done")
    assert "| 1 closed" in loopx("status", "--line", "--scope", "workspace", "--no-color").out
    assert "answer: closed: shop is closed" in loopx("status").out
    assert ok("status")["answer"] == "quiet"
    ok("goal", "pause", "--reason", "for now")
    assert loopx("status", "--line").out.startswith("shop paused")


@pytest.mark.parametrize(
    ("typed", "step"),
    [
        ("statsu", "loopx status --help"),
        ("tod", "loopx todo --help"),
        ("repot", "loopx report --help"),
        ("xyzzy", "loopx --help"),
    ],
)
def test_a_wrong_command_suggests_a_near_one_and_no_other(typed: str, step: str) -> None:
    refused = loopx(typed, "--json")
    assert (refused.status, refused.json["error"]["next"]) == (2, step)
    assert loopx(*step.split()[1:]).status == 0
