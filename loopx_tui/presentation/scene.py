"""What the panes are drawn from: the last snapshot, seen from the selected goal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.views.workspace import Unread, WorkspaceView
    from loopx_kernel.workspace import EventRow

    from loopx_tui.presentation.story import Story


@dataclass(frozen=True, slots=True)
class Scene:
    """``view`` is ``None`` until something was read; ``events`` are the goal's, oldest first.

    ``trouble`` is a sentence about why the screen may be late, empty where it is live.
    ``story`` is what else was read of the goal, for its own screens; ``past`` says that all of it
    is how things stood once.
    """

    view: WorkspaceView | None = None
    goal_id: str | None = None
    events: tuple[EventRow, ...] = ()
    trouble: str = ""
    story: Story | None = None
    past: bool = False

    @property
    def goal(self) -> GoalView | None:
        """The selected goal, where it could be read."""
        return self.find(self.goal_id)

    def find(self, goal_id: str | None) -> GoalView | None:
        """A goal by its id, where it could be read."""
        goals = self.view.goals if self.view else ()
        return next((goal for goal in goals if goal.goal_id == goal_id), None)

    @property
    def parts(self) -> tuple[object, ...]:
        """What the view is made of: as long as all of it is the very same, so is what it says."""
        view = self.view
        if view is None:
            return ()
        return (view.owners, view.agents, *view.alerts, *view.goals, *view.unread)

    @property
    def unread(self) -> Unread | None:
        """Why the selected goal could not be read."""
        items = self.view.unread if self.view else ()
        return next((item for item in items if item.goal_id == self.goal_id), None)
