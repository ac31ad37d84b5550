"""Rows that need not be made again: made of the same, and no text in them reads differently yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

from loopx_tui.presentation.cells import Row
from loopx_tui.presentation.pen import Pen

T = TypeVar("T")


class _Made(NamedTuple):
    of: object
    row: Row
    at: datetime
    due: datetime | None


class KeptRows(Generic[T]):
    """Remembers the rows it gave last. ``name`` tells things apart; ``make`` makes the row of one,
    of nothing but it and the pen."""

    def __init__(self, name: Callable[[T], str], make: Callable[[T, Pen], Row]) -> None:
        self._name = name
        self._make = make
        self._known: dict[str, _Made] = {}

    def rows(self, things: Iterable[T], pen: Pen) -> list[Row]:
        """The rows of these things at the pen's moment; the pen knows when the first of them will
        read differently."""
        before, self._known = self._known, {}
        for thing in things:
            name = self._name(thing)
            made = before.get(name)
            if made is None or made.of != thing or not _is_good(made, pen.now):
                made = self._made(thing, pen)
            if made.due is not None:
                pen.look_again(made.due)
            self._known[name] = made
        return [made.row for made in self._known.values()]

    def _made(self, thing: T, pen: Pen) -> _Made:
        own = pen.another()
        row = self._make(thing, own)
        return _Made(thing, row, own.now, own.next_change)


def _is_good(made: _Made, now: datetime) -> bool:
    return made.at <= now and (made.due is None or now < made.due)
