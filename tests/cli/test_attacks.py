"""What an agent with a shell tries against a governed goal, through the public command."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.governing import AGENT, codes, failing, refused, should_run
from tests.cli.helpers import PROGRAM, connect, loopx, ok, process, start, unchanged
from tests.patience import PATIENCE

PUSH = ("--action", "publish", "--command", "git push origin main")
RULES = ("--gate", "publish:git push*", "--acceptance", "tests=cmd:test -e ok")


def at_once(*commands: tuple[str, ...]) -> list[subprocess.CompletedProcess[str]]:
    """The commands in processes that begin together, and how they ended."""
    silent: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
    running = [
        subprocess.Popen([PROGRAM, *one, "--json"], stderr=subprocess.PIPE, text=True, **silent)
        for one in commands
    ]
    ended = []
    for one, child in zip(commands, running, strict=True):
        out, err = child.communicate(timeout=PATIENCE)
        ended.append(subprocess.CompletedProcess(one, child.returncode, out, err))
    return ended


def test_of_two_agents_at_once_one_takes_the_one_use() -> None:
    start(None, "shop", *RULES)
    ok("agent", "add", "codex")
    ok("gate", "request", *PUSH, *AGENT)
    ok("gate", "approve", "G1")
    use = ("gate", "use", *PUSH, "--agent")
    ended = at_once((*use, "claude-code"), (*use, "codex"), (*use, "codex"))
    assert sorted(one.returncode for one in ended) == [0, 6, 6]
    for one in ended:
        if one.returncode:
            assert json.loads(one.stderr)["error"]["code"] == "gate_required"
    used = [e for e in ok("event", "list")["events"] if e["event_type"] == "gate.used"]
    (taker,) = [one.args[-1] for one in ended if one.returncode == 0]
    assert [event["actor_agent_id"] for event in used] == [taker]
    assert ok("gate", "show", "G1")["gate"]["used_by"] == taker


HUMAN_ONLY = [
    ("gate", "approve", "G1"),
    ("gate", "reject", "G1", "--reason", "x"),
    ("gate", "defer", "G1", "--until", "2999-01-01T00:00:00Z"),
    ("escalation", "answer", "E1", "--go-on", "--reason", "x"),
    ("replan", "request", "--reason", "x"),
    ("replan", "withdraw", "O1", "--reason", "x"),
    ("todo", "cancel", "T1", "--reason", "x"),
    ("todo", "supersede", "T1", "--by", "T2", "--reason", "x"),
    ("objective", "patch", "--text", "Nothing at all", "--reason", "x"),
    ("accept", "by-hand", "--reason", "x"),
    ("quota", "void-slot", "--turn", "turn-0001", "--reason", "x"),
    ("goal", "pause", "--reason", "x"),
    ("goal", "retire", "--reason", "x"),
    ("goal", "edit", "--from", "rules.yaml", "--reason", "x"),
    ("owner", "enroll", "--name", "mallory", "--public-key", "mallory.pub"),
    ("owner", "rotate", "--name", "huang", "--public-key", "mallory.pub"),
    ("start-goal", "--id", "mine", "--objective", "x"),
    ("state", "adopt"),
    ("repair", "journal"),
]


@pytest.mark.parametrize("command", HUMAN_ONLY, ids=lambda words: " ".join(words[:2]))
@pytest.mark.parametrize("said", ["by option", "by environment"])
def test_an_agent_does_nothing_that_is_for_people(command: tuple[str, ...], said: str) -> None:
    """Though the owner's key is at hand and needs no terminal."""
    start(None, "shop", *RULES)
    ok("todo", "add", "Work", *AGENT)
    ok("todo", "add", "More", "--lineage", "T1", *AGENT)
    ok("gate", "request", *PUSH, *AGENT)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "mallory"], check=True)
    more = AGENT if said == "by option" else ()
    env = {} if more else {"LOOPX_AGENT": "claude-code"}
    with unchanged():
        done = process(*command, *more, "--json", **env)
    assert (done.returncode, json.loads(done.stderr)["error"]["code"]) == (6, "not_a_person")


def test_progress_is_not_made_of_words_links_or_files_from_elsewhere(tmp_path: Path) -> None:
    start(None, "shop", *RULES)
    ok("todo", "add", "Work", *AGENT)
    ok("turn", "begin", *AGENT)
    Path("empty.md").touch()
    Path("link.md").symlink_to("/etc/hostname")
    Path("folder").mkdir()
    settle = ("turn", "settle", "--turn", "turn-0001", "--outcome", "done", "--handoff", "all done")
    for path in ("/etc/hostname", "../x", "link.md", "folder", "empty.md", "none.md"):
        with unchanged():
            done = loopx(*settle, "--evidence", path, *AGENT, "--json")
        assert done.status in (2, 6), path
    refused("missing_evidence", *settle, "--note", "tests pass, trust me", *AGENT)
    assert ok("turn", "list")["turns"][0]["progress"] is False
    assert ok("quota", "status")["quota"]["spent"] == 0


def test_completion_and_acceptance_are_not_said_but_seen() -> None:
    start(None, "shop", *RULES)
    ok("todo", "add", "Work", *AGENT)
    ok("turn", "begin", *AGENT)
    Path("accepted.xml").write_text('<testsuite tests="1"><testcase/></testsuite>', "utf-8")
    told = ("--outcome", "done", "--evidence", "accepted.xml", "--tests", "passed")
    ok("turn", "settle", "--turn", "turn-0001", *told, "--handoff", "accepted", *AGENT)
    assert failing() == {"acceptance": (1, ["tests"])}
    for word in ("complete", "completed", "closed", "accepted"):
        with unchanged():
            assert loopx("todo", "update", "T1", "--status", word, *AGENT).status == 2
        assert loopx("goal", word, *AGENT).status == 2
    # A program of that name in the repo is not the program that the rule means.
    Path("test").write_text("#!/bin/sh\n", "utf-8")
    Path("test").chmod(0o755)
    path = os.environ["PATH"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{Path.cwd()}{os.pathsep}.{os.pathsep}{path}")
        ran = loopx("accept", "run", "--json")
    assert (ran.status, ran.json["acceptance"]["fix"]) == (1, "T2")
    assert failing()["acceptance"] == (1, ["tests"])


def test_questions_do_not_pile_up_before_the_owner() -> None:
    start(None, "shop", *RULES)
    ok("todo", "add", "Work", *AGENT)
    for number in range(20):
        ok("gate", "request", "--action", "publish", "--command", f"git push {number}", *AGENT)
    refused("limit", "gate", "request", *PUSH, *AGENT)
    assert should_run().status == 0


@pytest.mark.parametrize(
    "name",
    ["CLAUDE-CODE", "cIaude-code", "claude-c0de", "LoopX", "huang", "Huang", "cl\u0430ude-code"],
)
def test_nobody_takes_a_name_that_looks_like_anothers(name: str) -> None:
    connect()
    ok("agent", "add", "claude-code")
    with unchanged():
        done = loopx("agent", "add", name, "--json")
    assert done.code in ("exists", "invalid_value")


@pytest.mark.parametrize("ref", ["\u04221", "\uff341", "t1", "T01", "T1\u200b", "T\u0661", "T1 "])
def test_an_id_that_looks_like_another_is_none(ref: str) -> None:
    start(None, "shop", *RULES)
    ok("todo", "add", "Work", *AGENT)
    refused("unknown_todo", "todo", "claim", ref, *AGENT)
    refused("unknown_todo", "gate", "request", *PUSH, "--blocks", ref, *AGENT)
    refused("unknown_gate", "gate", "approve", ref.replace("T", "G").replace("\u0422", "\u0262"))


def test_an_approval_is_for_these_very_letters() -> None:
    start(None, "shop", *RULES)
    ok("gate", "request", *PUSH, *AGENT)
    ok("gate", "approve", "G1")
    for words in ("git push origin m\u0430in", "git  push origin main", "git push origin main "):
        with unchanged():
            done = loopx("gate", "use", "--action", "publish", "--command", words, *AGENT, "--json")
        assert done.code == "gate_required", words
    assert ok("gate", "use", *PUSH, *AGENT)["gate"]["id"] == "G1"


def test_a_finished_loop_only_closes_the_gap_of_acceptance() -> None:
    """Agents alone: they run acceptance and mend what it shows, and nothing says complete."""
    start(None, "shop", *RULES)
    ok("todo", "add", "Work", *AGENT)
    Path("notes.md").write_text("done\n", "utf-8")
    done = ("--outcome", "done", "--evidence", "notes.md", "--handoff", "x")
    ok("turn", "settle", "--turn", ok("turn", "begin", *AGENT)["turn_id"], *done, *AGENT)
    answers = []
    for _ in range(6):
        answer = should_run()
        answers.append((answer.json["answer"], codes(answer)[0]))
        if answer.json["answer"] == "repair":
            loopx("accept", "run")
        elif answer.json["answer"] == "run":
            begun = ok("turn", "begin", *AGENT)
            ok("turn", "settle", "--turn", begun["turn_id"], *done, *AGENT)
    mends = [("run", "work_ready")] * 3
    assert answers == [("repair", "contradiction"), *mends, *[("ask", "escalated")] * 2]
    assert "acceptance" in failing()
    assert ok("quota", "status")["quota"]["spent"] == 1
    kinds = {event["event_type"] for event in ok("event", "list")["events"]}
    assert not {kind for kind in kinds if "complete" in kind or "closed" in kind} - {
        "todo.completed"
    }


@pytest.mark.parametrize("kind", ["network", "write", "production-action", "chores"])
def test_another_word_for_what_a_rule_names_is_no_way_around(kind: str) -> None:
    start(None, "shop", "--gate", "publish:git push*")
    push = ("--action", kind, "--command", "git -c a=b push origin main")
    assert loopx("gate", "check", *push).status == 1
    assert loopx("gate", "use", *push, *AGENT, "--json").code == "gate_required"
    ok("gate", "request", *push, *AGENT)
    ok("gate", "approve", "G1")
    assert loopx("gate", "check", *push).status == 0
    assert ok("gate", "use", *push, *AGENT)["gate"]["status"] == "used"
    assert loopx("gate", "check", *push).status == 1
