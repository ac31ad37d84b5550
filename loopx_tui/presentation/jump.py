"""What a person types to get to a moment of a goal's history."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Literal

from loopx_kernel.clock import parse_duration, parse_time
from loopx_kernel.errors import LoopxError

_LINE: Final = re.compile(r"#?([0-9]{1,15})")
_STEP: Final = re.compile(r"([+-])([0-9]{1,15})")
_AGO: Final = re.compile(r"([0-9]{1,9}[smhd])(?: ago)?")
_CLOCK: Final = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?")
_NAME: Final = re.compile(r"[A-Za-z0-9][\w.@-]{0,199}")


@dataclass(frozen=True, slots=True)
class Jump:
    """Where to: a line, so many lines on, the ``first`` or ``last`` one, a moment (UTC), or a
    name, which is an event's or an object's."""

    kind: Literal["line", "step", "first", "last", "moment", "name"]
    number: int = 0
    moment: datetime | None = None
    name: str = ""


def parse(text: str, now: datetime, zone: tzinfo | None = None) -> Jump | None:
    """What ``text`` means at ``now``; ``None`` where it means nothing.

    Times without a zone are of ``zone``, the person's own by default; a time of day alone is the
    last one that was.
    """
    text = text.strip()
    if text in ("start", "end"):
        return Jump("first" if text == "start" else "last")
    if found := _LINE.fullmatch(text):
        return Jump("line", int(found[1]))
    if found := _STEP.fullmatch(text):
        return Jump("step", int(found[1] + found[2]))
    moment = _moment(text, now, zone)
    if moment is not None:
        return Jump("moment", moment=moment)
    if _DATE.fullmatch(text) or not _NAME.fullmatch(text):
        return None
    return Jump("name", name=text)


def _moment(text: str, now: datetime, zone: tzinfo | None) -> datetime | None:
    if found := _AGO.fullmatch(text):
        try:
            return now - parse_duration(found[1])
        except (LoopxError, OverflowError):
            return None
    if found := _CLOCK.fullmatch(text):
        return _time_of_day(text if found[3] else f"{text}:00", now, zone)
    try:
        return parse_time(text)
    except LoopxError:
        return _local(text, zone)


def _time_of_day(text: str, now: datetime, zone: tzinfo | None) -> datetime | None:
    hour, minute, second = map(int, text.split(":"))
    try:
        local = now.astimezone(zone).replace(hour=hour, minute=minute, second=second, microsecond=0)
    except ValueError:
        return None
    moment = local.astimezone(UTC)
    return moment if moment <= now else moment - timedelta(days=1)


def _local(text: str, zone: tzinfo | None) -> datetime | None:
    """A date, or a date with a time, of that zone."""
    if not _DATE.fullmatch(text):
        return None
    try:
        bare = datetime.fromisoformat(text)
        return (bare.replace(tzinfo=zone) if zone else bare.astimezone()).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
