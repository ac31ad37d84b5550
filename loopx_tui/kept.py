"""A key that its owner let the app keep open for a while, instead of typing its passphrase.

It is off until it is asked for beside the passphrase, and then holds for that one key. What is
kept is the unlocked key in this process's memory, never the passphrase; it goes when its time
is over, when its owner drops it, when the terminal loses the focus, and with the app. Python
cannot wipe memory, so traces may stay there until the process ends.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from loopx_kernel.clock import SystemClock

Signer: TypeAlias = Any
"""An unlocked key; opaque here, as keys are the façade's business."""

LONGEST: Final = timedelta(minutes=15)
"""How long a key is kept open, at most and by default."""


class _Open(NamedTuple):
    fingerprint: str
    signer: Signer
    until: float


class Kept:
    """At most one open key. ``seconds`` is a clock that goes on while the machine sleeps and
    that nobody can set back."""

    def __init__(self, seconds: Callable[[], float] | None = None) -> None:
        self._seconds = seconds or _since_boot
        self._open: _Open | None = None
        self.on_change: Callable[[], object] = lambda: None
        """Called whenever a key begins or ceases to be kept."""

    def keep(self, fingerprint: str, signer: Signer) -> None:
        """Keeps an unlocked key for ``LONGEST`` from now on, in place of any other."""
        self._open = _Open(fingerprint, signer, self._seconds() + LONGEST.total_seconds())
        self.on_change()

    def take(self, fingerprint: str) -> Signer | None:
        """The key, if it is kept and its time is not over."""
        found = self._found()
        return found.signer if found is not None and found.fingerprint == fingerprint else None

    def drop(self) -> bool:
        """Forgets the key; whether there was one."""
        was, self._open = self._open is not None, None
        if was:
            self.on_change()
        return was

    @property
    def left(self) -> timedelta | None:
        """How long the key is kept still; ``None`` where none is."""
        found = self._found()
        return timedelta(seconds=found.until - self._seconds()) if found is not None else None

    def _found(self) -> _Open | None:
        if self._open is not None and self._seconds() >= self._open.until:
            self.drop()
        return self._open


def _since_boot() -> float:
    import time

    seconds = SystemClock().read().boot_seconds
    return time.monotonic() if seconds is None else seconds
