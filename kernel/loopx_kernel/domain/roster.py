"""The workspace's own fold: its id, its owners, its agents, the fence, the goals opened."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from loopx_kernel.domain.alerts import noted
from loopx_kernel.domain.event import (
    AGENT,
    CODE,
    OWNER,
    WORKSPACE_JOURNAL,
    Context,
    Draft,
    Event,
    EventType,
    Facts,
    Verdict,
)
from loopx_kernel.domain.fold import check_actor, facts_of, parse
from loopx_kernel.domain.goal import Opened, check_rules
from loopx_kernel.domain.record import Flag, Line, Name, Record
from loopx_kernel.domain.records import Head
from loopx_kernel.domain.roster_state import Agent, OpenedGoal, Owner, WorkspaceState, same_name
from loopx_kernel.errors import Conflict, LoopxError, UsageError
from loopx_kernel.text import check_line

_AGENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_OWNER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9@._-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateWorkspace:
    """``workspace_id`` is 128 random bits in hex."""

    workspace_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrollOwner:
    """Enrol a person's public key; the first one signs for itself."""

    name: str
    key: str
    fingerprint: str
    allow_unattended: bool = False
    heads: tuple[tuple[str, int, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AddAgent:
    """Register a worker identity."""

    agent_id: str
    note: str = ""


class Created(Record):
    workspace_id: str


class Enrolled(Record):
    name: Name
    key: Line
    fingerprint: Name
    allow_unattended: Flag = False
    heads: dict[str, Head] = {}


class AgentAdded(Record):
    agent_id: Name
    note: Line = ""


def decide(
    state: WorkspaceState, command: CreateWorkspace | EnrollOwner | AddAgent, context: Context
) -> Draft:
    """The event for a workspace command; raises when ``check`` would."""
    match command:
        case CreateWorkspace(workspace_id=workspace_id):
            return Draft("workspace.created", {"workspace_id": workspace_id}, workspace_id)
        case EnrollOwner():
            payload = {
                "name": command.name,
                "key": command.key,
                "fingerprint": command.fingerprint,
                "allow_unattended": command.allow_unattended,
                "heads": {goal: {"seq": seq, "head": head} for goal, seq, head in command.heads},
            }
            return Draft("owner.enrolled", payload, command.name)
        case AddAgent():
            payload = {"agent_id": command.agent_id, "note": command.note}
            return Draft("agent.added", payload, command.agent_id)


def _check_created(state: WorkspaceState, payload: Created, facts: Facts) -> None:
    if state.workspace_id:
        raise Conflict("exists", "This workspace was created already", next="loopx status")
    if not re.fullmatch(r"[0-9a-f]{32}", payload.workspace_id):
        raise UsageError("invalid_event", "A workspace id is 128 bits in hex")


def _evolve_created(state: WorkspaceState, payload: Created, facts: Facts) -> WorkspaceState:
    update = {"workspace_id": payload.workspace_id, "created_at": facts.at}
    return state.model_copy(update=update)


def _check_enrolled(state: WorkspaceState, payload: Enrolled, facts: Facts) -> None:
    if not _OWNER_NAME.fullmatch(payload.name):
        raise UsageError(
            "invalid_value",
            f"{payload.name!r} cannot be an owner's name",
            next="use letters, digits, dots, dashes and @, for example huang",
            name=payload.name,
        )
    for owner in state.present_owners:
        if same_name(owner.name, payload.name) or owner.fingerprint == payload.fingerprint:
            raise Conflict(
                "exists",
                f"{owner.name} is enrolled already with {owner.fingerprint}",
                next="loopx owner list",
                name=owner.name,
                fingerprint=owner.fingerprint,
            )

    if any(same_name(payload.name, agent_id) for agent_id in state.agents):
        raise Conflict(
            "exists",
            f"{payload.name} is the name of an agent, so it cannot be an owner's",
            next="loopx agent list",
            name=payload.name,
        )
    if set(payload.heads) != set(state.goals):
        raise UsageError(
            "invalid_event",
            "An enrolment says where every goal's journal ended, so that the key counts from there",
            next="loopx owner list",
        )


def _evolve_enrolled(state: WorkspaceState, payload: Enrolled, facts: Facts) -> WorkspaceState:
    owner = Owner(
        name=payload.name,
        key=payload.key,
        fingerprint=payload.fingerprint,
        allow_unattended=payload.allow_unattended,
        enrolled_seq=facts.seq,
        from_heads=payload.heads,
    )
    update = {"owners": (*state.owners, owner), "owners_seq": facts.seq}
    return state.model_copy(update=update)


def _check_agent(state: WorkspaceState, payload: AgentAdded, facts: Facts) -> None:
    if not _AGENT_ID.fullmatch(payload.agent_id):
        raise UsageError(
            "invalid_value",
            f"{payload.agent_id!r} cannot be an agent's id",
            next="use letters, digits, dots and dashes, for example claude-code",
            agent_id=payload.agent_id,
        )
    if payload.note:
        check_line(payload.note, "note")
    person = next((o for o in state.owners if same_name(o.name, payload.agent_id)), None)
    if person is not None:
        raise Conflict(
            "exists",
            f"{person.name} is the name of an owner, so it cannot be an agent's",
            next=f"loopx agent add {payload.agent_id}-agent",
            agent_id=payload.agent_id,
        )
    if payload.agent_id in state.agents:
        raise Conflict(
            "exists",
            f"{payload.agent_id} is registered already",
            next="loopx agent list",
            agent_id=payload.agent_id,
        )


def _evolve_agent(state: WorkspaceState, payload: AgentAdded, facts: Facts) -> WorkspaceState:
    agent = Agent(id=payload.agent_id, note=payload.note, added_at=facts.at)
    return state.model_copy(update={"agents": {**state.agents, agent.id: agent}})


def _check_opened(state: WorkspaceState, payload: Opened, facts: Facts) -> None:
    """The goal's id stands in the line, not in the payload; ``evolve`` checks it."""


def _evolve_opened(state: WorkspaceState, payload: Opened, facts: Facts) -> WorkspaceState:
    return state


_EVENTS: dict[str, EventType[WorkspaceState, Any]] = {
    row.name: row
    for row in (
        EventType("workspace.created", Created, CODE, _check_created, _evolve_created),
        EventType("owner.enrolled", Enrolled, OWNER, _check_enrolled, _evolve_enrolled),
        EventType("agent.added", AgentAdded, AGENT, _check_agent, _evolve_agent),
        EventType("goal.opened", Opened, OWNER, _check_opened, _evolve_opened),
    )
}


def workspace_event_type(name: str) -> EventType[WorkspaceState, Any]:
    """The row of the workspace's event table, or ``invalid_event``."""
    if name == "damage.repaired" and name not in _EVENTS:
        from loopx_kernel.domain.repair import ROSTER_EVENT

        _EVENTS[name] = ROSTER_EVENT
    if name not in _EVENTS:
        raise UsageError("invalid_event", f"{name} is not an event of a workspace")
    return _EVENTS[name]


def normalise(name: str, payload: dict[str, Any]) -> dict[str, Any]:
    """A decided payload as JSON values, without ``None``."""
    kind = workspace_event_type(name)
    return parse(kind, payload).model_dump(mode="json", exclude_none=True)  # type: ignore[no-any-return]


def check(
    state: WorkspaceState, name: str, goal_id: str, payload: dict[str, Any], facts: Facts
) -> None:
    """Raises the error a command would get, if this event may not happen in this state."""
    kind = workspace_event_type(name)
    if name != "goal.opened" and goal_id != WORKSPACE_JOURNAL:
        raise UsageError("invalid_event", f"{name} is not about a goal, but names {goal_id}")
    check_actor(kind, facts)
    parsed = parse(kind, payload)
    if not state.workspace_id and name != "workspace.created":
        raise UsageError(
            "not_initialised", "This workspace was never created", next="loopx connect"
        )
    if name == "goal.opened":
        check_rules(goal_id, parsed.objective, parsed.rules)
        if goal_id in state.goals:
            raise Conflict(
                "exists",
                f"There is a goal {goal_id} already",
                next="loopx goal list",
                goal_id=goal_id,
            )
    kind.check(state, parsed, facts)


def evolve(state: WorkspaceState, event: Event, verdict: Verdict) -> WorkspaceState:
    """The state after one line of the workspace journal. Never raises for its content."""
    facts = facts_of(event, verdict)
    moved: dict[str, Any] = {"seq": event.seq, "head": event.sha256}
    try:
        check(state, event.event_type, event.goal_id, event.payload, facts)
    except LoopxError as error:
        moved |= noted(state.alerts, state.idle, event, error)
        return state.model_copy(update=moved)
    kind = workspace_event_type(event.event_type)
    if event.event_type == "goal.opened":
        opened = OpenedGoal(
            goal_id=event.goal_id,
            event_id=event.event_id,
            seq=event.seq,
            sha256=event.sha256,
            opened_by=event.actor_agent_id,
        )
        moved["goals"] = {**state.goals, event.goal_id: opened}
    return kind.evolve(state, parse(kind, event.payload), facts).model_copy(update=moved)
