"""The record that a missing file was made again from the journal."""

from typing import Any

from loopx_kernel.domain.event import CODE, Context, Draft, EventType, Facts
from loopx_kernel.domain.record import Line, Record
from loopx_kernel.domain.state import GoalState
from loopx_kernel.value import Value


class NoteRebuilt(Value, kw_only=True):
    """``path`` is relative to the workspace."""

    path: str


class FileRebuilt(Record):
    path: Line


def decide(state: GoalState, command: NoteRebuilt, context: Context) -> Draft:
    """The event for a rebuilt file."""
    return Draft("file.rebuilt", {"path": command.path}, state.goal_id)


def _check(state: GoalState, payload: FileRebuilt, facts: Facts) -> None:
    """Nothing in the state can forbid it."""


def _evolve(state: GoalState, payload: FileRebuilt, facts: Facts) -> GoalState:
    return state


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType("file.rebuilt", FileRebuilt, CODE, _check, _evolve, changes_work=False),
)
