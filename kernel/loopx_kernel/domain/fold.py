"""The fold: from a state and one line to the next state, trusting no line.

``check`` is the one rule book: a decided event passes it before it is
appended, and every line passes it again on every reading. A line that fails
stays in the journal, has no effect, and raises an alert.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pydantic import ValidationError

from loopx_kernel.domain.alerts import noted
from loopx_kernel.domain.event import UNSIGNED, Event, EventType, Facts, Verdict
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Conflict, Denied, LoopxError, UsageError

# A noun's module is imported when the first of its events occurs.
_MODULES = {
    "goal": ("goal",),
    "todo": ("todo", "lease", "aside", "drift"),
    "lease": ("lease",),
    "gate": ("gate",),
    "spend": ("quota",),
    "source": ("source",),
    "handoff": ("handoff",),
    "drift": ("drift",),
    "damage": ("repair",),
    "file": ("rebuilt",),
}
_SIGNATURE = {
    "unsigned": "it carries no signature",
    "bad_signature": "its signature is not one over this event at this place",
    "unknown_signer": "it is signed with a key that is not enrolled",
    "revoked": "it is signed with a key that was revoked before",
    "not_yet_valid": "it is signed with a key that was not valid yet",
    "expired": "it is signed with a key that was no longer valid",
    "wrong_level": "the rule asks for a stronger key",
}
_DENIED = dict.fromkeys(("revoked", "not_yet_valid", "expired"), "unknown_signer") | {
    "unsigned": "unsigned",
    "bad_signature": "bad_signature",
    "unknown_signer": "unknown_signer",
    "wrong_level": "presence_required",
}
_TABLE: dict[str, EventType[GoalState, Any]] = {}

# Windows and lease lengths are added to a line's time; nearer the ends of the
# calendar that would overflow.
EARLIEST_YEAR, LATEST_YEAR = 1970, 9000
_OBJECTS = ("todo_id", "gate_id", "effect_ref")

LISTED = frozenset({"todo", "lease", "handoff", "drift", "damage"})
"""Nouns whose events change the rendered state file."""


def event_type(name: str) -> EventType[GoalState, Any]:
    """The row of the event table, or ``invalid_event`` for a type this kernel does not know."""
    for module in _MODULES.get(name.partition(".")[0], ()):
        if name not in _TABLE:
            rows = import_module(f"loopx_kernel.domain.{module}").EVENTS
            _TABLE.update({row.name: row for row in rows})
    if name not in _TABLE:
        raise UsageError("invalid_event", f"{name} is not an event of a goal", event_type=name)
    return _TABLE[name]


def normalise(name: str, payload: dict[str, Any]) -> dict[str, Any]:
    """A decided payload as JSON values, with every key the type has and no ``None``."""
    kind = event_type(name)
    return parse(kind, payload).model_dump(mode="json", exclude_none=True)  # type: ignore[no-any-return]


def parse(kind: EventType[Any, Any], payload: dict[str, Any]) -> Any:
    """The payload as its model; ``invalid_event`` names the first thing wrong with it."""
    try:
        return kind.payload.model_validate(payload)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "payload"
        raise UsageError(
            "invalid_event", f"{kind.name}: {where}: {first['msg']}", event_type=kind.name
        ) from None


def check(state: GoalState, name: str, payload: dict[str, Any], facts: Facts) -> None:
    """Raises the error a command would get, if this event may not happen in this state."""
    _checked(state, name, payload, facts)


def _checked(state: GoalState, name: str, payload: dict[str, Any], facts: Facts) -> Any:
    """The same; the payload as its model, for it is parsed once."""
    kind = event_type(name)
    if kind.part_only:
        raise UsageError("invalid_event", f"{name} stands only inside another event")
    if not EARLIEST_YEAR <= facts.at.year <= LATEST_YEAR:
        raise UsageError("invalid_event", f"{name} was recorded in the year {facts.at.year}")
    check_actor(kind, facts)
    if name != "goal.opened":
        state.require_opened()
    parsed = parse(kind, payload)
    kind.check(state, parsed, facts)
    # Last: whoever comes second is told what was decided, and only else that it changed.
    _check_object(state, payload, facts)
    for part in payload.get("parts", ()):
        inner, rest = _part(kind, part)
        values = parse(inner, rest)
        inner.check(state, values, facts)
        # A part finds the state as the parts before it left it.
        state = inner.evolve(state, values, facts)
    return parsed


def check_actor(kind: EventType[Any, Any], facts: Facts) -> None:
    """The author is of a kind that may cause it, and a person's act is signed by them."""
    if facts.actor.kind not in kind.by:
        only = " or ".join(sorted(kind.by))
        code = "unsigned" if kind.by == {"owner"} else "not_a_person"
        raise Denied(
            code,
            f"{kind.name} is for {only} only; {facts.actor.kind} {facts.actor.id} may not",
            next="ask an owner: loopx owner list" if "owner" in kind.by else None,
            event_type=kind.name,
        )
    if facts.actor.kind != "owner":
        if facts.verdict.problem == "borrowed_name":
            raise Denied(
                "unsigned",
                f"{kind.name} names {facts.actor.id}, a person, as its {facts.actor.kind}",
                next="loopx owner list",
                event_type=kind.name,
            )
        return
    verdict = facts.verdict
    if not verdict.ok or facts.signed is None:
        raise Denied(
            _DENIED[verdict.problem or "unsigned"],
            f"{kind.name} by {facts.actor.id}: {_SIGNATURE[verdict.problem or 'unsigned']}",
            next="loopx owner list",
            event_type=kind.name,
        )
    if verdict.signer != facts.actor.id:
        raise Denied(
            "unknown_signer",
            f"{kind.name} names {facts.actor.id} but was signed by {verdict.signer}",
            next="loopx owner list",
            signer=verdict.signer,
        )


def _check_object(state: GoalState, payload: dict[str, Any], facts: Facts) -> None:
    """A person's act is about the object it changes, in the version they looked at."""
    signed = facts.signed
    if facts.actor.kind != "owner" or signed is None:
        return
    changed = next((payload[key] for key in _OBJECTS if key in payload), state.goal_id)
    if signed.object.id != changed:
        raise Conflict(
            "stale_decision",
            f"What was signed is about {signed.object.id}, not about {changed}",
            next="look at it again and decide anew",
            object_id=signed.object.id,
            changed=changed,
        )
    version = state.object_version(signed.object.id)
    if signed.object.version != version:
        raise Conflict(
            "stale_decision",
            f"{signed.object.id} changed after it was looked at (#{signed.object.version}, "
            f"now #{version})",
            next="look at it again and decide anew",
            object_id=signed.object.id,
            seen=signed.object.version,
            version=version,
        )


def _part(
    kind: EventType[Any, Any], part: dict[str, Any]
) -> tuple[EventType[GoalState, Any], dict[str, Any]]:
    name = part.get("type")
    if not isinstance(name, str) or name not in kind.parts:
        raise UsageError("invalid_event", f"{kind.name} cannot carry a part of type {name}")
    return event_type(name), {key: value for key, value in part.items() if key != "type"}


def facts_of(event: Event, verdict: Verdict = UNSIGNED) -> Facts:
    """The circumstances of a stored line."""
    return Facts(
        actor=event.actor,
        at=event.recorded_at,
        seq=event.seq,
        event_id=event.event_id,
        signed=event.signed,
        verdict=verdict,
    )


def evolve(state: GoalState, event: Event, verdict: Verdict = UNSIGNED) -> GoalState:
    """The state after one line of the goal's journal. Never raises for a line's content."""
    facts = facts_of(event, verdict)
    moved: dict[str, Any] = {"seq": event.seq, "head": event.sha256, "last_at": event.recorded_at}
    try:
        _check_goal(state, event)
        parsed = _checked(state, event.event_type, event.payload, facts)
    except LoopxError as error:
        return _alerted(state, event, error).model_copy(update=moved)
    kind = event_type(event.event_type)
    after = kind.evolve(state, parsed, facts)
    for part in event.payload.get("parts", ()):
        inner, rest = _part(kind, part)
        after = inner.evolve(after, parse(inner, rest), facts)
    moved["latest_at"] = state.not_before(event.recorded_at)
    if kind.changes_work and not _is_idle_read(event):
        moved["changed_at"] = event.recorded_at
    if event.event_type.partition(".")[0] in LISTED:
        moved |= {"list_seq": event.seq, "list_at": event.recorded_at}
    return after.model_copy(update=moved)


def _check_goal(state: GoalState, event: Event) -> None:
    if event.goal_id != state.goal_id:
        raise UsageError(
            "invalid_event",
            f"A line of goal {event.goal_id} stands in the journal of {state.goal_id}",
            goal_id=event.goal_id,
        )


def _is_idle_read(event: Event) -> bool:
    return event.event_type == "source.read" and event.payload.get("status") != "read"


def _alerted(state: GoalState, event: Event, error: LoopxError) -> GoalState:
    update = noted(state.alerts, state.idle, event, error)
    return state.model_copy(update=update | {"alert_count": state.alert_count + 1})
