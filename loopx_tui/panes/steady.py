"""Widgets that are painted once when their size changes."""

from __future__ import annotations

from textual.geometry import Size
from textual.widget import Widget


class Steady(Widget):
    """For widgets that never scroll.

    Textual paints and lays out a widget again when its virtual size follows its
    size; here both are the same thing, and the first painting was right.
    """

    def _size_updated(
        self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True
    ) -> bool:
        return super()._size_updated(size, virtual_size, container_size, layout=False)
