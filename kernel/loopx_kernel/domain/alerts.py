"""Lines without effect: all of them by number, and the newest with their reasons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from loopx_kernel.domain.event import Event
from loopx_kernel.domain.records import Alert
from loopx_kernel.domain.runs import Runs, adding, holds
from loopx_kernel.errors import LoopxError

MAX_ALERTS = 200


def noted(alerts: Sequence[Alert], idle: Runs, event: Event, error: LoopxError) -> dict[str, Any]:
    """What a line without effect changes in either state.

    The oldest reasons give way to newer ones; that a line had no effect is never forgotten,
    or a flood of bad lines would make an earlier one look good.
    """
    alert = Alert(
        seq=event.seq,
        event_id=event.event_id,
        event_type=event.event_type,
        actor_agent_id=event.actor_agent_id,
        code=error.code,
        message=error.message,
    )
    return {"alerts": (*alerts, alert)[-MAX_ALERTS:], "idle": adding(idle, event.seq)}


def fault_at(alerts: Sequence[Alert], idle: Runs, seq: int) -> str | None:
    """Why the line ``seq`` had no effect; ``None`` where it had one."""
    if not holds(idle, seq):
        return None
    kept = next((alert.message for alert in alerts if alert.seq == seq), None)
    return kept or "it had no effect; so many came after it that the reason is not kept"
