"""Values as they are typed: durations, times, words; wrong ones get our codes."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import click

from loopx_kernel.clock import parse_duration, parse_time


class DurationType(click.ParamType):
    """``90s``, ``10m``, ``3h``, ``7d``."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        """A timedelta; ``invalid_value`` otherwise."""
        return value if isinstance(value, timedelta) else parse_duration(str(value))


class TimeType(click.ParamType):
    """RFC 3339 with a zone."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """An aware UTC time; ``invalid_value`` otherwise."""
        return value if isinstance(value, datetime) else parse_time(str(value))


DURATION = DurationType()
TIME = TimeType()


def seconds(value: timedelta | None) -> int | None:
    """Whole seconds of a duration that may be missing."""
    return None if value is None else int(value.total_seconds())
