"""`loading 34 %`: what people see while a long journal is read."""

from __future__ import annotations

import sys
import time

WAIT_SECONDS = 0.5


class Progress:
    """A line on a terminal's stderr, from ``WAIT_SECONDS`` on, gone when all is read.

    Where stderr is no terminal nothing is written.
    """

    def __init__(self) -> None:
        self._began: float | None = None
        self._shown = ""

    def __call__(self, done: int, whole: int) -> None:
        """Told after each part: how much was read, of how much."""
        if not sys.stderr.isatty():
            return
        if done >= whole:
            self.clear()
            return
        now = time.monotonic()
        self._began = now if self._began is None else self._began
        text = f"loading {done * 100 // whole} %"
        if now - self._began >= WAIT_SECONDS and text != self._shown:
            self._write(text)

    def clear(self) -> None:
        """Takes the line away."""
        if self._shown:
            self._write("")
        self._began = None

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(len(self._shown)) + ("" if text else "\r"))
        sys.stderr.flush()
        self._shown = text
