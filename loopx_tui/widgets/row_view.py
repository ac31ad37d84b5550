"""Drawing keyed rows: which lines of the screen differ, and only those again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar, NamedTuple

from rich.style import Style
from textual.cache import LRUCache
from textual.color import Color, ColorParseError
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from loopx_tui.presentation.cells import Cell, Row, wrap
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.glyphs import glyph
from loopx_tui.widgets.row_list import RowList
from loopx_tui.widgets.row_painter import EDGE, RowPainter


class Words(NamedTuple):
    """What a row view says for itself; ``{needle}`` and ``{count}`` are filled in."""

    empty: str = ""
    no_match: str = "Nothing matches {needle}; {count} rows are hidden"
    more: str = "… {count} more"
    before: str = "… {count} before"


class RowView(ScrollView):
    """Shows a ``RowList`` and keeps the screen level with it.

    Every change runs inside ``_changing``, which looks at the visible lines
    before and after and marks dirty the ones that differ. Component classes:
    ``rows--cursor`` (the focused cursor's ground), ``rows--header``, ``rows--note``.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor", "rows--header", "rows--note"}
    DEFAULT_CSS = """
    RowView {
        background: $background;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        & > .rows--cursor { background: $surface; text-style: bold; }
        & > .rows--header { color: $text-muted; }
        & > .rows--note { color: $text-muted; }
    }
    """

    class About(Message):
        """Base of the messages about one row, named by its key."""

        def __init__(self, rows: RowView, key: str) -> None:
            super().__init__()
            self.rows = rows
            self.key = key

        @property
        def control(self) -> RowView:
            """The row view that sent it, for ``@on`` selectors."""
            return self.rows

    class Highlighted(About, namespace="rows"):
        """The cursor is on another key now, by a person's act or a change of the rows."""

        def can_replace(self, message: Message) -> bool:
            """A burst of moves is one message: the last."""
            return isinstance(message, RowView.Highlighted) and message.rows is self.rows

    def __init__(
        self,
        columns: Sequence[Column],
        *,
        words: Words = Words(),  # noqa: B008 - immutable
        show_header: bool = False,
        ascii_only: bool = False,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._words = words
        self._header_lines = int(show_header)
        self._bar = glyph("cursor", ascii_only=ascii_only)
        self._list = RowList()
        self._painter = RowPainter(columns, show_header=show_header, ascii_only=ascii_only)
        self._notes: list[str] = []
        self._strips: LRUCache[str, tuple[Row, Strip]] = LRUCache(512)
        self._colours: dict[str, Style] = {}
        self._anchoring = False

    def render_line(self, y: int) -> Strip:
        """One line of the view; ``y`` counts from its top, the header included."""
        if self._painter.width != self.scrollable_content_region.width:
            self._plan()  # painted before the resize event came: once is enough
        if y < self._header_lines:
            return self._painter.header(self._ground("rows--header"))
        line = self._line(self._first_place + y)
        if isinstance(line, str):
            return self._painter.note(line, self._ground("rows--note"))
        if line.key == self._list.cursor:
            style = "accent" if self.has_focus else "text-dim"
            ground = self._ground("rows--cursor") if self.has_focus else self.rich_style
            return self._painter.row(line, Cell(self._bar, style), ground, self._colour)
        cached = self._strips.get(line.key)
        if cached is None or cached[0] != line:
            strip = self._painter.row(line, line.mark, self.rich_style, self._colour)
            cached = self._strips[line.key] = (line, strip)
        return cached[1]

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()
        self._colours.clear()

    def on_resize(self) -> None:
        # What changed while it was hidden was planned for no room.
        notes = self._notes
        if self._plan() or self._notes != notes:
            self.refresh()
        self._grow()
        self._bring_into_view()

    def on_focus(self) -> None:
        self._dirty_place(self._list.place(self._list.cursor))

    def on_blur(self) -> None:
        self._dirty_place(self._list.place(self._list.cursor))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if not self._anchoring:
            super().watch_scroll_y(old_value, new_value)
        elif self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = new_value

    def _ground(self, component: str) -> Style:
        return self.get_component_rich_style(component)

    def _colour(self, name: str) -> Style:
        if name not in self._colours:
            try:
                colour = Color.parse(self.app.theme_variables[name]).rich_color
                self._colours[name] = Style(color=colour)
            except (KeyError, ColorParseError):
                self._colours[name] = Style()
        return self._colours[name]

    # Which lines differ

    @property
    def _first_place(self) -> int:
        """The place in the list of the view's line 0, which the header may cover."""
        return round(self.scroll_y) - self._header_lines

    @property
    def _page(self) -> int:
        """How many rows are visible at once."""
        return max(self.scrollable_content_region.height - self._header_lines, 1)

    def _line(self, place: int) -> Row | str:
        note = place - len(self._list.shown)
        if note < 0:
            return self._list.shown[place]
        return self._notes[note] if note < len(self._notes) else ""

    def _screenful(self) -> list[tuple[Row | str, bool]]:
        cursor, first = self._list.place(self._list.cursor), self._first_place + self._header_lines
        return [(self._line(place), place == cursor) for place in range(first, first + self._page)]

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Around any change of the list: afterwards the screen shows it."""
        before, key, line = self._screenful(), *self._anchor()
        cursor = self._list.cursor
        yield
        moved = self._plan()
        self._grow()
        self._hold(key, line)
        if moved:
            self.refresh()
        else:
            self._repaint_differences(before)
        if self._list.cursor != cursor:
            self._cursor_moved()

    def _anchor(self) -> tuple[str | None, int]:
        """The key that must keep its line on the screen, and that line."""
        first = self._first_place + self._header_lines
        place = self._list.place(self._list.cursor)
        if place is None or not first <= place < first + self._page:
            place = first
        key = self._list.shown[place].key if place < len(self._list.shown) else None
        return key, place - first

    def _hold(self, key: str | None, line: int) -> None:
        """Scrolls, without drawing, so that ``key`` is on ``line`` of the rows again.

        A view that stands at its top stays there, so that new rows are seen,
        unless that would push a focused cursor out of sight.
        """
        target, place = round(self.scroll_y), self._list.place(key)
        at_top = target == 0 and not (self.has_focus and (place or 0) >= self._page)
        if place is not None and not at_top:
            target = place - line
        self._scroll_quietly(target)

    def _scroll_quietly(self, target: int) -> None:
        self._anchoring = True
        try:
            self.scroll_to(y=max(target, 0), animate=False, force=True)
        finally:
            self._anchoring = False

    def _plan(self) -> bool:
        """Plans columns and notes anew; true where the columns moved."""
        width = self.scrollable_content_region.width
        moved = bool(width) and self._painter.lay_out(self._list.shown, width)
        self._notes = self._make_notes(width)
        if moved:
            self._strips.clear()
        return moved

    def _grow(self) -> None:
        """Tells Textual how long the view is, without drawing every line again."""
        region = self.scrollable_content_region
        height = self._header_lines + len(self._list.shown) + len(self._notes)
        size = Size(region.width, height)
        if not region or size == self.virtual_size:
            return
        self.set_reactive(Widget.virtual_size, size)
        scrolls = height > region.height
        if scrolls != self.show_vertical_scrollbar:
            # The gutter is stable: a scrollbar that comes or goes moves nothing.
            self.set_reactive(Widget.show_vertical_scrollbar, scrolls)
            self.refresh(repaint=False, layout=True)
        elif scrolls:
            self.vertical_scrollbar.window_virtual_size = height

    def _make_notes(self, width: int) -> list[str]:
        rows = self._list
        if rows.shown:
            counts = (self._words.more, rows.more), (self._words.before, rows.before)
            told = "   ".join(words.format(count=f"{count:,}") for words, count in counts if count)
            return [told] if told else []
        if rows.needle and len(rows):
            text = self._words.no_match.format(needle=rows.needle, count=len(rows))
            return wrap(text, width - EDGE)
        return wrap(self._words.empty, width - EDGE) if self._words.empty else []

    def _repaint_differences(self, before: list[tuple[Row | str, bool]]) -> None:
        lines = enumerate(zip(before, self._screenful(), strict=False), self._header_lines)
        for line, ((old, was_cursor), (new, is_cursor)) in lines:
            if (old, was_cursor) == (new, is_cursor):
                continue
            if was_cursor != is_cursor or isinstance(old, str) or isinstance(new, str):
                self._dirty(line)
            else:
                self._repaint_cells(line, old, new)

    def _repaint_cells(self, line: int, old: Row, new: Row) -> None:
        """Marks dirty what differs between two rows that had and have ``line`` of the view."""
        if old.key != new.key:
            self._dirty(line)
            return
        left, width = self._painter.difference(old, new)
        if width:
            self._dirty(line, left, width)

    def _dirty(self, line: int, left: int = 0, width: int | None = None) -> None:
        if self._header_lines <= line < self._header_lines + self._page:
            self.refresh(Region(left, line, self._painter.width if width is None else width, 1))

    def _dirty_place(self, place: int | None) -> None:
        if place is not None:
            self._dirty(place - self._first_place)

    # The cursor

    @contextmanager
    def _moving(self) -> Iterator[None]:
        """Around a move of the cursor that leaves the rows alone."""
        cursor = self._list.cursor
        yield
        if self._list.cursor != cursor:
            self._dirty_place(self._list.place(cursor))
            self._dirty_place(self._list.place(self._list.cursor))
            self._cursor_moved()

    def _cursor_moved(self) -> None:
        self._bring_into_view()
        if self._list.cursor is not None:
            self.post_message(self.Highlighted(self, self._list.cursor))

    def _bring_into_view(self) -> None:
        place, first = self._list.place(self._list.cursor), round(self.scroll_y)
        if place is not None and not first <= place < first + self._page:
            target = place if place < first else place - self._page + 1
            self.scroll_to(y=target, animate=False, force=True)
