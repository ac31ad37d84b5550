"""The lists that only a goal's own screen has: changes, turns, bookings, lines, the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_kernel.text import safe

from loopx_tui import strings, strings_goal
from loopx_tui.panes.pane import GoalPane, Picture
from loopx_tui.presentation import bookings, changes, events, quota, report, turns
from loopx_tui.presentation.cells import Cell
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView

    from loopx_tui.presentation.story import Story

_EDGE = 1


class StoryPane(GoalPane):
    """A pane of what was read of the goal beyond its view."""

    def of_goal(self, goal: GoalView, scene: Scene, pen: Pen) -> Picture:
        if scene.story is None:
            return Picture(Heading(self.TITLE, goal.goal_id), (), strings.LOADING)
        return self.of_story(goal, scene.story, pen)

    def of_story(self, goal: GoalView, story: Story, pen: Pen) -> Picture:
        """As ``picture``, where that was read."""
        raise NotImplementedError


class ChangesPane(StoryPane):
    """Objective versions, duties to replan, escalations, and the tree of lineage."""

    TITLE = strings_goal.CHANGES
    COLUMNS = changes.COLUMNS
    EMPTY = strings_goal.NO_CHANGES

    def of_story(self, goal: GoalView, story: Story, pen: Pen) -> Picture:
        return Picture(changes.heading(story), changes.rows(story, pen))


class TurnsPane(StoryPane):
    """The timeline of turns."""

    TITLE = strings_goal.TURNS
    COLUMNS = turns.COLUMNS
    EMPTY = strings_goal.NO_TURNS

    def of_story(self, goal: GoalView, story: Story, pen: Pen) -> Picture:
        rows = turns.rows(story, pen)
        left_out = turns.total(story.state) - len(rows)
        return Picture(turns.heading(story), rows, more=max(left_out, 0))


class BookingsPane(StoryPane):
    """Every booking of the window."""

    TITLE = strings.QUOTA
    COLUMNS = bookings.COLUMNS
    EMPTY = strings_goal.NO_BOOKINGS

    def of_story(self, goal: GoalView, story: Story, pen: Pen) -> Picture:
        return Picture(quota.heading(goal), bookings.rows(story, pen))


class JournalPane(StoryPane):
    """The journal's lines, the newest on top."""

    TITLE = strings_goal.EVENTS
    COLUMNS = events.COLUMNS
    EMPTY = strings.NO_EVENTS

    def of_story(self, goal: GoalView, story: Story, pen: Pen) -> Picture:
        head = events.heading(goal)._replace(title=self.TITLE)
        earlier = story.events[0].event.seq - 1 if story.events else 0
        return Picture(head, events.rows(story.events, pen), more=earlier)


class ReportPane(StoryPane):
    """The kernel's report, as text."""

    TITLE = strings_goal.REPORT
    COLUMNS = report.COLUMNS
    EMPTY = strings_goal.NO_REPORT

    def picture(self, scene: Scene, pen: Pen) -> Picture:
        if scene.past:
            text = strings_goal.NO_REPORT_THEN
            return Picture(Heading(self.TITLE, figure=(Cell(),)), (), text)
        return super().picture(scene, pen)

    def on_resize(self) -> None:
        self.call_after_refresh(self.again)

    def of_story(self, goal: GoalView, story: Story, pen: Pen) -> Picture:
        if not story.report:
            return Picture(Heading(self.TITLE, goal.goal_id), (), safe(story.problem))
        width = self.rows.scrollable_content_region.width - _EDGE
        return Picture(report.heading(story.report), report.rows(story.report, width))
