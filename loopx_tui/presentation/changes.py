"""Changes of mind: what still has to be replanned, objectives in all their versions, lineage."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from loopx_kernel.text import counted, safe

from loopx_tui import strings_goal as words
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.lineage import Branch, tree
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.domain.records import Todo
    from loopx_kernel.domain.records_of_work import Escalation, Obligation
    from loopx_kernel.workspace.objectives import Version

    from loopx_tui.presentation.story import Story

COLUMNS = (
    Column("id", min=3, priority=10),
    Column("what", min=9, priority=8),
    Column("text", min=16, flex=True, priority=9),
    Column("by", min=5, max=14, flex=True, priority=4),
    Column("age", min=3, align="right", priority=7),
)
_DUTIES = {
    "open": ("repair", "replan", "repair"),
    "fulfilled": ("held", "replanned", "closed"),
    "withdrawn": ("quiet", "withdrawn", "past"),
}
_ANSWERS = {"go_on": "go on", "replan": "replan", "cancel": "cancel", None: ""}
_ENDS = {"done": ("held", "closed"), "superseded": ("past", "past"), "cancelled": ("missing",
         "text-dim")}  # fmt: skip
_Dated = tuple[bool, datetime, Row]


def heading(story: Story) -> Heading:
    """Which version the objective has, and how many duties to replan are open."""
    state = story.state
    version = state.objective.version if state.objective else 0
    figure = [Cell(f"objective v{version}", "text-dim")]
    duties = sum(one.status == "open" for one in state.obligations.values())
    if duties:
        figure.append(Cell(f" {counted(duties, 'replan')} open", "repair"))
    return Heading(words.CHANGES, safe(state.goal_id), tuple(figure))


def rows(story: Story, pen: Pen) -> list[Row]:
    """What is open first, then the newest on top; the tree of lineage below."""
    dated = [*_versions(story, pen), *_duties(story, pen), *_escalations(story, pen)]
    dated.sort(key=lambda one: (not one[0], -one[1].timestamp()))
    return [*(row for *_, row in dated), *_lineage(story, pen)]


def version_key(version: int) -> str:
    """The key of a version's row."""
    return f"version/{version}"


def _versions(story: Story, pen: Pen) -> Iterator[_Dated]:
    for one in story.versions or ():
        yield False, one.at, _version(one, pen)


def _version(one: Version, pen: Pen) -> Row:
    first = one.version == 1
    text = one.reason or one.text
    cells = (
        Cell(f"v{one.version}", "text-dim"),
        Cell("opened" if first else "objective", "accent"),
        Cell(safe(text.partition("\n")[0])),
        Cell(safe(one.by), "text-dim"),
        Cell(pen.age(one.at), "text-dim"),
    )
    return Row(version_key(one.version), cells)


def _duties(story: Story, pen: Pen) -> Iterator[_Dated]:
    for one in story.state.obligations.values():
        yield one.status == "open", one.closed_at or one.at, _duty(one, pen)


def _duty(one: Obligation, pen: Pen) -> Row:
    glyph, word, style = _DUTIES[one.status]
    about = ", ".join(one.todo_ids) or "the goal"
    cells = (
        Cell(safe(one.id), "text-dim"),
        Cell(f"{pen.glyph(glyph)} {word}", style),
        Cell(safe(f"{about}: {one.reason}")),
        Cell(safe(one.by), "text-dim"),
        Cell(pen.age(one.at), "text-dim"),
    )
    return Row(f"replan/{one.id}", cells)


def _escalations(story: Story, pen: Pen) -> Iterator[_Dated]:
    for one in story.state.escalations.values():
        yield one.status == "open", one.answered_at or one.at, _escalation(one, pen)


def _escalation(one: Escalation, pen: Pen) -> Row:
    answer = _ANSWERS[one.answer] or one.status
    still = one.status == "open"
    cells = (
        Cell(safe(one.id), "text-dim"),
        Cell(f"{pen.glyph('alert' if still else 'held')} {'escalated' if still else answer}",
             "alert" if still else "closed"),
        Cell(safe(": ".join(filter(None, (one.todo_id or "the goal", one.reason or one.detail))))),
        Cell(safe(one.by or ""), "text-dim"),
        Cell(pen.age(one.at), "text-dim"),
    )  # fmt: skip
    return Row(f"escalation/{one.id}", cells)


def _lineage(story: Story, pen: Pen) -> Iterator[Row]:
    todos = story.state.todos
    found = tree(todos, ascii_only=pen.ascii_only)
    if found:
        yield Row("lineage", (Cell(), Cell(words.LINEAGE, "accent"),
                              Cell(words.LINEAGE_OF, "text-dim")))  # fmt: skip
    for place, one in enumerate(found):
        yield _branch(one, todos.get(one.id), place, pen)


def _branch(one: Branch, todo: Todo | None, place: int, pen: Pen) -> Row:
    title = safe(todo.title) if todo else words.FINISHED_EARLIER
    if one.also:
        title += f" ({words.ALSO_FROM.format(ids=', '.join(one.also))})"
    glyph, style = _ENDS.get(todo.status if todo else "done", ("quiet", "text"))
    status = Cell(f"{pen.glyph(glyph)} {todo.status if todo else 'finished'}", style)
    cells = (
        Cell(safe(one.id), "text-dim"),
        status,
        Cell(f"{one.prefix}{title}", "text" if todo and not todo.finished else "text-dim"),
        Cell(safe(todo.origin.actor_agent_id) if todo else "", "text-dim"),
        Cell(pen.age(todo.added_at) if todo else "", "text-dim"),
    )
    return Row(f"lineage/{one.id}/{place}", cells)
