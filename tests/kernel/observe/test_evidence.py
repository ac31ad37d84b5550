"""Evidence: only a real file inside the repo, and its report may contradict the claim."""

from __future__ import annotations

import hashlib
import json
import os
import socket
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopx_kernel.errors import Denied
from loopx_kernel.observe.evidence import Evidence, agree, bind
from loopx_kernel.observe.reports import read_report

GREEN = '<testsuite tests="2" failures="0" errors="0"><testcase/><testcase/></testsuite>'
RED = '<testsuite tests="2" failures="1"><testcase><failure/></testcase><testcase/></testsuite>'
BOMB = (
    '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
    '<testsuite tests="1"><testcase name="&b;"/></testsuite>'
)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    (folder / "out").mkdir(parents=True)
    return folder


def _bound(repo: Path, content: str | bytes, name: str = "report.xml") -> Evidence:
    (repo / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return bind(repo, name)


def _refused(repo: Path, path: str, *roots: Path) -> str:
    with pytest.raises(Denied) as refusal:
        bind(repo, path, roots)
    assert refusal.value.code == "missing_evidence"
    assert refusal.value.facts["path"] == path
    return str(refusal.value.facts["reason"])


def _mismatch(evidences: list[Evidence], claim: str = "passed") -> dict[str, object]:
    with pytest.raises(Denied) as refusal:
        agree(evidences, claim)  # type: ignore[arg-type]
    assert refusal.value.code == "evidence_mismatch"
    return refusal.value.facts


def test_a_file_is_bound_by_what_was_read(repo: Path) -> None:
    (repo / "out" / "notes.txt").write_text("12 passed")
    evidence = bind(repo, "./out//notes.txt")
    (repo / "out" / "notes.txt").write_text("changed later")
    assert evidence == Evidence(
        "out/notes.txt", hashlib.sha256(b"12 passed").hexdigest(), 9, "file"
    )
    assert evidence.content == b"12 passed"


def test_an_absolute_path_inside_is_recorded_as_relative(repo: Path, tmp_path: Path) -> None:
    (repo / "a.txt").write_text("a")
    (tmp_path / "alias").symlink_to(repo)
    assert bind(repo, str(repo / "a.txt")).path == "a.txt"
    assert bind(tmp_path / "alias", str(repo / "a.txt")).path == "a.txt"
    assert bind(tmp_path / "alias", str(tmp_path / "alias" / "a.txt")).path == "a.txt"


def test_another_root_counts_when_it_is_named(repo: Path, tmp_path: Path) -> None:
    extra = tmp_path / "goal"
    extra.mkdir()
    (extra / "log.txt").write_text("log")
    full = str(extra / "log.txt")
    assert bind(repo, full, [extra]).path == full
    assert bind(repo, "log.txt", [extra]).path == full
    assert _refused(repo, full) == "outside"
    (repo / "log.txt").write_text("nearer")
    assert bind(repo, "log.txt", [extra]).path == "log.txt"


def test_what_is_no_file_inside_is_refused(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    (repo / "empty").touch()
    os.mkfifo(repo / "pipe")
    assert _refused(repo, "none") == "absent"
    assert _refused(repo, "out/none/x") == "absent"
    assert _refused(repo, "empty/x") == "absent"
    assert _refused(repo, "nul\0") == "absent"
    assert _refused(repo, "half\ud800") == "absent"
    assert _refused(repo / "gone", "x") == "absent"
    assert _refused(repo, "empty") == "empty"
    for path in ("", ".", "out", "pipe"):
        assert _refused(repo, path) == "not_a_file"
    for path in ("../secret", "out/../../secret", str(tmp_path / "secret"), "/dev/zero", str(repo)):
        assert _refused(repo, path) == "outside"


def test_a_socket_is_refused(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("sock")
        assert _refused(repo, "sock") == "not_a_file"


def test_no_link_is_followed(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "f").write_text("f")
    (repo / "real").write_text("real")
    (repo / "file_link").symlink_to(repo / "real")
    (repo / "folder_link").symlink_to(tmp_path / "outside")
    (repo / "loop").symlink_to("loop")
    (repo / "dangling").symlink_to("nowhere")
    for path in ("file_link", "folder_link/f", "loop", "loop/x", "dangling"):
        assert _refused(repo, path) == "link"


def test_size_has_a_limit(repo: Path) -> None:
    (repo / "at").write_bytes(b"x" * (16 * 1024 * 1024))
    (repo / "over").write_bytes(b"x" * (16 * 1024 * 1024 + 1))
    assert bind(repo, "at").size == 16 * 1024 * 1024
    assert _refused(repo, "over") == "too_big"


def test_a_file_that_cannot_be_read_is_refused(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / "f").write_text("f")
    real = os.open

    def forbidden(path: str, flags: int, **options: int) -> int:
        if path == "f":
            raise PermissionError(13, "Permission denied")
        return real(path, flags, **options)

    monkeypatch.setattr(os, "open", forbidden)
    assert _refused(repo, "f") == "unreadable"


def test_refusing_leaves_no_descriptor_open(repo: Path) -> None:
    (repo / "link").symlink_to("nowhere")
    before = sum(1 for _ in Path("/dev/fd").iterdir())
    for _ in range(20):
        for path in ("out/none", "link", "out", "none/x/y"):
            _refused(repo, path)
    assert sum(1 for _ in Path("/dev/fd").iterdir()) == before


@pytest.mark.parametrize(
    ("text", "counts", "result"),
    [
        (GREEN, (2, 0, 0, 0), "passed"),
        (RED, (2, 1, 0, 0), "failed"),
        (
            '<testsuites tests="5" failures="1" errors="1" skipped="1">'
            '<testsuite tests="3" failures="1"><testcase/></testsuite>'
            '<testsuite tests="2" errors="1" skipped="1"/></testsuites>',
            (5, 1, 1, 1),
            "failed",
        ),
        (
            '<testsuites><testsuite tests="3"/><testsuite tests="2" skipped="1"/></testsuites>',
            (5, 0, 0, 1),
            "passed",
        ),
        (
            '<testsuites><testsuite tests="2"><testsuite tests="2"/></testsuite></testsuites>',
            (2, 0, 0, 0),
            "passed",
        ),
        # The attributes say green, the cases do not; and the other way round.
        (
            '<testsuite tests="1" failures="0"><testcase><failure/><failure/></testcase>'
            "<testcase><error/></testcase></testsuite>",
            (2, 1, 1, 0),
            "failed",
        ),
        ('<testsuite tests="1" errors="1"><testcase/></testsuite>', (1, 0, 1, 0), "failed"),
        ('<testsuite tests="1"><error/><testcase/></testsuite>', (1, 0, 1, 0), "failed"),
        (
            '<t:testsuite xmlns:t="urn:x"><t:testcase><t:error/></t:testcase></t:testsuite>',
            (1, 0, 1, 0),
            "failed",
        ),
        (
            "<testsuite><testcase><system-out>&lt;error/></system-out></testcase></testsuite>",
            (1, 0, 0, 0),
            "passed",
        ),
    ],
)
def test_a_junit_report_is_counted(
    repo: Path, text: str, counts: tuple[int, ...], result: str
) -> None:
    found = _bound(repo, text)
    assert (found.kind, found.result, found.problem) == ("junit", result, None)
    assert (found.tests, found.failures, found.errors, found.skipped) == counts


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
def test_junit_is_known_by_content_in_any_coding(repo: Path, codec: str) -> None:
    found = _bound(repo, f"\n{RED}".encode(codec), name="report.txt")
    assert (found.kind, found.result) == ("junit", "failed")


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        '<!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuite tests="1"/>',
        GREEN[:-3],
        GREEN + RED,
        '<testsuite tests="many"/>',
        '<testsuite tests="1" failures="-1"/>',
        f'<testsuite tests="{"9" * 5000}"/>',
        '<?xml version="1.0" encoding="nonsense"?>' + GREEN,
        "<testsuite>\0</testsuite>",
    ],
)
@pytest.mark.parametrize("name", ["report.xml", "report.txt"])
def test_a_report_that_cannot_be_read_bears_no_claim(repo: Path, text: str, name: str) -> None:
    found = _bound(repo, text, name)
    assert (found.kind, found.result, found.problem) == ("junit", None, "unreadable")
    assert _mismatch([found])["reason"] == "unreadable"


@pytest.mark.parametrize(
    "text",
    [
        "<testsuites/>",
        '<testsuite tests="0"/>',
        '<testsuite tests="1"><testcase><skipped/></testcase></testsuite>',
    ],
)
def test_a_report_in_which_nothing_ran_is_no_pass(repo: Path, text: str) -> None:
    found = _bound(repo, text)
    assert (found.result, found.problem) == (None, "no_tests")
    assert _mismatch([found])["reason"] == "no_tests"


def test_broken_xml_named_as_a_report_is_unreadable(repo: Path) -> None:
    assert _bound(repo, "not xml", "TEST.XML").problem == "unreadable"
    assert _bound(repo, "<coverage/>").kind == "file"
    assert _bound(repo, "<p>unclosed", "page.html").kind == "file"


@pytest.mark.parametrize(
    ("record", "result", "problem"),
    [
        ({"command": "make test", "exit_status": 0}, "passed", None),
        ({"command": ["make", "test"], "exit_status": 2, "more": []}, "failed", None),
        ({"command": "x", "exit_status": -9}, "failed", None),
        ({"command": "x", "exit_status": "0"}, None, "unreadable"),
        ({"command": "x", "exit_status": False}, None, "unreadable"),
        ({"command": "x", "exit_status": 0.0}, None, "unreadable"),
        ({"command": "x", "exit_status": None}, None, "unreadable"),
        ({"command": "", "exit_status": 0}, None, "unreadable"),
        ({"exit_status": 0}, None, "unreadable"),
    ],
)
def test_an_exit_status_record_is_read(
    repo: Path, record: dict[str, object], result: str | None, problem: str | None
) -> None:
    found = _bound(repo, json.dumps(record), "run.json")
    assert (found.kind, found.result, found.problem) == ("exit_status", result, problem)


@pytest.mark.parametrize(
    "text",
    [
        '{"command":"x","exit_status":1,"exit_status":0}',
        '{"command":"x","exit_status":NaN}',
        '{"command":"x","exit_status":0',
        '{"command":"x","exit_status":' + "9" * 5000 + "}",
        '{"exit_status":0,"command":' + "[" * 100_000,
    ],
)
def test_a_broken_record_is_unreadable(repo: Path, text: str) -> None:
    found = _bound(repo, text, "run.json")
    assert (found.kind, found.problem) == ("exit_status", "unreadable")


def test_other_files_are_just_files(repo: Path) -> None:
    for text in ('{"a":1}', "{broken", "[1]", "== 12 passed ==", "\x1b[2J", "[" * 100_000):
        assert _bound(repo, text, "notes").kind == "file"


def test_a_claim_of_passed_needs_every_report_to_say_so(repo: Path) -> None:
    green = _bound(repo, GREEN, "green.xml")
    red = _bound(repo, RED, "red.xml")
    zero = _bound(repo, '{"command":"x","exit_status":0}', "zero.json")
    one = _bound(repo, '{"command":"x","exit_status":1}', "one.json")
    prose = _bound(repo, "all fine", "notes.md")
    assert agree([green, zero, prose], "passed") is True
    facts = _mismatch([green, prose, red])
    assert (facts["path"], facts["failures"], facts["tests"]) == ("red.xml", 1, 2)
    assert _mismatch([zero, one])["path"] == "one.json"


def test_a_claim_of_failed_needs_no_proof_but_no_contradiction(repo: Path) -> None:
    green = _bound(repo, GREEN, "green.xml")
    red = _bound(repo, RED, "red.xml")
    broken = _bound(repo, BOMB, "broken.xml")
    assert agree([green, red], "failed") is True
    assert agree([green, broken], "failed") is False
    assert agree([], "failed") is False
    assert _mismatch([green], "failed")["reason"] == "says_passed"


def test_prose_proves_nothing_and_no_claim_needs_nothing(repo: Path) -> None:
    prose = _bound(repo, "all fine", "notes.md")
    assert agree([prose], "passed") is False
    assert agree([], "passed") is False
    assert agree([_bound(repo, RED)], None) is False


def test_a_refusal_shows_no_raw_path(repo: Path) -> None:
    with pytest.raises(Denied) as refusal:
        bind(repo, "a\x1b[2J")
    assert "\x1b" not in refusal.value.message
    assert "a␛[2J" in refusal.value.message


@given(st.binary(max_size=200), st.sampled_from(["a.xml", "a.json", "a"]))
@settings(max_examples=100)
def test_no_content_raises(content: bytes, name: str) -> None:
    for whole in (content, b"<testsuite>" + content, b'{"exit_status":' + content):
        report = read_report(name, whole)
        assert report is None or report.result is None or report.kind != "file"
