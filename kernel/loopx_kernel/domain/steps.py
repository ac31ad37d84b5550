"""One line of a goal's journal between the states it led from and to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from loopx_kernel.domain.event import Event, Verdict
from loopx_kernel.domain.state import GoalState
from loopx_kernel.value import Value


class Step(Value):
    """A line, what its signature is worth, and the states right before and after it."""

    event: Event
    verdict: Verdict
    before: GoalState
    after: GoalState

    @property
    def problem(self) -> str | None:
        """Why the line had no effect; ``None`` where it had one."""
        if self.after.alert_count == self.before.alert_count:
            return None
        return self.after.alerts[-1].message

    @property
    def goes_back(self) -> bool:
        """Whether its time is before that of the line before it."""
        last = self.before.last_at
        return last is not None and self.event.recorded_at < last

    def effects(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Type and payload of the event and of each of its parts, in their order."""
        return _effects(self.event.event_type, self.event.payload)


def _effects(name: str, payload: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield name, payload
    for part in payload.get("parts") or ():
        yield from _effects(part["type"], part)
