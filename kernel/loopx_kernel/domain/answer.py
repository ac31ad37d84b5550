"""The answer to one wake-up, and the words it is made of."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from loopx_kernel.domain.brief import Brief
from loopx_kernel.domain.completion import Completion
from loopx_kernel.domain.needs_you import NeedsYou
from loopx_kernel.domain.quota import Usage
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.schedule import SchedulerHint
from loopx_kernel.value import Value

CONTRACT_SCHEMA = "loopx_interaction_contract_v1"
Answer = Literal["run", "ask", "wait", "repair", "quiet"]
EXIT_STATUS: dict[Answer, int] = {"run": 0, "ask": 10, "wait": 11, "repair": 12, "quiet": 13}


class Reason(Value):
    """Why the answer is what it is; ``code`` is stable, ``message`` for people."""

    code: str
    message: str


class Repair(Value):
    """What must be repaired, with which command, and by whom."""

    kind: str
    command: str
    by: Literal["person", "agent"]


class Contract(Value):
    """The answer to one wake-up and all that goes with it. Times are UTC."""

    goal_id: str
    agent_id: str | None
    decided_at: datetime
    seq: int
    head: str
    answer: Answer
    reasons: tuple[Reason, ...]
    needs_you: tuple[NeedsYou, ...]
    quota: Usage
    completion: Completion
    scheduler_hint: SchedulerHint
    todo: Todo | None = None
    brief: Brief | None = None
    question: str | None = None
    ask: str | None = None
    repair: Repair | None = None
