"""Source commands; caused by code, which saw something outside."""

from __future__ import annotations

from loopx_kernel.domain import source, source_host
from loopx_kernel.domain.source import (
    AddSource,
    BindSource,
    PauseSource,
    ReadSource,
    SettleSource,
    SourceCommand,
)
from loopx_kernel.domain.source_host import ReportHost
from loopx_kernel.domain.state import GoalState
from loopx_kernel.workspace.commit import commit
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.orders import CODE, Done, Order


class Sources:
    """Registering sources, binding them, recording what a read of them gave and what of that was
    dealt with. Every change is durable on return; ``unknown_source`` for one that is not there."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def add(
        self, goal_id: str, command: AddSource, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Registers a source."""
        return commit(self._core, Order(goal_id, command, source.decide, CODE, event_id, both=True))

    def bind(
        self, goal_id: str, command: BindSource, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Connects a source to its provider."""
        return self._record(goal_id, command, event_id)

    def read(
        self, goal_id: str, command: ReadSource, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Records one attempt to read a source; ``not_verified`` for one that is not bound."""
        return self._record(goal_id, command, event_id)

    def settle(
        self, goal_id: str, command: SettleSource, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Moves the cursor of a source; ``not_verified`` where nothing was read of it."""
        return self._record(goal_id, command, event_id)

    def pause(
        self, goal_id: str, command: PauseSource, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Pauses the queue of a source, or goes on with it."""
        return self._record(goal_id, command, event_id)

    def report_host(
        self, goal_id: str, command: ReportHost, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Records how one run of a provider's host went."""
        return commit(self._core, Order(goal_id, command, source_host.decide, CODE, event_id))

    def _record(
        self, goal_id: str, command: SourceCommand, event_id: str | None
    ) -> Done[GoalState]:
        return commit(self._core, Order(goal_id, command, source.decide, CODE, event_id))
