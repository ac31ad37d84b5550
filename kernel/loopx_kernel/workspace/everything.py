"""A goal read from line 1 with every todo it ever had, also those that left the state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopx_kernel.domain.event import Event
from loopx_kernel.domain.landing import report_of
from loopx_kernel.domain.records import EvidenceRef, Todo
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.ledgers import GoalLedger, RosterLedger


class WholeGoal(GoalLedger):
    """Trusts no cache. ``todos`` are all there were, each as it stood last, ``reports`` those of
    the facts from outside whose bytes are kept, by digest."""

    todos: dict[str, Todo]
    reports: dict[str, EvidenceRef]

    def reset(self) -> None:
        super().reset()
        self.todos, self.reports = {}, {}

    def fold(self, event: Event) -> None:
        before, looks = self.state.todos, self.state.observations
        super().fold(event)
        if self.state.observations is not looks:
            kept = filter(None, map(report_of, self.state.observations.values()))
            self.reports |= {report.sha256: report for report in kept}
        # A line without effect may name anything at all.
        if self.state.todos is before:
            return
        for ref in todos_named(event.payload):
            if ref in self.state.todos:
                self.todos[ref] = self.state.todos[ref]


def read_whole(core: Core, goal_id: str) -> WholeGoal:
    """The goal's journal from its first line on."""
    house = RosterLedger(core.layout, core.files, cached=False)
    house.refresh()
    ledger = WholeGoal(core.layout, goal_id, house, core.files, cache=None)
    ledger.refresh(core.progress)
    return ledger


def todos_named(payload: Mapping[str, Any]) -> list[str]:
    """The ids of the todos an event names, in its parts too, each once."""
    named = [payload["todo_id"]] if payload.get("todo_id") else []
    for part in payload.get("parts", ()):
        named += todos_named(part)
    return list(dict.fromkeys(named))
