"""The receipt of a turn: what its result is worth, and all that follows from it."""

from __future__ import annotations

from typing import Any

from loopx_kernel.domain.effort import before_success
from loopx_kernel.domain.endings import endings, refuse_unfulfilled
from loopx_kernel.domain.event import Facts
from loopx_kernel.domain.handin import UpdateTodo, hand_in
from loopx_kernel.domain.holding import must_hold
from loopx_kernel.domain.quota import MAX_SLOTS
from loopx_kernel.domain.records import EvidenceRef, Todo
from loopx_kernel.domain.records_of_work import Outcome, Turn
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.turn import voiding
from loopx_kernel.domain.turn_end import Seen, closed, ending_parts
from loopx_kernel.domain.turn_result import covers, ran_part, with_result
from loopx_kernel.domain.turn_state import holds
from loopx_kernel.domain.verification import Results, Tests, agreed, fault, least_confidence
from loopx_kernel.errors import Denied, UsageError
from loopx_kernel.value import Value


class SettleTurn(Value, kw_only=True):
    """Hand in a turn. ``handoff`` is the text for the next one. What stands after ``slots`` was
    observed, as ``evidence`` and ``proven`` were: see a todo's hand-in and ``Seen``."""

    turn_id: str
    outcome: Outcome
    evidence: tuple[EvidenceRef, ...] = ()
    tests: Tests | None = None
    proven: bool = False
    note: str = ""
    handoff: str | None = None
    slots: int = 1
    results: Results = ()
    result_digest: str | None = None
    high_risk: tuple[tuple[str, str], ...] = ()

    @property
    def confidence(self) -> str | None:
        """How sure the judge was, where one was asked: of the item it was least sure of."""
        return least_confidence(self.results)

    @property
    def seen(self) -> Seen:
        """What code saw of it."""
        return Seen(self.results, self.confidence, self.high_risk)


class Receipt(Value):
    """The turn as it is closed, and the parts of its event."""

    turn: Turn
    parts: list[dict[str, Any]]


def make_receipt(state: GoalState, turn: Turn, command: SettleTurn, facts: Facts) -> Receipt:
    """The receipt of an open turn; a result that is not verified makes it a failure.

    Raises ``invalid_value``, ``illegal_transition``, and the lease errors where work was given up.
    """
    todo = state.todos.get(turn.todo_id)
    if not 0 <= command.slots <= MAX_SLOTS:
        raise UsageError(
            "invalid_value",
            f"{command.slots} is not a number of slots",
            next=f"book between 0 and {MAX_SLOTS}",
            slots=command.slots,
        )
    if todo is not None and holds(todo, turn):
        judged, work = _with_todo(state, todo, turn, command, facts)
    else:
        judged, work = _without_todo(state, turn, command, facts), []
    handoff, spend = _handoff(command), _spend(state, judged, command)
    booked = command.slots if spend and judged.outcome != "failed" else judged.slots_booked
    last = closed(judged, facts.at, facts.seq).model_copy(
        update={
            "state_written": judged.state_written or bool(handoff),
            "slots_booked": 0 if judged.outcome == "failed" else booked,
        }
    )
    gives_back = bool(work) and last.outcome in ("progress", "failed")
    ends = ending_parts(state, last, facts.at, gives_back=gives_back, seen=command.seen)
    parts = [*ran_part(command.results), *work, *handoff, *spend, *ends]
    return Receipt(last, parts)


def _with_todo(
    state: GoalState, todo: Todo, turn: Turn, command: SettleTurn, facts: Facts
) -> tuple[Turn, list[dict[str, Any]]]:
    """The turn with what its result is worth, and what becomes of the todo."""
    risk = before_success(state, todo, confidence=command.confidence, high_risk=command.high_risk)
    wrong = (risk.detail if risk else "") or fault(
        todo,
        command.outcome,
        evidence=command.evidence,
        tests=command.tests,
        proven=command.proven,
        results=command.results,
    )
    outcome: Outcome = "failed" if wrong else command.outcome
    judged = _judged(state, turn, outcome, command, facts.seq, wrong=wrong)
    if not covers(command.results, todo):
        raise UsageError("invalid_event", f"These are not the acceptance items of {todo.id}")
    return judged, _work(state, todo, judged, command)


def require_evidence(state: GoalState, turn: Turn) -> None:
    """Success needs proof, failure does not."""
    if turn.outcome == "done" and turn.todo_id in state.todos:
        refuse_unfulfilled(state, state.todos[turn.todo_id])
    if turn.outcome == "done" and not turn.verified:
        raise Denied(
            "missing_evidence",
            f"{turn.todo_id} is done only with evidence",
            next=f"loopx turn settle --turn {turn.id} --outcome done --evidence report.xml",
            todo_id=turn.todo_id,
            turn=turn.id,
        )


def _judged(
    state: GoalState,
    turn: Turn,
    outcome: Outcome,
    command: SettleTurn,
    seq: int,
    *,
    wrong: str = "",
) -> Turn:
    return with_result(
        state,
        turn.model_copy(update={"reason": wrong or command.note}),
        outcome,
        evidence=command.evidence,
        proven=command.proven,
        results=command.results,
        result_digest=command.result_digest,
        seq=seq,
    )


def _work(state: GoalState, todo: Todo, turn: Turn, command: SettleTurn) -> list[dict[str, Any]]:
    done = turn.outcome == "done"
    update = UpdateTodo(
        todo_id=todo.id,
        complete=done,
        evidence=command.evidence,
        tests=agreed(command.evidence, command.tests),
        proven=command.proven,
        note=command.note,
    )
    kind = "todo.completed" if done else "todo.updated"
    work = [{"type": kind, **hand_in(todo, update)}]
    if done:
        work[0]["parts"] = endings(state, todo, finishes=True)
    elif turn.outcome == "blocked":
        blocked = {
            "type": "todo.blocked",
            "todo_id": todo.id,
            "version": todo.version + 2,
            "reason": command.note or f"blocked in {turn.id}",
            "parts": endings(state, todo, finishes=False),
        }
        work.append(blocked)
    return work


def _without_todo(state: GoalState, turn: Turn, command: SettleTurn, facts: Facts) -> Turn:
    """The turn where its todo is not held any more: its result was handed in before, or the
    work was given up, which is no success."""
    todo = state.todos.get(turn.todo_id)
    if not turn.handed_in and command.outcome in ("done", "progress"):
        must_hold(todo or state.todo(turn.todo_id), facts.actor.id, None, turn.lease_epoch)
    before = turn.outcome if turn.handed_in else command.outcome
    if command.outcome != before or command.evidence or command.results:
        raise UsageError(
            "illegal_transition",
            f"The result of {turn.id} was handed in already: {before}",
            next=f"loopx turn settle --turn {turn.id} --outcome {before}",
            turn=turn.id,
        )
    if turn.handed_in:
        return turn.model_copy(update={"seq": facts.seq})
    return _judged(state, turn, command.outcome, command, facts.seq)


def _handoff(command: SettleTurn) -> list[dict[str, Any]]:
    if command.handoff is None:
        return []
    return [{"type": "handoff.written", "text": command.handoff}]


def _spend(state: GoalState, turn: Turn, command: SettleTurn) -> list[dict[str, Any]]:
    """A turn that failed books nothing, and what it had booked is taken back."""
    if turn.outcome == "failed":
        return voiding(state, turn, f"{turn.id} failed validation")
    if not command.slots or turn.slots_booked or turn.id in state.spends:
        return []
    return [{"type": "spend.booked", "effect_ref": turn.id, "slots": command.slots}]
