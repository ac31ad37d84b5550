"""A goal's state at an earlier line, by replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_kernel.domain import fold
from loopx_kernel.domain.state import GoalState

if TYPE_CHECKING:
    from loopx_kernel.workspace.ledgers import GoalLedger


def state_at(ledger: GoalLedger, seq: int) -> GoalState:
    """The state right after line ``seq``, or the last good line before it."""
    state = GoalState(goal_id=ledger.name)
    for line in ledger.journal.read(ledger.start, limit=seq).lines:
        event = ledger.event_of(line)
        state = fold.evolve(state, event, ledger.verdict(event))
    return state
