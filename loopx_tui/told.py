"""What the feed tells the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from textual.message import Message

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from loopx_kernel.views.workspace import WorkspaceView
    from loopx_kernel.workspace import EventRow

Liveness = Literal["start", "live", "polling", "down"]
"""How changes are noticed; ``start`` until watching has begun."""


@dataclass(frozen=True, slots=True)
class Told:
    """What one reading gave.

    ``view`` is ``None`` where there is no workspace, and ``missing`` says so in
    a sentence. ``events`` belong to ``goal_id``. ``observed`` is the time of
    the last reading that differed; UTC.
    """

    root: Path
    view: WorkspaceView | None = None
    goal_id: str | None = None
    events: tuple[EventRow, ...] = ()
    observed: datetime | None = None
    missing: str = ""
    read_only: bool = False


class OwnFiles(Message):
    """Files of the person's own configuration differ; ``paths`` says which."""

    def __init__(self, paths: frozenset[Path]) -> None:
        super().__init__()
        self.paths = paths


class Snapshot(Message):
    """A reading for the screen; a later one stands for all before it."""

    def __init__(self, told: Told, mode: Liveness, reason: str) -> None:
        super().__init__()
        self.told = told
        self.mode = mode
        self.reason = reason

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Snapshot)
