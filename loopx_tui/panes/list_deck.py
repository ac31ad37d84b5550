"""One list and beside it, or below, everything about the row under its cursor."""

from __future__ import annotations

from collections.abc import Callable

from textual import on
from textual.app import ComposeResult

from loopx_tui import strings_goal as words
from loopx_tui.panes.deck import Column, Deck
from loopx_tui.panes.goal_deck import Split
from loopx_tui.panes.pane import Pane, Picture
from loopx_tui.presentation import side
from loopx_tui.presentation.facts import Facts
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene
from loopx_tui.widgets.rows import Rows

Told = Callable[[str, Pen], tuple[str, Facts]]
"""The title and facts of the row of a key."""


class SidePane(Pane):
    """What ``tell`` gives of the row that the list's cursor is on."""

    TITLE = words.SIDE
    COLUMNS = side.COLUMNS
    EMPTY = words.NO_SIDE

    def __init__(self, make_pen: Callable[[], Pen], tell: Told, *, ascii_only: bool) -> None:
        super().__init__(make_pen, ascii_only=ascii_only)
        self._tell = tell
        self._key: str | None = None

    def point(self, key: str | None) -> None:
        """Shows the row of this key."""
        moved, self._key = key != self._key, key
        self.again()
        if moved:
            self.rows.action_home()

    def on_resize(self) -> None:
        self.call_after_refresh(self.again)

    def picture(self, scene: Scene, pen: Pen) -> Picture:
        if self._key is None:
            return Picture(Heading(self.TITLE), ())
        title, facts = self._tell(self._key, pen)
        width = self.rows.scrollable_content_region.width
        return Picture(Heading(title), side.rows(facts, width))


class ListDeck(Deck):
    """``make`` makes the list; ``tell`` says what stands beside it."""

    def __init__(self, pane: Pane, make_pen: Callable[[], Pen], tell: Told, *, ascii_only: bool):
        self.list = pane
        self.side = SidePane(make_pen, tell, ascii_only=ascii_only)
        super().__init__({1: pane}, self.side)
        pane.add_class("-front")

    def compose(self) -> ComposeResult:
        lists = Column(self.list, id="lists")
        self.holders = {"lists": lists}
        yield Split(lists, self.side, id="split")

    def can_hide(self, pane: Pane) -> bool:
        return False

    def show(self, scene: Scene) -> None:
        super().show(scene)
        self.side.point(self.list.rows.cursor_key)

    def _front(self, number: int, pane: Pane) -> None:
        """There is one."""

    @on(Rows.Highlighted)
    def _cursor_moved(self, event: Rows.Highlighted) -> None:
        if event.rows is self.list.rows:
            self.side.point(event.key)
