"""Turns: the timeline from brief to receipt, the newest on top."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from loopx_kernel.text import counted, safe

from loopx_tui import strings_goal as words
from loopx_tui.presentation.ages import age
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.domain.records_of_work import Turn
    from loopx_kernel.domain.state import GoalState

    from loopx_tui.presentation.story import Story

COLUMNS = (
    Column("time", min=5, priority=6),
    Column("id", min=9, priority=10),
    Column("outcome", min=9, priority=9),
    Column("todo", min=3, priority=8),
    Column("took", min=3, align="right", priority=5),
    Column("agent", min=6, max=14, flex=True, priority=4),
    Column("note", min=8, flex=True, priority=3),
)
_LOOKS = {
    "open": ("run", "run"),
    "done": ("held", "closed"),
    "progress": ("run", "fresh"),
    "blocked": ("paused", "stale"),
    "failed": ("missing", "alert"),
    "recovered": ("missing", "stale"),
    "withdrawn": ("quiet", "past"),
}


def heading(story: Story) -> Heading:
    """How many turns there were, how many are open, and how many of those shown failed."""
    turns = story.turns
    figure = [Cell(counted(total(story.state), "turn"), "text-dim")]
    under_way = sum(turn.status == "open" for turn in turns)
    failed = sum(word_of(turn) in ("failed", "recovered") for turn in turns)
    if under_way:
        figure.append(Cell(f" {under_way} open", "run"))
    if failed:
        figure.append(Cell(f" {failed} failed", "alert"))
    return Heading(words.TURNS, safe(story.state.goal_id), tuple(figure))


def total(state: GoalState) -> int:
    """How many turns were ever opened."""
    return state.next_turn - 1


def rows(story: Story, pen: Pen) -> list[Row]:
    """The turns that were read, the newest on top."""
    turns = sorted(story.turns, key=lambda turn: -turn.opened_seq)
    return [_row(turn, story, pen) for turn in turns]


def word_of(turn: Turn) -> str:
    """How a turn ended, or that it did not yet, in a word."""
    return turn.outcome if turn.status == "settled" and turn.outcome else turn.status


def outcome_cell(turn: Turn, pen: Pen) -> Cell:
    """The same as glyph, word and colour."""
    word = word_of(turn)
    glyph, style = _LOOKS[word]
    return Cell(f"{pen.glyph(glyph)} {word}", style)


def _row(turn: Turn, story: Story, pen: Pen) -> Row:
    cells = (
        Cell(pen.clock(turn.opened_at), "text-dim"),
        Cell(safe(turn.id), "text-dim"),
        outcome_cell(turn, pen),
        Cell(safe(turn.todo_id)),
        _took(turn, pen),
        Cell(safe(turn.agent_id)),
        _note(turn, story, pen),
    )
    return Row(turn.id, cells)


def _took(turn: Turn, pen: Pen) -> Cell:
    if turn.closed_at is None:
        return Cell(pen.age(turn.opened_at), "run")
    return Cell(age(max(turn.closed_at - turn.opened_at, timedelta())), "text-dim")


def _note(turn: Turn, story: Story, pen: Pen) -> Cell:
    if turn.reason:
        return Cell(safe(turn.reason), "text-dim")
    todo = story.state.todos.get(turn.todo_id)
    title = safe(todo.title) if todo else words.FINISHED_EARLIER
    if turn.status == "open":
        return Cell(title, "text-dim")
    proof = "unproven" if turn.unproven else "verified" if turn.verified else "not verified"
    return Cell(pen.dot.join((proof, title)), "text-dim")
