"""The pane beside a list: everything about the row under its cursor, or the burn as a plot."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.app import ComposeResult

from loopx_tui import strings_goal as words
from loopx_tui.panes.pane import Pane, Picture
from loopx_tui.panes.sketch import Sketch
from loopx_tui.presentation import bookings, side
from loopx_tui.presentation.cells import Cell
from loopx_tui.presentation.facts import Facts, Subject
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene
from loopx_tui.presentation.subjects import subject_of

_PLOTTED = "bookings"


class SidePane(Pane):
    """Follows the cursor of the list in front."""

    TITLE = words.SIDE
    COLUMNS = side.COLUMNS
    EMPTY = words.NO_SIDE

    def __init__(self, make_pen: Callable[[], Pen], *, ascii_only: bool = False) -> None:
        super().__init__(make_pen, ascii_only=ascii_only)
        self._at: tuple[str, str | None] = ("", None)
        self._more: tuple[Subject | None, Facts] = (None, [])
        self._sketch = Sketch(self._plot, id="sketch")

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._sketch

    @property
    def subject(self) -> Subject | None:
        """The object shown."""
        return subject_of(*self._at, self._scene)

    def point(self, pane: str, key: str | None) -> None:
        """Shows row ``key`` of a pane."""
        if (pane, key) == self._at:
            return
        self._at = (pane, key)
        self.set_class(pane == _PLOTTED, "-plotted")
        self.again()
        self.rows.action_home()

    def add(self, subject: Subject, facts: Facts) -> None:
        """What was looked up of an object, shown as long as that is the one."""
        self._more = subject, facts
        self.again()

    def show(self, scene: Scene) -> None:
        super().show(scene)
        if self._at[0] == _PLOTTED:
            self._sketch.redraw()

    def _plot(self, width: int, height: int) -> Sequence[Sequence[Cell]]:
        goal, past = self._scene.goal, self._scene.past
        if goal is None:
            return []
        return bookings.plot(goal, self._make_pen(), width, height, past=past)

    def on_resize(self) -> None:
        self.call_after_refresh(self.again)

    def picture(self, scene: Scene, pen: Pen) -> Picture:
        pane, key = self._at
        if pane == _PLOTTED and scene.goal is not None:
            return Picture(bookings.heading(scene.goal), ())
        found = side.beside(pane, key, scene, pen)
        about, more = self._more
        facts = [*found.facts, *(more if about == subject_of(pane, key, scene) else ())]
        width = self.rows.scrollable_content_region.width
        return Picture(_heading(found.title), side.rows(facts, width))


def _heading(title: str) -> Heading:
    return Heading(title or words.SIDE, figure=(Cell(),) if not title else ())
