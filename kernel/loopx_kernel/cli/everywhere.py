"""Looking at all workspaces of the person's list, for commands with a global scope."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from loopx_kernel.cli.output import Printer
    from loopx_kernel.cli.session import Session
    from loopx_kernel.views.everywhere import GlobalView
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.workspace.everywhere import Everywhere


def look(session: Session, projection: str) -> Everywhere:
    """Every workspace of the list; with ``--root`` that one alone, and the envelope says so."""
    from loopx_kernel.workspace.everywhere import everywhere

    only = Path(session.options.root) if session.options.root else None
    return everywhere(session.clock, only=only, projection=projection)


def needs_value(view: GlobalView) -> list[dict[str, Any]]:
    """What waits for a person anywhere, each with its workspace."""
    from loopx_kernel.views.plain import to_json

    return [{"workspace": root} | to_json(item) for root, item in view.needs_you]


def show_unread(printer: Printer, view: GlobalView) -> None:
    """A line for each workspace and goal that is not shown below, and what helps."""
    for one in view.unread:
        printer.line(f"{one.path}: not read, {one.reason}: {one.message}", "bold red")
        if one.next:
            printer.line(f"  next: {one.next}")
    for root, goal in view.unread_goals:
        printer.line(f"{root}: {goal.goal_id} not read: {goal.message}", "bold red")


def unread_value(view: GlobalView) -> dict[str, Any]:
    """What is not in the answer: workspaces, and goals of those that are."""
    from loopx_kernel.views.plain import to_json

    goals = [{"workspace": root} | to_json(goal) for root, goal in view.unread_goals]
    return {"unread": view.unread, "unread_goals": goals}


def goals_table(printer: Printer, goals: Iterable[tuple[str, GoalView]]) -> None:
    """A row for each goal, with the workspace it is in where there is more than one."""
    rows = [
        (
            root,
            goal.goal_id,
            goal.display_answer,
            len(goal.needs_you) or "",
            goal.contract.todo.id if goal.contract.todo else "",
            f"{goal.counts['done']}/{goal.counts['total']}",
            f"{goal.contract.quota.used}/{goal.contract.quota.allowed}",
        )
        for root, goal in goals
    ]
    columns = ("workspace", "goal", "answer", "needs you", "next", "done", "slots")
    first = 0 if any(row[0] for row in rows) else 1
    printer.table(columns[first:], [row[first:] for row in rows])
