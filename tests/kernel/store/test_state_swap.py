"""Replacing a file beside an editor that takes no lock: no save is ever lost."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from loopx_kernel.errors import Storage
from loopx_kernel.store.files import Files
from loopx_kernel.store.state_swap import read_state, replace_rendered

from tests.kernel.store.faults import FailingFiles, names_in

OLD, NEW, MINE, LATER = b"old", b"new", b"a person's save", b"a later save"


def save_by_rename(path: Path, data: bytes) -> None:
    """What most editors do."""
    beside = path.with_name("editor.tmp")
    beside.write_bytes(data)
    beside.replace(path)


class Racing(Files):
    """A person saves right before the k-th swap."""

    def __init__(self, save: Callable[[Path, bytes], object], *saves: bytes) -> None:
        self.save = save
        self.saves = list(saves)

    def exchange(self, one: Path, other: Path) -> bool:
        if self.saves:
            self.save(other, self.saves.pop(0))
        return super().exchange(one, other)


class NoExchange(Files):
    """A file system that cannot swap names; a person saves right before the k-th named call."""

    def __init__(self, call: str = "", save: Callable[[Path, bytes], object] | None = None) -> None:
        self.call = call
        self.person = save
        self.done: list[str] = []

    def exchange(self, one: Path, other: Path) -> bool:
        return False

    def link(self, source: Path, target: Path) -> None:
        self._now("link", source)
        super().link(source, target)

    def lstat(self, path: Path) -> os.stat_result:
        if path.suffix == ".md" and "link" in self.done:
            self._now("lstat", path)
        return super().lstat(path)

    def replace(self, source: Path, target: Path) -> None:
        self._now("replace", target)
        super().replace(source, target)

    def _now(self, call: str, path: Path) -> None:
        self.done.append(call)
        if call == self.call and self.person:
            self.person(path, MINE)
            self.person = None


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "ACTIVE_GOAL_STATE.md"
    path.write_bytes(OLD)
    return path


@pytest.mark.parametrize("files", [Files(), NoExchange()])
def test_an_undisturbed_file_is_replaced(path: Path, files: Files) -> None:
    path.chmod(0o640)
    assert replace_rendered(path, OLD, NEW, files=files)
    assert path.read_bytes() == NEW
    assert path.stat().st_mode & 0o777 == 0o640
    assert names_in(path.parent) == [path.name]


@pytest.mark.parametrize("save", [save_by_rename, Path.write_bytes])
@pytest.mark.parametrize("saves", [(MINE,), (MINE, LATER), (MINE, LATER, MINE, LATER)])
def test_a_save_that_raced_stands_there_afterwards(
    path: Path, save: Callable[[Path, bytes], object], saves: tuple[bytes, ...]
) -> None:
    assert not replace_rendered(path, OLD, NEW, files=Racing(save, *saves))
    assert path.read_bytes() == saves[-1]
    assert names_in(path.parent) == [path.name]


@pytest.mark.parametrize(
    ("call", "save"),
    [
        ("link", save_by_rename),
        ("link", Path.write_bytes),
        ("lstat", save_by_rename),
        ("replace", Path.write_bytes),
    ],
)
def test_without_swapping_a_save_that_raced_stands_there_too(
    path: Path, call: str, save: Callable[[Path, bytes], object]
) -> None:
    assert not replace_rendered(path, OLD, NEW, files=NoExchange(call, save))
    assert path.read_bytes() == MINE
    assert names_in(path.parent) == [path.name]


@pytest.mark.parametrize("files", [Files(), NoExchange()])
def test_a_file_that_went_away_is_left_to_its_editor(path: Path, files: Files) -> None:
    path.unlink()
    assert not replace_rendered(path, OLD, NEW, files=files)
    assert names_in(path.parent) == []


def test_a_missing_file_is_made_but_not_over_a_new_one(path: Path) -> None:
    assert not replace_rendered(path, None, NEW, files=Files())
    assert path.read_bytes() == OLD
    path.unlink()
    assert replace_rendered(path, None, NEW, files=Files())
    assert path.read_bytes() == NEW
    assert path.stat().st_nlink == 1
    assert names_in(path.parent) == [path.name]


def test_a_link_put_there_meanwhile_is_put_back_and_not_followed(
    path: Path, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.write_bytes(OLD)

    def to_link(target: Path, _: bytes) -> None:
        target.unlink()
        target.symlink_to(precious)

    assert not replace_rendered(path, OLD, NEW, files=Racing(to_link, MINE))
    assert path.is_symlink()
    assert precious.read_bytes() == OLD
    with pytest.raises(Storage) as caught:
        replace_rendered(path, OLD, NEW, files=Files())
    assert caught.value.code == "not_regular"


@pytest.mark.parametrize("at", range(5))
def test_a_failing_call_leaves_old_or_new_and_nothing_beside(path: Path, at: int) -> None:
    files = FailingFiles(at, errno.ENOSPC)
    with pytest.raises(Storage) as caught:
        replace_rendered(path, OLD, NEW, files=files)
    assert caught.value.code == "no_space"
    assert path.read_bytes() == (NEW if files.calls[at] == "fsync_dir" else OLD)
    assert names_in(path.parent) == [path.name]


def test_a_swap_back_that_fails_keeps_the_persons_bytes(path: Path) -> None:
    class Stuck(Racing):
        def exchange(self, one: Path, other: Path) -> bool:
            if not self.saves:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return super().exchange(one, other)

    with pytest.raises(Storage):
        replace_rendered(path, OLD, NEW, files=Stuck(save_by_rename, MINE))
    assert MINE in [file.read_bytes() for file in path.parent.iterdir()]


def test_a_file_renamed_aside_for_a_moment_is_not_missing(path: Path) -> None:
    aside = path.with_name("aside")
    path.rename(aside)
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        aside.rename(path)

    assert read_state(path, files=Files(), pause=pause) == OLD
    assert pauses == [0.2]
    path.unlink()
    assert read_state(path, files=Files(), pause=pauses.append) is None


class Unreadable(FailingFiles):
    """A person saves before the swap, and then opening fails once or from then on."""

    names = ("open_read",)

    def __init__(self, at: int, *, for_good: bool, swaps: bool) -> None:
        super().__init__(at, errno.EMFILE)
        self.for_good = for_good
        self.swaps = swaps
        self.exchanges = 0

    def link(self, source: Path, target: Path) -> None:
        save_by_rename(source, MINE)
        super().link(source, target)

    def exchange(self, one: Path, other: Path) -> bool:
        if not self.swaps:
            return False
        self.exchanges += 1
        assert self.exchanges < 10, "it swaps for ever"
        if self.exchanges == 1:
            save_by_rename(other, MINE)
        return super().exchange(one, other)

    def open_read(self, path: Path) -> int:
        if self.for_good and self.at is not None and len(self.calls) > self.at:
            raise OSError(errno.EMFILE, "too many open files")
        return super().open_read(path)


@pytest.mark.parametrize("swaps", [True, False])
@pytest.mark.parametrize("for_good", [False, True])
@pytest.mark.parametrize("at", range(2))
def test_a_save_that_cannot_be_read_back_at_once_is_not_lost(
    path: Path, at: int, for_good: bool, swaps: bool
) -> None:
    files = Unreadable(at, for_good=for_good, swaps=swaps)
    try:
        replace_rendered(path, OLD, NEW, files=files)
    except Storage as error:
        assert error.facts["errno"] == "EMFILE"
    else:
        assert len(files.calls) <= at
    assert path.read_bytes() == MINE


def test_each_of_several_saves_is_kept_and_the_last_one_stands_there(path: Path) -> None:
    kept: list[bytes] = []
    saves = (MINE, LATER, b"the last one")
    files = Racing(save_by_rename, *saves)
    assert not replace_rendered(path, OLD, NEW, files=files, keep=kept.append)
    assert [*kept, path.read_bytes()] == list(saves)
    assert names_in(path.parent) == [path.name]


def test_a_save_that_raced_outlives_the_removal_of_what_we_put_there(path: Path) -> None:
    class Removing(Racing):
        def exchange(self, one: Path, other: Path) -> bool:
            if not self.saves:
                other.unlink(missing_ok=True)
            return super().exchange(one, other)

    assert not replace_rendered(path, OLD, NEW, files=Removing(save_by_rename, MINE))
    assert path.read_bytes() == MINE
    assert names_in(path.parent) == [path.name]


def test_a_file_emptied_for_a_moment_is_not_empty(path: Path) -> None:
    path.write_bytes(b"")
    assert read_state(path, files=Files(), pause=lambda _: path.write_bytes(MINE) and None) == MINE
    path.write_bytes(b"")
    pauses: list[float] = []
    assert read_state(path, files=Files(), pause=pauses.append) == b""
    assert pauses == [0.2]
