"""What stands in a pane's upper border: its title and its most telling figure."""

from __future__ import annotations

from typing import NamedTuple

from loopx_tui.presentation.cells import Cell


class Heading(NamedTuple):
    """``title`` at the left, then ``subject`` dim, and ``figure`` at the right."""

    title: str
    subject: str = ""
    figure: tuple[Cell, ...] = ()
