"""Panes that share a screen: which has the focus, which is zoomed, which are hidden."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime

from textual.containers import Container, Horizontal, Vertical
from textual.widget import Widget

from loopx_tui.panes.pane import Pane
from loopx_tui.panes.steady import Steady
from loopx_tui.presentation.scene import Scene


class Column(Vertical, Steady):
    """Panes below one another."""


class Across(Horizontal, Steady):
    """Panes side by side."""


class Deck(Container, Steady):
    """Holds panes, numbered as on the keys, and others without a number.

    A subclass says in ``_front`` what bringing a pane to the front means where panes share one
    place. ``holders`` are the widgets between the deck and its panes; the styles hide those that
    hold nothing shown, by the classes ``-zoom`` and ``-hidden``.
    """

    def __init__(self, panes: Mapping[int, Pane], *others: Pane) -> None:
        super().__init__(id="body")
        self._panes = dict(panes)
        self._others = others
        self._zoomed: Pane | None = None
        self.holders: dict[str, Widget] = {}

    def __iter__(self) -> Iterator[Pane]:
        yield from self._panes.values()
        yield from self._others

    @property
    def focused(self) -> Pane | None:
        """The pane with the focus."""
        return next((pane for pane in self if pane.rows.has_focus), None)

    @property
    def first(self) -> Pane:
        """The pane that keys go to where none has the focus."""
        return next(iter(self))

    @property
    def due(self) -> datetime | None:
        """When the first age or countdown will read differently; UTC."""
        return min((pane.due for pane in self if pane.due is not None), default=None)

    def show(self, scene: Scene) -> None:
        """Draws the scene in every pane; what is equal is left alone."""
        for pane in self:
            pane.show(scene)

    def tick(self, now: datetime) -> None:
        """Draws the panes again in which a text differs at ``now``."""
        for pane in self:
            if pane.due is not None and pane.due <= now:
                pane.again()

    def go(self, number: int) -> None:
        """Moves the focus to a pane, which comes to the front, and back where it was hidden."""
        pane = self._panes.get(number)
        if pane is None:
            return
        self._set_hidden(pane, False)
        if self._zoomed is not None:
            self._zoom(pane)
        self._front(number, pane)
        pane.rows.focus()

    @property
    def zoomed(self) -> Pane | None:
        """The pane that has the whole deck."""
        return self._zoomed

    def zoom(self, pane: Pane | None) -> None:
        """Gives the whole deck to a pane, or takes it back."""
        self._zoom(pane)

    def toggle_zoom(self) -> None:
        """Gives the whole deck to the pane with the focus, or takes it back."""
        self._zoom(None if self._zoomed else self.focused)

    def hide(self) -> Pane | None:
        """Takes the pane with the focus away, until its number is pressed; returns it.

        ``None`` where none has the focus, or it is the last one.
        """
        pane = self.focused
        rest = [one for one in self if one is not pane and one.region.area]
        if pane is None or not rest or not self.can_hide(pane):
            return None
        self._zoom(None)
        self._set_hidden(pane, True)
        rest[0].rows.focus()
        return pane

    def can_hide(self, pane: Pane) -> bool:
        """Whether a pane has a place of its own, and a key that brings it back."""
        return pane in self._panes.values()

    @property
    def hidden(self) -> tuple[str, ...]:
        """The ids of the hidden panes."""
        return tuple(pane.id or "" for pane in self if pane.has_class("-hidden"))

    def hide_all(self, ids: Collection[str]) -> None:
        """Takes these panes away, unless none would be left."""
        numbered = list(self._panes.values())
        if all(pane.id in ids for pane in numbered):
            return
        for pane in numbered:
            self._set_hidden(pane, pane.id in ids)

    def show_all(self) -> None:
        """Brings every hidden pane back."""
        for pane in self:
            self._set_hidden(pane, False)

    def number_of(self, pane: Pane) -> int:
        """The number of a pane's key; 0 for one that has none."""
        return next((number for number, one in self._panes.items() if one is pane), 0)

    def _front(self, number: int, pane: Pane) -> None:
        """Brings a pane to the front where it shares a place."""
        raise NotImplementedError

    def _zoom(self, pane: Pane | None) -> None:
        self._zoomed = pane
        self.set_class(pane is not None, "-zoomed")
        self._mark("-zoom", pane)

    def _set_hidden(self, pane: Pane, hidden: bool) -> None:
        pane.set_class(hidden, "-hidden")
        for holder in self.holders.values():
            inside = [one for one in self if holder in one.ancestors]
            holder.set_class(all(one.has_class("-hidden") for one in inside), "-hidden")

    def _mark(self, name: str, pane: Pane | None) -> None:
        """Puts a class on one pane and on what holds it, for the styles."""
        for other in self:
            other.set_class(other is pane, name)
        for holder in self.holders.values():
            holder.set_class(pane is not None and holder in pane.ancestors, name)
