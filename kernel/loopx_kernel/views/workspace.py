"""All goals of a workspace, and how many of them could be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from loopx_kernel.domain.needs_you import NeedsYou
from loopx_kernel.value import Value
from loopx_kernel.views.envelope import (
    Coverage,
    Envelope,
    Omission,
    SourceRow,
    ledger_row,
    seal,
)
from loopx_kernel.views.goal import GoalView


class Unread(Value):
    """A goal that could not be read: why, and the command that helps."""

    goal_id: str
    reason: str
    message: str
    next: str | None


class WorkspaceView(Value):
    """The workspace at one moment; ``goals`` in the order they were opened."""

    root: str
    workspace_id: str
    goals: tuple[GoalView, ...]
    unread: tuple[Unread, ...]
    owners: tuple[str, ...]
    agents: tuple[str, ...]
    alerts: tuple[str, ...]
    envelope: Envelope

    @property
    def needs_you(self) -> tuple[NeedsYou, ...]:
        """What waits for a person over all goals, oldest first."""
        items = [item for goal in self.goals for item in goal.needs_you]
        return tuple(
            sorted(
                items, key=lambda i: (i.since is not None, i.since.timestamp() if i.since else 0)
            )
        )


def workspace_view(
    *,
    root: str,
    workspace_id: str,
    goals: Sequence[GoalView],
    unread: Sequence[Unread],
    owners: Sequence[str],
    agents: Sequence[str],
    alerts: Sequence[str],
    now: datetime,
    projection: str = "status",
) -> WorkspaceView:
    """The view of a workspace; its envelope has a row for its own journal, and inherits every row
    of its goals under their names. Coverage counts goals: one of which lines could not be read is
    shown, and counted as missing."""
    partial = [goal.envelope.coverage for goal in goals if not goal.envelope.coverage.complete]
    omitted = Counter(item.reason for item in unread)
    omitted.update(coverage.omitted[0].reason for coverage in partial)
    envelope = seal(
        projection,
        observed_at=min((goal.envelope.observed_at for goal in goals), default=now),
        served_at=now,
        sources=[ledger_row(now, now, alerts), *(row for goal in goals for row in _rows(goal))],
        coverage=Coverage(
            "workspace",
            len(goals) + len(unread),
            len(goals) - len(partial),
            tuple(Omission(reason, count) for reason, count in sorted(omitted.items())),
        ),
        integrity=[*(ref for goal in goals for ref in _integrity(goal)), *alerts],
        verified=all(goal.verified for goal in goals),
    )
    return WorkspaceView(
        root=root,
        workspace_id=workspace_id,
        goals=tuple(goals),
        unread=tuple(unread),
        owners=tuple(owners),
        agents=tuple(agents),
        alerts=tuple(alerts),
        envelope=envelope,
    )


def _rows(goal: GoalView) -> Iterator[SourceRow]:
    for row in goal.envelope.sources:
        yield replace(row, id=f"{goal.goal_id}/{row.id}")


def _integrity(goal: GoalView) -> Iterator[str]:
    for reason in goal.envelope.alert_reasons:
        if reason.code == "integrity":
            yield from (f"{goal.goal_id}: {ref}" for ref in reason.ids)
