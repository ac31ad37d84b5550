"""What the ledger holds of one goal beyond its view: its state, its lines, its old objectives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loopx_kernel.domain.records import Todo
    from loopx_kernel.domain.records_of_work import Turn
    from loopx_kernel.domain.state import GoalState
    from loopx_kernel.views.render_plain import TextLine
    from loopx_kernel.workspace import EventRow
    from loopx_kernel.workspace.objectives import Version


@dataclass(frozen=True, slots=True)
class Story:
    """One goal at one moment. ``events`` are its last lines, oldest first.

    ``versions``, ``report`` and what left the state, oldest first, ``earlier`` the turns and
    ``finished`` the todos, are ``None`` until they were read; they are read when they are looked
    at. ``problem`` says what could not be read.
    """

    state: GoalState
    events: tuple[EventRow, ...] = ()
    versions: tuple[Version, ...] | None = None
    report: tuple[TextLine, ...] | None = None
    earlier: tuple[Turn, ...] | None = None
    finished: tuple[Todo, ...] | None = None
    problem: str = ""

    def keeping(self, before: Story | None) -> Story:
        """With what was read of the goal before, and what left the state since."""
        if before is None:
            return self
        turns = [one for one in before.state.turns.values() if one.id not in self.state.turns]
        todos = [before.state.todos[ref] for ref in before.state.recent]
        left = [one for one in todos if one.id not in self.state.todos]
        return replace(
            self,
            versions=before.versions,
            report=before.report,
            earlier=None if before.earlier is None else (*before.earlier, *turns),
            finished=None if before.finished is None else (*before.finished, *left),
        )

    @property
    def has_versions(self) -> bool:
        """Whether the objective's present version was read."""
        there = {one.version for one in self.versions or ()}
        return self.state.objective is None or self.state.objective.version in there

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns that were read, oldest first."""
        here = self.state.turns
        return (*(one for one in self.earlier or () if one.id not in here), *here.values())

    def turn(self, turn_id: str) -> Turn | None:
        """A turn by its id, where it was read."""
        return next((one for one in self.turns if one.id == turn_id), None)

    def event(self, event_id: str) -> EventRow | None:
        """One of the lines by its id."""
        return next((row for row in self.events if row.event.event_id == event_id), None)
