"""What the feed does next: reading is wanted at once, and must leave the screen time for keys.

Pure: moments are seconds of any clock that never goes back, and whoever acts says what it took.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

STRETCH: Final = 0.05
"""Seconds of reading after which it rests as long as it took."""
LONGEST_REST: Final = 0.25
SPACE: Final = 0.25
"""Seconds between two tellings in a burst; what comes after quiet is told at once."""
PATIENCE: Final = 0.1
"""Seconds of a reading of several goals after which those that were read are told."""


class Wish(NamedTuple):
    """What is to be read: the ``goals`` that changed, all where ``everything``."""

    goals: frozenset[str] = frozenset()
    everything: bool = False


class Stop(NamedTuple):
    """Nothing more is to be done."""


class Tell(NamedTuple):
    """What was read so far is to be told."""


class Begin(NamedTuple):
    """A reading of this is to begin."""

    wish: Wish


class GoOn(NamedTuple):
    """The reading that was begun is to be gone on with."""


class Wait(NamedTuple):
    """There is nothing to do for so many seconds, ``None`` for ever, unless something comes."""

    seconds: float | None


Act = Stop | Tell | Begin | GoOn | Wait


@dataclass(slots=True)
class Agenda:
    """Takes what comes, in any order; ``next`` says what to do and ``did`` hears what was done.

    At first everything is to be read.
    """

    _goals: set[str] = field(default_factory=set)
    _everything: bool = True
    _stopped: bool = False
    _asked: bool = False
    _untold: bool = False
    _reading: bool = False
    _begun: float = 0.0
    _told: float | None = None
    _worked: float = 0.0
    _ended: float = 0.0
    _rest_until: float = 0.0

    def changed(self, goals: Iterable[str], *, everything: bool) -> None:
        """These goals are to be read again."""
        self._goals.update(goals)
        self._everything |= everything

    def ask(self) -> None:
        """A person wants to be told something else of what was read; that waits for nothing."""
        self._asked = True

    def stop(self) -> None:
        """It all ends."""
        self._stopped = True

    def next(self, now: float, due: float | None) -> Act:
        """What to do at ``now``; ``due`` is when something is to be read by the clock alone."""
        if self._stopped:
            return Stop()
        if (self._asked and self._told is not None) or (self._untold and now >= self._tell_at):
            return Tell()
        if now < self._rest_until:
            return self._wait(now, self._rest_until)
        if self._reading:
            return GoOn()
        if self._goals or self._everything or (due is not None and now >= due):
            return self._begin(now)
        return self._wait(now, due)

    def did(self, act: Act, begun: float, ended: float, *, over: bool = False) -> None:
        """An act took so long; ``over`` says that it was the last one of its reading."""
        if begun - self._ended > self._worked:
            self._worked = 0.0
        self._worked, self._ended = self._worked + ended - begun, ended
        if isinstance(act, Tell):
            self._asked = self._untold = False
            self._told = ended
        else:
            self._reading = not over
            self._untold = True
        if self._worked >= STRETCH:
            self._rest_until = ended + min(self._worked, LONGEST_REST)
            self._worked = 0.0

    @property
    def _tell_at(self) -> float:
        spaced = float("-inf") if self._told is None else self._told + SPACE
        return max(spaced, self._begun + PATIENCE) if self._reading else spaced

    def _begin(self, now: float) -> Begin:
        wish = Wish(frozenset(self._goals), self._everything)
        self._goals, self._everything = set(), False
        self._begun, self._reading = now, True
        return Begin(wish)

    def _wait(self, now: float, until: float | None) -> Wait:
        moments = [until, self._tell_at if self._untold else None]
        first = min((at for at in moments if at is not None), default=None)
        return Wait(None if first is None else first - now)
