"""Escalations: a person answers."""

from __future__ import annotations

from loopx_kernel.domain import escalation
from loopx_kernel.domain.escalation import AnswerEscalation
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.orders import Order, named
from loopx_kernel.workspace.signing import Unsigned, prepare

_VERBS = {"go_on": "go on", "replan": "replan", "cancel": "cancel the todo"}


class Escalations:
    """Answering what was taken out of the loop."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def answer(
        self, goal_id: str, owner: str, command: AnswerEscalation, *, event_id: str | None = None
    ) -> Unsigned:
        """Prepares a person's answer. Raises ``unknown_escalation``, ``already_decided``,
        ``illegal_transition``."""
        order = Order(goal_id, command, escalation.decide, named("owner", owner), event_id)
        what = f"answer {command.escalation_id} of {goal_id}: {_VERBS[command.answer]}"
        return prepare(self._core, order, what)
