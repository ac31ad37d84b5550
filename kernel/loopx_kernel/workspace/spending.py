"""The lines of ``spend.jsonl``: the newer from the state, all of them from the journal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from loopx_kernel.domain.records import Spend
from loopx_kernel.domain.state import GoalState
from loopx_kernel.store.line import Line
from loopx_kernel.store.spend_file import Since
from loopx_kernel.views.records import spend_lines, spent_line, voided_line
from loopx_kernel.workspace.ledgers import GoalLedger


def spends_since(ledger: GoalLedger, state: GoalState) -> Since:
    """Gives the lines up to ``state``, a state of that ledger. Whoever asks for a ``seq`` that
    left the hot state has the journal read."""

    def since(seq: int) -> Iterator[dict[str, Any]]:
        if seq > state.aged.last_seq or not state.aged.spends:
            return spend_lines(state, seq)
        return (line for line in _from_journal(ledger, state.seq) if line["seq"] >= seq)

    return since


def first_spend(state: GoalState) -> int:
    """The ``seq`` of a booking that is surely in the ledger, the first that is still known."""
    if state.aged.last_seq:
        return state.aged.last_seq
    return min((spend.seq for spend in state.spends.values()), default=0)


def _from_journal(ledger: GoalLedger, last: int) -> Iterator[dict[str, Any]]:
    spends: dict[str, Spend] = {}
    for line in _lines(ledger, last):
        if ledger.fault_at(line.seq) is not None:
            continue
        event = ledger.event_of(line)
        for name, said in _bookings(event.event_type, event.payload):
            ref, at = said["effect_ref"], event.recorded_at
            if name == "spend.booked":
                by = event.actor_agent_id
                spends[ref] = Spend(
                    effect_ref=ref, slots=said["slots"], at=at, by=by, seq=event.seq
                )
                yield spent_line(event.goal_id, spends[ref])
            else:
                void = {"voided_at": at, "void_reason": said["reason"], "void_seq": event.seq}
                yield voided_line(event.goal_id, spends.pop(ref).model_copy(update=void))


def _bookings(name: str, payload: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What an event books or voids, itself or in its parts."""
    if name in ("spend.booked", "spend.voided"):
        yield name, payload
    for part in payload.get("parts", ()):
        yield from _bookings(part["type"], part)


def _lines(ledger: GoalLedger, last: int) -> Iterator[Line]:
    from loopx_kernel.workspace.paging import Wanted, first_to_last

    return first_to_last(ledger, Wanted(before=last + 1, types=_TYPES))


_TYPES = ("spend.booked", "spend.voided", "turn.settled", "turn.recovered")
"""The events that book or void, by themselves or in a part."""
