"""Turns: one bounded transaction from brief to receipt."""

from __future__ import annotations

from typing import Any, TypeAlias

from loopx_kernel.clock import Reading
from loopx_kernel.domain import lease, taking
from loopx_kernel.domain.endings import check_parts
from loopx_kernel.domain.event import AGENT, CODE, Context, Draft, EventType, Facts
from loopx_kernel.domain.lease import ClaimTodo, ClockFacts, clock_facts
from loopx_kernel.domain.record import Count, Name, Record
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.records_of_work import Turn
from loopx_kernel.domain.state import GoalState, is_live, open_turn
from loopx_kernel.domain.turn_end import ENDS_TURN, ending_parts, with_end
from loopx_kernel.domain.turn_id import turn_id
from loopx_kernel.domain.turn_state import (
    holds,
    is_within_deadline,
    knows_turn,
    turn_closed,
    unknown_turn,
)
from loopx_kernel.errors import Conflict, Fenced, UsageError
from loopx_kernel.text import check_line
from loopx_kernel.value import Value


class BeginTurn(Value, kw_only=True):
    """Open a turn on the todo that the contract of this id named."""

    todo_id: str
    contract_id: str


class RecoverTurn(Value, kw_only=True):
    """Record that a turn ended without a receipt; for the kernel."""

    turn_id: str


Command: TypeAlias = BeginTurn | RecoverTurn


class Opened(Record):
    turn_id: Name
    todo_id: Name
    contract_id: Name
    lease_epoch: Count
    clock: ClockFacts = ClockFacts()
    parts: tuple[dict[str, Any], ...] = ()


class Recovered(Record):
    turn_id: Name
    todo_id: Name
    clock: ClockFacts = ClockFacts()
    parts: tuple[dict[str, Any], ...] = ()


def decide(state: GoalState, command: Command, context: Context) -> Draft:
    """The event that opens or recovers a turn; raises when ``check`` would, and for clashes
    with leases of other goals, which only the workspace can see."""
    clock = {"clock": clock_facts(context.reading)}
    if isinstance(command, RecoverTurn):
        turn = _unclosed(state, command.turn_id, context.reading)
        parts = recovery_parts(state, turn, Facts(context.actor, context.now, 0, ""))
        given = {"turn_id": turn.id, "todo_id": turn.todo_id, "parts": parts}
        return Draft("turn.recovered", given | clock, turn.id)
    todo = state.todo(command.todo_id)
    payload: dict[str, Any] = {
        "turn_id": turn_id(state.next_turn),
        "todo_id": todo.id,
        "contract_id": command.contract_id,
        "lease_epoch": todo.lease_epoch,
    }
    if not _is_own(todo, context.actor.id, context.reading):
        claim = lease.decide(state, ClaimTodo(todo_id=todo.id), context)
        payload["lease_epoch"] = todo.lease_epoch + 1
        payload["parts"] = [{"type": claim.event_type, **claim.payload}]
    return Draft("turn.opened", payload | clock, payload["turn_id"])


def _is_own(todo: Todo, agent_id: str, reading: Reading) -> bool:
    own = todo.lease is not None and todo.lease.owner == agent_id
    return own and is_live(todo.lease, reading)


def _check_opened(state: GoalState, payload: Opened, facts: Facts) -> None:
    taking.check_active(state)
    under_way = open_turn(state, facts.actor.id)
    if under_way is not None:
        raise Conflict(
            "turn_open",
            f"{facts.actor.id} has {under_way.id} open on {under_way.todo_id}",
            next=f"loopx turn show {under_way.id}",
            turn=under_way.id,
        )
    check_line(payload.contract_id, "contract_id", limit=128)
    todo = state.todo(payload.todo_id)
    reading = payload.clock.reading(facts.at)
    own = _is_own(todo, facts.actor.id, reading)
    claims = [(part.get("type"), part.get("todo_id")) for part in payload.parts]
    claimed = [] if own else [("todo.claimed", todo.id)]
    if payload.lease_epoch != todo.lease_epoch + (not own):
        raise Fenced(
            "stale_epoch",
            f"A turn on {todo.id} begins in epoch {todo.lease_epoch + (not own)}",
            next="loopx turn begin",
            todo_id=todo.id,
        )
    if (payload.turn_id, claims) != (turn_id(state.next_turn), claimed):
        raise UsageError(
            "invalid_event",
            f"The next turn is {turn_id(state.next_turn)}, on {todo.id} with its lease",
            next="loopx turn begin",
        )
    if own:
        taking.check_may_work(state, todo, reading, facts)


def _evolve_opened(state: GoalState, payload: Opened, facts: Facts) -> GoalState:
    turn = Turn(
        id=payload.turn_id,
        todo_id=payload.todo_id,
        agent_id=facts.actor.id,
        contract_id=payload.contract_id,
        lease_epoch=payload.lease_epoch,
        opened_at=facts.at,
        opened_seq=facts.seq,
        seq=facts.seq,
    )
    return state.with_turn(turn).model_copy(update={"next_turn": state.next_turn + 1})


def _unclosed(state: GoalState, ref: str, reading: Reading) -> Turn:
    """The turn, if its deadline passed without a receipt."""
    turn = state.turns.get(ref)
    if turn is None and not knows_turn(state, ref):
        raise unknown_turn(state, ref)
    if turn is None or turn.status != "open":
        raise turn_closed(ref, turn)
    if is_within_deadline(state, turn, reading):
        raise Conflict(
            "turn_open",
            f"{ref} is within its deadline: {turn.agent_id} may still hand in",
            next=f"loopx turn show {ref}",
            turn=ref,
        )
    return turn


def recovered(turn: Turn, facts: Facts) -> Turn:
    """The turn as a failure, whatever was handed in of it."""
    return turn.model_copy(
        update={
            "status": "recovered",
            "outcome": "failed",
            "slots_booked": 0,
            "closed_at": facts.at,
            "reason": "no receipt by its deadline",
            "seq": facts.seq,
        }
    )


def recovery_parts(state: GoalState, turn: Turn, facts: Facts) -> list[dict[str, Any]]:
    """What follows from a turn without a receipt."""
    gives_back = holds(state.todos.get(turn.todo_id), turn)
    parts = ending_parts(state, recovered(turn, facts), facts.at, gives_back=gives_back)
    return [*parts, *voiding(state, turn, "no receipt by its deadline")]


def voiding(state: GoalState, turn: Turn, reason: str) -> list[dict[str, Any]]:
    """The part that takes the booking of a failed turn back, if there is one that counts."""
    spend = state.spends.get(turn.id)
    if spend is None or spend.voided_at is not None:
        return []
    return [{"type": "spend.voided", "effect_ref": turn.id, "reason": reason}]


def _check_recovered(state: GoalState, payload: Recovered, facts: Facts) -> None:
    turn = _unclosed(state, payload.turn_id, payload.clock.reading(facts.at))
    if payload.todo_id != turn.todo_id:
        raise UsageError("invalid_event", f"{turn.id} is on {turn.todo_id}")
    check_parts(payload.parts, recovery_parts(state, turn, facts))


def _evolve_recovered(state: GoalState, payload: Recovered, facts: Facts) -> GoalState:
    return with_end(state, recovered(state.turns[payload.turn_id], facts), facts)


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType(
        "turn.opened",
        Opened,
        AGENT,
        _check_opened,
        _evolve_opened,
        parts=frozenset({"todo.claimed"}),
    ),
    EventType(
        "turn.recovered",
        Recovered,
        CODE,
        _check_recovered,
        _evolve_recovered,
        parts=ENDS_TURN | {"spend.voided"},
    ),
)
