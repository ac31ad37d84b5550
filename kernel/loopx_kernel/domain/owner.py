"""People: their keys enrolled, replaced and revoked, each time signed by one of them.

A key counts for the lines of a goal after its enrolment's head and up to its revocation's.
Position decides, not anybody's clock; a validity period narrows that further.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any, TypeAlias

from loopx_kernel.clock import format_time
from loopx_kernel.domain.event import OWNER, Context, Draft, EventType, Facts
from loopx_kernel.domain.levels import is_hardware
from loopx_kernel.domain.record import Flag, Line, Name, Record, Time
from loopx_kernel.domain.records import Head
from loopx_kernel.domain.roster_state import Owner, WorkspaceState, same_name
from loopx_kernel.errors import Conflict, Denied, LoopxError, UsageError
from loopx_kernel.text import check_line
from loopx_kernel.value import Value

Heads: TypeAlias = tuple[tuple[str, int, str], ...]
"""Of each goal: its id, and the ``seq`` and hash of its journal's last line."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9@._-]{0,63}")


class EnrollOwner(Value, kw_only=True):
    """Enrol a person's public key; the first one signs for itself.

    ``allow_unattended`` lets it sign with nobody present; ``confirmed`` is the claim that an
    agent holds it and asks its owner at each use. A hardware key takes neither.
    ``replaces`` is the fingerprint of the present key of the same name that goes in the same
    step. The key counts from ``valid_after`` up to and including ``valid_before``, UTC.
    """

    name: str
    key: str
    fingerprint: str
    allow_unattended: bool = False
    confirmed: bool = False
    valid_after: datetime | None = None
    valid_before: datetime | None = None
    replaces: str | None = None
    heads: Heads = ()


class RevokeOwner(Value, kw_only=True):
    """Revoke the present key of a person; what it decided until now stays decided."""

    name: str
    fingerprint: str
    reason: str = ""
    heads: Heads = ()


Command: TypeAlias = EnrollOwner | RevokeOwner


class Enrolled(Record):
    name: Name
    key: Line
    fingerprint: Name
    allow_unattended: Flag = False
    confirmed: Flag = False
    valid_after: Time | None = None
    valid_before: Time | None = None
    replaces: Name | None = None
    heads: dict[str, Head] = {}


class Revoked(Record):
    name: Name
    fingerprint: Name
    reason: Line = ""
    heads: dict[str, Head] = {}


def decide(state: WorkspaceState, command: Command, context: Context) -> Draft:
    """The event about a person's key. The object is the person, by name."""
    payload: dict[str, Any] = {"name": command.name, "fingerprint": command.fingerprint}
    payload["heads"] = {goal: {"seq": seq, "head": head} for goal, seq, head in command.heads}
    if isinstance(command, RevokeOwner):
        return Draft("owner.revoked", payload | {"reason": command.reason}, command.name)
    payload |= {
        "key": command.key,
        "allow_unattended": command.allow_unattended,
        "confirmed": command.confirmed,
        "valid_after": command.valid_after,
        "valid_before": command.valid_before,
        "replaces": command.replaces,
    }
    return Draft("owner.enrolled", payload, command.name)


def self_signed(payload: dict[str, Any], facts: Facts) -> Owner:
    """The first owner, who signs with the very key that is enrolled. Raises ``ValueError``."""
    return _owner(Enrolled.model_validate(payload), facts)


def _check_enrolled(state: WorkspaceState, payload: Enrolled, facts: Facts) -> None:
    check_name(payload.name)
    _check_use(payload)
    _check_period(payload, facts.at)
    if payload.replaces is not None:
        _require_present(state, payload.name, payload.replaces)
    for owner in state.present_owners:
        if _stands_in_the_way(owner, payload):
            raise _exists(owner)
    if any(same_name(payload.name, agent_id) for agent_id in state.agents):
        raise Conflict(
            "exists",
            f"{payload.name} is the name of an agent, so it cannot be an owner's",
            next="loopx agent list",
            name=payload.name,
        )
    _check_heads(state, payload.heads)
    _check_version(state, payload.name, facts)


def check_name(name: str) -> None:
    """Raises ``invalid_value`` for what cannot be an owner's name."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            "invalid_value",
            f"{name!r} cannot be an owner's name",
            next="use letters, digits, dots, dashes and @, for example huang",
            name=name,
        )


def _check_use(payload: Enrolled) -> None:
    """What is said of a key's use is one thing, and nothing that a hardware key tells itself."""
    ways = (payload.allow_unattended, payload.confirmed, is_hardware(payload.key))
    if sum(ways) > 1:
        raise UsageError(
            "invalid_value",
            "A key signs unattended, or is confirmed at each use, or is touched as a hardware key",
            next="say --allow-unattended or --confirmed, and neither of a hardware key",
            name=payload.name,
        )


def _check_period(payload: Enrolled, at: datetime) -> None:
    after, before = payload.valid_after, payload.valid_before
    if before is not None and (before <= at or (after is not None and before <= after)):
        raise UsageError(
            "invalid_value",
            "The key would be valid for no time at all",
            next="give --valid-before a later time",
        )


def _stands_in_the_way(owner: Owner, payload: Enrolled) -> bool:
    if owner.fingerprint == payload.fingerprint:
        return True
    return same_name(owner.name, payload.name) and payload.replaces is None


def _evolve_enrolled(state: WorkspaceState, payload: Enrolled, facts: Facts) -> WorkspaceState:
    owners = state.owners
    if payload.replaces is not None:
        owners = tuple(_revoked(owners, payload.replaces, payload.heads, facts))
    update = {"owners": (*owners, _owner(payload, facts)), "owners_seq": facts.seq}
    return state.model_copy(update=update)


def _check_revoked(state: WorkspaceState, payload: Revoked, facts: Facts) -> None:
    _require_present(state, payload.name, payload.fingerprint)
    if payload.reason:
        check_line(payload.reason, "reason")
    others = [one for one in state.present_owners if one.fingerprint != payload.fingerprint]
    if not any(one.valid_before is None or one.valid_before > facts.at for one in others):
        raise Denied(
            "last_owner",
            f"{payload.name} is the last owner of this workspace and cannot be revoked",
            next="loopx owner enroll --name maria --public-key maria.pub",
            name=payload.name,
        )
    _check_heads(state, payload.heads)
    _check_version(state, payload.name, facts)


def _evolve_revoked(state: WorkspaceState, payload: Revoked, facts: Facts) -> WorkspaceState:
    owners = tuple(_revoked(state.owners, payload.fingerprint, payload.heads, facts))
    return state.model_copy(update={"owners": owners, "owners_seq": facts.seq})


def _revoked(
    owners: Iterable[Owner], fingerprint: str, heads: dict[str, Head], facts: Facts
) -> Iterable[Owner]:
    end = {
        "revoked_seq": facts.seq,
        "revoked_by": facts.actor.id,
        "revoked_at": facts.at,
        "to_heads": heads,
    }
    for owner in owners:
        present = owner.fingerprint == fingerprint and owner.revoked_seq is None
        yield owner.model_copy(update=end) if present else owner


def _owner(payload: Enrolled, facts: Facts) -> Owner:
    return Owner(
        name=payload.name,
        key=payload.key,
        fingerprint=payload.fingerprint,
        allow_unattended=payload.allow_unattended,
        confirmed=payload.confirmed,
        valid_after=payload.valid_after,
        valid_before=payload.valid_before,
        enrolled_seq=facts.seq,
        enrolled_by=facts.actor.id,
        enrolled_at=facts.at,
        from_heads=payload.heads,
    )


def _check_version(state: WorkspaceState, name: str, facts: Facts) -> None:
    """The signature is about this person as they stand now, so that the same line copied to a
    later place does nothing."""
    seen = facts.signed.object if facts.signed else None
    version = state.object_version(name)
    if seen is None or (seen.id, seen.version) != (name, version):
        raise stale(name, version=version)


def stale(name: str, **facts: Any) -> LoopxError:
    """What was signed about a person's key does not fit any more."""
    return Conflict(
        "stale_decision",
        f"The owners, or what {name} decided, changed after this was looked at",
        next="loopx owner list",
        object_id=name,
        **facts,
    )


def _require_present(state: WorkspaceState, name: str, fingerprint: str) -> None:
    for owner in state.present_owners:
        if owner.name == name and owner.fingerprint == fingerprint:
            return
    gone = [one for one in state.owners if one.name == name and one.fingerprint == fingerprint]
    if gone:
        raise _already_revoked(gone[-1])
    raise UsageError(
        "unknown_owner",
        f"No present owner {name} has the key {fingerprint}",
        next="loopx owner list",
        name=name,
    )


def _already_revoked(owner: Owner) -> Conflict:
    at = format_time(owner.revoked_at) if owner.revoked_at else ""
    return Conflict(
        "already_decided",
        f"{owner.name}'s key {owner.fingerprint} was revoked by {owner.revoked_by} at {at}",
        next="loopx owner list",
        name=owner.name,
        by=owner.revoked_by,
        at=at,
        seq=owner.revoked_seq,
    )


def _exists(owner: Owner) -> Conflict:
    return Conflict(
        "exists",
        f"{owner.name} is enrolled already with {owner.fingerprint}",
        next="loopx owner list",
        name=owner.name,
        fingerprint=owner.fingerprint,
    )


def _check_heads(state: WorkspaceState, heads: dict[str, Head]) -> None:
    if set(heads) != set(state.goals):
        raise UsageError(
            "invalid_event",
            "It must say where every goal's journal ended, so that the key counts from or up to "
            "there",
            next="loopx owner list",
        )


EVENTS: tuple[EventType[WorkspaceState, Any], ...] = (
    EventType("owner.enrolled", Enrolled, OWNER, _check_enrolled, _evolve_enrolled),
    EventType("owner.revoked", Revoked, OWNER, _check_revoked, _evolve_revoked),
)
