"""A person's decision: prepared without a lock, signed, then compared and appended.

The statement is fixed before anybody signs, and nothing is written until it is
signed. Under the locks the object is compared with what the person saw.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from loopx_kernel.clock import Reading
from loopx_kernel.domain.canonical import canonical
from loopx_kernel.domain.event import (
    Actor,
    Context,
    Event,
    Facts,
    Level,
    ObjectRef,
    Signed,
    Verdict,
    Witness,
    asked,
    statement,
)
from loopx_kernel.errors import Conflict
from loopx_kernel.workspace.commit import (
    append,
    as_event,
    event_fields,
    mended,
    note_rebuilt,
    receipt_of,
    recorded,
    writing,
)
from loopx_kernel.workspace.ledger import Ledger
from loopx_kernel.workspace.ledgers import GoalLedger
from loopx_kernel.workspace.materials import Materials
from loopx_kernel.workspace.orders import Done, Order, new_event_id

if TYPE_CHECKING:
    from loopx_kernel.trust.sshsig import Signer
    from loopx_kernel.workspace.core import Core


@dataclass(frozen=True, slots=True)
class Unsigned:
    """A decision ready to be signed.

    ``statement`` is what will be signed, ``preview`` a sentence about it.
    ``done`` is set when it was recorded before under this event id; then
    nothing needs to be signed.
    """

    goal_id: str
    event_type: str
    owner: str
    object_id: str
    event_id: str
    statement: dict[str, Any]
    preview: str
    order: Order = field(repr=False)
    done: Done[Any] | None = None

    @property
    def statement_bytes(self) -> bytes:
        """The RFC 8785 form of the statement: the bytes that are signed."""
        return canonical(self.statement)


def prepare(core: Core, order: Order, preview: str) -> Unsigned:
    """Decides on the present state and fixes what will be signed. Writes nothing.

    Raises what the append would raise now. A signed append holds both locks, and
    is found again under the id it was prepared with.
    """
    order = replace(order, both=True)
    with core.lock:
        ledger = _level(core, order)
        if order.event_id is not None:
            ledger.catch_up_index()
        done = recorded(ledger, order)
        if done is not None:
            return Unsigned(
                order.goal_id,
                "",
                order.actor.id,
                done.object_id,
                done.receipt.event_id,
                {},
                preview,
                order,
                done,
            )
        reading = core.clock.read()
        draft = order.decide(ledger.state, order.command, Context(order.actor, reading))
        payload = ledger.normalise(draft.event_type, draft.payload)
        event_id = order.event_id or new_event_id(reading)
        words = statement(
            workspace_id=core.house.state.workspace_id,
            event_id=event_id,
            goal_id=order.goal_id,
            event_type=draft.event_type,
            actor=order.actor,
            signed_at=reading.now,
            payload=asked(ledger.kind(draft.event_type), payload),
            object_ref=ObjectRef(
                id=draft.object_id, version=ledger.state.object_version(draft.object_id)
            ),
            witnessed=Witness(seq=ledger.position.seq, head=ledger.position.head),
        )
        facts = _facts(ledger, words, "", _expected(core, order), reading.now)
        ledger.check(order.goal_id, draft.event_type, payload, facts)
        return Unsigned(
            goal_id=order.goal_id,
            event_type=draft.event_type,
            owner=order.actor.id,
            object_id=draft.object_id,
            event_id=event_id,
            statement=words,
            preview=preview,
            order=replace(order, event_id=event_id),
        )


def sign_and_append(core: Core, unsigned: Unsigned, key: Signer) -> Done[Any]:
    """Signs before any lock is taken, then compares and appends under the locks.

    Durable on return. Raises ``owners_changed`` where the workspace is not the one this person
    knew, ``stale_decision`` when the object changed in
    meaning, ``already_decided`` when somebody else was first,
    ``unknown_signer`` for a key that does not count here; then nothing was written.
    """
    if unsigned.done is not None:
        return unsigned.done
    from loopx_kernel.trust.sshsig import sign

    signature = sign(unsigned.statement_bytes, key)
    order = unsigned.order
    with writing(core, order) as ledger:
        done = recorded(ledger, order)
        if done is not None:
            return done
        core.pins.require()
        _make_ready(core, ledger, order)
        reading = core.clock.read()
        payload = _decided_again(ledger, unsigned, reading)
        event = _as_line(ledger, unsigned, payload, signature, reading.now)
        verdict = ledger.verdict(event)
        facts = _facts(ledger, unsigned.statement, signature, verdict, reading.now)
        ledger.check(order.goal_id, unsigned.event_type, payload, facts)
        line = append(
            core, ledger, order, event_type=unsigned.event_type, payload=payload, facts=facts
        )
        core.pins.see()
        return Done(receipt_of(line), unsigned.object_id, ledger.state)


def _expected(core: Core, order: Order) -> Verdict:
    """The verdict on the signature to come, if it is made with the key this person has now."""
    present = core.house.state.present_owners
    levels = (one.level for one in present if one.name == order.actor.id)
    level: Level = next(levels, "none")
    return Verdict(ok=True, signer=order.actor.id, level=level)


def _make_ready(core: Core, ledger: Ledger, order: Order) -> None:
    """Brings level what a crash left behind; a repair is not stopped by other damage."""
    if order.repairs == "journal":
        return
    if isinstance(ledger, GoalLedger):
        note_rebuilt(core, ledger, Materials(core).catch_up(ledger, order))
    elif order.repairs is None:
        Materials(core).require_room(order)


def _level(core: Core, order: Order) -> Ledger:
    core.require_unfenced()
    core.pins.require()
    if order.repairs == "journal":
        ledger = mended(core, order.goal_id)
        ledger.require_whole()
        return ledger
    core.house.require_whole()
    if order.house:
        return core.house
    ledger = core.fresh_goal(order.goal_id)
    ledger.require_whole()
    return ledger


def _decided_again(ledger: Ledger, unsigned: Unsigned, reading: Reading) -> dict[str, Any]:
    """The payload as it would be decided now; what was signed must still be its asked part."""
    order = unsigned.order
    draft = order.decide(ledger.state, order.command, Context(order.actor, reading))
    payload = ledger.normalise(draft.event_type, draft.payload)
    now = asked(ledger.kind(draft.event_type), payload)
    if now != unsigned.statement["payload"]:
        raise Conflict(
            "stale_decision",
            f"{unsigned.object_id} changed after it was looked at",
            next="look at it again and decide anew",
            object_id=unsigned.object_id,
            signed=unsigned.statement["payload"],
            now=now,
        )
    return payload


def _facts(
    ledger: Ledger, words: dict[str, Any], signature: str, verdict: Verdict, at: datetime
) -> Facts:
    signed = Signed(
        signed_at=words["signed_at"],
        object=words["object"],
        witnessed=words["witnessed"],
        signature=signature,
    )
    return Facts(
        actor=Actor(kind=words["actor_kind"], id=words["actor_agent_id"]),
        at=at,
        seq=ledger.position.seq + 1,
        event_id=words["event_id"],
        signed=signed,
        verdict=verdict,
    )


def _as_line(
    ledger: Ledger, unsigned: Unsigned, payload: dict[str, Any], signature: str, at: datetime
) -> Event:
    """The event as it would stand in the journal, for the verdict on its signature."""
    facts = _facts(ledger, unsigned.statement, signature, Verdict(ok=False), at)
    order = unsigned.order
    values = event_fields(order.goal_id, unsigned.event_type, payload, facts, order.request)
    return as_event(ledger, values)
