"""Damage repaired by a person's signature: a file rendered again, or a journal cut.

The same event stands in a goal's journal and in the workspace's. It names by digest what is
set aside, so that what was signed is about exactly those bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import ValidationError

from loopx_kernel.domain.event import (
    OWNER,
    WORKSPACE_JOURNAL,
    Context,
    Draft,
    Event,
    EventType,
    Facts,
)
from loopx_kernel.domain.record import Count, Hex, Line, Name, Record
from loopx_kernel.domain.records import Cut, Head
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Conflict, UsageError
from loopx_kernel.value import Value

if TYPE_CHECKING:
    from loopx_kernel.domain.roster_state import WorkspaceState

NAME = "damage.repaired"


class FoundFile(Record):
    """A file that is rendered again: its path (relative to the workspace where it can be) and
    the SHA-256 of what was found there."""

    path: Line
    sha256: Hex


class LostDecision(Record):
    """A person's decision among the lines set aside; it counts no more."""

    seq: Count
    event_id: Name
    event_type: Name
    by: Name


class JournalCut(Record):
    """What a journal ends with, and what stood after that: how many lines, the SHA-256 of
    their bytes, each decision among them. ``missed`` is a line seen earlier that is gone."""

    after: Head
    lines: Count = 0
    sha256: Hex | None = None
    decisions: tuple[LostDecision, ...] = ()
    missed: Head | None = None
    roster_seq: Count = 0
    roster_cuts: tuple[Name, ...] = ()


class RepairFile(Value, kw_only=True):
    """Render a damaged file again; signed."""

    file: FoundFile


class RepairJournal(Value, kw_only=True):
    """Cut a journal after its last good line, and render again the files that tell of more;
    signed."""

    cut: JournalCut
    files: tuple[FoundFile, ...] = ()


Command: TypeAlias = RepairFile | RepairJournal


class Repaired(Record):
    kind: Literal["file", "journal"]
    files: tuple[FoundFile, ...] = ()
    cut: JournalCut | None = None


def decide(
    state: GoalState | WorkspaceState, command: Command, context: Context, *, object_id: str
) -> Draft:
    """The event of a repair. ``object_id`` is the goal, or the workspace's journal."""
    if isinstance(command, RepairFile):
        repaired = Repaired(kind="file", files=(command.file,))
    else:
        repaired = Repaired(kind="journal", files=command.files, cut=command.cut)
    return Draft(NAME, repaired.model_dump(mode="json", exclude_none=True), object_id)


def check(state: GoalState | WorkspaceState, payload: Repaired, facts: Facts) -> None:
    """A cut is made where its line stands, and nowhere else."""
    named = payload.cut is not None if payload.kind == "journal" else len(payload.files) == 1
    if not named or (payload.kind == "file" and payload.cut is not None):
        raise UsageError("invalid_event", f"A repair of a {payload.kind} does not say of which")
    if payload.cut is not None and payload.cut.after != Head(seq=state.seq, head=state.head):
        raise UsageError(
            "invalid_event",
            f"A journal cut after line {payload.cut.after.seq} does not go on like that",
            next="loopx event verify",
        )


def changes(
    state: GoalState | WorkspaceState, payload: Repaired, facts: Facts
) -> dict[str, object]:
    """What a repair changes in either state."""
    settled = state.settled | {file.path: file.sha256 for file in payload.files}
    cuts = state.cuts
    if payload.cut is not None:
        cuts = (*cuts, cut_by(payload.cut, facts.event_id))
    return {"settled": settled, "cuts": cuts}


def cut_by(cut: JournalCut, event_id: str) -> Cut:
    """A cut as the state keeps it."""
    return Cut(
        event_id=event_id,
        after=cut.after,
        lines=cut.lines,
        missed=cut.missed,
        roster_seq=cut.roster_seq,
        roster_cuts=cut.roster_cuts,
    )


def cut_of(event: Event) -> tuple[Cut, ...]:
    """The cut a line speaks of, which counts already for the verdict on that line."""
    if event.event_type != NAME:
        return ()
    try:
        payload = Repaired.model_validate(event.payload)
    except ValidationError:
        return ()
    fits = payload.cut is not None and payload.cut.after.seq == event.seq - 1
    return (cut_by(payload.cut, event.event_id),) if fits and payload.cut else ()


def _evolve(state: GoalState, payload: Repaired, facts: Facts) -> GoalState:
    update = changes(state, payload, facts)
    # The goal's own version moves, so that the same line copied to a later place does nothing.
    return state.model_copy(update=update | {"goal_seq": facts.seq})


EVENTS: tuple[EventType[GoalState, Any], ...] = (EventType(NAME, Repaired, OWNER, check, _evolve),)


def _check_roster(state: WorkspaceState, payload: Repaired, facts: Facts) -> None:
    seen = facts.signed.object if facts.signed else None
    if seen is None or (seen.id, seen.version) != (WORKSPACE_JOURNAL, state.settled_seq):
        raise Conflict(
            "stale_decision",
            "The workspace was repaired again after this was looked at",
            next="loopx repair list",
            seen=seen and seen.version,
            version=state.settled_seq,
        )
    check(state, payload, facts)


def _evolve_roster(state: WorkspaceState, payload: Repaired, facts: Facts) -> WorkspaceState:
    update = changes(state, payload, facts) | {"settled_seq": facts.seq}
    return state.model_copy(update=update)


ROSTER_EVENT: EventType[WorkspaceState, Any] = EventType(
    NAME, Repaired, OWNER, _check_roster, _evolve_roster
)
