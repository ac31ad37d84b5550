"""How old a source's last good reading is, judged against its window."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from loopx_kernel.domain.records import ReadStatus, Source

FreshStatus = Literal["fresh", "stale", "never_read", "not_scanned"]
FRESHNESS_SCHEMA = "decision_source_freshness_v0"
ENABLED_STATE_IMPLIES_FRESHNESS = False

UNREADABLE = frozenset({"missing", "unreadable", "partially_unreadable"})


@dataclass(frozen=True, slots=True)
class SourceReading:
    """One source as it stands at a moment; ages in seconds, times in UTC."""

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
    queue: Literal["empty", "moving", "stalled", "paused"]
    alert: bool
    alert_reasons: tuple[str, ...]


def judge(source: Source, now: datetime) -> SourceReading:
    """Being enabled or bound says nothing here: only a success whose content is
    accounted for, not older than the window, is fresh."""
    age = None
    if source.last_success_at is not None:
        age = max(0, int((now - source.last_success_at).total_seconds()))
    status = _status(source, age)
    reasons = _reasons(source, status)
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
        alert=bool(reasons),
        alert_reasons=reasons,
    )


def turns_stale_at(source: Source) -> datetime | None:
    """When a fresh source will be stale, unless it is read again."""
    if source.last_success_at is None:
        return None
    return source.last_success_at + timedelta(seconds=source.window_seconds)


def _status(source: Source, age: int | None) -> FreshStatus:
    if source.checked_at is None:
        return "not_scanned" if source.on_demand else "never_read"
    if age is None:
        return "stale"
    return "fresh" if age <= source.window_seconds else "stale"


def _reasons(source: Source, status: FreshStatus) -> tuple[str, ...]:
    if not source.enabled or status == "not_scanned":
        return ()
    reasons = []
    if status == "stale":
        reasons.append("stale_sources")
    if source.required and source.read_status in ("not_read", "failed") and not _ever_read(source):
        reasons.append("missing_required_sources")
    elif status == "never_read":
        reasons.append("stale_sources")
    if source.read_status in UNREADABLE:
        reasons.append("unreadable_sources")
    if source.read_status == "unverified":
        reasons.append("unverified_sources")
    return tuple(reasons)


def _ever_read(source: Source) -> bool:
    return source.last_read_at is not None


def _queue(source: Source, now: datetime) -> Literal["empty", "moving", "stalled", "paused"]:
    if not source.pending_count:
        return "empty"
    moved = source.cursor_moved_at
    if moved is None or (now - moved).total_seconds() > source.window_seconds:
        return "stalled"
    return "moving"
