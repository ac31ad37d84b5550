"""Acceptance: what the kernel saw when it ran the items, and a person's word for the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from loopx_kernel.domain.endings import check_parts
from loopx_kernel.domain.event import CODE, OWNER, Context, Draft, EventType, Facts
from loopx_kernel.domain.record import Count, Hex, Line, Name, Record
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.records_of_work import AcceptedByHand, ItemResult
from loopx_kernel.domain.rules import AcceptanceItem
from loopx_kernel.domain.standing import required_items, worked_seq
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Conflict, UsageError
from loopx_kernel.text import check_line
from loopx_kernel.value import Value

_Score = Annotated[Count, Field(le=10)]
_Share = Annotated[str, Field(pattern=r"^(0|1|0\.[0-9]{1,6})$")]


class RecordRun(Value, kw_only=True):
    """Record what running acceptance items gave: all of the goal's, or those of a todo."""

    results: tuple[Mapping[str, Any], ...]
    todo_id: str | None = None


class AcceptByHand(Value, kw_only=True):
    """A person accepts the finished work of the goal, or the items of one finished todo, in the
    repo as it is (``repo_state``, a digest); signed."""

    reason: str
    repo_state: str
    todo_id: str | None = None


class RanItem(Record):
    """One item as it was run. ``repo_state`` is a digest over the goal's files before, ``left``
    after it where that is another, ``written`` one over the files that items are about, after it;
    ``worked_seq`` is the last line that had changed work by then."""

    item_id: Name
    result: Literal["passed", "failed", "inconclusive"]
    detail: Line = ""
    repo_state: Hex
    left: Hex | None = None
    written: Hex | None = None
    digest: Hex
    score: _Score | None = None
    confidence: _Share | None = None
    worked_seq: Count | None = None


class Ran(Record):
    results: tuple[RanItem, ...]
    todo_id: Name | None = None
    parts: tuple[dict[str, Any], ...] = ()


class Accepted(Record):
    reason: Line
    repo_state: Hex
    worked_seq: Count
    todo_id: Name | None = None


def decide(state: GoalState, command: RecordRun | AcceptByHand, context: Context) -> Draft:
    """The event for a run or a person's word; raises when ``check`` would."""
    object_id = command.todo_id or state.goal_id
    payload: dict[str, Any]
    if isinstance(command, AcceptByHand):
        payload = {
            "reason": command.reason,
            "repo_state": command.repo_state,
            "worked_seq": worked_seq(state),
            "todo_id": command.todo_id,
        }
        return Draft("work.accepted", payload, object_id)
    results = [dict(one) for one in command.results]
    failed = {one["item_id"] for one in results if one["result"] == "failed"}
    payload = {"results": results, "todo_id": command.todo_id, "parts": _fix(state, failed)}
    return Draft("acceptance.ran", payload, object_id)


def items_of(state: GoalState, ids: Iterable[str]) -> tuple[AcceptanceItem, ...]:
    """The items of the signed rules with these ids, in this order; ``invalid_value`` for one
    that is not among them."""
    known = {item.id: item for item in state.the_rules.acceptance}
    for ref in ids:
        if ref not in known:
            raise UsageError(
                "invalid_value",
                f"{ref!r} is not an acceptance item of {state.goal_id}",
                next=f"loopx goal show --goal {state.goal_id}",
                item=ref,
            )
    return tuple(known[ref] for ref in ids)


def _fix(state: GoalState, failed: set[str]) -> list[dict[str, Any]]:
    """The part that adds the one todo to make required items pass, where nothing else is left to
    be done. So it is not added again while it is open."""
    ids = [item.id for item in required_items(state) if item.id in failed]
    todos = state.todos.values()
    if not ids or not todos or not all(todo.finished for todo in todos):
        return []
    named = ", ".join(ids)
    return [
        {
            "type": "todo.added",
            "todo_id": f"T{state.next_todo}",
            "title": f"Make acceptance pass: {named if len(named) <= 200 else f'{len(ids)} items'}",
            "kind": "fix",
            "priority": "P0",
            "write_scope": list(state.the_rules.coordination.write_scope),
            "acceptance": ids,
            "lineage_todo_ids": [todo.id for todo in todos if set(ids) & set(todo.acceptance)],
        }
    ]


def _check_ran(state: GoalState, payload: Ran, facts: Facts) -> None:
    ids = [one.item_id for one in payload.results]
    if not ids or len(set(ids)) != len(ids):
        raise UsageError(
            "invalid_event", "A run has each of its items once", next="loopx goal show"
        )
    for item, one in zip(items_of(state, ids), payload.results, strict=True):
        _check_result(item, one, facts)
    if payload.todo_id is not None and not state.knows(payload.todo_id):
        state.todo(payload.todo_id)
    failed = {one.item_id for one in payload.results if one.result == "failed"}
    check_parts(payload.parts, _fix(state, failed))


def _check_result(item: AcceptanceItem, one: RanItem, facts: Facts) -> None:
    if one.detail:
        check_line(one.detail, "detail")
    if not _as_voted(item, one) or (one.worked_seq or 0) >= facts.seq or one.left == one.repo_state:
        raise UsageError(
            "invalid_event",
            f"The result of {item.id} does not follow from what was seen",
            next="loopx event verify",
            item=item.id,
        )


def _as_voted(item: AcceptanceItem, one: RanItem) -> bool:
    """Whether the result of a rubric is that of its votes; of another item there are none."""
    if item.threshold is None:
        return one.score is None and one.confidence is None
    if one.score is None:
        return one.result == "inconclusive"
    return one.result == ("passed" if one.score >= item.threshold else "failed")


def _evolve_ran(state: GoalState, payload: Ran, facts: Facts) -> GoalState:
    found = {}
    for one in payload.results:
        values = one.model_dump(exclude={"confidence", "worked_seq"})
        seq = _counts_from(state, one, facts.seq)
        restless = _is_restless(state.results.get(one.item_id), one)
        found[one.item_id] = ItemResult(**values, restless=restless, at=facts.at, seq=seq)
    return _with_results(state, found)


def _is_restless(before: ItemResult | None, one: RanItem) -> bool:
    return one.left is not None and before is not None and before.left == one.repo_state


def _counts_from(state: GoalState, one: RanItem, seq: int) -> int:
    """The line from which a result counts: its own, but for work that changed while it ran."""
    others = max((todo.seq for todo in state.todos.values() if todo.seq != seq), default=0)
    stale = one.worked_seq is not None and one.worked_seq < others
    return one.worked_seq or 0 if stale else seq


def _with_results(state: GoalState, found: Mapping[str, ItemResult]) -> GoalState:
    known = {item.id for item in state.the_rules.acceptance}
    kept = {ref: one for ref, one in state.results.items() if ref in known}
    return state.model_copy(update={"results": {**kept, **found}})


def _check_accepted(state: GoalState, payload: Accepted, facts: Facts) -> None:
    check_line(payload.reason, "reason")
    named = state.todo(payload.todo_id) if payload.todo_id is not None else None
    todos = [named] if named is not None else state.todos.values()
    unfinished = [todo.id for todo in todos if not todo.finished]
    if unfinished:
        raise UsageError(
            "illegal_transition",
            f"{', '.join(unfinished[:10])} is not finished; only finished work is accepted",
            next=f"loopx todo list --goal {state.goal_id}",
            todo_ids=unfinished,
        )
    if named is not None and not named.acceptance:
        raise UsageError(
            "invalid_value",
            f"{named.id} has no acceptance item to accept",
            next=f"loopx accept by-hand --goal {state.goal_id} --reason 'why'",
            todo_id=named.id,
        )
    _refuse_unseen(state, named, facts)
    if payload.worked_seq != worked_seq(state):
        raise Conflict(
            "stale_decision",
            f"Work changed after it was looked at (#{payload.worked_seq}, now "
            f"#{worked_seq(state)})",
            next="look at it again and decide anew",
            seen=payload.worked_seq,
            version=worked_seq(state),
        )


def _refuse_unseen(state: GoalState, named: Todo | None, facts: Facts) -> None:
    """``stale_decision`` where an item was run, or its work accepted, after the decider looked.
    So the same line copied to a later place does nothing."""
    items = set(named.acceptance) if named is not None else set(state.results)
    seen = [one.seq for ref, one in state.results.items() if ref in items]
    if named is None and state.accepted is not None:
        seen.append(state.accepted.seq)
    if facts.signed is not None and max(seen, default=0) > facts.signed.witnessed.seq:
        raise Conflict(
            "stale_decision",
            f"Acceptance was looked into at #{max(seen)}, after #{facts.signed.witnessed.seq}",
            next="look at it again and decide anew",
            seen=facts.signed.witnessed.seq,
            version=max(seen),
        )


def _evolve_accepted(state: GoalState, payload: Accepted, facts: Facts) -> GoalState:
    by = facts.actor.id
    if payload.todo_id is None:
        accepted = AcceptedByHand(
            by=by,
            at=facts.at,
            reason=payload.reason,
            repo_state=payload.repo_state,
            level=facts.verdict.level,
            seq=facts.seq,
        )
        return state.model_copy(update={"accepted": accepted, "unproven": {}})
    found = {
        ref: ItemResult(
            item_id=ref,
            result="passed",
            detail=f"accepted by hand by {by}",
            repo_state=payload.repo_state,
            digest=payload.repo_state,
            at=facts.at,
            seq=facts.seq,
        )
        for ref in state.todo(payload.todo_id).acceptance
    }
    return _with_results(state, found)


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType(
        "acceptance.ran", Ran, CODE, _check_ran, _evolve_ran, parts=frozenset({"todo.added"})
    ),
    EventType("work.accepted", Accepted, OWNER, _check_accepted, _evolve_accepted),
)
