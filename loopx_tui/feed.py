"""From the disk to the screen: one thread that owns the workspace and posts snapshots.

The app tells it what changed and which goal is selected; it reads, judges and
posts. The kernel is imported in this thread, after the first paint.
"""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from loopx_tui import strings
from loopx_tui.agenda import Agenda, Begin, GoOn, Stop, Tell, Wait
from loopx_tui.told import Liveness, OwnFiles, Snapshot, Told

if TYPE_CHECKING:
    from loopx_tui.reading import Reader
    from loopx_tui.watching import Change


_PINS = "known_workspaces"
"""The person's own file from which it follows whose a workspace is; see the kernel's pins."""
_LOOK_SECONDS = 2.0
"""How often it is looked whether the clock moved on by itself, as after a sleep."""


def _ahead() -> float:
    """How far the clock on the wall is ahead of the one that waiting goes by, in seconds."""
    return time.time() - time.monotonic()


class Feeding(Protocol):
    """What the app needs of its feed."""

    def start(self, post: Callable[[Snapshot | OwnFiles], object]) -> None:
        """Begins to read and to post, from another thread."""

    def select(self, goal_id: str) -> None:
        """Reads this goal's events from now on."""

    async def watch(self) -> None:
        """Follows the files until cancelled; begun after the first reading was posted."""

    def stop(self) -> None:
        """Posts nothing more; does not wait for a reading under way."""


class Feed:
    """The feed of one workspace, found from ``start`` upwards, or waited for there.

    What differs in the person's ``own`` folder is posted apart.
    """

    def __init__(
        self, start: Path, *, goal_id: str | None, read_only: bool, own: Path | None = None
    ) -> None:
        self._start = start
        self._own = own
        self._goal_id = goal_id
        self._read_only = read_only
        self._agenda = Agenda()
        self._stopped = False
        self._ready = threading.Condition()
        self._mode: tuple[Liveness, str] = ("start", "")
        self._directories: set[Path] = set()
        self._told: Told | None = None
        self._post: Callable[[Snapshot | OwnFiles], object] = lambda _: None

    def start(self, post: Callable[[Snapshot | OwnFiles], object]) -> None:
        self._post = post
        # A daemon, so that quitting never waits for a long reading.
        threading.Thread(target=self._run, name="loopx-feed", daemon=True).start()

    def stop(self) -> None:
        with self._ready:
            self._stopped = True
            self._agenda.stop()
            self._ready.notify()

    def select(self, goal_id: str) -> None:
        with self._ready:
            if goal_id != self._goal_id:
                self._goal_id = goal_id
                self._agenda.ask()
                self._ready.notify()

    async def watch(self) -> None:
        from loopx_tui.watching import changes

        stop = asyncio.Event()
        try:
            async for change in changes(self._watched, stop=stop):
                self.changed(change)
        finally:
            stop.set()

    def _watched(self) -> set[Path]:
        return self._directories | ({self._own} if self._own else set())

    def changed(self, change: Change) -> None:
        """Something differs on disk, or in the way it is watched."""
        own: frozenset[Path] = frozenset()
        if self._own is not None:
            own = frozenset(path for path in change.paths if path.is_relative_to(self._own))
            change = replace(change, paths=change.paths - own)
            if own:
                self._post(OwnFiles(own))
        with self._ready:
            differs = (change.mode, change.reason) != self._mode
            goals, everything = self._concerned(change)
            everything |= _PINS in {path.name for path in own}
            # What changed before watching began was told by nobody.
            everything |= self._mode[0] == "start"
            self._agenda.changed(goals, everything=everything)
            self._mode = (change.mode, change.reason)
            self._ready.notify()
        if differs:
            self._say()

    def _concerned(self, change: Change) -> tuple[set[str], bool]:
        """The goals whose files are among the changed ones, and whether any other file is."""
        goals, everything = set(), False
        folder = (self._told.root if self._told else self._start) / ".loopx"
        for path in change.paths:
            parts = path.relative_to(folder).parts if path.is_relative_to(folder) else ()
            if len(parts) > 2 and parts[0] in ("runtime", "goals") and parts[1] != "_workspace":
                goals.add(parts[1])
            else:
                everything = True
        return goals, everything

    def _run(self) -> None:
        try:
            self._follow()
        except Exception as error:
            # A defect of ours must not leave a screen that looks alive.
            self._mode = (
                "down",
                strings.FEED_FAILED.format(error=f"{type(error).__name__}: {error}"),
            )
            self._say()

    def _follow(self) -> None:
        from loopx_tui.reading import Reader

        def tell() -> None:
            self._told = reader.told(self._goal_id)
            self._directories = reader.directories()
            self._say()

        reader = Reader(self._start, read_only=self._read_only, meanwhile=tell)
        self._directories = reader.directories()
        steps: Iterator[bool] = iter(())
        loading = True
        while not isinstance(act := self._next(reader), Stop):
            begun, over = time.monotonic(), False
            if isinstance(act, Tell):
                tell()
            else:
                if isinstance(act, Begin):
                    goals, everything = act.wish
                    steps = reader.read(goals, everything=everything, goal_id=self._goal_id)
                over = not next(steps)
                if loading:
                    # What is read first stays for long. Looking through all of it for garbage,
                    # again and again, would hold up the screen.
                    gc.freeze()
                    loading = not over
            with self._ready:
                self._agenda.did(act, begun, time.monotonic(), over=over)

    def _next(self, reader: Reader) -> Stop | Tell | Begin | GoOn:
        """What to do next, once it is time.

        Waiting stands still while a machine sleeps, and what it waits for does not.
        """
        ahead = _ahead()
        with self._ready:
            while True:
                now, left = time.monotonic(), reader.seconds_to_deadline()
                act = self._agenda.next(now, None if left is None else now + left)
                if not isinstance(act, Wait):
                    return act
                self._ready.wait(min(_LOOK_SECONDS, inf if act.seconds is None else act.seconds))
                if abs(_ahead() - ahead) > _LOOK_SECONDS:
                    ahead = _ahead()
                    self._agenda.ask()

    def _say(self) -> None:
        """Posts the last reading; nothing before there was one."""
        if self._told is not None and not self._stopped:
            self._post(Snapshot(self._told, *self._mode))
