"""The row view: keyed rows, of which only what changed is drawn again.

The one widget we write ourselves. Textual repaints what a widget marks dirty
and compares nothing; this one compares, so that an equal or unseen change
writes nothing to the terminal and one changed cell writes that cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.widgets.row_view import RowView, Words

__all__ = ["Rows", "Words"]


class Rows(RowView, can_focus=True, inherit_bindings=False):
    """Rows with a cursor, scroll and filter that stay on the same key.

    Text is drawn as it is, never as markup; what came from outside has passed
    ``loopx_kernel.text.safe`` before. Style names are looked up among the
    theme's variables; component classes ``rows--cursor`` (the focused cursor's
    ground), ``rows--header`` and ``rows--note``.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "up", "Up", show=False, id="rows.up"),
        Binding("down,j", "down", "Down", show=False, id="rows.down"),
        Binding("pageup,ctrl+u", "page_up", "Page up", show=False, id="rows.page-up"),
        Binding("pagedown,ctrl+d", "page_down", "Page down", show=False, id="rows.page-down"),
        Binding("home,g", "home", "First", show=False, id="rows.first"),
        Binding("end,G", "end", "Last", show=False, id="rows.last"),
        Binding("enter", "open", "Open", show=False, id="rows.open"),
        Binding("n", "find(1)", "Next match", show=False, id="rows.next-match"),
        Binding("N", "find(-1)", "Previous match", show=False, id="rows.previous-match"),
    ]

    class Opened(RowView.About):
        """A person asked to open the row: enter, or a double click."""

    class Vanished(RowView.About):
        """A change of the rows took the selected one away; the cursor is on its neighbour."""

    class PageWanted(RowView.About):
        """The cursor went on beyond the rows that are held, the caller's next page (``step`` 1)
        or previous one (-1) being left out; the key is where it stands."""

        def __init__(self, rows: Rows, key: str, step: int) -> None:
            super().__init__(rows, key)
            self.step = step

    # What a pane asks and tells

    @property
    def cursor_key(self) -> str | None:
        """The key under the cursor; ``None`` while nothing is shown."""
        return self._list.cursor

    @property
    def shown(self) -> Sequence[Row]:
        """The rows that match the filter, at most 2,000, in order."""
        return self._list.shown

    @property
    def needle(self) -> str:
        """The text that rows are filtered by; empty without a filter."""
        return self._list.needle

    def set_rows(self, rows: Sequence[Row], *, before: int = 0, more: int = 0) -> None:
        """Shows ``rows`` in their order; ``before`` and ``more`` count those the caller left out.

        Only lines whose content differs are drawn again. Of more than 2,000 rows a
        page is shown, the others counted in a last line; the cursor turns the pages.
        """
        with self._changing():
            lost = self._list.replace(rows, before, more)
        if lost is not None:
            self.post_message(self.Vanished(self, lost))

    def turn_to(self, rows: Sequence[Row], *, before: int, more: int, step: int) -> None:
        """Shows the caller's next (``step`` 1) or previous (-1) page in place of this one."""
        with self._changing():
            self._list.let_go()
            self._list.replace(rows, before, more)
            self._list.go(0 if step > 0 else len(self._list.shown))

    def set_cell(self, key: str, column: str, cell: Cell) -> None:
        """Replaces one cell, for ages and countdowns; an unknown key is ignored.

        ``KeyError`` for a column that does not exist.
        """
        places = {one.name: place for place, one in enumerate(self._painter.columns)}
        old, place = self._list.row(key), places[column]
        if old is None or place >= len(old.cells) or old.cells[place] == cell:
            return
        new = old._replace(cells=(*old.cells[:place], cell, *old.cells[place + 1 :]))
        if not self._painter.same_needs(old, new):
            with self._changing():
                self._list.put(new)
            return
        self._list.put(new)
        if (shown_at := self._list.place(key)) is not None:
            self._repaint_cells(shown_at - self._first_place, old, new)

    def set_filter(self, needle: str) -> None:
        """Shows only rows that contain ``needle`` in any cell, whatever its case."""
        with self._changing():
            self._list.filter(needle)

    def select(self, key: str) -> bool:
        """Puts the cursor on ``key`` and brings it into view; false where it is not shown."""
        place = self._list.place(key)
        if place is not None:
            self._go(place)
        return place is not None

    # Keys and mouse

    def action_up(self) -> None:
        self._step(-1)

    def action_down(self) -> None:
        self._step(1)

    def action_page_up(self) -> None:
        self._step(-self._page)

    def action_page_down(self) -> None:
        self._step(self._page)

    def action_home(self) -> None:
        self._go(0)

    def action_end(self) -> None:
        self._go(len(self._list.shown) - 1)

    def action_find(self, step: int) -> None:
        with self._moving():
            self._list.find(step)

    def action_open(self) -> None:
        if self._list.cursor is not None:
            self.post_message(self.Opened(self, self._list.cursor))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or offset.y < self._header_lines:
            return
        place = self._first_place + offset.y
        if place < len(self._list.shown):
            self._go(place)
            if event.chain == 2:
                self.action_open()

    @property
    def _place(self) -> int:
        return self._list.place(self._list.cursor) or 0

    def _step(self, rows: int) -> None:
        """Moves by so many rows; from the end of a page to the next one."""
        end = len(self._list.shown) - 1 if rows > 0 else 0
        if self._place == end and (self._list.more if rows > 0 else self._list.before):
            self._turn(1 if rows > 0 else -1)
        else:
            self._go(self._place + rows)

    def _turn(self, step: int) -> None:
        with self._changing():
            turned = self._list.turn(step)
        if not turned and self._list.cursor is not None:
            self.post_message(self.PageWanted(self, self._list.cursor, step))

    def _go(self, place: int) -> None:
        with self._moving():
            self._list.go(place)
