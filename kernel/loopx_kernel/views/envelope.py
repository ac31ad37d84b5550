"""The envelope of every projection: how old it is, and how complete. One function seals it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from loopx_kernel.clock import format_time
from loopx_kernel.domain.freshness import UNREADABLE, HostReading, SourceReading
from loopx_kernel.value import Value

ENVELOPE_SCHEMA = "loopx_projection_envelope_v0"
LEDGER = "ledger"
_UNKNOWN = UNREADABLE | {"unverified"}
"""Read states after which nobody can say that everything was read."""
Scope = Literal["goal", "workspace", "global"]


class SourceRow(Value):
    """What one source of a projection is known by; ages in seconds."""

    id: str
    read_status: str
    status: str
    required: bool
    enabled: bool
    last_read_at: datetime | None
    staleness_seconds: int | None
    window_seconds: int | None
    unreadable_count: int | None
    alert_reasons: tuple[str, ...] = ()


class Omission(Value):
    """How many things of one kind are not in the projection, and why."""

    reason: str
    count: int


class Coverage(Value):
    """What was asked for against what is included."""

    scope: Scope
    expected_count: int
    included_count: int
    omitted: tuple[Omission, ...] = ()

    @property
    def complete(self) -> bool:
        """Nothing is missing."""
        return self.included_count == self.expected_count and not self.omitted


class AlertReason(Value):
    """One reason for an alert and the ids it is about."""

    code: str
    ids: tuple[str, ...]


class Envelope(Value):
    """``observed_at`` is when the oldest input was read; ``served_at`` when it was handed out."""

    projection: str
    observed_at: datetime
    served_at: datetime
    fresh: bool
    complete: bool
    alert_reasons: tuple[AlertReason, ...]
    sources: tuple[SourceRow, ...]
    coverage: Coverage

    @property
    def alert(self) -> bool:
        """Whether there is any reason for an alert."""
        return bool(self.alert_reasons)


def source_row(reading: SourceReading) -> SourceRow:
    """The envelope's row for a source of a goal."""
    return SourceRow(
        id=reading.id,
        read_status=reading.read_status,
        status=reading.status,
        required=reading.required,
        enabled=reading.enabled,
        last_read_at=reading.last_read_at,
        staleness_seconds=reading.staleness_seconds,
        window_seconds=reading.window_seconds,
        unreadable_count=reading.unreadable_count,
        alert_reasons=reading.alert_reasons,
    )


def host_row(reading: HostReading) -> SourceRow:
    """The envelope's row for a provider's host. A report that expired is no report."""
    reads: dict[str, str] = {"ok": "read", "failed": "failed", "expired": "not_read"}
    return SourceRow(
        id=reading.id,
        read_status=reads[reading.report],
        status="stale" if reading.report == "expired" else "fresh",
        required=reading.required,
        enabled=True,
        last_read_at=reading.last_success_at,
        staleness_seconds=reading.staleness_seconds,
        window_seconds=int((reading.expires_at - reading.checked_at).total_seconds()),
        unreadable_count=None,
        alert_reasons=reading.alert_reasons,
    )


def ledger_row(observed_at: datetime, now: datetime, integrity: Sequence[str]) -> SourceRow:
    """The row for the ledger's own reading; ``integrity`` names what is wrong with it."""
    return SourceRow(
        id=LEDGER,
        read_status="partially_unreadable" if integrity else "read",
        status="fresh",
        required=True,
        enabled=True,
        last_read_at=observed_at,
        staleness_seconds=max(0, int((now - observed_at).total_seconds())),
        window_seconds=None,
        unreadable_count=len(integrity),
    )


def seal(
    projection: str,
    *,
    observed_at: datetime,
    served_at: datetime,
    sources: Sequence[SourceRow],
    coverage: Coverage,
    integrity: Sequence[str] = (),
    verified: bool = True,
) -> Envelope:
    """Judges fresh, complete and alert: the only place that does.

    ``integrity`` names damaged or ineffective records. ``verified`` says that
    the chain was replayed from its first line on this machine.
    """
    reasons: dict[str, list[str]] = {}
    for row in sources:
        for code in row.alert_reasons:
            reasons.setdefault(code, []).append(row.id)
    if not coverage.complete:
        ids = [f"{item.reason}={item.count}" for item in coverage.omitted]
        reasons["incomplete_coverage"] = ids
    if integrity:
        reasons["integrity"] = list(integrity)
    enabled = [row for row in sources if row.enabled]
    unread = [row for row in enabled if row.required and row.last_read_at is None]
    unreadable = [row for row in enabled if row.unreadable_count or row.read_status in _UNKNOWN]
    order = sorted(reasons)
    return Envelope(
        projection=projection,
        observed_at=observed_at,
        served_at=served_at,
        fresh=all(row.status == "fresh" for row in enabled),
        complete=coverage.complete and verified and not (unread or unreadable or integrity),
        alert_reasons=tuple(AlertReason(code, tuple(reasons[code])) for code in order),
        sources=tuple(sources),
        coverage=coverage,
    )


def lacking(envelope: Envelope, included: int, omitted: Sequence[Omission]) -> Envelope:
    """The same projection where ``included`` things are shown and others are not; it stays as it
    is where none is left out."""
    if not omitted:
        return envelope
    integrity = (r.ids for r in envelope.alert_reasons if r.code == "integrity")
    missing = sum(item.count for item in omitted)
    return seal(
        envelope.projection,
        observed_at=envelope.observed_at,
        served_at=envelope.served_at,
        sources=envelope.sources,
        coverage=Coverage(envelope.coverage.scope, included + missing, included, tuple(omitted)),
        integrity=next(integrity, ()),
    )


def head_lines(envelope: Envelope) -> tuple[str, ...]:
    """The first lines for people: age and coverage, then the alerts if there are any."""
    cover = envelope.coverage
    lines = [
        f"projection: observed_at={format_time(envelope.observed_at)} "
        f"coverage={cover.included_count}/{cover.expected_count} scope={cover.scope}"
    ]
    if envelope.alert:
        words = []
        for reason in envelope.alert_reasons:
            if reason.code == "incomplete_coverage":
                words += [reason.code, *(f"omitted={item}" for item in reason.ids)]
            else:
                words.append(f"{reason.code}={','.join(reason.ids)}")
        lines.append("alerts: " + " ".join(words))
    return tuple(lines)
