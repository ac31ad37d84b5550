"""How old a source's last good reading is, judged against its window."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Literal

from loopx_kernel.domain.records import ReadStatus, Source, SourceHost
from loopx_kernel.domain.times import CLOCK_TOLERANCE
from loopx_kernel.value import Value

FreshStatus = Literal["fresh", "stale", "never_read", "not_scanned"]
Queue = Literal["empty", "moving", "stalled", "paused"]
FRESHNESS_SCHEMA = "decision_source_freshness_v0"
ENABLED_STATE_IMPLIES_FRESHNESS = False

UNREADABLE = frozenset({"missing", "unreadable", "partially_unreadable", "failed"})
"""Read states that say that something could not be read."""


class SourceReading(Value):
    """One source as it stands at a moment; ages in seconds, times in UTC. ``queue_seconds`` is for
    how long its queue, if it has one, has not moved."""

    id: str
    provider: str
    required: bool
    enabled: bool
    bound: bool
    on_demand: bool
    window_seconds: int
    last_read_at: datetime | None
    last_success_at: datetime | None
    checked_at: datetime | None
    staleness_seconds: int | None
    status: FreshStatus
    read_status: ReadStatus
    item_count: int | None
    unreadable_count: int | None
    failure_streak: int
    pending_count: int | None
    cursor: str | None
    cursor_moved_at: datetime | None
    queue: Queue
    queue_seconds: int | None
    alert: bool
    alert_reasons: tuple[str, ...]

    @property
    def queue_is_late(self) -> bool:
        """Whether a queue has not moved for longer than the source's window."""
        if self.queue != "stalled":
            return False
        return self.queue_seconds is None or self.queue_seconds > self.window_seconds

    @property
    def needs_look(self) -> bool:
        """It alerts, failed last, was never scanned, or its queue is late: shown in red."""
        return (
            self.alert
            or self.failure_streak > 0
            or self.status == "not_scanned"
            or self.queue_is_late
        )


class HostReading(Value):
    """A provider's host as it stands at a moment. ``report`` is what its last run said, unless
    that has expired; ``not_scanned`` are its sources that this run did not look at."""

    provider: str
    required: bool
    report: Literal["ok", "failed", "expired"]
    checked_at: datetime
    last_success_at: datetime | None
    staleness_seconds: int | None
    expires_at: datetime
    failure_streak: int
    not_scanned: tuple[str, ...]
    alert: bool
    alert_reasons: tuple[str, ...]

    @property
    def id(self) -> str:
        """What it is called among the sources."""
        return f"host:{self.provider}"


def judge(source: Source, now: datetime) -> SourceReading:
    """Being enabled or bound says nothing here: only a success whose content is
    accounted for, not older than the window, is fresh."""
    age = _age(source.last_success_at, now)
    status = _status(source, age)
    reasons = _reasons(source, status, age)
    return SourceReading(
        id=source.id,
        provider=source.provider,
        required=source.required,
        enabled=source.enabled,
        bound=source.bound,
        on_demand=source.on_demand,
        window_seconds=source.window_seconds,
        last_read_at=source.last_read_at,
        last_success_at=source.last_success_at,
        checked_at=source.checked_at,
        staleness_seconds=age,
        status=status,
        read_status=source.read_status,
        item_count=source.item_count,
        unreadable_count=source.unreadable_count,
        failure_streak=source.failure_streak,
        pending_count=source.pending_count,
        cursor=source.cursor,
        cursor_moved_at=source.cursor_moved_at,
        queue=_queue(source, now),
        queue_seconds=_idle(source, now),
        alert=bool(reasons),
        alert_reasons=reasons,
    )


def turns_stale_at(source: Source) -> datetime | None:
    """When a fresh source will be stale, unless it is read again."""
    if source.last_success_at is None:
        return None
    return source.last_success_at + timedelta(seconds=source.window_seconds)


def judge_host(host: SourceHost, sources: Iterable[Source], now: datetime) -> HostReading:
    """A report holds until it expires; after that nothing is known of the host."""
    own = [source for source in sources if source.provider == host.provider]
    expired = now >= host.expires_at or _is_ahead(host.checked_at, now)
    report = "expired" if expired else host.status
    reasons = {"ok": (), "failed": ("unreadable_sources",), "expired": ("stale_sources",)}[report]
    return HostReading(
        provider=host.provider,
        required=any(source.required for source in own),
        report=report,
        checked_at=host.checked_at,
        last_success_at=host.last_success_at,
        staleness_seconds=_age(host.last_success_at, now),
        expires_at=host.expires_at,
        failure_streak=host.failure_streak,
        not_scanned=tuple(source.id for source in own if source.id not in host.scanned),
        alert=bool(reasons),
        alert_reasons=reasons,
    )


def _age(moment: datetime | None, now: datetime) -> int | None:
    """Seconds since then. A time that has not come yet is no proof of anything."""
    if moment is None or _is_ahead(moment, now):
        return None
    return max(0, int((now - moment).total_seconds()))


def _is_ahead(moment: datetime, now: datetime) -> bool:
    return moment - now > CLOCK_TOLERANCE


def _status(source: Source, age: int | None) -> FreshStatus:
    if source.checked_at is None:
        return "not_scanned" if source.on_demand else "never_read"
    if age is None or source.read_status == "unverified":
        return "stale"
    return "fresh" if age <= source.window_seconds else "stale"


def _reasons(source: Source, status: FreshStatus, age: int | None) -> tuple[str, ...]:
    if not source.enabled or status == "not_scanned":
        return ()
    reasons = []
    missing = source.required and source.last_read_at is None
    if missing and source.read_status in ("not_read", "failed"):
        reasons.append("missing_required_sources")
    if source.read_status in UNREADABLE:
        reasons.append("unreadable_sources")
    if source.read_status == "unverified":
        reasons.append("unverified_sources")
    old = age is None or age > source.window_seconds
    if (status == "stale" and old) or (status == "never_read" and not missing):
        reasons.append("stale_sources")
    return tuple(reasons)


def _queue(source: Source, now: datetime) -> Queue:
    if source.paused:
        return "paused"
    if not source.pending_count:
        return "empty"
    idle = _age(source.cursor_moved_at, now)
    return "stalled" if idle is None or idle > source.window_seconds else "moving"


def _idle(source: Source, now: datetime) -> int | None:
    moments = [source.pending_since, source.cursor_moved_at]
    return _age(max(filter(None, moments)), now) if source.pending_since is not None else None
