"""Keyed rows with a filter and a cursor that stays on its object; no screen in sight."""

from __future__ import annotations

from collections.abc import Sequence

from loopx_tui.presentation.cells import Row

LIMIT = 2000


class RowList:
    """The rows of a pane, which of them are shown, and which one the cursor is on.

    ``shown`` holds the rows that match the filter, at most ``LIMIT``; ``more``
    counts those beyond it. ``cursor`` is a key of a shown row, or ``None``
    when nothing is shown. A key is unique; a later row of the same key stands
    for an earlier one.
    """

    def __init__(self) -> None:
        self.shown: list[Row] = []
        self.more = 0
        self.needle = ""
        self.cursor: str | None = None
        self._rows: dict[str, Row] = {}
        self._more_elsewhere = 0
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

    def replace(self, rows: Sequence[Row], more: int) -> str | None:
        """Takes ``rows`` for the old ones; ``more`` counts rows the caller left out.

        The cursor stays on its key; where that is shown no longer, its key is
        returned and the cursor is on the nearest row that is left.
        """
        self._rows = {row.key: row for row in rows}
        self._more_elsewhere = more
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
        self.shown = matching[:LIMIT]
        self.more = len(matching) - len(self.shown) + self._more_elsewhere
        self._places = {row.key: place for place, row in enumerate(self.shown)}
        if self.cursor in self._places:
            return None
        lost = self.cursor
        self.cursor = self._neighbour(before, old_place)
        return lost

    def _neighbour(self, before: list[Row], place: int | None) -> str | None:
        if place is not None:
            for row in [*before[place + 1 :], *reversed(before[:place])]:
                if row.key in self._places:
                    return row.key
        return self.shown[0].key if self.shown else None
