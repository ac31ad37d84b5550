"""Todos: the selected goal's work by state; who holds it, until when, what it waits for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from loopx_kernel.text import safe

from loopx_tui import strings
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.domain.records import Todo
    from loopx_kernel.views.goal import GoalView, TodoRow

COLUMNS = (
    Column("id", min=3, priority=10),
    Column("title", min=20, flex=True, priority=9),
    Column("state", min=9, max=18, priority=8),
    Column("lease", min=5, priority=3),
    Column("bar", priority=1),
    Column("left", min=4, align="right", priority=6),
    Column("note", min=10, max=34, flex=True, priority=4),
)
BAR = 8
_FOR_A_PERSON = "for a person"
_ORDER = "damaged expired claimed gated waiting blocked free needs deferred".split()
_ENDS = ("done", "superseded", "cancelled")
_LOOKS = {
    "claimed": ("run", "run"),
    "expired": ("stale", "stale"),
    "free": ("quiet", "text"),
    "needs": ("quiet", "text-dim"),
    "gated": ("ask", "ask"),
    "waiting": ("wait", "wait"),
    "blocked": ("missing", "repair"),
    "deferred": ("paused", "paused"),
    "done": ("held", "closed"),
    "superseded": ("past", "past"),
    "cancelled": ("missing", "text-dim"),
    "damaged": ("alert", "alert"),
}


def state_of(row: TodoRow) -> str:
    """A todo's state in one word, as this screen says it."""
    if row.damaged:
        return "damaged"
    if row.display_status == "open":
        return "needs" if row.needs else "free"
    return row.display_status


def state_cell(row: TodoRow, pen: Pen) -> Cell:
    """The state as glyph, word and colour; a claim by the name of who holds it."""
    word = state_of(row)
    glyph, style = _LOOKS[word]
    lease = row.todo.lease
    said = safe(lease.owner) if lease is not None and word == "claimed" else word
    return Cell(f"{pen.glyph(glyph)} {said}", style)


def heading(view: GoalView, pen: Pen) -> Heading:
    """How many todos there are, and how many in each state."""
    counts: dict[str, int] = {}
    for row in view.todos:
        counts[state_of(row)] = counts.get(state_of(row), 0) + 1
    counts |= {word: view.counts[word] for word in _ENDS}
    total = view.counts["total"]
    figure = [Cell(strings.TODO_COUNT[total == 1].format(count=total), "text-dim")]
    for word in (*_ORDER, *_ENDS):
        if counts.get(word):
            figure.append(Cell(f" {counts[word]} {word}", _figure_style(word)))
    return Heading(strings.TODOS, safe(view.goal_id), tuple(figure))


def rows(
    view: GoalView, pen: Pen, most: int | None = None, earlier: Iterable[TodoRow] = ()
) -> list[Row]:
    """One row a todo, in order; at most ``most``."""
    return [row(one, pen) for one in in_order(view, earlier)[:most]]


def in_order(view: GoalView, earlier: Iterable[TodoRow] = ()) -> list[TodoRow]:
    """What is open first, by state; then what is finished, the newest on top, and last what
    finished ``earlier`` than anything in the view."""
    return sorted((*view.todos, *earlier), key=_place)


def waits_for(todo: Todo) -> str:
    """What a todo in ``waiting`` waits for, in words."""
    return safe(todo.waiting_on.fact) if todo.waiting_on else ""


def _place(row: TodoRow) -> tuple[int, str, int]:
    word = state_of(row)
    number = int(row.todo.id[1:]) if row.todo.id[1:].isdigit() else 0
    if word in _ORDER:
        return _ORDER.index(word), row.todo.priority, number
    return len(_ORDER), "", -row.todo.seq


def row(row: TodoRow, pen: Pen) -> Row:
    """One todo."""
    todo, word = row.todo, state_of(row)
    quiet = todo.finished or word == "needs"
    lease = todo.lease
    held = lease is not None and word in ("claimed", "expired")
    cells = (
        Cell(safe(todo.id), "text-dim"),
        Cell(safe(todo.title), "text-dim" if quiet else "text"),
        state_cell(row, pen),
        Cell(f"e{lease.lease_epoch} v{lease.version}" if held and lease else "", "text-dim"),
        _bar(row, pen) if held else Cell(),
        _left(row, pen),
        Cell(_note(row, pen), "text-dim"),
    )
    return Row(todo.id, cells)


def _bar(row: TodoRow, pen: Pen) -> Cell:
    lease = row.todo.lease
    if lease is None or row.holder is None:
        return Cell()
    return Cell(pen.bar(lease.renewed_at, lease.expires_at, BAR), "run")


def _left(row: TodoRow, pen: Pen) -> Cell:
    todo = row.todo
    if todo.lease is not None and row.holder is not None:
        return Cell(pen.left(todo.lease.expires_at))
    if todo.lease is not None and row.display_status == "expired":
        return Cell(f"-{pen.age(todo.lease.expires_at)}", "stale")
    if todo.status == "deferred" and todo.resume_at is not None:
        return Cell(pen.left(todo.resume_at))
    if todo.status == "waiting":
        return Cell(pen.age(todo.changed_at), "wait")
    return Cell()


def _note(row: TodoRow, pen: Pen) -> str:
    todo, word = row.todo, state_of(row)
    scope = " ".join(map(safe, todo.write_scope))
    lineage = f"-> {todo.superseded_by}" if todo.superseded_by else ""
    notes = {
        "gated": f"gated by {', '.join(row.gated_by)}",
        "waiting": f"{waits_for(todo)} frozen",
        "needs": f"needs {', '.join(row.needs)} first",
        "blocked": safe(todo.reason),
        "deferred": f"until {pen.clock(todo.resume_at)}" if todo.resume_at else "",
        "expired": f"held by {safe(todo.lease.owner)}" if todo.lease else "",
        "done": "verified" if todo.proven else "unproven",
        "superseded": lineage,
        "cancelled": safe(todo.reason),
        "damaged": "its lease file is damaged",
    }
    return notes.get(word) or (_FOR_A_PERSON if todo.role == "human" else scope)


def _figure_style(word: str) -> str:
    return "text-dim" if word in ("needs", "superseded", "cancelled") else _LOOKS[word][1]
