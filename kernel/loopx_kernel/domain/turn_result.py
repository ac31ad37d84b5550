"""The three parts of a turn handed in one by one; the third closes it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from loopx_kernel.domain.records import EvidenceRef, Todo
from loopx_kernel.domain.records_of_work import Outcome, Turn
from loopx_kernel.domain.state import GoalState, fulfilled_duty
from loopx_kernel.domain.turn_end import closing
from loopx_kernel.domain.turn_state import holds, open_turn_of
from loopx_kernel.domain.verification import Results

THIRD = frozenset({"turn.closed"})
"""The type of part that an event carries which hands in the last of the three."""


def with_result(
    state: GoalState,
    turn: Turn,
    outcome: Outcome,
    *,
    evidence: Sequence[EvidenceRef],
    proven: bool,
    results: Results,
    result_digest: str | None,
    seq: int,
) -> Turn:
    """The turn with a result that code verified: a file handed in, an item that passed, or the
    duty that a replanning is for, fulfilled."""
    passed = any(one["result"] == "passed" for one in results) or _fulfilled(state, turn, outcome)
    verified = outcome in ("done", "progress") and (bool(evidence) or passed)
    update = {
        "handed_in": True,
        "outcome": outcome,
        "verified": verified,
        "unproven": verified and not (proven or passed),
        "result_digest": result_digest,
        "seq": seq,
    }
    return turn.model_copy(update=update)


def _fulfilled(state: GoalState, turn: Turn, outcome: Outcome) -> bool:
    # Fulfilled before, it ends the replanning, but is nothing that this turn got further with.
    duty = fulfilled_duty(state, turn.todo_id)
    return duty is not None and (outcome == "done" or duty.seq > turn.opened_seq)


def with_state_written(state: GoalState, turn_id: str, agent_id: str, seq: int) -> Turn:
    """The agent's open turn with its state written back."""
    turn = open_turn_of(state, turn_id, agent_id, seq)
    return turn.model_copy(update={"state_written": True, "seq": seq})


def with_slots(state: GoalState, turn_id: str, agent_id: str, slots: int, seq: int) -> Turn:
    """The agent's open turn with its slots booked."""
    turn = open_turn_of(state, turn_id, agent_id, seq)
    return turn.model_copy(update={"slots_booked": slots, "seq": seq})


def third(state: GoalState, turn: Turn, at: datetime) -> list[dict[str, Any]]:
    """The part that closes the turn, if nothing of ``turn`` is missing any more."""
    if turn.status != "open":
        return []
    return closing(state, turn, at, held=holds(state.todos.get(turn.todo_id), turn))


def ran_part(results: Results) -> list[dict[str, Any]]:
    """The part that records what running acceptance items gave, if any were run."""
    return [{"type": "acceptance.ran", "results": list(results)}] if results else []


def results_in(parts: Sequence[dict[str, Any]] | None) -> Results:
    """What running acceptance items gave, from the parts of a line."""
    for part in parts or ():
        if part.get("type") == "acceptance.ran" and isinstance(part.get("results"), list):
            return [one for one in part["results"] if _is_result(one)]
    return ()


def _is_result(one: Any) -> bool:
    # A line may hold anything; what is no result makes other parts than are expected.
    if not isinstance(one, dict) or not isinstance(one.get("item_id"), str):
        return False
    vote = one.get("score")
    return isinstance(one.get("result"), str) and (vote is None or type(vote) is int)


def covers(results: Results, todo: Todo) -> bool:
    """Whether these are the items of the todo, each once, or none was run."""
    named = [one.get("item_id") for one in results]
    return not named or named == list(todo.acceptance)
