"""Writes times and glyphs for one moment, and knows when what it wrote will read differently."""

from __future__ import annotations

import math
from datetime import UTC, datetime, time, timedelta, tzinfo

from loopx_tui.presentation.ages import age, countdown, progress_bar
from loopx_tui.presentation.glyphs import glyph

_UNITS = (365 * 86400, 86400, 3600, 60, 1)
_EPSILON = timedelta(milliseconds=1)


class Pen:
    """The present moment for one pane.

    ``now`` is UTC and aware; ``zone`` is where clock times are shown, the
    person's own by default. ``next_change`` is the first moment at which any
    age, countdown or bar written so far has another text, ``None`` if none will.
    """

    def __init__(
        self, now: datetime, *, ascii_only: bool = False, zone: tzinfo | None = None
    ) -> None:
        self.now = now
        self.ascii_only = ascii_only
        self.next_change: datetime | None = None
        self._zone = zone

    def another(self) -> Pen:
        """A pen for the same moment that wrote nothing yet."""
        return Pen(self.now, ascii_only=self.ascii_only, zone=self._zone)

    def glyph(self, name: str) -> str:
        """The glyph called ``name``, or its ASCII twin."""
        return glyph(name, ascii_only=self.ascii_only)

    @property
    def dot(self) -> str:
        """What stands between two facts on a line."""
        return " - " if self.ascii_only else " · "

    def age(self, since: datetime) -> str:
        """How long ago ``since`` is: ``3s``, ``12m``, ``2h``, ``9d``."""
        seconds = math.floor((self.now - since).total_seconds())
        text = age(timedelta(seconds=seconds))
        size = _unit_of(text)
        self._changes(since + timedelta(seconds=(max(seconds, 0) // size + 1) * size))
        return text

    def left(self, until: datetime) -> str:
        """How long still: seconds up to two minutes, then minutes, hours, days."""
        remaining = until - self.now
        text = countdown(remaining)
        if remaining > timedelta():
            count, size = int(text[:-1]), _unit_of(text)
            # Two of a unit are counted in the next smaller one.
            least = count * size + (1 if count == 2 and size > 1 else 0)
            self._changes(until - timedelta(seconds=least) + _EPSILON)
        return text

    def bar(self, start: datetime, until: datetime, width: int) -> str:
        """What is left of the time from ``start`` to ``until`` as a bar of ``width`` cells."""
        whole = until - start
        if whole <= timedelta():
            return progress_bar(0, width, ascii_only=self.ascii_only)
        fraction = (until - self.now) / whole
        filled = math.floor(min(max(fraction, 0.0), 1.0) * width)
        if filled:
            self._changes(until - whole * (filled / width) + _EPSILON)
        return progress_bar(fraction, width, ascii_only=self.ascii_only)

    def clock(self, moment: datetime, *, seconds: bool = False) -> str:
        """The time of day, with the date where that is another day."""
        local, today = moment.astimezone(self._zone), self.now.astimezone(self._zone)
        tomorrow = datetime.combine(today.date() + timedelta(days=1), time(), self._zone)
        self._changes(tomorrow.astimezone(UTC))
        text = local.strftime("%H:%M:%S" if seconds else "%H:%M")
        return text if local.date() == today.date() else f"{local:%m-%d} {text}"

    def tick(self, moment: datetime, *, of: timedelta) -> str:
        """A moment on an axis as long as ``of``: the time of day, or the date on a long one."""
        local = moment.astimezone(self._zone)
        return local.strftime("%H:%M" if of <= timedelta(days=2) else "%m-%d")

    def instant(self, moment: datetime) -> str:
        """Local and UTC in full, for details."""
        from loopx_kernel.clock import format_time

        local = moment.astimezone(self._zone)
        return f"{local:%Y-%m-%d %H:%M:%S} ({format_time(moment)})"

    def look_again(self, moment: datetime) -> None:
        """Something else than a text of this pen will read differently at ``moment``."""
        self._changes(moment)

    def _changes(self, moment: datetime) -> None:
        if moment > self.now and (self.next_change is None or moment < self.next_change):
            self.next_change = moment


def _unit_of(text: str) -> int:
    return dict(zip("ydhms", _UNITS, strict=True))[text[-1]]
