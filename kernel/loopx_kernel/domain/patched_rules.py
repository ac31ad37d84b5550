"""The rules of a goal laid anew by a person, as a whole."""

from __future__ import annotations

from typing import Any

from loopx_kernel.domain.event import OWNER, Context, Draft, EventType, Facts
from loopx_kernel.domain.goal import check_rules
from loopx_kernel.domain.levels import reaches
from loopx_kernel.domain.permission import strongest
from loopx_kernel.domain.record import Line, Record
from loopx_kernel.domain.records import Source
from loopx_kernel.domain.records_of_work import ItemResult
from loopx_kernel.domain.rules import GoalRules
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Denied, UsageError
from loopx_kernel.text import check_line
from loopx_kernel.value import Value

_PLACES = ("repo", "state_file")


class PatchRules(Value, kw_only=True):
    """All rules of the goal from now on; signed."""

    rules: GoalRules
    reason: str = ""


class Patched(Record):
    rules: GoalRules
    reason: Line = ""


def decide(state: GoalState, command: PatchRules, context: Context) -> Draft:
    """The event for new rules; raises when ``check`` would."""
    payload = {"rules": command.rules.model_dump(mode="json"), "reason": command.reason}
    return Draft("rules.patched", payload, state.goal_id)


def _check_patched(state: GoalState, payload: Patched, facts: Facts) -> None:
    old, new = state.the_rules, payload.rules
    check_rules(state.goal_id, state.objective.text if state.objective else "", new)
    if payload.reason:
        check_line(payload.reason, "reason")
    if new == old:
        raise _refused(state, "These are the rules there are")
    for place in _PLACES:
        if getattr(new, place) != getattr(old, place):
            raise _refused(state, f"{place} is where the goal's work lies, and stays")
    _refuse_missing(state, new)
    _require_level(old, facts)


def _require_level(old: GoalRules, facts: Facts) -> None:
    """Rules that ask for a level are changed at it, or a weaker key could take them away."""
    wanted, level = strongest(old.gates), facts.verdict.level
    if not reaches(level, wanted):
        raise Denied(
            "presence_required",
            f"A rule asks for signatures of level {wanted}, so the rules change with one; this "
            f"one's is {level}",
            next="loopx owner list",
            level=level,
            at_least=wanted,
        )


def _refuse_missing(state: GoalState, new: GoalRules) -> None:
    """Work that is not finished goes on under the new rules, so what it names stays."""
    items = {item.id for item in new.acceptance}
    gone = {rule.id for rule in state.the_rules.sources} - {rule.id for rule in new.sources}
    for todo in state.todos.values():
        if todo.finished:
            continue
        for item in todo.acceptance:
            if item not in items:
                raise _refused(state, f"{todo.id} is to meet the acceptance item {item}")
        waits = todo.waiting_on
        if waits is not None and waits.kind == "source" and waits.ref in gone:
            raise _refused(state, f"{todo.id} waits for the source {waits.ref}")


def _refused(state: GoalState, what: str) -> UsageError:
    return UsageError("invalid_value", what, next=f"loopx goal show --goal {state.goal_id}")


def _evolve_patched(state: GoalState, payload: Patched, facts: Facts) -> GoalState:
    new = payload.rules
    same_items = state.the_rules.acceptance == new.acceptance
    return state.model_copy(
        update={
            "rules": new,
            "rules_seq": facts.seq,
            "sources": _sources(state, new, facts.seq),
            "results": _results(state, new),
            "accepted": state.accepted if same_items else None,
            "goal_seq": facts.seq,
            "registry_seq": facts.seq,
        }
    )


def _sources(state: GoalState, new: GoalRules, seq: int) -> dict[str, Source]:
    """Those of the rules in their new form, with what was read of them; those that were added
    by command stay."""
    ruled = {rule.id for rule in state.the_rules.sources}
    found = {ref: source for ref, source in state.sources.items() if ref not in ruled}
    for rule in new.sources:
        before = state.sources.get(rule.id)
        if before is None or before.provider != rule.provider:
            found[rule.id] = Source(**rule.model_dump(), seq=seq)
        else:
            found[rule.id] = before.model_copy(update=rule.model_dump())
    return found


def _results(state: GoalState, new: GoalRules) -> dict[str, ItemResult]:
    """What running an item gave holds as long as the item, and who judges it, is the same."""
    if state.the_rules.judge != new.judge:
        return {}
    old = {item.id: item for item in state.the_rules.acceptance}
    same = {item.id for item in new.acceptance if old.get(item.id) == item}
    return {ref: result for ref, result in state.results.items() if ref in same}


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType("rules.patched", Patched, OWNER, _check_patched, _evolve_patched),
)
