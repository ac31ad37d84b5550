"""Facts from outside, each on the basis on which it is known: ran, read or told."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

from loopx_kernel.domain.endings import check_parts
from loopx_kernel.domain.event import CODE, Context, Draft, EventType, Facts
from loopx_kernel.domain.landing import LANDS, LONGEST_REF, awaiting, fixes, thaws
from loopx_kernel.domain.record import Count, Flag, Hex, Int, Line, Name, Record
from loopx_kernel.domain.records_of_work import Basis, Observation, ObservationKind
from loopx_kernel.domain.rules import Probe
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import UsageError
from loopx_kernel.text import check_line
from loopx_kernel.value import Value

Status = Literal["pass", "fail", "pending"]
TRY_AGAIN = 75
"""The exit status by which a probe says that there is no result yet (``EX_TEMPFAIL``)."""


class Observe(Value, kw_only=True):
    """Record one look at a fact from outside.

    ``by`` is the agent that handed it in, if one did. A look the kernel took itself names the
    ``probe``, the ``command`` as it ran and its ``exit_status``; a file it read its ``path``,
    ``sha256`` and ``size`` in bytes, and whether they are ``kept``.
    """

    kind: ObservationKind
    ref: str
    status: Status
    basis: Basis
    by: str | None = None
    todo_id: str | None = None
    path: str = ""
    sha256: str | None = None
    size: int | None = None
    kept: bool = False
    probe: str | None = None
    command: str = ""
    exit_status: int | None = None


class Recorded(Record):
    kind: ObservationKind
    ref: Line
    status: Status
    basis: Basis
    by: Name
    todo_id: Name | None = None
    path: Line = ""
    sha256: Hex | None = None
    size: Count | None = None
    kept: Flag = False
    probe: Name | None = None
    command: Line = ""
    exit_status: Int | None = None
    parts: tuple[dict[str, Any], ...] = ()


def decide(state: GoalState, command: Observe, context: Context) -> Draft:
    """The event for a look; raises when ``check`` would, and ``unknown_agent`` for one handed in
    by nobody who is registered."""
    check_named(state, command.ref, command.todo_id)
    if command.by is not None and command.by not in context.agents:
        raise UsageError(
            "unknown_agent",
            f"{command.by} is not a registered agent",
            next=f"loopx agent add {command.by}",
            agent_id=command.by,
        )
    payload = asdict(command) | {"by": command.by or context.actor.id}
    payload["parts"] = landing(
        state, command.kind, command.ref, command.status, todo_id=command.todo_id
    )
    return Draft("observation.recorded", payload, command.todo_id or state.goal_id)


def landing(
    state: GoalState, kind: ObservationKind, ref: str, status: Status, *, todo_id: str | None
) -> list[dict[str, Any]]:
    """What follows from a look: a result puts the todos that wait for it back to open, and a bad
    one adds the todo that fixes it. One that is pending, or that nobody waits for, does nothing.
    """
    if status == "pending":
        return []
    waiting = awaiting(state, kind, ref, todo_id)
    mending = fixes(state, kind, ref, waiting) if status == "fail" else []
    return thaws(waiting) + mending


def probe_of(state: GoalState, probe_id: str) -> Probe:
    """The probe of the signed rules, or ``unknown_probe``."""
    for probe in state.the_rules.probes:
        if probe.id == probe_id:
            return probe
    raise UsageError(
        "unknown_probe",
        f"{probe_id!r} is not a probe in the rules of {state.goal_id}",
        next=f"loopx goal show --goal {state.goal_id}",
        probe=probe_id,
    )


def status_of(exit_status: int) -> Status:
    """What a probe says by its exit status."""
    if exit_status == TRY_AGAIN:
        return "pending"
    return "pass" if exit_status == 0 else "fail"


def check_named(state: GoalState, ref: str, todo_id: str | None) -> None:
    """The ref can be shown and the todo, if one is named, is or was one of the goal. Raises
    ``invalid_value``, ``unknown_todo``."""
    check_line(ref, "ref", limit=LONGEST_REF)
    if todo_id is not None and not state.knows(todo_id):
        state.todo(todo_id)


def _check_recorded(state: GoalState, payload: Recorded, facts: Facts) -> None:
    check_named(state, payload.ref, payload.todo_id)
    _check_basis(state, payload)
    expected = landing(state, payload.kind, payload.ref, payload.status, todo_id=payload.todo_id)
    check_parts(payload.parts, expected)


def _check_basis(state: GoalState, payload: Recorded) -> None:
    """Each basis has its own facts, and no other's; those of a run are the rules' and agree."""
    ran = payload.probe is not None and payload.exit_status is not None and payload.command != ""
    no_run = payload.probe is None and payload.exit_status is None and payload.command == ""
    read = payload.path != "" and None not in (payload.sha256, payload.size)
    unread = payload.path == "" and payload.sha256 is None and payload.size is None
    unread = unread and not payload.kept
    fits = {
        "ran": ran and unread and _as_in_the_rules(state, payload),
        "read": read and no_run and payload.kind == "ci" and payload.status != "pending",
        "told": unread and no_run,
    }
    if not fits[payload.basis]:
        raise UsageError(
            "invalid_event",
            f"What this look names is not what one that was {payload.basis} has",
            next="loopx observe --help",
            basis=payload.basis,
        )


def _as_in_the_rules(state: GoalState, payload: Recorded) -> bool:
    probe = probe_of(state, payload.probe or "")
    return (
        (payload.kind, payload.ref, payload.command) == (probe.kind, probe.id, probe.command)
        and payload.exit_status is not None
        and payload.status == status_of(payload.exit_status)
    )


def _evolve_recorded(state: GoalState, payload: Recorded, facts: Facts) -> GoalState:
    before = state.observations.get(f"{payload.kind}:{payload.ref}")
    waiting = awaiting(state, payload.kind, payload.ref, payload.todo_id)
    if before is not None and before.proven and payload.status == "pass" and not waiting:
        # Nobody's question: a word without proof takes no proof away.
        return state
    added = [part["todo_id"] for part in payload.parts if part["type"] == "todo.added"]
    fix = added[0] if added else before.fix if before else None
    again = before is not None and not added and before.passed_since
    seen = Observation(
        kind=payload.kind,
        ref=payload.ref,
        status=payload.status,
        basis=payload.basis,
        by=payload.by,
        at=facts.at,
        event_id=facts.event_id,
        todo_id=waiting[0].id if waiting else before.todo_id if before else None,
        fix=fix,
        passed_since=fix is not None and (again or payload.status == "pass"),
        path=payload.path,
        sha256=payload.sha256,
        size=payload.size,
        kept=payload.kept,
        seq=facts.seq,
    )
    others = {key: one for key, one in state.observations.items() if key != seen.key}
    return state.model_copy(update={"observations": {**others, seen.key: seen}})


EVENTS: tuple[EventType[GoalState, Recorded], ...] = (
    EventType(
        "observation.recorded", Recorded, CODE, _check_recorded, _evolve_recorded, parts=LANDS
    ),
)
