"""Every kind of decision that can be made in the app. To add one is to add a row."""

from __future__ import annotations

from typing import Final

from loopx_tui.cases import (
    damage,
    drift,
    escalations,
    gates,
    goals,
    opening,
    owners,
    rules,
    work,
)
from loopx_tui.cases.case import Case

CASES: Final[dict[str, Case]] = {
    case.id: case
    for case in (
        gates.CASE,
        escalations.CASE,
        drift.CASE,
        damage.CASE,
        *work.CASES,
        *goals.CASES,
        *owners.CASES,
        *rules.CASES,
        opening.CASE,
    )
}
"""By id: that of the action which opens it, or the kind of its row."""
