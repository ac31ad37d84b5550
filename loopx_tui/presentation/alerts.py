"""Alerts: what could not be read, has no effect or is too old, and what helps."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from loopx_kernel.text import safe

from loopx_tui import strings
from loopx_tui.presentation.ages import age
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.needs import unread_words, unreadable
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.domain.freshness import SourceReading
    from loopx_kernel.domain.needs_you import Damage
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.views.workspace import WorkspaceView

COLUMNS = (
    Column("what", min=8, priority=9),
    Column("where", min=6, max=14, flex=True, priority=8),
    Column("why", min=16, flex=True, priority=7),
    # Copying the row copies the whole command; why it is needed is read here.
    Column("next", max=20, flex=True, min=12, priority=3),
)

LATE = "late"
"""The word before why the screen itself may be late."""


def heading(count: int, pen: Pen) -> Heading:
    """How many alerts there are; other rows say what mends itself, or why the screen is late."""
    figure = Cell(f"{pen.glyph('alert')} {count}", "alert") if count else Cell("0", "text-dim")
    return Heading(strings.ALERTS, figure=(figure,))


def count(view: WorkspaceView) -> int:
    """How many alerts the ledger itself raises; the header and the pane agree on it."""
    return len(rows(view, ""))


def rows(view: WorkspaceView, trouble: str) -> list[Row]:
    """The screen's own trouble and the workspace's first, then each goal's."""
    lines = [_row(strings.APP, LATE, trouble, strings.ENTER_TELLS)] if trouble else []
    lines += [_row("_workspace", "no effect", text, "loopx event verify") for text in view.alerts]
    lines += [
        _row(item.goal_id, "unreadable", unread_words(item, view), item.next or "loopx doctor")
        for item in unreadable(view)
    ]
    for goal in view.goals:
        lines += _of_goal(goal)
    return _unique(lines)


def notes(view: WorkspaceView) -> list[Row]:
    """What is not level on disk and mends itself with the next write; no cause for alarm."""
    return _unique([row for goal in view.goals for row in _not_level(goal)])


def _of_goal(goal: GoalView) -> Iterator[Row]:
    goal_id, named = goal.goal_id, shlex.quote(goal.goal_id)
    for item in goal.reads.damage:
        yield _row(goal_id, "damaged", f"{item.path}: {item.reason}{_digests(item)}", item.command)
    for lost in goal.reads.missing_evidence:
        text = f"the copy of {lost.evidence} is missing; only that file can give it back"
        show = f"todo show {lost.todo_id}" if lost.todo_id else "event list"
        yield _row(goal_id, "evidence", text, f"loopx {show} --goal {named}")
    for text in goal.alerts:
        yield _row(goal_id, "no effect", text, f"loopx event verify --goal {named}")
    for warned in goal.warnings:
        yield _row(goal_id, "warning", warned.sentence, warned.next)
    if not goal.reads.repo_present:
        text = f"The repo {goal.repo} is not there; no work can start"
        yield _row(goal_id, "no repo", text, "check the path")
    for source in goal.sources:
        if source.enabled and source.alert:
            command = f"loopx source list --goal {named}"
            yield _row(goal_id, "source", _of_source(source), command, "stale")
    for host in goal.hosts:
        if host.alert:
            why = f"{host.id}: its last run {host.report}, failures in a row {host.failure_streak}"
            yield _row(goal_id, "source", why, f"loopx source list --goal {named}", "stale")


def _of_source(source: SourceReading) -> str:
    reasons = (code.removesuffix("_sources").replace("_", " ") for code in source.alert_reasons)
    window = age(timedelta(seconds=source.window_seconds))
    return f"{source.id}: {', '.join(reasons)} (window {window})"


def _not_level(goal: GoalView) -> Iterator[Row]:
    mend = f"loopx refresh-state --goal {shlex.quote(goal.goal_id)}"
    for path in goal.reads.missing_files:
        yield _note(goal, "missing", f"{path}: the next write makes it again", mend)
    for path in goal.reads.behind_files:
        yield _note(goal, "behind", f"{path}: the next write brings it level", mend)
    if goal.reads.incomplete_tail:
        yield _note(goal, "incomplete", strings.INCOMPLETE_TAIL, "loopx doctor")


def _note(goal: GoalView, what: str, why: str, command: str) -> Row:
    return _row(goal.goal_id, what, why, command, "text-dim")


def _unique(lines: Sequence[Row]) -> list[Row]:
    return list({row.key: row for row in lines}.values())


def _digests(item: Damage) -> str:
    if not item.expected_digest:
        return ""
    return f" (expected {item.expected_digest[:12]}…, found {item.found_digest[:12]}…)"


def _row(goal_id: str, what: str, why: str, command: str, style: str = "alert") -> Row:
    cells = (
        Cell(what, style),
        Cell(safe(goal_id), "text-dim"),
        Cell(safe(why), "text-dim" if style == "text-dim" else "text"),
        Cell(safe(command), "text-dim"),
    )
    return Row(f"{goal_id}/{what}/{why}", cells)
