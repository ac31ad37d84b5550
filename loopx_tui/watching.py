"""What changed on disk, live where the system tells and by looking where it does not.

One thread of its own does all of it: it waits for events of the file system,
which are hints, and looks again at every file in between, which catches what
events miss. Nothing here reads a file's content.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from loopx_tui.signatures import Signatures

Mode = Literal["live", "polling", "down"]

# A wake-up each, all day long: 10 ms cost a fifth of a percent of a core, 5 ms twice that.
_STEP_MS = 12
# No longer than a step: a change is told after two of them, whatever else changes meanwhile.
_DEBOUNCE_MS = _STEP_MS
_TIMEOUT_MS = 500
_RETRY_SECONDS = 60.0
_MISSES_UNTIL_DEAF = 2
_PIN_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC

_NONE = "There is no directory to watch yet; looking again every {seconds:g} s"
_DEAF = "This file system sends no events; looking every {seconds:g} s"
_LIMIT = (
    "The system's limit for watching files is used up; looking every {seconds:g} s. "
    "Raise it with: sysctl fs.inotify.max_user_instances=1024 fs.inotify.max_user_watches=524288"
)
_FAILED = "Watching failed ({error}); looking every {seconds:g} s"


@dataclass(frozen=True, slots=True)
class Change:
    """Something differs: files, or the way they are watched.

    ``mode`` is ``live`` (events and a slow rescan), ``polling`` (the rescan
    alone) or ``down`` (no directory is there). ``reason`` is a sentence, empty
    when live; it may hold raw text of the system. ``paths`` are files and
    directories made, changed or removed; empty where only the mode differs.
    """

    mode: Mode
    reason: str
    paths: frozenset[Path]


_Told = Change | Exception | None


async def changes(
    directories: Callable[[], set[Path]],
    *,
    stop: asyncio.Event,
    rescan_seconds: float = 2.0,
    poll_seconds: float = 5.0,
) -> AsyncGenerator[Change, None]:
    """Yields a ``Change`` whenever anything under ``directories()`` differs, until ``stop``.

    The first one tells the mode once watching has begun: what is read after it
    cannot be missed. ``directories`` is called from another thread, often, and
    may answer differently later; directories may appear, vanish and be made
    again. All that is under them is watched, so name narrow ones. The kernel's
    locks and temporary files are no changes. What ``directories`` raises is
    raised here. When the generator ends, its thread has ended.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[_Told] = asyncio.Queue()

    def tell(told: _Told) -> None:
        # A loop that was closed meanwhile has nobody left to tell.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(queue.put_nowait, told)

    watcher = _Watcher(directories, tell, rescan_seconds, poll_seconds)
    thread = threading.Thread(target=watcher.run, name="loopx-watching", daemon=True)
    thread.start()
    stopping = asyncio.create_task(_when_set(stop, watcher.stop))
    told: _Told = Change("down", "", frozenset())
    try:
        while isinstance(told := await queue.get(), Change):
            yield told
        if told is not None:
            raise told
    finally:
        stopping.cancel()
        watcher.stop.set()
        while isinstance(told, Change):
            told = await queue.get()
        thread.join()


async def _when_set(event: asyncio.Event, flag: threading.Event) -> None:
    await event.wait()
    flag.set()


@dataclass(slots=True)
class _Watcher:
    """The thread's work: arm, wait, look, tell; at its end, why it ended."""

    directories: Callable[[], set[Path]]
    tell: Callable[[_Told], None]
    rescan_seconds: float
    poll_seconds: float
    stop: threading.Event = field(default_factory=threading.Event)
    _seen: Signatures = field(default_factory=Signatures)
    _state: tuple[Mode, str] | None = None

    def run(self) -> None:
        error: Exception | None = None
        try:
            self._seen.look(self.directories())
            while not self.stop.is_set():
                if roots := self._roots():
                    self._watch(roots)
                else:
                    self._poll(roots, "down", _NONE, self.rescan_seconds)
        except Exception as caught:
            error = caught
        self.tell(error)

    def _roots(self) -> set[Path]:
        return {path for path in self.directories() if path.is_dir()}

    def _watch(self, roots: set[Path]) -> None:
        """Watches ``roots`` until these directories are others; polls for a while if it cannot."""
        try:
            with _Pins(roots) as pins:
                self._follow(roots, pins)
        except _WatchFailedError as failure:
            self._poll(roots, "polling", failure.reason, self.poll_seconds)

    def _follow(self, roots: set[Path], pins: _Pins) -> None:
        misses, next_look = 0, 0.0
        for hints in _events(roots, self.stop):
            now = time.monotonic()
            due = now >= next_look
            found = self._seen.look(self.directories()) if due else self._seen.look_at(hints)
            if hints:
                misses = 0
            elif found and next_look:
                misses += 1
            if due:
                next_look = now + self.rescan_seconds
            self._report_watching(misses >= _MISSES_UNTIL_DEAF, found)
            if (due or hints) and not pins.hold(self._roots()):
                return

    def _poll(self, roots: set[Path], mode: Mode, reason: str, seconds: float) -> None:
        """Looks every ``seconds`` until other directories are there, or it is time to try again."""
        retry_at = time.monotonic() + _RETRY_SECONDS
        while self._roots() == roots and time.monotonic() < retry_at:
            found = self._seen.look(self.directories())
            self._report(mode, reason.format(seconds=seconds), found)
            if self.stop.wait(seconds):
                return

    def _report_watching(self, deaf: bool, paths: frozenset[Path]) -> None:
        if deaf:
            self._report("polling", _DEAF.format(seconds=self.rescan_seconds), paths)
        else:
            self._report("live", "", paths)

    def _report(self, mode: Mode, reason: str, paths: frozenset[Path]) -> None:
        if paths or self._state != (mode, reason):
            self._state = (mode, reason)
            self.tell(Change(mode, reason, paths))


class _WatchFailedError(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _events(roots: set[Path], stop: threading.Event) -> Iterator[set[str]]:
    """The paths of each burst of events, and an empty set several times a second without any."""
    import watchfiles

    bursts = watchfiles.watch(
        *roots,
        watch_filter=None,
        debounce=_DEBOUNCE_MS,
        step=_STEP_MS,
        stop_event=stop,
        rust_timeout=_TIMEOUT_MS,
        yield_on_timeout=True,
        raise_interrupt=False,
        force_polling=False,
        ignore_permission_denied=True,
    )
    while True:
        try:
            burst = next(bursts)
        except StopIteration:
            return
        except Exception as error:
            raise _WatchFailedError(_reason(error)) from error
        yield {path for _, path in burst}


def _reason(error: Exception) -> str:
    said = str(error).lower()
    if any(sign in said for sign in ("too many open files", "no space left", "limit")):
        return _LIMIT
    return _FAILED.replace("{error}", str(error).replace("{", "{{").replace("}", "}}"))


class _Pins:
    """Holds directories by descriptor, so that one made again cannot have the old inode."""

    def __init__(self, roots: set[Path]) -> None:
        self._held: dict[Path, int] = {}
        for root in roots:
            # A directory gone this moment is noticed as other directories.
            with suppress(OSError):
                self._held[root] = os.open(root, _PIN_FLAGS)

    def __enter__(self) -> _Pins:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self._held.values():
            os.close(descriptor)

    def hold(self, roots: set[Path]) -> bool:
        """Whether ``roots`` still are the very directories held."""
        if roots != self._held.keys():
            return False
        try:
            return all(
                os.path.samestat(root.stat(), os.fstat(descriptor))
                for root, descriptor in self._held.items()
            )
        except OSError:
            return False
