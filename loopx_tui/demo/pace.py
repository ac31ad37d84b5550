"""How fast the demo goes, and how its processes notice that they are no longer wanted."""

from __future__ import annotations

import os
import random
import select
import sys
import time
from dataclasses import dataclass, field

LEASE_SECONDS, SHORTEST_LEASE = 60, 12
"""How long workers hold a todo, at speed 1 and at any."""


class Over(Exception):
    """Whoever started this process is gone or wants it to end."""


@dataclass
class Pace:
    """Pauses that ``speed`` shortens. The starter holds the other end of standard input
    and never writes to it: when it ends, for whatever reason, this process is over."""

    speed: float
    rng: random.Random = field(default_factory=random.Random)

    def pause(self, seconds: float) -> None:
        """Waits about so long, at speed 1; raises ``Over`` as soon as the starter is gone."""
        self.wait(seconds * self.rng.uniform(0.7, 1.3) / self.speed)

    def wait(self, seconds: float) -> None:
        """Waits exactly so long, whatever the speed; raises ``Over`` likewise."""
        stdin = sys.stdin.fileno()
        until = time.monotonic() + seconds
        while True:
            left = max(0.0, until - time.monotonic())
            if select.select([stdin], [], [], left)[0] and not os.read(stdin, 1024):
                raise Over
            if left == 0.0:
                return

    def seconds(self, seconds: float, least: int) -> int:
        """Whole seconds of real time for so many at speed 1, but not fewer than ``least``."""
        return max(least, round(seconds / self.speed))

    @property
    def lease_seconds(self) -> int:
        """How long a worker takes a todo for."""
        return self.seconds(LEASE_SECONDS, SHORTEST_LEASE)
