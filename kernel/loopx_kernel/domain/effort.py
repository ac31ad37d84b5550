"""What the end of a turn says of the effort put into its todo, and when a person must look."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.records_of_work import Cause, Effort, Outcome
from loopx_kernel.domain.state import GoalState, open_escalations
from loopx_kernel.text import safe
from loopx_kernel.value import Value

BEFORE_SUCCESS: frozenset[Cause] = frozenset({"high_risk", "low_confidence"})
"""Causes that are tested before success: a turn with one of them is no success."""
RECOVERY_WINDOW = timedelta(hours=24)


class Judged(Value):
    """The todo's effort and the goal's failed turns (UTC) after a turn, and why work is taken
    out of the loop, if it is: one todo, or with ``whole_goal`` everything."""

    effort: Effort
    failures: tuple[datetime, ...]
    cause: Cause | None = None
    detail: str = ""
    whole_goal: bool = False


class _Finding(Value):
    cause: Cause
    detail: str
    whole_goal: bool = False


def judge_turn(
    state: GoalState,
    todo: Todo,
    *,
    outcome: Outcome,
    progress: bool,
    result_digest: str | None,
    score: str | None,
    at: datetime,
    confidence: str | None = None,
    high_risk: Sequence[tuple[str, str]] | None = None,
    recovered: bool = False,
) -> Judged:
    """What a turn that ended ``at`` (UTC) adds, and the first cause to ask a person for.

    ``result_digest`` is of the repo's content, ``score`` and ``confidence`` are decimals as
    text, ``high_risk`` are the rules and the actions without approval that the hand-in shows.
    A turn that was ``recovered`` had no receipt: it is a failure and says nothing of progress.
    """
    limits = state.the_rules.limits
    at = state.counted_at(at)
    before = todo.effort
    failed = recovered or outcome == "failed"
    stall = "" if recovered else _stall(todo, progress, result_digest, score)
    recoveries = (*before.recoveries, at) if recovered else before.recoveries
    digests = (*before.digests, result_digest) if result_digest else before.digests
    effort = Effort(
        turns=before.turns + 1,
        failed=before.failed + failed,
        streak=before.streak if recovered else before.streak + 1 if stall else 0,
        digests=digests[-limits.remembered_results :],
        score=_better(before.score, score),
        recoveries=recoveries[-limits.recoveries_per_day :],
    )
    failures = (*state.failures, at) if failed else state.failures
    failures = failures[-limits.failed_turns_per_window :]
    found = _finding(
        state,
        todo,
        effort,
        failures,
        at,
        stall=stall,
        confidence=confidence,
        high_risk=high_risk or (),
        succeeded=outcome == "done" and progress,
    )
    if found is None:
        return Judged(effort, failures)
    return Judged(effort, failures, found.cause, found.detail, found.whole_goal)


def _finding(
    state: GoalState,
    todo: Todo,
    effort: Effort,
    failures: tuple[datetime, ...],
    at: datetime,
    *,
    stall: str,
    confidence: str | None,
    high_risk: Sequence[tuple[str, str]],
    succeeded: bool,
) -> _Finding | None:
    """The first cause that holds, in their order, that is not before a person already.

    The goal's own limit comes before those of one todo: what holds of a todo holds after its
    next turn as well.
    """
    asked = {one.todo_id for one in open_escalations(state)}
    found = None
    if todo.id not in asked:
        found = before_success(state, todo, confidence=confidence, high_risk=high_risk)
    if found is None and None not in asked:
        found = _goal_capped(state, failures, at)
    if found is None and todo.id not in asked and not succeeded:
        found = _stopped(state, todo, effort, at, stall)
    return found


def before_success(
    state: GoalState,
    todo: Todo,
    *,
    confidence: str | None,
    high_risk: Sequence[tuple[str, str]],
) -> _Finding | None:
    """Why a person must look at a hand-in before it can be a success."""
    if high_risk:
        shown = "; ".join(
            f"{safe(action)[:80]} ({safe(rule)[:60]})" for rule, action in high_risk[:2]
        )
        more = f" and {len(high_risk) - 2} more" if len(high_risk) > 2 else ""
        return _Finding("high_risk", f"{todo.id} shows what needed an approval: {shown}{more}")
    judge = state.the_rules.judge
    least = judge.min_confidence if judge else None
    if confidence is not None and least is not None and Decimal(confidence) < Decimal(least):
        sentence = f"the judge is sure of {todo.id} to {confidence}, and {least} is asked for"
        return _Finding("low_confidence", sentence)
    return None


def _stopped(
    state: GoalState, todo: Todo, effort: Effort, at: datetime, stall: str
) -> _Finding | None:
    limits = state.the_rules.limits
    if stall and effort.streak >= limits.turns_without_progress:
        sentence = f"{effort.streak} turns in a row brought {todo.id} nothing; in the last {stall}"
        return _Finding("no_progress", sentence)
    most = limits.turns_per_todo
    if most is not None and effort.turns >= most:
        return _Finding("capped", f"{todo.id} took {effort.turns} turns; {most} are allowed")
    recent = _count(effort.recoveries, at - RECOVERY_WINDOW)
    if recent >= limits.recoveries_per_day:
        sentence = f"{recent} turns on {todo.id} ended without a receipt within 24 hours"
        return _Finding("capped", sentence)
    return None


def _goal_capped(state: GoalState, failures: tuple[datetime, ...], at: datetime) -> _Finding | None:
    hours = state.the_rules.quota.window_hours
    count = _count(failures, at - timedelta(hours=hours))
    if count < state.the_rules.limits.failed_turns_per_window:
        return None
    return _Finding("capped", f"{count} turns of the goal failed within {hours} hours", True)


def _stall(todo: Todo, progress: bool, result_digest: str | None, score: str | None) -> str:
    """Why a turn counts as one without progress, in words; nothing where it does not.

    Looking after something that is to stay as it is changes nothing in the repo.
    """
    if not progress:
        return "nothing was verified, written back and booked at once"
    before = todo.effort
    if todo.kind == "monitor":
        return ""
    if result_digest is not None and result_digest in before.digests:
        same = "as after the turn before" if result_digest == before.digests[-1] else "a former one"
        return f"the result is {same}"
    stuck = before.score is not None and Decimal(before.score) > 0
    if score is not None and stuck and _better(before.score, score) == before.score:
        return f"the acceptance score is {score}, not more than {before.score}"
    return ""


def _better(one: str | None, other: str | None) -> str | None:
    """The higher of two scores; ``one`` where they are equal."""
    if one is None or other is None:
        return one or other
    return other if Decimal(other) > Decimal(one) else one


def _count(times: Sequence[datetime], after: datetime) -> int:
    return sum(time > after for time in times)
