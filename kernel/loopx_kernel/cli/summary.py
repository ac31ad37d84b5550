"""Where many goals are, what of them waits for a person, and what is next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from loopx_kernel.clock import to_the_second
from loopx_kernel.text import counted

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.domain.needs_you import NeedsYou
    from loopx_kernel.views.goal import GoalView

MOST = 10
"""How many of what waits is told with its command; the rest is counted."""
Waiting = tuple[str, "NeedsYou"]


def show_summary(
    printer: Printer, goals: Sequence[tuple[str, GoalView]], waiting: Sequence[Waiting]
) -> None:
    """Three lines for people. Each goal stands with the root it is below, empty for this one."""
    answers = Counter(goal.display_answer for _, goal in goals)
    told = ", ".join(f"{answers[one]} {one}" for one in sorted(answers)) or "none"
    done = sum(goal.counts["done"] for _, goal in goals)
    total = sum(goal.counts["total"] for _, goal in goals)
    printer.line(
        f"answer: {counted(len(goals), 'goal')}: {told} ({done} of {counted(total, 'todo')} done)",
        "bold",
    )
    printer.line(f"needs you: {_first(waiting)}", "bold yellow" if waiting else "")
    printer.line(f"next todo: {_next(goals)}")


def show_waiting(printer: Printer, waiting: Sequence[Waiting]) -> None:
    """What waits for a person, the oldest first, each with the command that shows it."""
    from loopx_kernel.cli.framework import Options
    from loopx_kernel.cli.next_step import carry_on

    for root, item in waiting[:MOST]:
        printer.line(
            f"waiting for a person: {item.goal_id}: {item.id} {item.kind}: {item.question}",
            "yellow",
        )
        step = carry_on(item.next, Options(root=root)) if root else item.next
        printer.line(f"  asked by {item.asked_by}; next: {step}")
    if len(waiting) > MOST:
        printer.line(f"and {len(waiting) - MOST} more; loopx-tui shows all", "dim")


def _first(waiting: Sequence[Waiting]) -> str:
    if not waiting:
        return "nothing"
    _, item = waiting[0]
    more = f" (and {len(waiting) - 1} more)" if len(waiting) > 1 else ""
    return f"{item.id} {item.kind} of {item.goal_id}: {item.question}{more}"


def _next(goals: Sequence[tuple[str, GoalView]]) -> str:
    running = [goal for _, goal in goals if goal.contract.todo is not None]
    if running:
        first = running[0].contract.todo
        assert first is not None
        more = f" (and in {counted(len(running) - 1, 'more goal')})" if len(running) > 1 else ""
        return f"{first.id} of {running[0].goal_id}: {first.title}{more}"
    wakes = [goal.contract.scheduler_hint.next_wake_at for _, goal in goals]
    soonest = min((at for at in wakes if at is not None), default=None)
    return "none is ready" + (f"; next look {to_the_second(soonest)}" if soonest else "")
