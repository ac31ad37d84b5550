"""A pane: a title line with its figure, and rows below it in one border."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from loopx_kernel.text import safe
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from loopx_tui import strings
from loopx_tui.panes.line import Line, clip, length
from loopx_tui.panes.steady import Steady
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene
from loopx_tui.widgets.rows import Rows, Words

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView

_CORNERS = (("╭", "─", "╮"), ("+", "-", "+"))


class Picture(NamedTuple):
    """What a pane shows: the text of its border, its rows, and why it has none.

    ``before`` and ``more`` count rows that were left out because nobody would see them.
    """

    heading: Heading
    rows: Sequence[Row]
    empty: str = ""
    more: int = 0
    before: int = 0


class PaneRows(Rows):
    """Rows whose empty text can change, and whose cursor is seen only where keys go.

    With ``keeps_cursor`` it is always seen: it says what the other panes show.
    """

    def __init__(self, columns: tuple[Column, ...], *, keeps_cursor: bool, ascii_only: bool):
        words = Words("", strings.NO_MATCH, strings.MORE, strings.BEFORE)
        super().__init__(columns, words=words, ascii_only=ascii_only)
        self._cursor_glyph = self._bar
        self._keeps_cursor = keeps_cursor
        self.on_blur()

    def on_focus(self) -> None:
        self._bar = self._cursor_glyph
        first = round(self.scroll_y)
        if not self._keeps_cursor and not first <= self._place < first + self._page:
            self._go(first)  # what keys act on is in sight

    def on_blur(self) -> None:
        if not self._keeps_cursor:
            self._bar = " "

    def set_empty(self, text: str) -> None:
        """Says ``text`` where there are no rows."""
        if text != self._words.empty:
            with self._changing():
                self._words = self._words._replace(empty=text)

    def _bring_into_view(self) -> None:
        """Moves no rows for a cursor nobody sees: a list at its top goes on showing its newest."""
        if self._keeps_cursor or self.has_focus:
            super()._bring_into_view()

    def _grow(self) -> None:
        """Nothing to tell Textual while everything fits: a layout costs a repaint."""
        height = self._header_lines + len(self._list.shown) + len(self._notes)
        if max(height, self.virtual_size.height) > self.scrollable_content_region.height:
            super()._grow()

    @property
    def row_under_cursor(self) -> Row | None:
        """The row the cursor is on."""
        return None if self.cursor_key is None else self._list.row(self.cursor_key)


class PaneHead(Line):
    """The upper border of a pane, with its title and its most telling figure in it."""

    def __init__(self, heading: Heading, *, ascii_only: bool) -> None:
        super().__init__(classes="pane-head")
        self.heading = heading
        self.needle = ""
        self.lit = False
        self.badge = ""
        self._corners = _CORNERS[ascii_only]

    def set_heading(self, heading: Heading, needle: str = "") -> None:
        """Shows another heading, and the filter that hides rows where there is one."""
        self.heading, self.needle = heading, needle
        self.redraw()

    def set_lit(self, lit: bool) -> None:
        """Shows that the focus is in the pane, or that it is not."""
        self.lit = lit
        self.redraw()

    def set_badge(self, badge: str) -> None:
        """Marks the pane as one of the past, with a word."""
        self.badge = badge
        self.redraw()

    def runs(self, width: int) -> Iterable[Cell]:
        start, bar, end = self._corners
        border = "past" if self.badge else "border-focus" if self.lit else "border"
        head = self.heading
        title = [Cell(f" {head.title} ", "accent" if self.lit else "text")]
        if head.subject:
            title.append(Cell(f"{head.subject} ", "text-dim"))
        if self.badge:
            title.insert(0, Cell(f" {self.badge}", "past"))
        if self.needle:
            title.append(Cell(f"/{self.needle} ", "ask"))
        room = width - 4
        title = list(clip(title, room))
        figure = [Cell(" "), *head.figure, Cell(" ")] if head.figure else []
        if length(title) + length(figure) > room:
            figure = self._shortened(figure, room - length(title))
        line = bar * max(room - length(title) - length(figure), 0)
        yield Cell(start + bar, border)
        yield from title
        yield Cell(line, border)
        yield from figure
        yield Cell(bar + end, border)

    @staticmethod
    def _shortened(figure: list[Cell], room: int) -> list[Cell]:
        """Whole parts of the figure, as many as fit: half a count would be another count."""
        kept = figure[:-1]
        while kept and length(kept) + 1 > room:
            kept.pop()
        return [*kept, figure[-1]] if len(kept) > 1 else []


class Pane(Vertical, Steady):
    """One pane. A subclass says what it shows of a scene."""

    TITLE: ClassVar[str]
    COLUMNS: ClassVar[tuple[Column, ...]]
    EMPTY: ClassVar[str] = ""
    KEEPS_CURSOR: ClassVar[bool] = False

    def __init__(self, make_pen: Callable[[], Pen], *, ascii_only: bool = False) -> None:
        super().__init__(id=type(self).__name__.removesuffix("Pane").lower(), classes="pane")
        self.due: datetime | None = None
        """When an age or countdown in the pane next has another text; UTC."""
        self._scene = Scene()
        self._picture: Picture | None = None
        self._drawn: tuple[tuple[object, ...], datetime] | None = None
        self._make_pen = make_pen
        self.head = PaneHead(Heading(self.TITLE), ascii_only=ascii_only)
        self.rows = PaneRows(self.COLUMNS, keeps_cursor=self.KEEPS_CURSOR, ascii_only=ascii_only)

    def compose(self) -> ComposeResult:
        yield self.head
        yield self.rows

    def picture(self, scene: Scene, pen: Pen) -> Picture:
        """The heading and rows of this scene; pure."""
        raise NotImplementedError

    def rests_on(self, scene: Scene) -> tuple[object, ...]:
        """What of the scene the picture is made of. While all of it is the very same and no text
        reads differently by the clock, the picture is the same, too."""
        return (scene.goal_id, scene.events, scene.trouble, scene.story, scene.past, *scene.parts)

    def show(self, scene: Scene) -> None:
        """Draws the scene at the present moment; what is the same is left alone."""
        self._scene, pen = scene, self._make_pen()
        if not self._is_drawn(scene, pen.now):
            self._draw(pen)

    def again(self) -> None:
        """Draws the same scene at the present moment, for what else the picture is made of."""
        self._draw(self._make_pen())

    def _is_drawn(self, scene: Scene, now: datetime) -> bool:
        if self._drawn is None:
            return False
        basis, at = self._drawn
        parts = self.rests_on(scene)
        same = len(parts) == len(basis) and all(map(operator.is_, parts, basis))
        return same and at <= now and (self.due is None or now < self.due)

    def _draw(self, pen: Pen) -> None:
        self._drawn = self.rests_on(self._scene), pen.now
        picture = self.picture(self._scene, pen)
        self.due = pen.next_change
        if picture == self._picture:
            return
        self._picture = picture
        self.head.set_heading(picture.heading, self.rows.needle)
        if not picture.rows:
            self.rows.set_empty(picture.empty or self.EMPTY)
        self.rows.set_rows(picture.rows, before=picture.before, more=picture.more)

    def turn(self, step: int) -> None:
        """Shows the next (``step`` 1) or previous (-1) page, where the picture is another one."""
        pen, shown = self._make_pen(), self._picture
        picture = self.picture(self._scene, pen)
        if shown is not None and picture.before != shown.before:
            self._picture, self.due = picture, pen.next_change
            self.rows.turn_to(picture.rows, before=picture.before, more=picture.more, step=step)

    def filter(self, needle: str) -> None:
        """Shows only rows that contain ``needle``, and says so in the border."""
        self.rows.set_filter(needle)
        self.head.set_heading(self.head.heading, needle)
        # A filter looks at all rows, those left out so far included.
        self.again()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.head.set_lit(True)

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        self.head.set_lit(False)


class GoalPane(Pane):
    """A pane about the selected goal."""

    def rests_on(self, scene: Scene) -> tuple[object, ...]:
        return (scene.view is None, scene.goal, scene.unread, scene.story, scene.past)

    def picture(self, scene: Scene, pen: Pen) -> Picture:
        if scene.goal is not None:
            return self.of_goal(scene.goal, scene, pen)
        heading = Heading(self.TITLE)
        if scene.view is None:
            return Picture(heading, (), strings.LOADING)
        if scene.unread is not None:
            return Picture(heading, (), safe(scene.unread.message))
        return Picture(heading, ())

    def of_goal(self, goal: GoalView, scene: Scene, pen: Pen) -> Picture:
        """As ``picture``, where the selected goal could be read."""
        raise NotImplementedError
