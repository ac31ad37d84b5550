"""Which key presses may decide anything: not type-ahead, not pastes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

QUIET_SECONDS: Final = 0.4
BURST_SECONDS: Final = 0.03
HOLD_SECONDS: Final = 2 * BURST_SECONDS
"""How long a decision key is held until it is known that no paste follows it."""


class KeyGuard:
    """Tells deliberate key presses from type-ahead and pastes.

    No press counts until the screen was painted and then left alone for
    ``QUIET_SECONDS``; presses closer than ``BURST_SECONDS`` are a paste, none
    of which counts, and begin the quiet time anew. Times are seconds of one
    monotonic clock: ``now`` for what the screen does, the press's own for keys,
    so that a busy event loop makes no press look later than it was.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._from = math.inf
        self._last = -math.inf
        self._presses = 0

    def cover(self) -> None:
        """What is on the screen is not what there is to see; wait for ``painted``."""
        self._from = math.inf

    def painted(self) -> None:
        """The screen shows all there is; the quiet time begins."""
        self._from = self._now() + QUIET_SECONDS

    def press(self, at: float) -> int | None:
        """Notes a press of any key; a ticket where it may count, else ``None``."""
        burst = at - self._last < BURST_SECONDS
        self._last = max(at, self._last)
        self._presses += 1
        if burst:
            self._from = max(self._from, at + QUIET_SECONDS)
        return self._presses if not burst and at >= self._from else None

    def pasted(self, at: float) -> None:
        """The terminal announced a paste."""
        self._presses += 1
        self._last = max(at, self._last)
        self._from = max(self._from, at + QUIET_SECONDS)

    def alone(self, ticket: int) -> bool:
        """Whether no other press, cover or paint followed the press of this ticket."""
        return ticket == self._presses and self._last >= self._from

    @property
    def quiet(self) -> bool:
        """Whether a press would be dropped now."""
        return self._now() < self._from
