"""Watching: whatever happens to the files, the screen hears of it."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import watchfiles
from watchfiles._rust_notify import WatchfilesRustInternalError

from loopx_tui.watching import Change, changes
from tests.patience import PATIENCE

NEVER = 3600.0


class Heard:
    """Changes as they come, waited for by condition."""

    def __init__(self, source: AsyncIterator[Change]) -> None:
        self.all: list[Change] = []
        self._source = source

    async def until(self, wanted: Callable[[Change], bool]) -> Change:
        async def read() -> Change:
            async for change in self._source:
                self.all.append(change)
                if wanted(change):
                    return change
            raise AssertionError(f"ended after {self.all}")

        return await asyncio.wait_for(read(), PATIENCE)

    async def path(self, path: Path) -> Change:
        return await self.until(lambda change: path in change.paths)

    async def mode(self, mode: str) -> Change:
        return await self.until(lambda change: change.mode == mode)


@asynccontextmanager
async def watching(*roots: Path, rescan: float = NEVER, poll: float = 0.02) -> AsyncIterator[Heard]:
    stop = asyncio.Event()
    source = changes(lambda: set(roots), stop=stop, rescan_seconds=rescan, poll_seconds=poll)
    heard = Heard(source)
    try:
        yield heard
    finally:
        stop.set()
        async for change in source:
            heard.all.append(change)
    assert not [one for one in threading.enumerate() if one.name == "loopx-watching"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one file, under names that a default filter passes over."""
    folder = tmp_path / "node_modules" / ".git" / ".loopx"
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_text("one\n")
    return folder


async def test_an_editors_atomic_save_is_heard_every_time(folder: Path) -> None:
    file = folder / "events.jsonl"
    async with watching(folder) as heard:
        await heard.mode("live")
        for turn in range(3):
            backup = folder / "events.jsonl~"
            file.rename(backup)
            file.write_text(f"saved {turn}\n")
            backup.unlink()
            await heard.path(file)
            replacement = folder / "4913"
            replacement.write_text(f"replaced {turn}\n")
            replacement.replace(file)
            await heard.path(file)


async def test_a_folder_deleted_and_copied_back_is_watched_again(folder: Path) -> None:
    file, backup = folder / "events.jsonl", folder.with_name("backup")
    shutil.copytree(folder, backup)
    async with watching(folder, rescan=0.1) as heard:
        await heard.mode("live")
        for turn in range(2):
            shutil.rmtree(folder)
            shutil.copytree(backup, folder)
            await heard.path(file)
            file.write_text(f"after {turn}\n")
            await heard.path(file)


async def test_events_not_only_rescans_come_from_a_folder_put_in_anothers_place(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, told = watchfiles.watch, set[str]()

    def record(*roots: Path, **options: Any) -> Iterator[set[Any]]:
        for burst in real(*roots, **options):
            told.update(path for _, path in burst)
            yield burst

    monkeypatch.setattr(watchfiles, "watch", record)
    spare = folder.with_name("spare")
    spare.mkdir()
    async with watching(folder, rescan=0.05) as heard:
        await heard.mode("live")
        folder.rename(folder.with_name("old"))
        spare.rename(folder)
        await heard.path(folder / "events.jsonl")
        for number in range(100):
            file = folder / f"{number}.json"
            file.write_text("{}")
            await heard.path(file)
            if str(file) in told:
                break
        else:
            raise AssertionError("no event came from the new folder")


async def test_nested_folders_made_in_one_go_are_heard_to_the_bottom(folder: Path) -> None:
    built = folder.with_name("built")
    deep = Path("runtime", "goal", "task-leases", "T1.json")
    (built / deep).parent.mkdir(parents=True)
    (built / deep).write_text("{}")
    async with watching(folder) as heard:
        await heard.mode("live")
        (built / "runtime").rename(folder / "runtime")
        await heard.path(folder / deep)
        (folder / deep).write_text('{"more": 1}')
        await heard.path(folder / deep)


async def test_a_same_size_edit_with_its_old_time_is_heard(folder: Path) -> None:
    file = folder / "events.jsonl"
    info = file.stat()

    def edit(text: str) -> None:
        file.write_text(text)
        os.utime(file, ns=(info.st_atime_ns, info.st_mtime_ns))

    async with watching(folder) as heard:
        await heard.mode("live")
        edit("two\n")
        await heard.path(file)
    assert file.stat().st_mtime_ns == info.st_mtime_ns


async def test_an_edit_is_heard_by_polling_where_watching_fails(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Iterator[set[Any]]:
        raise WatchfilesRustInternalError("error in underlying watcher: Too many open files")
        yield

    monkeypatch.setattr(watchfiles, "watch", fail)
    file = folder / "events.jsonl"
    info = file.stat()
    async with watching(folder) as heard:
        change = await heard.mode("polling")
        assert "sysctl fs.inotify.max_user_instances" in change.reason
        file.write_text("two\n")
        os.utime(file, ns=(info.st_atime_ns, info.st_mtime_ns))
        assert (await heard.path(file)).mode == "polling"


async def test_another_failure_is_told_in_its_own_words(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Iterator[set[Any]]:
        raise OSError("odd {device}")
        yield

    monkeypatch.setattr(watchfiles, "watch", fail)
    async with watching(folder) as heard:
        assert "odd {device}" in (await heard.mode("polling")).reason


async def test_a_file_system_without_events_is_polled_and_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deaf(*_: Any, stop_event: threading.Event, **__: Any) -> Iterator[set[Any]]:
        while not stop_event.wait(0.01):
            yield set()

    monkeypatch.setattr(watchfiles, "watch", deaf)
    file = folder / "events.jsonl"
    async with watching(folder, rescan=0.01) as heard:
        await heard.mode("live")
        for turn in range(2):
            file.write_text(f"turn {turn}\n")
            await heard.path(file)
        assert heard.all[-1].mode == "polling"
        assert "no events" in heard.all[-1].reason


async def test_a_folder_that_appears_later_is_found(tmp_path: Path) -> None:
    folder = tmp_path / ".loopx"
    async with watching(folder, rescan=0.02) as heard:
        assert (await heard.mode("down")).reason.startswith("There is no directory")
        folder.mkdir()
        await heard.mode("live")
        (folder / "registry.json").write_text("{}")
        await heard.path(folder / "registry.json")
        shutil.rmtree(folder)
        await heard.mode("down")


async def test_locks_and_temporary_files_are_no_changes(folder: Path) -> None:
    async with watching(folder, rescan=0.05) as heard:
        await heard.mode("live")
        for name in ("lock", "lock.holder.json", "events.jsonl.tmp-1", ".tmpq2"):
            (folder / name).write_text("mine")
        (folder / "spend.jsonl").write_text("yours")
        await heard.path(folder / "spend.jsonl")
        (folder / "lock").unlink()
        (folder / "registry.json").write_text("{}")
        await heard.path(folder / "registry.json")
    changed = {path.name for change in heard.all for path in change.paths}
    assert changed == {"spend.jsonl", "registry.json"}


async def test_an_object_that_comes_is_heard_as_its_folder(folder: Path) -> None:
    objects = folder / "objects"
    objects.mkdir()
    async with watching(folder) as heard:
        await heard.mode("live")
        (objects / "ab12").write_bytes(b"evidence")
        await heard.path(objects)
        (folder / "registry.json").write_text("{}")
        await heard.path(folder / "registry.json")
    changed = {path for change in heard.all for path in change.paths}
    assert changed == {objects, folder / "registry.json"}


async def test_what_the_caller_raises_reaches_the_caller() -> None:
    def broken() -> set[Path]:
        raise LookupError("no workspace")

    with pytest.raises(LookupError, match="no workspace"):
        async for _ in changes(broken, stop=asyncio.Event()):
            pass


async def test_leaving_the_loop_early_ends_the_thread(folder: Path) -> None:
    source = changes(lambda: {folder}, stop=asyncio.Event())
    assert (await anext(source)).mode == "live"
    await source.aclose()
    assert not [one for one in threading.enumerate() if one.name == "loopx-watching"]
