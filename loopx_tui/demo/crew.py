"""The workers as processes: started, started again after a crash, and stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from loopx_tui.demo.pace import Pace
from loopx_tui.demo.place import Place

CREW = (
    ("claude-code", "dark-mode"),
    ("codex", "dark-mode"),
    ("codex", "fix-checkout"),
    ("gemini-cli", "docs-refresh"),
)
LONGER_THAN_A_LEASE = 1.3
"""How long a dead worker stays away, in leases: somebody else takes over its todo."""
PATIENCE_SECONDS = 1.0


@dataclass
class Seat:
    """One worker's place: its process, and when it may come back if it died."""

    agent: str
    goal: str
    process: subprocess.Popen[bytes] | None = None
    back_at: float = 0.0

    @property
    def words(self) -> tuple[str, ...]:
        """The module that is run, and what it is told after the place."""
        return ("worker", self.agent, self.goal)


class OwnerSeat(Seat):
    """The place of the scripted owner, for all goals."""

    @property
    def words(self) -> tuple[str, ...]:
        """The module that is run; it is told nothing more."""
        return ("owner",)


@dataclass
class Crew:
    """All workers of one demo. Each leads a process group, so that none of its children is
    left; each ends by itself when the pipe to its standard input closes."""

    place: Place
    pace: Pace
    seats: list[Seat] = field(default_factory=lambda: [Seat(*who) for who in CREW])

    def tend(self) -> None:
        """Starts whoever is missing and due. Call it about once a second."""
        now = time.monotonic()
        for seat in self.seats:
            if seat.process is not None and seat.process.poll() is not None:
                self._clear(seat)
                seat.back_at = now + LONGER_THAN_A_LEASE * self.pace.lease_seconds
            if seat.process is None and now >= seat.back_at:
                seat.process = self._start(seat)

    def stop(self) -> None:
        """Ends every worker and whatever it started; returns when they are gone."""
        running = [seat.process for seat in self.seats if seat.process is not None]
        _signal(running, signal.SIGTERM)
        until = time.monotonic() + PATIENCE_SECONDS
        for process in running:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, until - time.monotonic()))
        _signal(running, signal.SIGKILL)
        for seat in self.seats:
            self._clear(seat)

    def _start(self, seat: Seat) -> subprocess.Popen[bytes]:
        module, *told = seat.words
        arguments = (str(self.place.top), *told, str(self.pace.speed))
        with (self.place.top / f"{seat.goal}-{seat.agent}.log").open("ab") as log:
            return subprocess.Popen(
                (sys.executable, "-P", "-m", f"loopx_tui.demo.{module}", *arguments),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _clear(self, seat: Seat) -> None:
        process, seat.process = seat.process, None
        if process is None:
            return
        # A worker that died may have left a command running.
        _signal([process], signal.SIGKILL)
        process.wait()
        if process.stdin is not None:
            process.stdin.close()


def _signal(processes: Iterable[subprocess.Popen[bytes]], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
