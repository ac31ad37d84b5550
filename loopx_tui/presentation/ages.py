"""Time and quantity in a few cells: ages, countdowns, bars, sparklines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta

from loopx_tui.presentation.glyphs import glyph, sparks

_MINUTE = 60
_HOUR = 3600
_DAY = 86400
_YEAR = 365 * _DAY


def age(delta: timedelta) -> str:
    """How long ago, cut to its largest unit: ``3s``, ``12m``, ``2h``, ``9d``, ``3y``.

    A negative age (a clock that ran ahead) is ``0s``.
    """
    seconds = _whole(delta)
    for unit, size in (("y", _YEAR), ("d", _DAY), ("h", _HOUR), ("m", _MINUTE)):
        if seconds >= size and (unit != "y" or seconds >= 1000 * _DAY):
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def countdown(delta: timedelta) -> str:
    """How long still, never promising more than there is.

    Seconds up to two minutes, minutes up to two hours, hours up to two days,
    then days: above two minutes the text changes once a minute at most.
    """
    seconds = _whole(delta)
    for unit, size in (("d", _DAY), ("h", _HOUR), ("m", _MINUTE)):
        if seconds > 2 * size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def progress_bar(fraction: float, width: int, *, ascii_only: bool = False) -> str:
    """A bar of ``width`` cells, full only when ``fraction`` (0 to 1) is 1 or more."""
    part = fraction if math.isfinite(fraction) else 0.0
    filled = math.floor(min(max(part, 0.0), 1.0) * width)
    full, empty = glyph("full", ascii_only=ascii_only), glyph("empty", ascii_only=ascii_only)
    return full * filled + empty * (width - filled)


def sparkline(values: Sequence[float], *, ascii_only: bool = False) -> str:
    """One cell for each value, from 0 to the largest; values below 0 count as 0."""
    steps = sparks(ascii_only=ascii_only)
    top = max(values, default=0)
    if top <= 0:
        return steps[0] * len(values)
    return "".join(steps[round(max(one, 0) / top * (len(steps) - 1))] for one in values)


def _whole(delta: timedelta) -> int:
    return max(math.floor(delta.total_seconds()), 0)
