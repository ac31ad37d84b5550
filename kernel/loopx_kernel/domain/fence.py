"""The fence: the lowest generation of writers that may still write a workspace.

It only ever rises. A program of an older generation reads it before each append, is refused,
and goes on reading.
"""

from loopx_kernel.domain.event import CODE, WORKSPACE_JOURNAL, Context, Draft, EventType, Facts
from loopx_kernel.domain.record import Count, Record
from loopx_kernel.domain.roster_state import WorkspaceState
from loopx_kernel.errors import Conflict, Fenced
from loopx_kernel.value import Value

WRITER_GENERATION = 1
"""The generation of this kernel's writers. It is raised when an older one would do harm."""

NAME = "writer.fenced"


class FenceWriters(Value, kw_only=True):
    """Keep writers below this generation out."""

    generation: int


class WriterFenced(Record):
    generation: Count


def decide(state: WorkspaceState, command: FenceWriters, context: Context) -> Draft:
    """The event that raises the fence."""
    return Draft(NAME, {"generation": command.generation}, WORKSPACE_JOURNAL)


def obstacle(state: WorkspaceState, generation: int) -> str | None:
    """Why a writer of this generation may not write here; ``None`` where it may."""
    if generation >= state.fence:
        return None
    return (
        f"This loopx writes as generation {generation}; since line #{state.fence_seq} of the "
        f"workspace's journal generation {state.fence} is needed. It can only read here"
    )


def require_unfenced(state: WorkspaceState, generation: int) -> None:
    """``writer_fenced`` for a writer below the fence."""
    why = obstacle(state, generation)
    if why is not None:
        raise Fenced(
            "writer_fenced",
            why,
            next=WAY_OUT,
            generation=generation,
            fence=state.fence,
            seq=state.fence_seq,
        )


WAY_OUT = "install a newer loopx (loopx --version tells which this one is)"


def _check(state: WorkspaceState, payload: WriterFenced, facts: Facts) -> None:
    if payload.generation <= state.fence:
        raise Conflict(
            "stale_decision",
            f"The fence stands at generation {state.fence} and is never lowered",
            next="loopx event list --goal _workspace",
            fence=state.fence,
        )


def _evolve(state: WorkspaceState, payload: WriterFenced, facts: Facts) -> WorkspaceState:
    return state.model_copy(update={"fence": payload.generation, "fence_seq": facts.seq})


ROSTER_EVENT: EventType[WorkspaceState, WriterFenced] = EventType(
    NAME, WriterFenced, CODE, _check, _evolve
)
