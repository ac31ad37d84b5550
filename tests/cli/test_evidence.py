"""Evidence through the public command: what is refused, with which code, and nothing written."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.helpers import loopx, ok, process, start, unchanged

AGENT = ("--agent", "claude-code")
GREEN = '<testsuite tests="2" failures="0"><testcase/><testcase/></testsuite>'
RED = '<testsuite tests="2" failures="2"><testcase><failure/></testcase><testcase/></testsuite>'
MIB = 1024 * 1024


@pytest.fixture(autouse=True)
def work(folder: Path) -> None:
    """A repo in which T1 is held by claude-code."""
    Path("repo").mkdir()
    start(None, "shop", "--repo", "repo")
    ok("todo", "add", "Convert", *AGENT)
    ok("todo", "claim", "T1", *AGENT)


def write(name: str, content: str | bytes = "notes\n") -> str:
    path = Path("repo", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return name


def hand_in(*names: str, tests: str = "", done: bool = True) -> Any:
    """The result of handing in T1 with these files."""
    word = "complete" if done else "update"
    claim = ("--tests", tests) if tests else ()
    evidence = [part for name in names for part in ("--evidence", name)]
    return loopx("todo", word, "T1", *evidence, *claim, *AGENT, "--json")


DEEP = "<testsuite>" + "<x>" * 10_000 + "<testcase><failure/></testcase>" + "</x>" * 10_000
CLAIMS = [
    ("says failed", [("red.xml", RED)], "says_failed"),
    ("one of two says failed", [("green.xml", GREEN), ("red.xml", RED)], "says_failed"),
    ("the attributes hide it", [("a.xml", RED.replace('failures="2"', ""))], "says_failed"),
    ("status 1", [("run.json", '{"command":"make","exit_status":1}')], "says_failed"),
    ("0 and 1", [("a.xml", GREEN), ("b", '{"command":"x","exit_status":2}')], "says_failed"),
    ("nothing ran", [("a.xml", '<testsuite tests="0"/>')], "no_tests"),
    ("10,000 deep, failed", [("a.xml", DEEP + "</testsuite>")], "says_failed"),
    ("lone surrogate", [("a", '{"command":"\\ud800","exit_status":1}')], "says_failed"),
]


@pytest.mark.parametrize("case", CLAIMS, ids=[case[0] for case in CLAIMS])
def test_passed_is_not_claimed_over_a_report_that_does_not_say_so(case: Any) -> None:
    _, reports, reason = case
    names = [write(name, content) for name, content in reports]
    with unchanged():
        result = hand_in(*names, tests="passed")
    assert (result.status, result.code) == (6, "evidence_mismatch"), result
    assert result.json["error"]["reason"] == reason


def test_failed_is_not_claimed_over_reports_that_say_passed() -> None:
    with unchanged():
        result = hand_in(write("green.xml", GREEN), tests="failed", done=False)
    assert (result.code, result.json["error"]["reason"]) == ("evidence_mismatch", "says_passed")


@pytest.mark.parametrize("before", [[("red.xml", RED)], []])
def test_leaving_the_claim_out_finishes_nothing_that_failed(before: list[Any]) -> None:
    if before:
        assert hand_in(*(write(*one) for one in before), done=False).status == 0
        names: tuple[str, ...] = ()
    else:
        names = (write("red.xml", RED),)
    with unchanged():
        result = hand_in(*names)
    assert (result.status, result.code) == (6, "not_verified")
    assert hand_in(write("green.xml", GREEN), tests="passed").status == 0


def test_prose_binary_and_odd_names_are_bound_as_told() -> None:
    names = [
        write("notes.md", "all 12 passed, trust me"),
        write("shot.png", bytes(range(256)) * 8),
        write("报告 – final?.txt"),
        write("-rf"),
        write("a;b$(c)"),
    ]
    assert hand_in(*names[:3], *(f"./{name}" for name in names[3:])).status == 0
    shown = ok("todo", "show", "T1")
    assert [row["path"] for row in shown["evidence"]] == names
    assert {row["basis"] for row in shown["evidence"]} == {"told"}
    assert shown["statement"]["result"] == "unproven"


@pytest.mark.parametrize("name", ["a\x1b[2Jb", "a\nb", "a\u202eb"])
def test_a_name_that_moves_or_hides_is_shown_as_it_is(name: str) -> None:
    write(name)
    result = hand_in(name)
    if result.status == 0:
        text = loopx("todo", "show", "T1").out
        assert name not in text and "evidence: a" in text
    else:
        assert result.code in ("missing_evidence", "invalid_value", "invalid_event")


@pytest.mark.parametrize("name", ["nul\0", "half\ud800", os.fsdecode(b"caf\xe9")])
def test_a_name_that_is_no_text_is_refused(name: str) -> None:
    with unchanged():
        result = hand_in(name)
    assert (result.status, result.code) == (2, "invalid_value")


def test_an_error_about_evidence_names_the_file_and_what_to_do() -> None:
    result = process("todo", "complete", "T1", "--evidence", "none.xml", *AGENT)
    assert result.returncode == 6
    assert "none.xml is no evidence: there is no such file" in result.stderr
    assert "name a regular file inside the repo" in result.stderr


def test_what_was_handed_in_can_be_read_back_and_checked() -> None:
    write("report.xml", GREEN)
    assert hand_in("report.xml", write("notes.md"), tests="passed").status == 0
    shown = ok("todo", "show", "T1")
    statement = shown["statement"]
    assert (statement["result"], statement["file"]) == ("passed", "same")
    stored = json.loads(Path(".loopx/runtime/shop/statements/T1.json").read_text())
    assert stored == {key: statement[key] for key in stored}
    bases = [(check["name"], check["basis"]) for check in statement["checks"]]
    assert bases == [("report.xml", "read"), ("notes.md", "told")]
    text = loopx("todo", "show", "T1").out
    assert f"sha256={statement['sha256']}, file as recorded" in text
    assert "evidence: report.xml (junit read, passed)" in text
    assert "evidence: notes.md (told)" in text
    write("notes.md", "others")
    assert [row["since"] for row in ok("todo", "show", "T1")["evidence"]] == ["same", "changed"]
    assert "copy kept, changed since" in loopx("todo", "show", "T1").out


def since() -> list[str]:
    return [row["since"] for row in ok("todo", "show", "T1")["evidence"]]


def test_a_file_is_found_again_where_it_was_and_nowhere_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Path(".loopx/goals/shop").absolute()
    (home / "log.txt").write_text("log\n")
    assert hand_in("log.txt", write("notes.md")).status == 0
    evidence = ok("todo", "show", "T1")["evidence"]
    assert [row["path"] for row in evidence] == [str(home / "log.txt"), "notes.md"]
    assert since() == ["same", "same"]
    (home / "log.txt").rename("repo/log.txt")
    Path("repo/notes.md").rename(home / "notes.md")
    assert since() == ["gone", "gone"]
    Path("repo/log.txt").rename(home / "log.txt")
    moved = folder.rename(folder.with_name("moved"))
    monkeypatch.chdir(moved)
    assert since() == ["gone", "gone"]


def test_scenario_17_status_says_what_is_missing_and_what_mends_it() -> None:
    assert hand_in(write("notes.md")).status == 0
    statement = Path(".loopx/runtime/shop/statements/T1.json")
    content = statement.read_bytes()
    statement.unlink()
    assert ok("status")["files"]["missing"] == [str(statement)]
    assert f"missing: {statement}; the next writing command makes it again" in loopx("status").out
    assert "file MISSING" in loopx("todo", "show", "T1").out
    assert loopx("doctor").status == 1
    ok("refresh-state", *AGENT)
    assert statement.read_bytes() == content
    rebuilt = [e["payload"] for e in ok("event", "list", "--type", "file.rebuilt")["events"]]
    assert rebuilt == [{"path": str(statement)}]
    assert "missing" not in loopx("status").out
    assert loopx("doctor").status == 0


def test_an_altered_statement_is_shown_with_both_digests_and_repaired() -> None:
    assert hand_in(write("notes.md")).status == 0
    ok("todo", "add", "Test", *AGENT)
    statement = Path(".loopx/runtime/shop/statements/T1.json")
    right = json.loads(statement.read_text())["sha256"]
    statement.write_text(statement.read_text().replace("unproven", "passed"))
    shown = ok("todo", "show", "T1")["statement"]
    assert (shown["file"], shown["sha256"]) == ("damaged", right)
    text = loopx("todo", "show", "T1").out
    assert "file DAMAGED" in text and f"found sha256={shown['found_sha256']}" in text
    assert loopx("quota", "should-run", *AGENT).status == 0
    assert "statements/T1.json is damaged" in loopx("status").out
    ok("repair", "file", str(statement))
    assert ok("todo", "show", "T1")["statement"]["file"] == "same"


def test_a_lost_copy_is_named_with_the_file_it_was_of() -> None:
    assert hand_in(write("notes.md")).status == 0
    (copy,) = Path(".loopx/runtime/shop/objects").iterdir()
    copy.unlink()
    write("notes.md", "others")
    lost = ok("status")["files"]["missing_evidence"]
    assert lost == [{"todo_id": "T1", "evidence": "notes.md", "path": str(copy)}]
    assert "the copy of notes.md, evidence of T1" in loopx("status").out
    assert "COPY MISSING" in loopx("todo", "show", "T1").out
    doctor = loopx("doctor", "--json")
    (found,) = (c for c in doctor.json["checks"] if c["name"] == "shop: evidence")
    assert (doctor.status, found["ok"]) == (1, False) and "notes.md, evidence of T1" in found[
        "detail"
    ]


def test_copies_of_no_hand_in_are_counted_and_are_no_fault() -> None:
    assert hand_in(write("notes.md")).status == 0
    name = hashlib.sha256(b"stray").hexdigest()
    Path(".loopx/runtime/shop/objects", name).write_bytes(b"stray")
    doctor = ok("doctor", "--deep")
    (found,) = (c for c in doctor["checks"] if c["name"] == "shop: evidence")
    assert found["detail"] == "2 files kept, 1 of no hand-in"


def test_a_person_finishes_their_todo_with_a_file_that_the_signature_names() -> None:
    ok("todo", "add", "Choose the colours", "--role", "human", "--agent", "claude-code")
    finished = ("todo", "complete", "T2", "--reason", "chosen", "--evidence", "colours.md")
    with unchanged():
        assert loopx(*finished, "--json").code == "missing_evidence"
    Path("repo/colours.md").write_text("midnight blue\n", "utf-8")
    with unchanged():
        dry = loopx(*finished, "--dry-run", "--json").json
    (named,) = dry["statement"]["payload"]["evidence"]
    assert named["path"] == "colours.md" and len(named["sha256"]) == 64
    assert ok(*finished)["todo"]["status"] == "done"
    assert "copy kept" in loopx("todo", "show", "T2").out
