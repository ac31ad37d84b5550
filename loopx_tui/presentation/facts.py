"""Labelled texts: what the window about one object is made of."""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

from loopx_kernel.text import safe_block

from loopx_tui.presentation.cells import Cell
from loopx_tui.presentation.pen import Pen

OWNERS: Final = "owners"
"""The kind of the one subject that is about no goal: the people of the workspace."""


class Subject(NamedTuple):
    """What a detail is about, by key: it stays on its object whatever the lists do."""

    kind: str
    goal_id: str
    id: str


class Fact(NamedTuple):
    """One labelled text, which may have several lines."""

    label: str
    value: Cell


Facts = list[Fact]


def plain(label: str, text: str, style: str = "text") -> Fact:
    """A labelled text, safe to show."""
    return Fact(label, Cell(safe_block(text), style))


def when(label: str, moment: datetime | None, pen: Pen) -> Facts:
    """A labelled moment; nothing where there is none."""
    return [Fact(label, Cell(pen.instant(moment), "text-dim"))] if moment else []
