"""Whether a line's signature holds at its place: the one thing the fold cannot see."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from loopx_kernel.domain.event import (
    UNSIGNED,
    Event,
    EventType,
    Verdict,
    asked,
    statement,
)
from loopx_kernel.domain.roster_state import Owner

HashAt = Callable[[int], str | None]
TimeBefore = Callable[[], datetime | None]


def statement_bytes(event: Event, kind: EventType[Any, Any], workspace_id: str) -> bytes:
    """The canonical statement a signed line stands for."""
    from loopx_kernel.domain.canonical import canonical

    assert event.signed is not None
    return canonical(
        statement(
            workspace_id=workspace_id,
            event_id=event.event_id,
            goal_id=event.goal_id,
            event_type=event.event_type,
            actor=event.actor,
            signed_at=event.signed.signed_at,
            payload=asked(kind, event.payload),
            object_ref=event.signed.object,
            witnessed=event.signed.witnessed,
        )
    )


def verdict_on(
    event: Event,
    kind: EventType[Any, Any],
    *,
    workspace_id: str,
    keys: Iterable[Owner],
    gone: Iterable[Owner],
    hash_at: HashAt,
    before: TimeBefore,
) -> Verdict:
    """The verdict on a line: its signature, by a key that counts at this place, over a
    statement whose witnessed line is in this chain. The keys ``gone`` were revoked before it.
    ``before`` tells the time of the line
    before it, which is asked only where a key has a validity period."""
    if event.actor_kind != "owner" or event.signed is None:
        return UNSIGNED
    from loopx_kernel.errors import LoopxError
    from loopx_kernel.trust.verify import EnrolledKey, judge

    try:
        message = statement_bytes(event, kind, workspace_id)
    except LoopxError:
        return Verdict(ok=False, problem="bad_signature")
    enrolled = [
        EnrolledKey(
            name=owner.name,
            key_line=owner.key,
            fingerprint=owner.fingerprint,
            allow_unattended=owner.allow_unattended,
            confirmed=owner.confirmed,
            valid_after=owner.valid_after,
            valid_before=owner.valid_before,
            revoked=revoked,
        )
        for owners, revoked in ((keys, False), (gone, True))
        for owner in owners
    ]
    at = event.signed.moment
    if any(key.valid_after or key.valid_before for key in enrolled):
        at = max(at, before() or at)
    verdict = judge(message, event.signed.signature, enrolled, at=at)
    seen = event.signed.witnessed
    if verdict.ok and not (seen.seq < event.seq and hash_at(seen.seq) == seen.head):
        return Verdict(ok=False, signer=verdict.signer, problem="bad_signature")
    return verdict
