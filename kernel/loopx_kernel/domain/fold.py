"""The fold: from a state and one line to the next state, trusting no line.

``check`` is the one rule book: a decided event passes it before it is
appended, and every line passes it again on every reading. A line that fails
stays in the journal, has no effect, and raises an alert.
"""

from __future__ import annotations

import contextlib
from importlib import import_module
from typing import Any

from pydantic import ValidationError

from loopx_kernel.domain.alerts import noted
from loopx_kernel.domain.event import UNSIGNED, Event, EventType, Facts, Verdict, asked
from loopx_kernel.domain.hot import let_go
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.times import with_time
from loopx_kernel.errors import Conflict, Denied, LoopxError, UsageError

# A noun's module is imported when the first of its events occurs.
_MODULES = {
    "goal": ("goal",),
    "todo": ("todo", "handin", "lease", "aside", "drift", "turn_end", "cancel"),
    "lease": ("lease",),
    "gate": ("gate",),
    "spend": ("quota",),
    "source": ("source", "source_host"),
    "handoff": ("handoff",),
    "turn": ("turn", "turn_settle", "turn_end", "withdrawal"),
    "drift": ("drift",),
    "objective": ("objective",),
    "replan": ("replan", "propose"),
    "rules": ("patched_rules",),
    "damage": ("repair",),
    "escalation": ("escalation",),
    "file": ("rebuilt",),
    "observation": ("observation",),
    "acceptance": ("acceptance",),
    "work": ("acceptance",),
}
_SIGNATURE = {
    "unsigned": "it carries no signature",
    "bad_signature": "its signature is not one over this event at this place",
    "unknown_signer": "it is signed with a key that is not enrolled",
    "revoked": "it is signed with a key that was revoked before",
    "not_yet_valid": "it is signed with a key that was not valid yet",
    "expired": "it is signed with a key that was no longer valid",
    "outside": "it is signed with a key that does not stand in the file LOOPX_OWNERS names",
    "wrong_level": "its hardware key was not touched for it",
}
_GONE = ("revoked", "not_yet_valid", "expired", "outside")
_DENIED = dict.fromkeys(_GONE, "unknown_signer") | {
    "unsigned": "unsigned",
    "bad_signature": "bad_signature",
    "unknown_signer": "unknown_signer",
    "wrong_level": "presence_required",
}
_TABLE: dict[str, EventType[GoalState, Any]] = {}

# Windows and lease lengths are added to a line's time; nearer the ends of the
# calendar that would overflow.
EARLIEST_YEAR, LATEST_YEAR = 1970, 9000
_OBJECTS = ("todo_id", "gate_id", "obligation_id", "escalation_id", "effect_ref")

LISTED = frozenset({"todo", "lease", "handoff", "drift", "damage"})
"""Nouns whose events, or parts, change the rendered state file."""


def event_type(name: str) -> EventType[GoalState, Any]:
    """The row of the event table, or ``invalid_event`` for a type this kernel does not know."""
    for module in _MODULES.get(name.partition(".")[0], ()):
        if name not in _TABLE:
            rows = import_module(f"loopx_kernel.domain.{module}").EVENTS
            _TABLE.update({row.name: row for row in rows})
    if name not in _TABLE:
        raise UsageError("invalid_event", f"{name} is not an event of a goal", event_type=name)
    return _TABLE[name]


def types_named(prefix: str) -> tuple[str, ...]:
    """The types that begin so: ``todo.``, ``gate.r``; of one that is a type itself, it alone."""
    nouns = [noun for noun in _MODULES if noun.startswith(prefix) or prefix.startswith(f"{noun}.")]
    for noun in nouns:
        with contextlib.suppress(UsageError):
            event_type(f"{noun}.")
    if prefix in _TABLE:
        return (prefix,)
    return tuple(name for name in _TABLE if name.startswith(prefix))


def normalise(name: str, payload: dict[str, Any]) -> dict[str, Any]:
    """A decided payload as JSON values, with every key the type has and no ``None``; its parts
    with the keys they were given."""
    kind = event_type(name)
    values: dict[str, Any] = parse(kind, payload).model_dump(mode="json", exclude_none=True)
    return _with_parts(kind, values, payload)


def _with_parts(
    kind: EventType[Any, Any], values: dict[str, Any], payload: dict[str, Any]
) -> dict[str, Any]:
    if payload.get("parts"):
        values["parts"] = [_normal_part(kind, part) for part in payload["parts"]]
    return values


def _normal_part(kind: EventType[Any, Any], part: dict[str, Any]) -> dict[str, Any]:
    inner, rest = _part(kind, part)
    values = parse(inner, rest).model_dump(mode="json", exclude_none=True, exclude_unset=True)
    return {"type": inner.name} | _with_parts(inner, values, rest)


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
    _check_object(state, kind, payload, facts)
    if payload.get("parts"):
        _through_parts(kind.evolve(state, parsed, facts), kind, payload, facts, checking=True)
    return parsed


def _through_parts(
    state: GoalState,
    kind: EventType[Any, Any],
    payload: dict[str, Any],
    facts: Facts,
    *,
    checking: bool = False,
) -> GoalState:
    """The state after the parts of an event. Each finds the state as the event and the parts
    before it left it; so does a part of a part."""
    for part in payload.get("parts", ()):
        inner, rest = _part(kind, part)
        values = parse(inner, rest)
        if checking:
            inner.check(state, values, facts)
        after = inner.evolve(state, values, facts)
        state = _through_parts(after, inner, rest, facts, checking=checking)
    return state


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
                f"{kind.name} by {facts.actor.kind} {facts.actor.id} names a person, unsigned",
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


def _check_object(
    state: GoalState, kind: EventType[Any, Any], payload: dict[str, Any], facts: Facts
) -> None:
    """A person's act is about the object it changes, in the version they looked at. What the
    kernel numbers at the append was not there to be looked at."""
    signed = facts.signed
    if facts.actor.kind != "owner" or signed is None:
        return
    named = asked(kind, payload)
    changed = next((named[key] for key in _OBJECTS if key in named), state.goal_id)
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
    after = _through_parts(kind.evolve(state, parsed, facts), kind, event.payload, facts)
    moved["times"] = with_time(state.times, event.seq, event.recorded_at)
    if state.floor is None or event.actor_kind == "owner" or facts.at >= state.floor.at:
        moved["floor"] = moved["times"][-1]
    latest = state.not_before(event.recorded_at)
    if kind.changes_work and not _is_idle_look(event):
        moved["changed_at"] = event.recorded_at
    if _is_listed(event.event_type, event.payload):
        moved |= {"list_seq": event.seq, "list_at": event.recorded_at}
    return let_go(state, after, latest).model_copy(update=moved)


def _is_listed(name: str, payload: dict[str, Any]) -> bool:
    if name.partition(".")[0] in LISTED:
        return True
    return any(_is_listed(part["type"], part) for part in payload.get("parts", ()))


def _check_goal(state: GoalState, event: Event) -> None:
    if event.goal_id != state.goal_id:
        raise UsageError(
            "invalid_event",
            f"A line of goal {event.goal_id} stands in the journal of {state.goal_id}",
            goal_id=event.goal_id,
        )


def _is_idle_look(event: Event) -> bool:
    """A look at something outside that changed nothing here."""
    if event.payload.get("parts"):
        return False
    if event.event_type == "observation.recorded":
        return True
    return event.event_type == "source.read" and event.payload.get("status") != "read"


def _alerted(state: GoalState, event: Event, error: LoopxError) -> GoalState:
    update = noted(state.alerts, state.idle, event, error)
    return state.model_copy(update=update | {"alert_count": state.alert_count + 1})
