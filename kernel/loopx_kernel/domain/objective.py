"""The objective: patched by a person, and every old version stays readable."""

from __future__ import annotations

from typing import Any

from loopx_kernel.domain.event import OWNER, Context, Draft, EventType, Facts
from loopx_kernel.domain.goal import check_objective
from loopx_kernel.domain.record import Count, Line, Record
from loopx_kernel.domain.records import Objective
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Conflict, UsageError
from loopx_kernel.text import check_line
from loopx_kernel.value import Value

MOST_FACTS = 20


class PatchObjective(Value, kw_only=True):
    """A new wording of what is wanted, why, and on which facts; signed."""

    text: str
    reason: str
    facts: tuple[str, ...] = ()


class Patched(Record):
    version: Count
    text: str
    reason: Line
    facts: tuple[Line, ...] = ()


def decide(state: GoalState, command: PatchObjective, context: Context) -> Draft:
    """The event for a new version; raises when ``check`` would."""
    payload = patching(state, command.text, command.reason, command.facts)
    return Draft(payload.pop("type"), payload, state.goal_id)


def patching(state: GoalState, text: str, reason: str, facts: tuple[str, ...]) -> dict[str, Any]:
    """The part that makes ``text`` the objective's next version."""
    return {
        "type": "objective.patched",
        "version": _next_version(state),
        "text": text,
        "reason": reason,
        "facts": list(facts),
    }


def check_grounds(reason: str, facts: tuple[str, ...]) -> None:
    """A change says why and, line by line, on which facts; else ``invalid_value``."""
    check_line(reason, "reason")
    for fact in facts:
        check_line(fact, "fact")
    if len(facts) > MOST_FACTS:
        raise UsageError(
            "invalid_value",
            f"A change names at most {MOST_FACTS} facts",
            next="put the rest into a file and name that",
            facts=len(facts),
        )


def _next_version(state: GoalState) -> int:
    return state.objective.version + 1 if state.objective else 1


def _check_patched(state: GoalState, payload: Patched, facts: Facts) -> None:
    check_objective(payload.text, "loopx objective patch --text 'What is wanted' --reason 'why'")
    check_grounds(payload.reason, payload.facts)
    if payload.version != _next_version(state):
        raise Conflict(
            "version_mismatch",
            f"The next version of the objective is {_next_version(state)}, not {payload.version}",
            next="loopx objective history",
            expected=payload.version,
            version=_next_version(state),
        )
    if state.objective is not None and payload.text == state.objective.text:
        raise UsageError(
            "invalid_value",
            "The objective has these words already",
            next="loopx objective history",
            version=state.objective.version,
        )


def _evolve_patched(state: GoalState, payload: Patched, facts: Facts) -> GoalState:
    return state.model_copy(
        update={
            "objective": Objective(text=payload.text, version=payload.version),
            "goal_seq": facts.seq,
            "registry_seq": facts.seq,
        }
    )


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType(
        "objective.patched",
        Patched,
        OWNER,
        _check_patched,
        _evolve_patched,
        kernel_fields=frozenset({"version"}),
    ),
)
