"""The one way into a journal: lock, catch up, decide, check, append, fold, materialise."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from loopx_kernel.clock import format_time, parse_time
from loopx_kernel.domain import fence, rebuilt
from loopx_kernel.domain.event import (
    EVENT_SCHEMA,
    WORKSPACE_JOURNAL,
    Context,
    Event,
    Facts,
)
from loopx_kernel.domain.fence import FenceWriters
from loopx_kernel.domain.rebuilt import NoteRebuilt
from loopx_kernel.errors import Conflict, LoopxError, UsageError
from loopx_kernel.store.line import Line, encode
from loopx_kernel.store.objects import Objects
from loopx_kernel.store.terms import OBJECT_KEYS
from loopx_kernel.text import check_line
from loopx_kernel.workspace.contexts import context_of
from loopx_kernel.workspace.ledger import Ledger
from loopx_kernel.workspace.ledgers import GoalLedger
from loopx_kernel.workspace.locking import held, house_held, settle
from loopx_kernel.workspace.materials import Materials
from loopx_kernel.workspace.orders import CODE, Done, Order, Receipt, new_event_id
from loopx_kernel.workspace.proofs import Proofs

if TYPE_CHECKING:
    from loopx_kernel.workspace.core import Core


@contextlib.contextmanager
def writing(core: Core, order: Order) -> Iterator[Ledger]:
    """Holds the locks the order needs. The ledger inside is level with its journal and
    whole, and its torn tail dealt with.

    Raises ``writer_fenced`` where newer writers keep this one out; then nothing was touched.
    """
    with contextlib.ExitStack() as locks:
        core.require_writable()
        locks.enter_context(core.lock)
        core.house.refresh()
        raise_fence(core)
        _look_ahead(core, order)
        if order.goal_id != WORKSPACE_JOURNAL:
            locks.enter_context(held(core, core.layout.goal_lock(order.goal_id), order))
            core.require_unfenced()
        if order.house or order.both:
            locks.enter_context(house_held(core, order))
        ledger: Ledger = core.house
        if not order.house:
            ledger = core.goal(order.goal_id)
            settle(core, ledger)
            if order.repairs != "journal":
                core.roll_forward_opening(ledger)
        if order.repairs == "journal":
            settle(core, ledger, unread=True)
            ledger = mended(core, order.goal_id)
        ledger.require_whole()
        yield ledger


def raise_fence(core: Core) -> None:
    """Keeps older writers out before a newer generation writes here for the first time.

    Durable on return. No lock is held by the caller.
    """
    house = core.house
    if house.state.fence >= core.generation or not house.state.workspace_id or house.damage:
        return
    order = Order(
        WORKSPACE_JOURNAL, FenceWriters(generation=core.generation), fence.decide, CODE, house=True
    )
    with house_held(core, order):
        house.require_whole()
        if house.state.fence < core.generation:
            append_own(core, house, order)


def _look_ahead(core: Core, order: Order) -> None:
    """Reads what there is before the lock is taken: what takes long keeps nobody waiting."""
    ledger = core.house if order.house else core.goal(order.goal_id)
    ledger.refresh(core.progress)
    if order.event_id is not None:
        ledger.catch_up_index()


def mended(core: Core, goal_id: str) -> Ledger:
    """The good part of a damaged journal; imported when one is."""
    from loopx_kernel.workspace import mending

    return mending.mended(core, goal_id)


def commit(core: Core, order: Order) -> Done[Any]:
    """Carries out an agent's or the kernel's own command. Durable on return.

    Raises the decider's errors; after any of them nothing was recorded, unless
    the error is ``durability_unknown``.
    """
    with writing(core, order) as ledger:
        first = recorded(ledger, order)
        if first is not None:
            return first
        reading = core.clock.read()
        if isinstance(ledger, GoalLedger):
            note_rebuilt(core, ledger, Materials(core).catch_up(ledger, order))
        context = context_of(core, order, reading)
        require_registered(context, order)
        draft = order.decide(ledger.state, order.command, context)
        payload = ledger.normalise(draft.event_type, draft.payload)
        facts = Facts(
            actor=order.actor,
            at=reading.now,
            seq=ledger.position.seq + 1,
            event_id=order.event_id or new_event_id(reading),
        )
        ledger.check(order.goal_id, draft.event_type, payload, facts)
        line = append(
            core, ledger, order, event_type=draft.event_type, payload=payload, facts=facts
        )
        return Done(receipt_of(line), draft.object_id, ledger.state)


def catch_up(core: Core, order: Order) -> Any:
    """Only brings the goal's files level, and records those that were missing; the state."""
    with writing(core, order) as ledger:
        require_registered(context_of(core, order, core.clock.read()), order)
        if isinstance(ledger, GoalLedger):
            note_rebuilt(core, ledger, Materials(core).catch_up(ledger, order))
            note_rebuilt(core, ledger, Proofs(core).catch_up_left(ledger.state))
        return ledger.state


def require_registered(context: Context, order: Order) -> None:
    """``unknown_agent`` unless the acting agent is registered in the workspace."""
    actor = order.actor
    if actor.kind == "agent" and not order.house and actor.id not in context.agents:
        raise UsageError(
            "unknown_agent",
            f"{actor.id} is not a registered agent",
            next=f"loopx agent add {actor.id}",
            agent_id=actor.id,
        )


def note_rebuilt(core: Core, ledger: Ledger, paths: Iterable[str]) -> None:
    """Records each file that was missing and is there again."""
    for path in paths:
        append_own(core, ledger, Order(ledger.name, NoteRebuilt(path=path), rebuilt.decide, CODE))


def append_own(core: Core, ledger: Ledger, order: Order) -> None:
    """Records what the kernel itself saw or did. The caller holds the locks."""
    reading = core.clock.read()
    draft = order.decide(ledger.state, order.command, context_of(core, order, reading))
    facts = Facts(CODE, reading.now, ledger.position.seq + 1, new_event_id(reading))
    append(core, ledger, order, event_type=draft.event_type, payload=draft.payload, facts=facts)


def append(
    core: Core,
    ledger: Ledger,
    order: Order,
    *,
    event_type: str,
    payload: dict[str, Any],
    facts: Facts,
) -> Line:
    """The commit: one line, one flush; then the fold and the files. The caller holds the locks.
    Bytes that the line refers to are kept before it.

    A file that cannot be written now is behind, not lost: the next writer catches it up,
    or is told that it is damaged. The commit stands either way.
    """
    for content in order.keeps:
        Objects(core.layout.objects(order.goal_id), core.files).keep(content)
    values = event_fields(order.goal_id, event_type, payload, facts, order.request)
    as_event(ledger, values)
    for lock in core.held:
        lock.require()
    line = ledger.write(values)
    before = ledger.state
    ledger.take(line)
    with contextlib.suppress(LoopxError):
        Materials(core).follow(ledger, before, line)
    return line


def as_event(ledger: Ledger, values: Mapping[str, Any]) -> Event:
    """The event these fields would be as the next line. Raises ``invalid_event`` for what
    could be written but never be read back."""
    seq, prev = ledger.position.seq + 1, ledger.position.head
    _, sha256 = encode(values, seq=seq, prev=prev)
    chain = {"seq": seq, "schema_version": EVENT_SCHEMA, "prev": prev, "sha256": sha256}
    try:
        return Event.model_validate({**values, **chain})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            "invalid_event", f"this event cannot be recorded: {where}: {first['msg']}", field=where
        ) from None


def event_fields(
    goal_id: str, event_type: str, payload: dict[str, Any], facts: Facts, request: str
) -> dict[str, Any]:
    """The fields of a line, without those the chain gives."""
    values: dict[str, Any] = {
        "event_id": facts.event_id,
        "goal_id": goal_id,
        "event_type": event_type,
        "recorded_at": format_time(facts.at),
        "actor_kind": facts.actor.kind,
        "actor_agent_id": facts.actor.id,
        "payload": payload,
    }
    if facts.signed is not None:
        values["signed"] = facts.signed.model_dump(mode="json")
    return values | {"request": request}


def recorded(ledger: Ledger, order: Order) -> Done[Any] | None:
    """The first receipt of a command that was recorded already under this id; another
    command under it is ``event_conflict``. What is handed back is durable."""
    if order.event_id is None:
        return None
    check_line(order.event_id, "event_id", limit=128)
    line = ledger.find(order.event_id)
    if line is None:
        return None
    fault = _is_other(line, order) or ledger.fault_at(line.seq)
    if fault is not None:
        raise Conflict(
            "event_conflict",
            f"{line.event_id} stands at #{line.seq} already: {fault}",
            next=f"loopx event show {line.event_id}",
            event_id=line.event_id,
            seq=line.seq,
        )
    ledger.journal.flush()
    return Done(receipt_of(line, replayed=True), object_of(line.record), ledger.state)


def _is_other(line: Line, order: Order) -> str | None:
    # Nobody signs the request digest, so it alone does not say whose line this is.
    asked = (order.actor.kind, order.actor.id, order.request)
    if (*map(line.record.get, ("actor_kind", "actor_agent_id", "request")),) == asked:
        return None
    return "it was recorded for another command"


def object_of(record: Mapping[str, Any]) -> str:
    """The id of what a recorded event made or changed."""
    payload = record["payload"]
    if record["event_type"].startswith("turn."):
        return str(payload["turn_id"])
    for key in (*OBJECT_KEYS, "name"):
        if key in payload:
            return str(payload[key])
    return str(record["goal_id"])


def receipt_of(line: Line, *, replayed: bool = False) -> Receipt:
    """The receipt of a stored line."""
    return Receipt(
        event_id=line.event_id,
        goal_id=line.record["goal_id"],
        seq=line.seq,
        sha256=line.sha256,
        recorded_at=parse_time(line.record["recorded_at"]),
        replayed=replayed,
    )
