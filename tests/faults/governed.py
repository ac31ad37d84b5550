"""What must hold of a governed goal, read from the bytes of its journal and not from the fold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loopx_kernel.domain import runs
from loopx_kernel.domain.state import GoalState
from loopx_kernel.views.goal import GoalView

from tests.kernel.workspace.forge import records

HUMAN_ONLY = {
    *("goal.paused", "goal.resumed", "goal.retired", "objective.patched", "rules.patched"),
    *("gate.approved", "gate.rejected", "gate.deferred", "replan.requested", "replan.withdrawn"),
    *("todo.cancelled", "todo.superseded", "escalation.answered", "work.accepted"),
    *("drift.adopted", "drift.restored", "damage.repaired", "spend.voided"),
}
BY_OTHERS = {
    ("replan.fulfilled", "todo.superseded"),
    ("turn.settled", "spend.voided"),
    ("turn.recovered", "spend.voided"),
}
"""What agents and code may do of it, inside an event of their own."""

Part = tuple[dict[str, Any], dict[str, Any]]
"""A line, and one thing that happened by it."""


def effective(journal: Path, state: GoalState) -> list[dict[str, Any]]:
    """The lines that had an effect."""
    return [line for line in records(journal) if not runs.holds(state.idle, line["seq"])]


def happened(lines: list[dict[str, Any]]) -> Iterator[Part]:
    """Everything that happened, parts of parts too, in order."""
    for line in lines:
        for one in _all({"type": line["event_type"], **line["payload"]}):
            yield line, one


def _all(one: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield one
    for part in one.get("parts") or ():
        yield from _all(part)


def assert_governed(journal: Path, view: GoalView, state: GoalState) -> None:
    """All of it at once; ``view`` and ``state`` are of the same moment."""
    lines = effective(journal, state)
    parts = list(happened(lines))
    _one_spend_per_effect(parts, state)
    _progress_is_all_three(parts, state)
    _nothing_is_complete_that_is_open(lines, view, state)
    _every_todo_comes_from_somewhere(parts, state)
    _what_people_decide_is_signed(parts)
    _an_approval_is_used_once(parts)
    _a_turn_ends_once(parts)
    _files_are_level(view)


def _one_spend_per_effect(parts: list[Part], state: GoalState) -> None:
    booked = Counter(one["effect_ref"] for _, one in parts if one["type"] == "spend.booked")
    voided = Counter(one["effect_ref"] for _, one in parts if one["type"] == "spend.voided")
    assert booked.keys() >= voided.keys()
    assert all(count == 1 for count in booked.values()), booked
    assert all(count == 1 for count in voided.values()), voided
    opened = {one["turn_id"] for _, one in parts if one["type"] == "turn.opened"}
    assert booked.keys() <= opened
    assert set(state.spends) <= booked.keys()
    for ref, spend in state.spends.items():
        assert (spend.net_slots == 0) is (ref in voided)


def _progress_is_all_three(parts: list[Part], state: GoalState) -> None:
    for turn in state.turns.values():
        if not turn.progress:
            continue
        mine = [(line, one) for line, one in parts if _is_of(turn.id, line, one)]
        kinds = [one["type"] for _, one in mine]
        files = any(one.get("evidence") for _, one in mine)
        passed = any(
            result["result"] == "passed"
            for _, one in mine
            if one["type"] == "acceptance.ran"
            for result in one["results"]
        )
        assert files or passed or turn.todo_id in _replanned(parts)
        assert "handoff.written" in kinds
        assert kinds.count("spend.booked") == 1
        assert "spend.voided" not in kinds


def _replanned(parts: list[Part]) -> set[str]:
    """The todos in which somebody replanned, and did: there are successors now."""
    ends = {one["obligation_id"] for _, one in parts if one["type"] == "replan.fulfilled"}
    duties = [one for _, one in parts if one["type"] == "replan.requested"]
    added = [part for one in duties if one["obligation_id"] in ends for part in one["parts"]]
    return {part["todo_id"] for part in added if part["type"] == "todo.added"}


def _is_of(turn_id: str, line: dict[str, Any], one: dict[str, Any]) -> bool:
    named = (one.get("turn_id"), one.get("effect_ref"), line["payload"].get("turn_id"))
    return turn_id in named


def _nothing_is_complete_that_is_open(
    lines: list[dict[str, Any]], view: GoalView, state: GoalState
) -> None:
    if not view.completion.complete:
        return
    assert not view.completion.failing
    assert all(todo.finished for todo in state.todos.values())
    for kept in (state.escalations, state.obligations, state.turns):
        assert all(one.status != "open" for one in kept.values())  # type: ignore[attr-defined]
    assert all(gate.status not in ("pending", "deferred") for gate in state.gates.values())
    assert not state.alerts
    worked = [line["seq"] for line, one in happened(lines) if one["type"].startswith("todo.")]
    seen = [
        line["seq"]
        for line, one in happened(lines)
        if one["type"] == "work.accepted"
        or (one["type"] == "acceptance.ran" and _all_passed(one["results"]))
    ]
    assert max(seen) > max(worked)


def _all_passed(results: list[dict[str, Any]]) -> bool:
    return all(one["result"] == "passed" for one in results)


def _every_todo_comes_from_somewhere(parts: list[Part], state: GoalState) -> None:
    added = {one["todo_id"]: (line, one) for line, one in parts if one["type"] == "todo.added"}
    assert list(added) == [f"T{number}" for number in range(1, state.next_todo)]
    for todo in state.todos.values():
        line, one = added[todo.id]
        assert todo.origin.event_id == line["event_id"]
        assert todo.origin.actor_agent_id == line["actor_agent_id"]
        assert list(todo.lineage_todo_ids) == one.get("lineage_todo_ids", [])
        waiting, seen = list(todo.lineage_todo_ids), {todo.id}
        while waiting:
            ref = waiting.pop()
            assert ref in added, f"{todo.id} comes from {ref}, which nobody added"
            assert ref not in seen or int(ref[1:]) < int(todo.id[1:])
            seen.add(ref)
            waiting += [r for r in added[ref][1].get("lineage_todo_ids", []) if r not in seen]
        if todo.superseded_by is not None:
            assert todo.id in added[todo.superseded_by][1]["lineage_todo_ids"]


def _what_people_decide_is_signed(parts: list[Part]) -> None:
    for line, one in parts:
        by_others = (line["event_type"], one["type"]) in BY_OTHERS
        if one["type"] in HUMAN_ONLY and not by_others:
            assert line["actor_kind"] == "owner", line
            assert line["signed"]["signature"], line


def _an_approval_is_used_once(parts: list[Part]) -> None:
    used = Counter(one["gate_id"] for _, one in parts if one["type"] == "gate.used")
    approved = {one["gate_id"] for _, one in parts if one["type"] == "gate.approved"}
    judged = {one["gate_id"] for _, one in parts if one.get("basis") == "judge"}
    assert all(count == 1 for count in used.values()), used
    assert used.keys() <= approved | judged


def _a_turn_ends_once(parts: list[Part]) -> None:
    ends = ("turn.settled", "turn.recovered", "turn.closed", "turn.withdrawn")
    ended = Counter(one["turn_id"] for _, one in parts if one["type"] in ends)
    opened = Counter(one["turn_id"] for _, one in parts if one["type"] == "turn.opened")
    assert all(count == 1 for count in (*ended.values(), *opened.values())), ended
    assert ended.keys() <= opened.keys()


def _files_are_level(view: GoalView) -> None:
    reads = view.reads
    assert not (reads.damage or reads.missing_files or reads.behind_files or reads.drift)
    assert not reads.incomplete_tail
