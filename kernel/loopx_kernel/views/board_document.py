"""A board as a document: what waits for a person first, then the columns."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from loopx_kernel.clock import to_the_second
from loopx_kernel.views.board import Board, Column
from loopx_kernel.views.document import Document, Lines, Section, Table, clip, facts, table
from loopx_kernel.views.goal import GoalView, TodoRow

_FINISHED = ("done", "superseded", "cancelled")
_MOST_FINISHED = 10


def document(board: Board) -> Document:
    """The document of a board."""
    view = board.view
    title = f"{view.goal_id} ({clip(view.display_name, 200)}): {view.display_answer}"
    return Document(title, view.envelope, tuple(_sections(board)))


def _sections(board: Board) -> Iterator[Section]:
    view = board.view
    warned = (*view.alerts, *(w.sentence for w in view.warnings))
    if warned:
        yield Section("Alerts", (Lines(warned, "alert"),))
    quota = view.contract.quota
    answer = facts(
        ("objective", f"v{view.objective_version}: {view.objective}"),
        ("answer", "; ".join(reason.message for reason in view.contract.reasons)),
        ("quota", f"{quota.used} of {quota.allowed} slots in {quota.window_hours} h"),
    )
    yield Section("Answer", (answer, *_waiting(view)))
    for column in board.columns:
        if column.count:
            yield _column(column)
    yield Section("Claims", (_claims(board),))
    yield Section("Gates", (_gates(board),))
    yield Section("Monitors", (_monitors(board),))


def _waiting(view: GoalView) -> Iterator[Lines]:
    """What waits for a person, each with its command in a line of its own."""
    for need in view.needs_you:
        yield Lines((f"{need.id} {need.kind}: {clip(need.question)}",), "ask")
        yield Lines((f"next: {need.next}",), "dim")
    if not view.needs_you:
        yield Lines(("nothing waits for you",), "dim")


def _column(column: Column) -> Section:
    shown = column.rows[-_MOST_FINISHED:] if column.status in _FINISHED else column.rows
    left_out = column.count - len(shown)
    rows = ((r.todo.id, r.todo.priority, r.todo.title, r.holder, _why(r)) for r in shown)
    columns = ("todo", "prio", "title", "holder", "why")
    return Section(f"{column.status}: {column.count}", (table(columns, rows, left_out),))


def _why(row: TodoRow) -> str:
    parts = [f"damaged: a file of {row.todo.id}"] if row.damaged else []
    parts += [f"needs {', '.join(row.needs)}"] if row.needs else []
    parts += [f"gate {', '.join(row.gated_by)}"] if row.gated_by else []
    todo = row.todo
    if todo.status == "waiting" and todo.waiting_on is not None:
        parts.append(f"waits for {todo.waiting_on.fact}")
    if todo.status == "deferred" and todo.resume_at is not None:
        parts.append(f"until {to_the_second(todo.resume_at)}")
    parts += [f"by {row.todo.superseded_by}"] if row.todo.superseded_by else []
    parts += [row.todo.reason] if row.todo.reason else []
    return "; ".join(parts)


def _claims(board: Board) -> Table:
    return table(
        ("todo", "holder", "status", "until", "version", "epoch", "writes"),
        (
            (
                *(lease.todo_id, lease.owner, lease.status, _time(lease.expires_at)),
                *(lease.version, lease.lease_epoch, ", ".join(lease.write_scopes)),
            )
            for lease in board.claims
        ),
    )


def _gates(board: Board) -> Table:
    return table(
        ("gate", "status", "action", "question", "blocks", "asked by", "decided"),
        (
            (
                *(row.gate.id, row.status, row.gate.command or row.gate.action, row.gate.question),
                *(", ".join(row.gate.blocks), row.gate.requested_by),
                row.gate.decision and f"{row.gate.decision.outcome} by {row.gate.decision.by}",
            )
            for row in board.gates
        ),
    )


def _monitors(board: Board) -> Table:
    return table(
        ("what", "", "last look", "seen at", "basis", "due"),
        (
            (
                *(one.id, one.what, one.status, _time(one.seen_at), one.basis),
                _time(one.next_at),
            )
            for one in board.monitors
        ),
    )


def _time(moment: datetime | None) -> str:
    return to_the_second(moment) if moment is not None else ""
