"""Which files were written since a moment, whatever was committed or put back."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from loopx_kernel.observe.touched import touched

from tests.kernel.observe.test_repo import commit, made, run_git, write


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return made(tmp_path / "mall")


def moment(place: Path) -> datetime:
    """A time after every change so far: disks tell the time in steps."""
    probe = place.parent / "probe"
    probe.touch()
    start = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == start:
        probe.touch()
        probe.chmod(0o600 if probe.stat().st_mode & 0o100 else 0o700)
    # Times of lines are cut to the millisecond.
    later = -(-probe.stat().st_ctime_ns // 1_000_000)
    while probe.stat().st_ctime_ns < later * 1_000_000:
        probe.chmod(0o600 if probe.stat().st_mode & 0o100 else 0o700)
    return datetime.fromtimestamp(later / 1000, UTC)


def test_nothing_was_written_yet(place: Path) -> None:
    assert touched(place, moment(place)) == ((), ())


def test_what_was_written_is_told_even_where_it_was_committed_or_dated_back(place: Path) -> None:
    since = moment(place)
    write(place, "infra/x.tf")
    write(place, "src/a.css", "two")
    commit(place)
    write(place, "new\nfile")
    os.utime(place / "docs/b.md", (0, 0))
    written, gone = touched(place, since)
    assert written == ("docs/b.md", "infra/x.tf", "new\nfile", "src/a.css")
    assert gone == ()


def test_what_went_is_told(place: Path) -> None:
    since = moment(place)
    (place / "docs/b.md").unlink()
    assert touched(place, since) == ((), ("docs/b.md",))
    run_git(place, "rm", "-rq", "--cached", "docs")
    assert touched(place, since) == ((), ())


def test_what_went_before_is_not(place: Path) -> None:
    (place / "docs/b.md").unlink()
    assert touched(place, moment(place)) == ((), ())


def test_what_does_not_count_and_what_is_named(place: Path) -> None:
    since = moment(place)
    for name in (".loopx/x", "out/x", "STATE.md", "out/report.xml"):
        write(place, name)
    written, _ = touched(place, since, without=["STATE.md"], more=["out/report.xml", "src/a.css"])
    assert written == ("out/report.xml",)


@pytest.mark.parametrize("hidden", [".git/info/exclude", ".gitignore", "infra/.gitignore", None])
def test_what_somebody_asks_for_counts_though_git_was_told_not_to_see_it(
    place: Path, hidden: str | None
) -> None:
    since = moment(place)
    write(place, "infra/x.tf")
    if hidden is None:
        (place / ".git").rename(place.parent / "away")
    else:
        write(place, hidden, "*.tf\n")
    written, _ = touched(place, since, named=["infra/**", "**/*.md"])
    assert "infra/x.tf" in written


def test_a_repository_inside(place: Path) -> None:
    made(place / "lib")
    since = moment(place)
    write(place / "lib", "src/a.css", "two")
    assert touched(place, since) == (("lib/src/a.css",), ())


def test_without_git_only_what_is_named(tmp_path: Path) -> None:
    since = moment(tmp_path / "x")
    write(tmp_path / "plain", "a.txt")
    assert touched(tmp_path / "plain", since, more=["a.txt", "gone.txt"]) == (
        ("a.txt",),
        ("gone.txt",),
    )


@pytest.mark.parametrize("put", ["infra", "infra/deep/prod"])
def test_a_folder_made_ready_before_and_put_in_its_place_is_told(place: Path, put: str) -> None:
    write(place.parent / "ready", "x.tf")
    write(place.parent / "ready", "deep/y.tf")
    (place / put).parent.mkdir(parents=True, exist_ok=True)
    write(place, "old/z.tf")
    commit(place)
    since = moment(place)
    (place.parent / "ready").rename(place / put)
    commit(place)
    assert touched(place, since) == ((f"{put}/deep/y.tf", f"{put}/x.tf"), ())


def test_what_lies_beside_a_new_file_is_not(place: Path) -> None:
    since = moment(place)
    write(place, "docs/new.md")
    (place / "src/gone.css").touch()
    (place / "src/gone.css").unlink()
    assert touched(place, since) == (("docs/new.md",), ())


@pytest.mark.parametrize("scope", ["never/**", "never", "never/deep/*.tf", "src/never.css"])
def test_a_place_that_somebody_asks_for_and_that_never_was_did_not_go(
    place: Path, scope: str
) -> None:
    since = moment(place)
    write(place, "new.md")
    write(place, "src/new.css")
    assert touched(place, since, named=[scope]) == (("new.md", "src/new.css"), ())


def test_what_git_knows_of_such_a_place_did(place: Path) -> None:
    write(place, "infra/x.tf")
    commit(place)
    since = moment(place)
    (place / "infra" / "x.tf").unlink()
    (place / "infra").rmdir()
    assert touched(place, since, named=["infra/**"]) == ((), ("infra/x.tf",))
