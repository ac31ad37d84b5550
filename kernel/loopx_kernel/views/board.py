"""The board of one goal: its todos by state, who works on what, what is decided and watched."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Literal

from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.state import GoalState
from loopx_kernel.value import Value
from loopx_kernel.views.goal import GateRow, GoalView, LeaseRow, TodoRow

COLUMNS = (
    *("claimed", "expired", "open", "gated", "blocked", "waiting", "deferred"),
    *("done", "superseded", "cancelled"),
)
_SETTLED = ("used", "withdrawn", "mooted", "expired")


class Column(Value):
    """The todos in one state; ``earlier`` finished so long ago that they are only counted."""

    status: str
    rows: tuple[TodoRow, ...]
    earlier: int = 0

    @property
    def count(self) -> int:
        """How many there are, those that are only counted among them."""
        return len(self.rows) + self.earlier


class Monitor(Value):
    """Something that is looked at again and again, or once at a date. ``status`` is what the last
    look saw, with its ``basis``; ``next_at`` when the next look is due. Times are UTC."""

    kind: Literal["ci", "review", "source", "monitor", "date"]
    id: str
    what: str
    status: str
    basis: str
    seen_at: datetime | None
    next_at: datetime | None


class Board(Value):
    """One goal at one moment, in columns."""

    view: GoalView
    columns: tuple[Column, ...]
    claims: tuple[LeaseRow, ...]
    gates: tuple[GateRow, ...]
    monitors: tuple[Monitor, ...]


def board(state: GoalState, view: GoalView) -> Board:
    """The board of a goal; pure. ``view`` is of the same state. Gates that wait come first, those
    from which nothing follows any more are left out."""
    return Board(
        view=view,
        columns=tuple(_columns(state, view)),
        claims=tuple(lease for lease in view.leases if lease.status in ("active", "expired")),
        gates=tuple(sorted(_gates(view), key=lambda row: row.status != "pending")),
        monitors=tuple(_monitors(state, view)),
    )


def _columns(state: GoalState, view: GoalView) -> Iterator[Column]:
    for name in COLUMNS:
        rows = tuple(row for row in view.todos if row.display_status == name)
        yield Column(name, rows, state.left.get(name, 0))


def _gates(view: GoalView) -> list[GateRow]:
    return [row for row in view.gates if row.status not in _SETTLED]


def _monitors(state: GoalState, view: GoalView) -> Iterator[Monitor]:
    for todo in state.todos.values():
        if todo.finished:
            continue
        if todo.waiting_on is not None and todo.status == "waiting":
            yield _wait(state, todo)
        elif todo.kind == "monitor":
            yield Monitor("monitor", todo.id, todo.title, todo.status, "", None, todo.next_check_at)
        elif todo.status == "deferred":
            yield Monitor("date", todo.id, todo.title, "deferred", "", None, todo.resume_at)
    for source in view.sources:
        due = source.last_success_at
        if due is not None:
            due += timedelta(seconds=source.window_seconds)
        told = f"{source.status}, {source.read_status}, queue {source.queue}"
        yield Monitor("source", source.id, source.provider, told, "told", source.checked_at, due)


def _wait(state: GoalState, todo: Todo) -> Monitor:
    wait = todo.waiting_on
    assert wait is not None
    seen = state.observations.get(f"{wait.kind}:{wait.ref}")
    last = seen.at if seen is not None else todo.changed_at
    return Monitor(
        kind=wait.kind,
        id=todo.id,
        what=f"{todo.title}: waits for {wait.fact}",
        status=seen.status if seen is not None else "not looked at yet",
        basis=seen.basis if seen is not None else "",
        seen_at=seen.at if seen is not None else None,
        next_at=last + timedelta(seconds=wait.every_seconds),
    )
