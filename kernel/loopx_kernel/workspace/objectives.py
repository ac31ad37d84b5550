"""The objective in all its versions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from loopx_kernel.domain import objective
from loopx_kernel.domain.objective import PatchObjective
from loopx_kernel.value import Value
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.orders import Order, named
from loopx_kernel.workspace.paging import Wanted, first_to_last
from loopx_kernel.workspace.signing import Unsigned, prepare

if TYPE_CHECKING:
    from loopx_kernel.domain.event import Event
    from loopx_kernel.workspace.ledger import Ledger

_TYPES = ("goal.opened", "objective.patched", "gate.approved")


class Version(Value):
    """The objective as it was worded once: by whom, when (UTC), why and on which facts.

    ``gate_id`` names the proposal whose approval brought it.
    """

    version: int
    text: str
    reason: str
    facts: tuple[str, ...]
    by: str
    at: datetime
    event_id: str
    gate_id: str | None = None


class Objectives:
    """Wording the objective anew, and what it was before."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def patch(
        self, goal_id: str, owner: str, command: PatchObjective, *, event_id: str | None = None
    ) -> Unsigned:
        """Prepares the objective's next version. Raises ``invalid_value``."""
        actor = named("owner", owner)
        order = Order(goal_id, command, objective.decide, actor, event_id)
        return prepare(self._core, order, f"change the objective of {goal_id}: {command.reason}")

    def history(self, goal_id: str) -> tuple[Version, ...]:
        """Every version there ever was, the first one first; read in the journal."""
        with self._core.lock:
            self._core.house.refresh()
            ledger = self._core.fresh_goal(goal_id)
            found = [one for name in _TYPES for one in _versions(ledger, name)]
        return tuple(sorted(found, key=lambda one: one.version))


def _versions(ledger: Ledger, event_type: str) -> Iterator[Version]:
    for line in first_to_last(ledger, Wanted(types=(event_type,))):
        if ledger.fault_at(line.seq) is not None:
            continue
        event = ledger.event_of(line)
        if event_type == "goal.opened":
            yield _version(event, {"version": 1, "text": event.payload["objective"]})
        elif event_type == "objective.patched":
            yield _version(event, event.payload)
        else:
            for part in event.payload.get("parts", ()):
                if part["type"] == "objective.patched":
                    yield _version(event, part, event.payload["gate_id"])


def _version(event: Event, payload: dict[str, Any], gate_id: str | None = None) -> Version:
    return Version(
        version=payload["version"],
        text=payload["text"],
        reason=payload.get("reason", ""),
        facts=tuple(payload.get("facts", ())),
        by=event.actor_agent_id,
        at=event.recorded_at,
        event_id=event.event_id,
        gate_id=gate_id,
    )
