"""All workspaces of a person's list, and how many of them could be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import PurePath

from loopx_kernel.domain.needs_you import NeedsYou
from loopx_kernel.value import Value
from loopx_kernel.views.envelope import Coverage, Envelope, Omission, SourceRow, seal
from loopx_kernel.views.goal import GoalView
from loopx_kernel.views.workspace import Unread, WorkspaceView

OUTSIDE = "outside_current_registry"


class UnreadWorkspace(Value):
    """A workspace of the list that is not in the projection: why, and the command that helps."""

    path: str
    reason: str
    message: str
    next: str | None


class GlobalView(Value):
    """Every workspace of the list that could be read, in its order, and the others by name."""

    workspaces: tuple[WorkspaceView, ...]
    unread: tuple[UnreadWorkspace, ...]
    envelope: Envelope

    @property
    def goals(self) -> tuple[tuple[str, GoalView], ...]:
        """Every goal that could be read, each with the root it is below."""
        return tuple((view.root, goal) for view in self.workspaces for goal in view.goals)

    @property
    def unread_goals(self) -> tuple[tuple[str, Unread], ...]:
        """The goals that could not be read in workspaces that could."""
        return tuple((view.root, goal) for view in self.workspaces for goal in view.unread)

    @property
    def needs_you(self) -> tuple[tuple[str, NeedsYou], ...]:
        """What waits for a person anywhere, each with the root it is below, oldest first."""
        found = [(view.root, item) for view in self.workspaces for item in view.needs_you]
        return tuple(sorted(found, key=lambda pair: _age(pair[1])))


def global_view(
    workspaces: Sequence[WorkspaceView],
    unread: Sequence[UnreadWorkspace],
    now: datetime,
    projection: str = "status",
) -> GlobalView:
    """The view of all workspaces; pure. Coverage counts workspaces: one whose goals could not all
    be read is shown, and counted as missing."""
    omitted = Counter(item.reason for item in unread)
    omitted.update(v.envelope.coverage.omitted[0].reason for v in workspaces if _is_partial(v))
    names = _names([view.root for view in workspaces])
    whole = sum(not _is_partial(view) for view in workspaces)
    envelope = seal(
        projection,
        observed_at=min((view.envelope.observed_at for view in workspaces), default=now),
        served_at=now,
        sources=[row for view in workspaces for row in _rows(view, names[view.root])],
        coverage=Coverage(
            "global",
            len(workspaces) + len(unread),
            whole,
            tuple(Omission(reason, count) for reason, count in sorted(omitted.items())),
        ),
        integrity=[
            f"{names[view.root]}: {ref}"
            for view in workspaces
            for reason in view.envelope.alert_reasons
            if reason.code == "integrity"
            for ref in reason.ids
        ],
        verified=all(goal.verified for view in workspaces for goal in view.goals),
    )
    return GlobalView(tuple(workspaces), tuple(unread), envelope)


def _is_partial(view: WorkspaceView) -> bool:
    return not view.envelope.coverage.complete


def _rows(view: WorkspaceView, name: str) -> Iterator[SourceRow]:
    """Every row of a workspace, under a name that tells whose it is."""
    for row in view.envelope.sources:
        yield replace(row, id=f"{name}/{row.id}")


def _names(roots: Sequence[str]) -> dict[str, str]:
    """The folder's name for each root, or its whole path where two are called alike."""
    count = Counter(PurePath(root).name for root in roots)
    return {r: PurePath(r).name if count[PurePath(r).name] == 1 else r for r in roots}


def _age(item: NeedsYou) -> tuple[bool, float]:
    return item.since is not None, item.since.timestamp() if item.since else 0.0
