"""The hosts of providers: programs that read sources, each with clocks and an expiry of its own.

A host that ran says nothing of what it read: each source has its own reads.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any, Literal

from loopx_kernel.domain.event import CODE, Context, Draft, EventType, Facts
from loopx_kernel.domain.record import Name, Record, Seconds
from loopx_kernel.domain.records import SourceHost
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import UsageError
from loopx_kernel.value import Value


class ReportHost(Value, kw_only=True):
    """How one run of a provider's host went, which sources it looked at, and for how long that
    report holds."""

    provider: str
    status: Literal["ok", "failed"]
    scanned: tuple[str, ...] = ()
    expires_seconds: int


class SourceScanned(Record):
    provider: Name
    status: Literal["ok", "failed"]
    scanned: tuple[Name, ...] = ()
    expires_seconds: Seconds


def decide(state: GoalState, command: ReportHost, context: Context) -> Draft:
    """The event for a host's report; raises when ``check`` would."""
    return Draft("source.scanned", asdict(command), command.provider)


def _check_scanned(state: GoalState, payload: SourceScanned, facts: Facts) -> None:
    if all(source.provider != payload.provider for source in state.sources.values()):
        raise UsageError(
            "unknown_source",
            f"No source of {state.goal_id} is read by {payload.provider}",
            next=f"loopx source list --goal {state.goal_id}",
            provider=payload.provider,
        )
    for ref in payload.scanned:
        if state.source(ref).provider != payload.provider:
            raise UsageError(
                "invalid_value",
                f"{ref} is read by {state.source(ref).provider}, not by {payload.provider}",
                next=f"loopx source list --goal {state.goal_id}",
                source_id=ref,
            )


def _evolve_scanned(state: GoalState, payload: SourceScanned, facts: Facts) -> GoalState:
    before = state.hosts.get(payload.provider)
    failed = payload.status == "failed"
    last = before.last_success_at if before is not None else None
    streak = before.failure_streak if before is not None else 0
    host = SourceHost(
        provider=payload.provider,
        status=payload.status,
        checked_at=facts.at,
        last_success_at=last if failed else facts.at,
        expires_at=facts.at + timedelta(seconds=payload.expires_seconds),
        failure_streak=streak + 1 if failed else 0,
        scanned=tuple(dict.fromkeys(payload.scanned)),
        seq=facts.seq,
    )
    return state.model_copy(update={"hosts": {**state.hosts, host.provider: host}})


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType(
        "source.scanned",
        SourceScanned,
        CODE,
        _check_scanned,
        _evolve_scanned,
        changes_work=False,
    ),
)
