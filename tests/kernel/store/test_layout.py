"""Making `.loopx`, and ids that must not leave it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from loopx_kernel.errors import Storage, UsageError
from loopx_kernel.store.files import Files
from loopx_kernel.store.layout import Layout
from loopx_kernel.store.quarantine import set_aside

from tests.kernel.store.faults import FailingFiles, names_in

AT = datetime(2026, 9, 16, 22, 40, tzinfo=UTC)


def snapshot(root: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in root.rglob("*")
        if path.is_file()
    }


def test_make_is_idempotent_and_changes_no_byte_that_exists(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.make(Files())
    assert layout.folder.joinpath(".gitignore").read_bytes() == b"*\n"
    assert layout.folder.joinpath(".gitattributes").read_bytes() == b"* -text\n"
    layout.folder.joinpath(".gitignore").write_bytes(b"# mine\n")
    before = snapshot(tmp_path)
    files = FailingFiles()
    layout.make(files)
    assert snapshot(tmp_path) == before
    assert files.calls == []


def test_make_goal_makes_every_folder_of_the_goal(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.make(Files())
    layout.make_goal("dark-mode", Files())
    for path in (
        layout.state_file("dark-mode"),
        layout.goal_journal("dark-mode"),
        layout.lease("dark-mode", "T1"),
        layout.statement("dark-mode", "T1"),
        layout.object("dark-mode", "0" * 64),
    ):
        assert path.parent.is_dir()
        assert path.is_relative_to(tmp_path / ".loopx")


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "_workspace", "a\0b", "x" * 201])
def test_an_id_that_would_leave_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    layout = Layout(tmp_path)
    for path in (layout.goal_journal, layout.state_file, lambda n: layout.lease("g", n)):
        with pytest.raises(UsageError) as caught:
            path(name)
        assert caught.value.code == "invalid_value"


def test_set_aside_keeps_everything_under_a_name_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "quarantine"
    first = set_aside(folder, "torn", [b"ab", b"c"], at=AT, files=Files())
    second = set_aside(folder, "torn", [b"other"], at=AT, files=Files())
    assert names_in(folder) == ["20260916T224000Z-torn", "20260916T224000Z-torn-2"]
    assert (first.read_bytes(), second.read_bytes()) == (b"abc", b"other")


@pytest.mark.parametrize("at", range(6))
def test_set_aside_fails_whole(tmp_path: Path, at: int) -> None:
    folder = tmp_path / "quarantine"
    files = FailingFiles(at)
    with pytest.raises(Storage):
        set_aside(folder, "torn", [b"ab"], at=AT, files=files)
    assert not folder.exists() or names_in(folder) == []
