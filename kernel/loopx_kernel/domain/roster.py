"""The workspace's own fold: its id, its owners, its agents, the fence, the goals opened."""

import re
from importlib import import_module
from typing import Any

from loopx_kernel.domain import owner
from loopx_kernel.domain.alerts import noted
from loopx_kernel.domain.event import (
    AGENT,
    CODE,
    KERNEL_ID,
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
from loopx_kernel.domain.owner import EnrollOwner, RevokeOwner
from loopx_kernel.domain.record import Line, Name, Record
from loopx_kernel.domain.roster_state import Agent, OpenedGoal, Replaced, WorkspaceState, same_name
from loopx_kernel.errors import Busy, Conflict, LoopxError, UsageError
from loopx_kernel.text import check_line
from loopx_kernel.value import Value

_AGENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class CreateWorkspace(Value, kw_only=True):
    """``workspace_id`` is 128 random bits in hex; ``replaces`` is what it takes the place of."""

    workspace_id: str
    replaces: Replaced | None = None


class AddAgent(Value, kw_only=True):
    """Register a worker identity; ``parent`` is the worker that starts it, if one does."""

    agent_id: str
    note: str = ""
    parent: str | None = None


class Created(Record):
    workspace_id: str
    replaces: Replaced | None = None


class AgentAdded(Record):
    agent_id: Name
    note: Line = ""
    parent: Name | None = None


def decide(
    state: WorkspaceState, command: CreateWorkspace | owner.Command | AddAgent, context: Context
) -> Draft:
    """The event for a workspace command; raises when ``check`` would."""
    match command:
        case CreateWorkspace(workspace_id=workspace_id):
            payload = {"workspace_id": workspace_id, "replaces": command.replaces}
            return Draft("workspace.created", payload, workspace_id)
        case EnrollOwner() | RevokeOwner():
            return owner.decide(state, command, context)
        case AddAgent():
            payload = {
                "agent_id": command.agent_id,
                "note": command.note,
                "parent": command.parent,
            }
            return Draft("agent.added", payload, command.agent_id)


def _check_created(state: WorkspaceState, payload: Created, facts: Facts) -> None:
    if state.workspace_id:
        raise Conflict("exists", "This workspace was created already", next="loopx status")
    if not re.fullmatch(r"[0-9a-f]{32}", payload.workspace_id):
        raise UsageError("invalid_event", "A workspace id is 128 bits in hex")


def _evolve_created(state: WorkspaceState, payload: Created, facts: Facts) -> WorkspaceState:
    update = {
        "workspace_id": payload.workspace_id,
        "created_at": facts.at,
        "replaces": payload.replaces,
    }
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
    if payload.parent is not None and payload.parent not in state.agents:
        raise UsageError(
            "unknown_agent",
            f"{payload.parent} is not a registered agent",
            next=f"loopx agent add {payload.parent}",
            agent_id=payload.parent,
        )
    person = next((o for o in state.owners if same_name(o.name, payload.agent_id)), None)
    if person is not None:
        raise Conflict(
            "exists",
            f"{person.name} is the name of an owner, so it cannot be an agent's",
            next=f"loopx agent add {payload.agent_id}-agent",
            agent_id=payload.agent_id,
        )
    names = (KERNEL_ID, *state.agents)
    taken = next((name for name in names if same_name(name, payload.agent_id)), None)
    if taken is not None:
        looks = "" if taken == payload.agent_id else f", and {payload.agent_id} looks like it"
        what = "the kernel's own name" if taken == KERNEL_ID else "registered already"
        raise Conflict(
            "exists",
            f"{taken} is {what}{looks}",
            next="loopx agent list",
            agent_id=payload.agent_id,
        )


def refuse_children(state: WorkspaceState, parent: str, most: int) -> None:
    """``limit`` where a worker started as many others as it may."""
    children = [agent.id for agent in state.agents.values() if agent.parent == parent]
    if len(children) >= most:
        raise Busy(
            "limit",
            f"{parent} registered {len(children)} workers of its own; {most} is the limit "
            "(spawn_policy.max_children)",
            next="ask an owner to register it, or to raise the limit: loopx goal edit",
            agent_id=parent,
            children=children,
            limit=most,
        )


def _evolve_agent(state: WorkspaceState, payload: AgentAdded, facts: Facts) -> WorkspaceState:
    agent = Agent(id=payload.agent_id, note=payload.note, parent=payload.parent, added_at=facts.at)
    return state.model_copy(update={"agents": {**state.agents, agent.id: agent}})


def _check_opened(state: WorkspaceState, payload: Opened, facts: Facts) -> None:
    """The goal's id stands in the line, not in the payload; ``evolve`` checks it."""


def _evolve_opened(state: WorkspaceState, payload: Opened, facts: Facts) -> WorkspaceState:
    return state


_EVENTS: dict[str, EventType[WorkspaceState, Any]] = {
    row.name: row
    for row in (
        EventType("workspace.created", Created, CODE, _check_created, _evolve_created),
        *owner.EVENTS,
        EventType("agent.added", AgentAdded, AGENT, _check_agent, _evolve_agent),
        EventType("goal.opened", Opened, OWNER, _check_opened, _evolve_opened),
    )
}

# Their modules are imported when the first of them occurs.
_SELDOM = {"damage.repaired": "repair", "writer.fenced": "fence"}


def workspace_event_type(name: str) -> EventType[WorkspaceState, Any]:
    """The row of the workspace's event table, or ``invalid_event``."""
    if name in _SELDOM and name not in _EVENTS:
        _EVENTS[name] = import_module(f"loopx_kernel.domain.{_SELDOM[name]}").ROSTER_EVENT
    if name not in _EVENTS:
        raise UsageError("invalid_event", f"{name} is not an event of a workspace")
    return _EVENTS[name]


def types_named(prefix: str) -> tuple[str, ...]:
    """The types of a workspace's journal that begin so; of one that is a type, it alone."""
    known = (*_EVENTS, *_SELDOM)
    return (
        (prefix,)
        if prefix in known
        else tuple(name for name in dict.fromkeys(known) if name.startswith(prefix))
    )


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
        if facts.signed is not None and facts.signed.object.id != goal_id:
            raise Conflict(
                "stale_decision",
                f"What was signed is about {facts.signed.object.id}, not about {goal_id}",
                next="loopx goal list",
                object_id=facts.signed.object.id,
            )
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
    moved: dict[str, Any] = {"seq": event.seq, "head": event.sha256, "last_at": event.recorded_at}
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
