"""The envelope of what is told from a journal's lines: those that are not in it are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_kernel.domain.event import WORKSPACE_JOURNAL

if TYPE_CHECKING:
    from loopx_kernel.views.envelope import Envelope
    from loopx_kernel.workspace import Workspace


def envelope_of_lines(workspace: Workspace, goal_id: str, projection: str) -> Envelope:
    """Lines that a repair set aside are counted as quarantined for ever, those behind damage as
    unreachable."""
    from loopx_kernel.views.envelope import lacking

    if goal_id == WORKSPACE_JOURNAL:
        envelope = workspace.workspace_view(projection=projection).envelope
    else:
        envelope = workspace.view(goal_id, projection=projection).envelope
    lines = workspace.events.tail(goal_id, 1)
    last = lines[-1].event.seq if lines else 0
    return lacking(envelope, last, workspace.events.left_out(goal_id))
