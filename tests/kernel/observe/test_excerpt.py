"""A look inside is short, says what it leaves out, and runs nothing of what it looks at."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.observe.excerpt import (
    CASES,
    DIFF_LINES,
    LINES,
    WIDTH,
    beginning,
    diff_inside,
    look_inside,
)

JUNIT = """<testsuite tests="3" failures="2" errors="0"><testcase classname="a.B" name="one"/>
<testcase classname="a.B" name="two"><failure message="1 != 2&#10;more"/></testcase>
<testcase name="three"><failure/></testcase></testsuite>"""


def test_a_test_report_is_told_in_a_sentence_with_the_names_of_what_failed() -> None:
    found = look_inside("report.xml", JUNIT.encode())

    assert found.told == "test report, failed: 3 tests, 2 failed, 0 errors, 0 skipped"
    assert found.text.split("\n") == ["failure: a.B::two: 1 != 2", "failure: three"]


def test_of_many_failures_the_first_are_named_and_the_others_counted() -> None:
    cases = "".join(f'<testcase name="t{n}"><failure/></testcase>' for n in range(CASES + 5))
    found = look_inside("r.xml", f"<testsuite>{cases}</testsuite>".encode())

    assert found.text.count("failure: ") == CASES
    assert found.text.endswith("and 5 more")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("r.json", b'{"command": "make", "exit_status": 2}', "exit-status record, failed: make"),
        ("x.bin", b"\x7fELF\0\0", "binary, 6 bytes"),
        ("n.md", b"one\ntwo\n", "2 lines"),
        ("n.md", b"one", "1 line"),
        ("r.xml", b"<testsuite", "test report, unreadable"),
        ("r.xml", b'<!DOCTYPE x [<!ENTITY a "b">]><testsuite/>', "test report, unreadable"),
    ],
)
def test_every_kind_of_file_is_told_as_what_it_is(name: str, content: bytes, told: str) -> None:
    assert look_inside(name, content).told == told


@given(st.binary(max_size=400), st.sampled_from(["a.xml", "a.json", "a.txt"]))
def test_no_bytes_stop_a_look(content: bytes, name: str) -> None:
    found = look_inside(name, content)

    assert found.told
    assert len(found.text.splitlines()) <= max(LINES, CASES + 1) * 3


@given(st.text(max_size=2000), st.integers(1, 50))
def test_the_beginning_is_short_and_what_is_left_out_is_counted(text: str, most: int) -> None:
    content = text.encode()
    shown, left_out = beginning(content, most)

    rows = shown.split("\n") if shown else []
    assert len(rows) <= most
    assert all(len(row) <= WIDTH + 1 for row in rows)
    total = len(content.splitlines())
    assert bool(left_out) is (total > len(rows)) or len(content) > most * WIDTH * 4


def test_a_megabyte_without_a_line_end_is_no_long_excerpt() -> None:
    found = look_inside("a.txt", b"x" * 1_000_000)

    assert len(found.text) <= WIDTH + 1
    assert found.left_out == "the rest of the line"


def git(repo: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=repo, check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.css").write_text("one\n")
    (tmp_path / "b.txt").write_text("one\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def test_a_diff_is_of_the_paths_and_scopes_that_are_asked_for(repo: Path) -> None:
    assert diff_inside(repo, ()).told.startswith("nothing is changed")  # type: ignore[union-attr]
    (repo / "src" / "a.css").write_text("two\n")
    (repo / "b.txt").write_text("two\n")

    everything, scope, path = (
        diff_inside(repo, ()),
        diff_inside(repo, (), ("src/**",)),
        diff_inside(repo, ("b.txt",)),
    )
    assert everything and scope and path
    assert everything.told == "2 files changed and not committed"
    assert "a.css" in scope.text and "b.txt" not in scope.text
    assert "+two" in path.text and "a.css" not in path.text


def test_a_path_that_looks_like_an_option_or_a_pattern_is_a_path(repo: Path) -> None:
    (repo / "b.txt").write_text("two\n")

    for path in ("--output=stolen", "*", ":(top)b.txt", "../x"):
        found = diff_inside(repo, (path,))
        assert found is None or "b.txt" not in found.text
    assert not (repo / "stolen").exists()


def test_a_long_diff_is_cut_and_says_how_much_is_left(repo: Path) -> None:
    (repo / "b.txt").write_text("".join(f"{n}\n" for n in range(1000)))
    found = diff_inside(repo, ("b.txt",))

    assert found is not None
    assert len(found.text.split("\n")) == DIFF_LINES
    assert found.left_out.endswith("more lines")


def test_nothing_of_the_repository_is_run(repo: Path) -> None:
    trap = repo / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {repo}/ran\n")
    trap.chmod(0o755)
    (repo / ".gitattributes").write_text("* diff=evil filter=evil\n")
    for key in (
        *("diff.external", "diff.evil.command", "diff.evil.textconv", "core.fsmonitor"),
        *("filter.evil.clean", "filter.evil.smudge", "core.pager", "core.hooksPath"),
    ):
        git(repo, "config", key, str(trap))
    (repo / "b.txt").write_text("two\n")

    found = diff_inside(repo, ())

    assert found is not None and "+two" in found.text
    assert not (repo / "ran").exists()


def test_without_git_there_is_no_diff(tmp_path: Path) -> None:
    assert diff_inside(tmp_path, ()) is None
