"""Times as people write them."""

from __future__ import annotations

from datetime import datetime

from loopx_kernel.clock import parse_duration, parse_time
from loopx_kernel.errors import UsageError


def parse_until(text: str, now: datetime) -> datetime:
    """``10m``, ``3h`` from ``now`` on, or RFC 3339 with a zone; ``invalid_value`` otherwise."""
    text = text.strip()
    try:
        return now + parse_duration(text)
    except UsageError:
        return parse_time(text)
