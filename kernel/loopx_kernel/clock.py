"""Time as a parameter: the clock the kernel is given, and RFC 3339 text.

All times in the ledger are UTC with a zone. A ``Reading`` also carries the
boot-time clock, which a change of the wall clock does not move; leases use it.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from loopx_kernel.errors import UsageError
from loopx_kernel.value import Value


class Reading(Value):
    """One look at the clocks: UTC wall time, and seconds since this host's boot."""

    now: datetime
    host_id: str = ""
    boot_id: str = ""
    boot_seconds: float | None = None


class Clock(Protocol):
    """Where the time comes from."""

    def read(self) -> Reading:
        """The present wall time (UTC, aware) with this host's boot clock."""


@dataclass(slots=True)
class SystemClock:
    """The clocks of this machine."""

    _host_id: str = field(default="", init=False)
    _boot_id: str = field(default="", init=False)

    def read(self) -> Reading:
        if not self._host_id:
            self._host_id = _first_line("/etc/machine-id") or _node_name()
            self._boot_id = _first_line("/proc/sys/kernel/random/boot_id")
        return Reading(datetime.now(UTC), self._host_id, self._boot_id, _boot_seconds())


@dataclass(slots=True)
class ManualClock:
    """A clock that stands still until it is moved; for tests and pictures."""

    now: datetime
    host_id: str = "host-1"
    boot_id: str = "boot-1"
    boot_seconds: float | None = 1000.0

    def read(self) -> Reading:
        return Reading(self.now, self.host_id, self.boot_id, self.boot_seconds)

    def advance(self, **delta: float) -> None:
        """Moves wall and boot clock by ``timedelta(**delta)``."""
        step = timedelta(**delta)
        self.now += step
        if self.boot_seconds is not None:
            self.boot_seconds += step.total_seconds()


def format_time(moment: datetime) -> str:
    """RFC 3339 in UTC with ``Z``; milliseconds only where there are any."""
    moment = moment.astimezone(UTC)
    text = moment.isoformat(timespec="milliseconds" if moment.microsecond >= 1000 else "seconds")
    return text.replace("+00:00", "Z")


def to_the_second(moment: datetime) -> str:
    """RFC 3339 in UTC without a fraction, for sentences."""
    return format_time(moment.replace(microsecond=0))


_RFC3339 = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?(?:[Zz]|[+-]\d{2}:\d{2})"
)


def parse_time(text: str) -> datetime:
    """RFC 3339 with a zone to aware UTC; ``invalid_value`` otherwise."""
    if _RFC3339.fullmatch(text):
        try:
            return datetime.fromisoformat(text.upper()).astimezone(UTC)
        except (ValueError, OverflowError):
            pass
    raise UsageError(
        "invalid_value",
        f"{text!r} is not a time with a zone",
        next="write it like 2026-09-16T22:40:00Z",
        value=text,
    )


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_LONGEST_SECONDS = 10 * 365 * 86400


def parse_duration(text: str) -> timedelta:
    """``90s``, ``10m``, ``3h``, ``7d`` to a positive timedelta of at most ten years."""
    match = re.fullmatch(r"([0-9]{1,9})([smhd])", text)
    if match:
        seconds = int(match[1]) * _UNITS[match[2]]
        if 0 < seconds <= _LONGEST_SECONDS:
            return timedelta(seconds=seconds)
    raise UsageError(
        "invalid_value",
        f"{text!r} is not a duration",
        next="write it like 90s, 10m, 3h or 7d",
        value=text,
    )


def span(seconds: int) -> str:
    """A length of time as ``parse_duration`` reads it, cut to its largest unit: ``9d``, ``3h``."""
    for unit, size in reversed(_UNITS.items()):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return "0s"


def _boot_seconds() -> float | None:
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.clock_gettime(clock) if clock is not None else None


def _first_line(path: str) -> str:
    try:
        return Path(path).read_text("ascii").partition("\n")[0].strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _node_name() -> str:
    import platform

    return platform.node()
