"""Journals made by commands, as the steps and views that projections are made from."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from loopx_kernel.clock import Reading
from loopx_kernel.domain import fold
from loopx_kernel.domain.needs_you import Reads
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.steps import Step
from loopx_kernel.views.goal import GoalView, goal_view
from loopx_kernel.views.report import Period, Report, report
from loopx_kernel.views.report_reading import read, state_after

from tests.kernel.domain.build import AGENTS, NOW, OPENED, OWNER, Book

DAY = timedelta(days=1)
ALL = Period(OPENED - DAY, NOW + DAY)

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "\u202e\x1b]0;pwn\x07[red]OK[/]\x1b[2J",
    "</style><link rel=stylesheet href=//evil>",
    "| a | b |\n# not a heading\n```\n[x](javascript:alert(3)) ![y](//evil/p.png)",
    "https://evil.example www.evil.example me@evil.example <b>&amp;</b>",
    "' onmouseover='alert(4)' \" data-x=\"1",
    "- [ ] T9 fake\r\n> quote $x$ ~~z~~ __b__ \\",
    "a" + " " * 300 + "&& rm -rf /",
    "漢字 👩‍👩‍👧 e\u0301\u0301 \U000e0100 \ufeff",
)
"""What somebody may call a todo, a gate, a file."""


def steps_of(book: Book) -> Iterator[Step]:
    """The lines of a book, each with the states around it."""
    state = GoalState(goal_id=book.state.goal_id)
    for event, verdict in book.lines:
        before, state = state, fold.evolve(state, event, verdict)
        yield Step(event, verdict, before, state)


def view_of(state: GoalState, at: datetime = NOW, reads: Reads | None = None) -> GoalView:
    """The goal as it is looked at, all of it replayed on this machine."""
    people = {"agents": AGENTS, "owners": (OWNER.id,)}
    return goal_view(state, reads or Reads(), Reading(at), **people)  # type: ignore[arg-type]


def report_of(book: Book, period: Period = ALL, **values: Any) -> Report:
    """The report on a period of a book, looked at when it ended."""
    steps = list(steps_of(book))
    inside = [s for s in steps if period.since <= s.event.recorded_at < period.until]
    before = sum(s.event.recorded_at < period.since for s in steps)
    first = inside[0].event.seq if inside else before + 1
    last = inside[-1].event.seq if inside else before
    start = steps[first - 2].after if first > 1 else GoalState(goal_id=book.state.goal_id)
    found = read((s for s in steps if first <= s.event.seq <= last), period.since, period.until)
    now = view_of(book.state)
    then = now if last == len(steps) else view_of(state_after(found, start), period.until)
    return report(found, start, period, then=then, now=now, **values)
