"""What the ledger holds of one goal beyond its view, read for the goal's own screens.

All of it is for worker threads. The workspace is one of its own, opened at the first
question and kept, so that each further one reads only what is new.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from loopx_kernel.errors import UsageError

from loopx_tui.presentation.story import Story

if TYPE_CHECKING:
    from loopx_kernel.domain.records import Todo
    from loopx_kernel.domain.records_of_work import Turn
    from loopx_kernel.views.render_plain import TextLine
    from loopx_kernel.workspace import EventRow, Past, Workspace
    from loopx_kernel.workspace.objectives import Version

Progress = Callable[[int, int], None]
"""Called while much is read: how much so far, and how much in all."""
EVENTS_THEN = 100
"""How many of the last lines are shown at a moment of the past: it is read anew at each step."""
REPORT_DAYS = 7
TURNS_EARLIER = 500


class Knowing(Protocol):
    """What the goal's screens ask; each may take long and raises ``LoopxError`` alone."""

    def now(self, events: int) -> Story:
        """The goal as it is, with that many of its last lines."""

    def versions(self) -> tuple[Version, ...]:
        """The objective in all its versions, the first one first."""

    def turns(self) -> tuple[Turn, ...]:
        """The last turns that left the state, oldest first."""

    def finished(self, most: int) -> tuple[Todo, ...]:
        """The last ``most`` todos that left the state, oldest first."""

    def report(self) -> tuple[TextLine, ...]:
        """The report on the last seven days, line by line."""

    def at(self, seq: int) -> tuple[Past, Story]:
        """The goal right after line ``seq``, with the lines up to it."""

    def last_seq(self) -> int:
        """The number of the last line."""

    def seq_at(self, moment: datetime) -> int:
        """The last line that bears a time up to ``moment`` (UTC); the first where none does."""

    def seq_of(self, event_id: str) -> int:
        """The line of an event; ``unknown_event``."""

    def seq_about(self, object_id: str, seq: int, step: int) -> int | None:
        """The next line after ``seq`` (``step`` 1) or the last before it (-1) about an object."""


class Insight:
    """``open_workspace`` is given what is to be told while a journal is read."""

    def __init__(
        self, open_workspace: Callable[[Progress], Workspace], goal_id: str, progress: Progress
    ) -> None:
        self._open = open_workspace
        self._goal_id = goal_id
        self._progress = progress
        self._workspace: Workspace | None = None

    def now(self, events: int) -> Story:
        """See ``Knowing``."""
        workspace = self._opened()
        state = workspace.state(self._goal_id)
        return Story(state, workspace.events.tail(self._goal_id, events))

    def versions(self) -> tuple[Version, ...]:
        """See ``Knowing``."""
        return self._opened().objectives.history(self._goal_id)

    def turns(self) -> tuple[Turn, ...]:
        """See ``Knowing``."""
        return tuple(self._opened().history.turns(self._goal_id, TURNS_EARLIER))

    def finished(self, most: int) -> tuple[Todo, ...]:
        """See ``Knowing``."""
        return tuple(self._opened().history.finished(self._goal_id, most))

    def report(self) -> tuple[TextLine, ...]:
        """See ``Knowing``."""
        from loopx_kernel.views.render_plain import plain_lines
        from loopx_kernel.views.report import Period
        from loopx_kernel.views.report_document import document

        workspace = self._opened()
        now = workspace.clock.read().now
        period = Period(now - timedelta(days=REPORT_DAYS), now)
        return tuple(plain_lines(document(workspace.report(self._goal_id, period))))

    def at(self, seq: int) -> tuple[Past, Story]:
        """See ``Knowing``."""
        workspace = self._opened()
        past = workspace.history.at(self._goal_id, seq)
        page = workspace.events.page(self._goal_id, EVENTS_THEN, before=seq + 1)
        return past, Story(past.state, page.rows)

    def last_seq(self) -> int:
        """See ``Knowing``."""
        return self._opened().state(self._goal_id).seq

    def seq_at(self, moment: datetime) -> int:
        """See ``Knowing``."""
        # The end of a stretch of time is left out of it.
        row = self._first(end=moment + timedelta(microseconds=1))
        return row.event.seq if row else 1

    def seq_of(self, event_id: str) -> int:
        """See ``Knowing``."""
        return self._opened().events.show(self._goal_id, event_id).event.seq

    def seq_about(self, object_id: str, seq: int, step: int) -> int | None:
        """See ``Knowing``."""
        asked: dict[str, Any] = {"since": seq} if step > 0 else {"before": seq}
        row = self._first(about=object_id, **asked)
        return row.event.seq if row else None

    def _first(self, **asked: Any) -> EventRow | None:
        rows = self._opened().events.page(self._goal_id, 1, **asked).rows
        return rows[0] if rows else None

    def _opened(self) -> Workspace:
        if self._workspace is None:
            self._workspace = self._open(self._progress)
            if self._goal_id not in self._workspace.goal_ids:
                raise UsageError(
                    "unknown_goal", f"There is no goal {self._goal_id}", next="loopx goal list"
                )
        return self._workspace


class Patience:
    """Tells of progress only where something takes longer than half a second, and then four
    times a second: ``tell`` gets the part that is done, 0 to 1."""

    QUIET_SECONDS = 0.5
    STEP_SECONDS = 0.25

    def __init__(
        self, tell: Callable[[float], object], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._tell = tell
        self._now = now
        self._next = 0.0
        self.begin()

    def begin(self) -> None:
        """Something is begun now."""
        self._next = self._now() + self.QUIET_SECONDS

    def progress(self, done: int, of: int) -> None:
        """So much of so much is done."""
        if self._now() >= self._next:
            self._next = self._now() + self.STEP_SECONDS
            self._tell(done / of if of else 1.0)
