"""What a hand-in says, and what follows from it in the same line."""

from collections.abc import Sequence
from typing import Any

from loopx_kernel.domain.canonical import digest
from loopx_kernel.domain.effort import before_success
from loopx_kernel.domain.endings import endings
from loopx_kernel.domain.event import Facts
from loopx_kernel.domain.record import Count, Flag, Hex, Line, Name, Record
from loopx_kernel.domain.records import EvidenceRef, Todo
from loopx_kernel.domain.records_of_work import Turn
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.turn_end import Seen, closing
from loopx_kernel.domain.turn_result import ran_part, with_result
from loopx_kernel.domain.turn_state import open_turn_of
from loopx_kernel.domain.verification import Results, Tests


class HandedIn(Record):
    todo_id: Name
    lease_epoch: Count
    result_hash: Hex | None = None
    version: Count
    evidence: tuple[EvidenceRef, ...] = ()
    tests: Tests | None = None
    proven: Flag = False
    note: Line = ""
    turn_id: Name | None = None
    result_digest: Hex | None = None
    parts: tuple[dict[str, Any], ...] | None = None


class Updated(HandedIn):
    """``high_risk`` says why the todo, which was to be finished, is not."""

    high_risk: tuple[tuple[Line, Line], ...] = ()


class Completed(HandedIn):
    reason: Line = ""
    parts: tuple[dict[str, Any], ...] = ()


def files_in(evidence: Sequence[EvidenceRef]) -> dict[str, Any]:
    """The files of a hand-in, as its line holds them, with the digest over them."""
    return {
        "evidence": [e.model_dump(mode="json", exclude_none=True) for e in evidence],
        "result_hash": result_hash(evidence),
    }


def result_hash(evidence: Sequence[EvidenceRef]) -> str | None:
    """One digest over the paths and the contents of what was handed in."""
    files = [{"path": e.path, "sha256": e.sha256} for e in evidence]
    return digest(files) if files else None


def parts_of(
    state: GoalState, todo: Todo, payload: HandedIn, facts: Facts, results: Results
) -> list[dict[str, Any]]:
    """What belongs to a hand-in: what was run for it, what ends with the todo, and the turn
    if nothing of it is missing any more."""
    done = isinstance(payload, Completed)
    ends = endings(state, todo, finishes=True) if done else []
    if payload.turn_id is None:
        return ends if done else _stopped(state, todo, payload)
    turn = turn_with(state, payload, facts, results)
    last = closing(state, turn, facts.at, held=not done, seen=Seen(results))
    return [*ran_part(results), *ends, *last]


def _stopped(state: GoalState, todo: Todo, payload: HandedIn) -> list[dict[str, Any]]:
    """What follows from a risk, as at the end of a turn; nothing without one."""
    shown = payload.high_risk if isinstance(payload, Updated) else ()
    risk = before_success(state, todo, confidence=None, high_risk=shown)
    if risk is None:
        return []
    # Few hand-ins show one, and the others must not wait for what that needs.
    from loopx_kernel.domain.escalation import stopped_parts

    return stopped_parts(state, todo, risk.cause, risk.detail)


def turn_with(state: GoalState, payload: HandedIn, facts: Facts, results: Results) -> Turn:
    """The turn of a hand-in, with its result."""
    assert payload.turn_id is not None
    return with_result(
        state,
        open_turn_of(state, payload.turn_id, facts.actor.id, facts.seq),
        "done" if isinstance(payload, Completed) else "progress",
        evidence=payload.evidence,
        proven=payload.proven,
        results=results,
        result_digest=payload.result_digest,
        seq=facts.seq,
    )
