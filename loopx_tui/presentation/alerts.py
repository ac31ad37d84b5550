"""Alerts: what could not be read or has no effect, and what that hides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_kernel.text import safe

from loopx_tui import strings
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.domain.needs_you import Damage
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.views.workspace import WorkspaceView

COLUMNS = (
    Column("what", min=8, priority=9),
    Column("where", min=8, max=26, flex=True, priority=8),
    Column("why", min=16, flex=True, priority=7),
    Column("next", max=30, flex=True, min=12, priority=3),
)


def heading(count: int, pen: Pen) -> Heading:
    """How many there are."""
    return Heading(strings.ALERTS, figure=(Cell(f"{pen.glyph('alert')} {count}", "alert"),))


def rows(view: WorkspaceView, trouble: str) -> list[Row]:
    """The screen's own trouble and the workspace's first, then each goal's. Stale sources
    stand in their own pane."""
    lines = [_row(strings.APP, "late", trouble, "ctrl+l redraws")] if trouble else []
    lines += [_row("_workspace", "no effect", text, "loopx event verify") for text in view.alerts]
    for goal in view.goals:
        lines += _of_goal(goal)
    unique = {row.key: row for row in lines}
    return list(unique.values())


def _of_goal(goal: GoalView) -> list[Row]:
    verify = f"loopx event verify --goal {goal.goal_id}"
    lines = [
        _row(goal.goal_id, "damaged", f"{item.path}: {item.reason}{_digests(item)}", item.command)
        for item in goal.reads.damage
    ]
    lines += [_row(goal.goal_id, "no effect", text, verify) for text in goal.alerts]
    if not goal.reads.repo_present:
        text = f"The repo {goal.repo} is not there; no work can start"
        lines.append(_row(goal.goal_id, "no repo", text, "check the path"))
    return lines


def _digests(item: Damage) -> str:
    if not item.expected_digest:
        return ""
    return f" (expected {item.expected_digest[:12]}…, found {item.found_digest[:12]}…)"


def _row(goal_id: str, what: str, why: str, command: str) -> Row:
    cells = (
        Cell(what, "alert"),
        Cell(safe(goal_id), "text-dim"),
        Cell(safe(why)),
        Cell(safe(command), "text-dim"),
    )
    return Row(f"{goal_id}/{what}/{why}", cells)
