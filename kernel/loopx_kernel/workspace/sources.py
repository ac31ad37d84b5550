"""Source commands; caused by code, which saw something outside."""

from __future__ import annotations

from loopx_kernel.domain import source
from loopx_kernel.domain.source import AddSource, BindSource, ReadSource
from loopx_kernel.domain.state import GoalState
from loopx_kernel.workspace.commit import commit
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.orders import CODE, Done, Order


class Sources:
    """Registering sources, binding them, recording what a read of them gave."""

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
        return commit(self._core, Order(goal_id, command, source.decide, CODE, event_id))

    def read(
        self, goal_id: str, command: ReadSource, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Records one attempt to read a source."""
        return commit(self._core, Order(goal_id, command, source.decide, CODE, event_id))
