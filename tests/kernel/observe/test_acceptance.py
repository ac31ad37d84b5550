"""Running acceptance items: what each kind says, and that no worker can make one pass."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.domain.rules import AcceptanceItem, JudgeRule, parse_acceptance
from loopx_kernel.observe import acceptance
from loopx_kernel.observe.acceptance import Bench, Seen, run
from loopx_kernel.text import check_line

GENEROUS = 60
SOON = 1
NOT_STARTED = "could not be started; is it in a folder of search_path?"
GREEN = '<testsuite tests="1"><testcase/></testsuite>'
RED = '<testsuite tests="1"><testcase><failure/></testcase></testsuite>'


def python(code: str) -> str:
    """A command that runs this code."""
    return shlex.join([sys.executable, "-I", "-c", code])


def writes(path: str, text: str) -> str:
    """A command that writes this into that file."""
    return python(f"open({path!r}, 'w').write({text!r})")


def seen(spec: str | AcceptanceItem, repo: Path, **values: Any) -> Seen:
    item = parse_acceptance(spec, 1) if isinstance(spec, str) else spec
    values.setdefault("seconds", GENEROUS)
    return run([item], Bench(repo, **values))[0]


def judge(code: str, **values: Any) -> JudgeRule:
    return JudgeRule(command=python(code), **values)


@pytest.mark.parametrize(
    ("command", "result", "detail"),
    [
        ("true", "passed", "exit status 0"),
        (python("print('3 failed'); raise SystemExit(3)"), "failed", "exit status 3: 3 failed"),
        (python("import os; os.kill(os.getpid(), 9)"), "failed", "signal 9"),
        ("no-such-program", "inconclusive", f"its command {NOT_STARTED}"),
        ("'unclosed", "inconclusive", f"its command {NOT_STARTED}"),
        ("true && false", "passed", "exit status 0"),  # no shell: these are arguments
        ("sh -c 'true && false'", "failed", "exit status 1"),
    ],
)
def test_a_command_passes_by_its_exit_status(
    command: str, result: str, detail: str, tmp_path: Path
) -> None:
    found = seen(f"cmd:{command}", tmp_path)
    assert (found.result, found.detail) == (result, detail)


@pytest.mark.parametrize(
    ("code", "detail"),
    [
        ("while True: pass", "did not end within 1 s"),
        ("import time; print('passed', flush=True); time.sleep(600)", "did not end within 1 s"),
        ("import os\nif os.fork():\n while True: pass\nwhile True: pass", "did not end within 1 s"),
        ("while True: print('passed' * 9999)", "printed without end"),
    ],
)
def test_a_command_without_end_proves_nothing(code: str, detail: str, tmp_path: Path) -> None:
    # Whichever bound is met first: a slow machine prints less.
    found = seen(f"cmd:{python(code)}", tmp_path, seconds=SOON)
    assert found.result == "inconclusive"
    assert detail in found.detail or "did not end within 1 s" in found.detail


FILES = [
    ("junit:out.xml", GREEN, "passed"),
    ("junit:out.xml", RED, "failed"),
    ("junit:out.xml", "<testsuite/>", "inconclusive"),
    ("junit:out.xml", "<broken", "inconclusive"),
    ("junit:out.xml", "passed", "inconclusive"),
    ("junit:out.xml", '{"exit_status": 0, "command": "true"}', "inconclusive"),
    ("regex:^all (good|well)$@out.txt", "x\nall well\n", "passed"),
    ("regex:^all (good|well)$@out.txt", "all well, nearly\n", "failed"),
    ("json:out.json#/a/b=3", '{"a": {"b": 3}}', "passed"),
    ("json:out.json#/a/b=3.0", '{"a": {"b": 3}}', "failed"),
    ("json:out.json#/a/1=true", '{"a": [false, true]}', "passed"),
    ("json:out.json#/a/-1=true", '{"a": [false, true]}', "failed"),
    ("json:out.json#/a~1b/c~0d=x", '{"a/b": {"c~d": "x"}}', "passed"),
    ("json:out.json#/a=1", '\ufeff{"a": 1}', "passed"),
    ("json:out.json#/a=null", '{"a": null}', "passed"),
    ("json:out.json#/a=", '{"b": 1}', "failed"),
    ("json:out.json#/a={}", '{"a": {}}', "failed"),
    ("json:out.json#/a=1", '{"a": 1, "a": 2}', "inconclusive"),
    ("json:out.json#/a=NaN", '{"a": NaN}', "inconclusive"),
    ("json:out.json#/a=1", "[" * 100_000, "inconclusive"),
    ("json:out.json#/a=" + "9" * 2000, '{"a": ' + "9" * 2000 + "}", "passed"),
    ("json:out.json#/a=1", "", "inconclusive"),
]


@pytest.mark.parametrize(("spec", "content", "result"), FILES)
def test_a_file_its_own_command_wrote(spec: str, content: str, result: str, tmp_path: Path) -> None:
    (tmp_path / "made").write_text(content)
    target = parse_acceptance(spec, 1).path.partition("#")[0]
    assert seen(f"{spec} <- cp made {target}", tmp_path).result == result


def test_a_file_that_another_command_of_the_rules_wrote_in_the_same_run(tmp_path: Path) -> None:
    """Whatever the order of the items, and only if it is run with them."""
    report = parse_acceptance("junit:out.xml", 1)
    tests = parse_acceptance(f"cmd:{writes('out.xml', GREEN)}", 2)
    bench = Bench(tmp_path, GENEROUS)
    assert [one.result for one in run([report, tests], bench)] == ["passed", "passed"]
    assert run([report], bench)[0].result == "inconclusive"


def test_a_file_is_not_enough_where_its_command_failed(tmp_path: Path) -> None:
    command = python(f"open('out.xml', 'w').write({GREEN!r}); raise SystemExit(2)")
    assert seen(f"junit:out.xml <- {command}", tmp_path).detail == "exit status 2"


def test_every_item_is_announced_before_it_runs(tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    items = [parse_acceptance(text, n) for n, text in enumerate(("rubric:x>=5", "cmd:true"), 1)]
    run(items, Bench(tmp_path, GENEROUS), lambda *step: told.append(step))
    assert told == [(0, 2, "A2"), (1, 2, "A1")]


# -- what a worker may try --------------------------------------------------------------------

REPORT = "junit:out.xml"
Attack = Callable[[Path], str]
"""Prepares a repo as a worker could, and gives the item that must not pass there."""


def report_by_hand(repo: Path) -> str:
    (repo / "out.xml").write_text(GREEN)
    return REPORT


def report_by_hand_and_a_command_that_writes_none(repo: Path) -> str:
    (repo / "out.xml").write_text(GREEN)
    return f"{REPORT} <- true"


def report_dated_in_the_future(repo: Path) -> str:
    (repo / "out.xml").write_text(GREEN)
    os.utime(repo / "out.xml", (2**32, 2**32))
    return f"{REPORT} <- true"


def report_whose_mode_a_command_sets(repo: Path) -> str:
    (repo / "out.xml").write_text(GREEN)
    return f"{REPORT} <- chmod 600 out.xml"


def link_to_a_report(repo: Path) -> str:
    (repo / "mine.xml").write_text(GREEN)
    (repo / "out.xml").symlink_to("mine.xml")
    return f"{REPORT} <- touch -h out.xml"


def link_the_command_writes_through(repo: Path) -> str:
    (repo / "out.xml").symlink_to("mine.xml")
    return f"{REPORT} <- {writes('out.xml', GREEN)}"


def linked_folder(repo: Path) -> str:
    (repo / "mine").mkdir()
    (repo / "out").symlink_to("mine")
    return f"junit:out/out.xml <- {writes('out/out.xml', GREEN)}"


def pipe_in_place_of_a_report(repo: Path) -> str:
    os.mkfifo(repo / "out.xml")
    return f"{REPORT} <- touch out.xml"


def folder_in_place_of_a_report(repo: Path) -> str:
    (repo / "out.xml").mkdir()
    return f"{REPORT} <- touch out.xml"


def huge_report(repo: Path) -> str:
    return f"{REPORT} <- truncate -s 17M out.xml"


def report_outside(repo: Path) -> str:
    return f"junit:../out.xml <- {writes('../out.xml', GREEN)}"


def word_in_place_of_work(repo: Path) -> str:
    return f"cmd:{python('print(chr(48)); print(dict(result=True)); raise SystemExit(1)')}"


def program_in_the_repo(repo: Path) -> str:
    (repo / "npm-of-this-goal").write_text("#!/bin/sh\nexit 0\n")
    (repo / "npm-of-this-goal").chmod(0o755)
    return "cmd:npm-of-this-goal test"


def pattern_said_in_a_file(repo: Path) -> str:
    (repo / "out.txt").write_text("all good\n")
    return "regex:all good@out.txt"


def value_said_in_a_file(repo: Path) -> str:
    (repo / "out.json").write_text('{"ok": true}')
    return "json:out.json#/ok=true"


ATTACKS = [
    report_by_hand,
    report_by_hand_and_a_command_that_writes_none,
    report_dated_in_the_future,
    report_whose_mode_a_command_sets,
    link_to_a_report,
    link_the_command_writes_through,
    linked_folder,
    pipe_in_place_of_a_report,
    folder_in_place_of_a_report,
    huge_report,
    report_outside,
    word_in_place_of_work,
    program_in_the_repo,
    pattern_said_in_a_file,
    value_said_in_a_file,
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_worker_cannot_make_an_item_pass(
    attack: Attack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", os.environ["PATH"]]))
    assert seen(attack(repo), repo).result != "passed"


def test_nothing_of_the_caller_reaches_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONSTARTUP", "x")
    monkeypatch.setenv("LOOPX_AGENT", "claude-code")
    code = "import os, sys; sys.exit(sum(n[:6] in ('PYTHON', 'LOOPX_') for n in os.environ))"
    assert seen(f"cmd:{python(code)}", tmp_path).result == "passed"


def test_a_file_that_changes_while_it_is_read_proves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = acceptance.read_inside

    def slow(repo: Path, *asked: Any) -> Any:
        found = read(repo, *asked)
        (repo / "out.xml").write_text(RED)
        return found

    monkeypatch.setattr(acceptance, "read_inside", slow)
    found = seen(f"{REPORT} <- {writes('out.xml', GREEN)}", tmp_path)
    assert (found.result, found.detail) == ("inconclusive", "out.xml changed while it was read")


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "^(([a-z])+.)+[A-Z]$"])
def test_a_pattern_without_end_is_ended(
    pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acceptance, "REGEX_SECONDS", SOON)
    found = seen(f"regex:{pattern}@out.txt <- {writes('out.txt', 'a' * 60 + '!')}", tmp_path)
    assert found.result == "inconclusive"


@given(st.text(max_size=600))
def test_whatever_was_printed_is_one_line(text: str) -> None:
    check_line(acceptance._detail("exit status 1", text), "detail")


# -- the judge --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "result", "score", "confidence"),
    [
        ("print(8)", "passed", 8, "1"),
        ("print(7)", "failed", 7, "1"),
        ("print('10'); print('well made')", "passed", 10, "1"),
        ("print('8/10')", "inconclusive", None, "0"),
        ("print('08')", "inconclusive", None, "0"),
        ("print(' 8')", "inconclusive", None, "0"),
        ("print('11')", "inconclusive", None, "0"),
        ("print('I would say 9')", "inconclusive", None, "0"),
        ("print('not sure it is done'); print(10)", "inconclusive", None, "0"),
        ("print('８')", "inconclusive", None, "0"),
        ("print(9); raise SystemExit(1)", "inconclusive", None, "0"),
        ("pass", "inconclusive", None, "0"),
    ],
)
def test_a_vote_is_one_exact_word(
    code: str, result: str, score: int | None, confidence: str, tmp_path: Path
) -> None:
    found = seen("rubric:reads well>=8", tmp_path, judge=judge(code))
    assert (found.result, found.score, found.confidence) == (result, score, confidence)


@pytest.mark.parametrize(
    ("votes", "result", "score", "confidence"),
    [
        ("9 9 2", "passed", 9, "0.666"),
        ("9 2 2", "failed", 2, "0.666"),
        ("9 9 2 2", "failed", 2, "0.5"),
        ("9 9 9 2", "passed", 9, "0.75"),
        ("9 x 9", "passed", 9, "0.666"),
        ("9 x x", "failed", 0, "0.666"),
        ("x x 9", "inconclusive", None, "0"),
    ],
)
def test_a_strict_majority_decides_and_an_error_is_a_no(
    votes: str, result: str, score: int | None, confidence: str, tmp_path: Path
) -> None:
    code = f"import json, sys; print({votes.split()!r}[json.load(sys.stdin)['vote'] - 1])"
    found = seen("rubric:x>=8", tmp_path, judge=judge(code, votes=len(votes.split())))
    assert (found.result, found.score, found.confidence) == (result, score, confidence)


def test_a_judge_is_told_the_rubric_and_nothing_a_worker_said(tmp_path: Path) -> None:
    code = "import sys; open('asked', 'w').write(sys.stdin.read()); print(10)"
    question = {"goal_id": "dark-mode", "objective": "Add a dark mode"}
    seen("rubric:reads well>=8", tmp_path, judge=judge(code), question=question)
    assert json.loads((tmp_path / "asked").read_text()) == {
        "schema_version": "loopx_judge_request_v0",
        **question,
        "kind": "rubric",
        "item_id": "A1",
        "rubric": "reads well",
        "scale": "a whole number from 0 to 10, alone on the first line",
        "vote": 1,
    }


@pytest.mark.parametrize(
    ("values", "detail"),
    [
        ({}, "the rules name no judge"),
        ({"judge": JudgeRule(command="no-such-judge")}, f"its judge {NOT_STARTED}"),
        (
            {"judge": judge("while True: pass"), "seconds": SOON},
            "its judge did not end within 1 s",
        ),
        (
            {"judge": judge("print(10)"), "worker": "codex"},
            "its judge names codex, a worker",
        ),
    ],
)
def test_without_a_judge_nothing_is_decided(
    values: dict[str, Any], detail: str, tmp_path: Path
) -> None:
    found = seen("rubric:x>=8", tmp_path, **values)
    assert (found.result, found.detail) == ("inconclusive", detail)
