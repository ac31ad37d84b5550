"""Keyed rows with a filter and a cursor that stays on its object; no screen in sight."""

from __future__ import annotations

from collections.abc import Sequence

from loopx_tui.presentation.cells import Row

LIMIT = 2000


class RowList:
    """The rows of a pane, which of them are shown, and which one the cursor is on.

    ``shown`` holds the page of the matching rows that the cursor is on, at most
    ``LIMIT``; ``before`` and ``more`` count those before and after it, those that
    the caller left out included. ``cursor`` is a key of a shown row, or ``None``
    when nothing is shown. A key is unique; a later row of the same key stands
    for an earlier one.
    """

    def __init__(self) -> None:
        self.shown: list[Row] = []
        self.before = 0
        self.more = 0
        self.needle = ""
        self.cursor: str | None = None
        self._rows: dict[str, Row] = {}
        self._matching: list[Row] = []
        self._start = 0
        self._elsewhere = (0, 0)
        self._places: dict[str, int] = {}
        self._sought = ""

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def row(self, key: str) -> Row | None:
        """The row called ``key``, shown or not."""
        return self._rows.get(key)

    def place(self, key: str | None) -> int | None:
        """The index of ``key`` among the shown rows."""
        return None if key is None else self._places.get(key)

    def replace(self, rows: Sequence[Row], before: int = 0, more: int = 0) -> str | None:
        """Takes ``rows`` for the old ones; ``before`` and ``more`` count those the caller left out.

        The cursor stays on its key; where that is shown no longer, its key is
        returned and the cursor is on the nearest row that is left.
        """
        self._rows = {row.key: row for row in rows}
        self._elsewhere = before, more
        return self._show()

    def put(self, row: Row) -> None:
        """Replaces the content of one row that is held, without filtering again."""
        self._rows[row.key] = row
        place = self._places.get(row.key)
        if place is not None:
            self.shown[place] = row

    def filter(self, needle: str) -> None:
        """Shows the rows that contain ``needle``, whatever its case; all with an empty one."""
        self.needle = needle
        self._sought = needle or self._sought
        self._show()

    def select(self, key: str) -> bool:
        """Puts the cursor on ``key``; false where that is not shown."""
        if key not in self._places:
            return False
        self.cursor = key
        return True

    def go(self, place: int) -> None:
        """Puts the cursor on the shown row nearest to ``place``."""
        if self.shown:
            self.cursor = self.shown[min(max(place, 0), len(self.shown) - 1)].key

    def turn(self, step: int) -> bool:
        """Moves to the row after (``step`` 1) or before (-1) the page; false where none is held."""
        place = self._start + (len(self.shown) if step > 0 else -1)
        if not 0 <= place < len(self._matching):
            return False
        self.cursor = self._matching[place].key
        self._show()
        return True

    def let_go(self) -> None:
        """Takes the cursor off its row, which may go without being missed."""
        self.cursor = None

    def find(self, step: int) -> bool:
        """Moves to the next (``step`` 1) or previous (-1) match of the last filter, round the end.

        False where nothing was looked for yet or nothing matches.
        """
        here = self.place(self.cursor)
        if not self._sought or here is None:
            return False
        wanted = self._sought.casefold()
        for distance in range(1, len(self.shown) + 1):
            row = self.shown[(here + step * distance) % len(self.shown)]
            if wanted in row.haystack:
                self.cursor = row.key
                return True
        return False

    def _show(self) -> str | None:
        before, wanted = self.shown, self.needle.casefold()
        matching = [row for row in self._rows.values() if not wanted or wanted in row.haystack]
        old_place = self._places.get(self.cursor) if self.cursor is not None else None
        self._matching, self._start = matching, self._page_start(matching)
        self.shown = matching[self._start : self._start + LIMIT]
        self.before = self._elsewhere[0] + self._start
        self.more = len(matching) - self._start - len(self.shown) + self._elsewhere[1]
        self._places = {row.key: place for place, row in enumerate(self.shown)}
        if self.cursor in self._places:
            return None
        lost = self.cursor
        self.cursor = self._neighbour(before, old_place)
        return lost

    def _page_start(self, matching: list[Row]) -> int:
        """Where the page begins that holds the cursor, or else the one shown last."""
        if len(matching) <= LIMIT:
            return 0
        places = (place for place, row in enumerate(matching) if row.key == self.cursor)
        return min(next(places, self._start), len(matching) - 1) // LIMIT * LIMIT

    def _neighbour(self, before: list[Row], place: int | None) -> str | None:
        if place is not None:
            for row in [*before[place + 1 :], *reversed(before[:place])]:
                if row.key in self._places:
                    return row.key
        return self.shown[0].key if self.shown else None
