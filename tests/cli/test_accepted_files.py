"""Acceptance through the public command, bound to the files it saw."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.observe import work

from tests.cli.governing import AGENT, codes, failing, should_run
from tests.cli.helpers import connect, loopx, ok, start, unchanged

SCOPE = ("--write-scope", "src/**")
TESTS = ("--acceptance", "tests=cmd:test -e src/ok")
GREEN = '<testsuite tests="1"><testcase time="{}"/></testsuite>'


def python(code: str) -> str:
    return shlex.join([sys.executable, "-I", "-c", code])


def git(*words: str) -> None:
    person = ("-c", "user.name=x", "-c", "user.email=x@y")
    subprocess.run(["git", "-C", "repo", *person, *words], check=True, capture_output=True)


def write(name: str, text: str = "words\n") -> None:
    path = Path("repo", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def finished(*rules: str, in_git: bool = True, scope: tuple[str, ...] = SCOPE) -> None:
    """A goal over files in a repo, whose only todo is done."""
    Path("repo/src").mkdir(parents=True)
    write("src/ok")
    write("README.md")
    write(".gitignore", "*.log\n")
    if in_git:
        git("init", "-q")
        git("add", "-A")
        git("commit", "-q", "-m", "begin")
    start(None, "shop", "--repo", "repo", *scope, *rules)
    todo = str(ok("todo", "add", "Work", *AGENT)["todo"]["id"])
    ok("todo", "claim", todo, *AGENT)
    ok("todo", "complete", todo, *AGENT)


def acceptance() -> str:
    """How the goal stands: closed, or by which ids acceptance is open."""
    found = failing()
    assert set(found) <= {"acceptance"}
    ids = ", ".join(found["acceptance"][1]) if found else ""
    closed = codes(should_run()) == ["closed"]
    assert closed is (not found) is ok("status")["completion"]["complete"]
    return ids or "closed"


def do_next(command: str) -> None:
    """Types what one is told to, word by word."""
    words = shlex.split(command)
    assert words[0] == "loopx"
    ok(*words[1:])


OTHER: dict[str, Callable[[], Any]] = {
    "edited": lambda: write("src/ok", "other\n"),
    "edited, same size": lambda: write("src/ok", "WORDS\n"),
    "added": lambda: write("src/new"),
    "removed": lambda: Path("repo/src/ok").unlink(),
    "turned into a link": lambda: (
        Path("repo/src/ok").unlink(),
        Path("repo/src/ok").symlink_to("../README.md"),
    ),
    "made a program": lambda: Path("repo/src/ok").chmod(0o755),
    "edited and committed": lambda: (write("src/ok", "other\n"), git("commit", "-qam", "more")),
    "the whole folder moved": lambda: Path("repo").rename("elsewhere"),
}
SAME: dict[str, Callable[[], Any]] = {
    "nothing": lambda: None,
    "committed as it is": lambda: (git("add", "-A"), git("commit", "-q", "--allow-empty", "-mx")),
    "touched": lambda: os.utime("repo/src/ok", (1, 1)),
    "others' files": lambda: write("README.md", "other\n"),
    "others' work committed": lambda: (write("docs/new"), git("add", "-A"), git("commit", "-qmx")),
    "what git ignores": lambda: write("src/trace.log"),
    "the ledger written": lambda: ok("refresh-state", "--handoff", "all is well", *AGENT),
    "another branch of the same": lambda: git("checkout", "-q", "-b", "other"),
}


@pytest.mark.parametrize("change", OTHER)
def test_other_files_are_not_what_was_accepted(change: str) -> None:
    finished(*TESTS)
    write("src/more")
    ok("accept", "run")
    assert acceptance() == "closed"
    OTHER[change]()
    assert acceptance() == "tests"
    answer = should_run()
    assert (answer.status, codes(answer)) == (12, ["contradiction"])
    assert loopx("turn", "begin", *AGENT).status == 12
    if Path("repo/src/ok").exists():
        do_next(answer.json["repair"]["command"])
        assert acceptance() == "closed"


@pytest.mark.parametrize("change", SAME)
def test_the_same_files_stay_accepted(change: str) -> None:
    finished(*TESTS)
    write("src/more")
    ok("accept", "run")
    SAME[change]()
    assert acceptance() == "closed"


@pytest.mark.parametrize("in_git", [True, False])
def test_a_goal_without_write_scope_is_about_every_file(in_git: bool) -> None:
    finished(*TESTS, in_git=in_git, scope=())
    ok("accept", "run")
    assert acceptance() == "closed"
    write("README.md", "other\n")
    assert acceptance() == "tests"


def test_a_decision_does_not_close_a_goal_over_files_nobody_looked_at() -> None:
    finished(*TESTS)
    ok("gate", "request", "--action", "publish", "--command", "npm publish", *AGENT)
    ok("accept", "run")
    write("src/ok", "other\n")
    ok("gate", "reject", "G1")
    assert acceptance() == "tests"


def test_a_person_is_told_what_to_type_and_it_closes_the_goal() -> None:
    finished()
    for change in (lambda: None, OTHER["edited"]):
        change()
        assert acceptance() == "by_hand"
        answer = should_run()
        assert (answer.status, codes(answer)) == (13, ["nothing_to_do"])
        (need,) = ok("status")["needs_you"]
        assert (need["id"], need["kind"]) == ("accept:shop", "acceptance")
        assert need in answer.json["needs_you"]
        do_next(need["next"])
        assert acceptance() == "closed"
        assert ok("status")["needs_you"] == []
    assert "not those any more that huang accepted" not in loopx("status").out
    write("src/new")
    assert "not those any more that huang accepted" in loopx("status").out


def test_the_items_of_one_todo_are_accepted_for_the_files_they_were_seen_with() -> None:
    finished("--acceptance", "taste=cmd:false")
    ok("todo", "add", "Hard to test", "--acceptance", "taste", *AGENT)
    ok("todo", "cancel", "T2", "--reason", "x")
    ok("accept", "by-hand", "--todo", "T2", "--reason", "tried it, and it is good")
    assert acceptance() == "closed"
    write("src/new")
    assert acceptance() == "taste"


def test_a_report_that_tells_the_time_is_a_new_one_at_every_run() -> None:
    code = f"import time; open('src/out.xml', 'w').write({GREEN!r}.format(time.time_ns()))"
    finished("--acceptance", f"tests=junit:src/out.xml <- {python(code)}")
    for _ in range(2):
        ok("accept", "run")
        assert acceptance() == "closed"
    write("src/out.xml", GREEN.format(0))
    assert acceptance() == "tests"


def test_a_run_that_leaves_something_behind_once_is_made_again_once() -> None:
    code = "import os; os.makedirs('src/cache', exist_ok=True); open('src/cache/x', 'w')"
    finished("--acceptance", f"tests=cmd:{python(code)}")
    ok("accept", "run")
    assert acceptance() == "tests"
    do_next(should_run().json["repair"]["command"])
    assert acceptance() == "closed"


def test_one_that_never_leaves_the_files_alone_is_put_before_a_person() -> None:
    finished("--acceptance", f"tests=cmd:{python('''open('src/trace', 'a').write('x')''')}")
    for _ in range(2):
        assert should_run().status == 12
        ok("accept", "run")
    answer = should_run()
    assert (answer.status, codes(answer)) == (10, ["contradiction"])
    assert "have git ignore what it writes" in answer.json["question"]
    (need,) = ok("status")["needs_you"]
    do_next(need["next"])
    assert acceptance() == "closed"


def test_files_that_are_too_many_to_be_looked_at_are_not_what_was_accepted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    finished(*TESTS, in_git=False)
    ok("accept", "run")
    assert acceptance() == "closed"
    monkeypatch.setattr("loopx_kernel.observe.look.FILES", 1)
    assert acceptance() == "tests"
    with unchanged():
        assert loopx("accept", "run", "--json").code == "limit"


def test_the_files_are_looked_at_only_where_something_hinges_on_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[Any] = []
    plain = work.look_at_files
    monkeypatch.setattr(work, "look_at_files", lambda *a, **v: looks.append(a) or plain(*a, **v))
    connect()
    ok("agent", "add", "claude-code")
    finished(*TESTS)
    should_run()
    ok("status")
    assert looks == []
    ok("accept", "run")
    looks.clear()
    should_run()
    assert len(looks) == 1
    ok("todo", "add", "More", *AGENT)
    should_run()
    assert len(looks) == 1
