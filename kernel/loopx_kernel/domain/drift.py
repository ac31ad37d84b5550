"""Drift: what a person changed in the rendered todo list, taken over or put back; signed.

New rows become todos and new titles count. A tick is a request that needs evidence, and a
row that was taken out comes back: work is finished and cancelled by commands of its own.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from loopx_kernel.domain.endings import check_parts
from loopx_kernel.domain.event import OWNER, Context, Draft, EventType, Facts
from loopx_kernel.domain.record import Count, Hex, Line, Name, Record
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import UsageError
from loopx_kernel.text import check_line
from loopx_kernel.value import Value


class Edit(Record):
    """One change of the list; ``line`` is that of the edited file, from 1 (0: a row is gone).

    ``title`` stands where it counts: of a new row, and the new one of a retitled todo.
    """

    kind: Literal["ticked", "unticked", "retitled", "added", "removed"]
    todo_id: Name | None = None
    line: Count = 0
    title: Line = ""


class AdoptDrift(Value, kw_only=True):
    """Take over the edits of the file with this content; signed.

    ``path`` is relative to the workspace where it can be, ``digest`` the SHA-256 of the file.
    """

    path: str
    digest: str
    edits: tuple[Edit, ...]


class RestoreDrift(Value, kw_only=True):
    """Put the list back to what the journal says; signed. The same fields."""

    path: str
    digest: str
    edits: tuple[Edit, ...]


Command: TypeAlias = AdoptDrift | RestoreDrift


class Restored(Record):
    path: Line
    digest: Hex
    edits: tuple[Edit, ...]


class Adopted(Restored):
    parts: tuple[dict[str, Any], ...] = ()


class Retitled(Record):
    todo_id: Name
    title: Line


def decide(state: GoalState, command: Command, context: Context) -> Draft:
    """The event that settles a drift; ``invalid_value`` where there is none."""
    if not command.edits:
        raise UsageError(
            "invalid_value",
            f"The todo list of {state.goal_id} was not edited by hand",
            next=f"loopx state check --goal {state.goal_id}",
            path=command.path,
        )
    payload: dict[str, Any] = {
        "path": command.path,
        "digest": command.digest,
        "edits": [edit.model_dump(mode="json", exclude_none=True) for edit in command.edits],
    }
    if isinstance(command, RestoreDrift):
        return Draft("drift.restored", payload, state.goal_id)
    payload["parts"] = _parts(state, command.edits)
    return Draft("drift.adopted", payload, state.goal_id)


def _parts(state: GoalState, edits: tuple[Edit, ...]) -> list[dict[str, Any]]:
    """What follows from the edits: new todos, numbered from the next one, and new titles."""
    parts: list[dict[str, Any]] = []
    number = state.next_todo
    for edit in edits:
        if edit.kind == "added":
            parts.append({"type": "todo.added", "todo_id": f"T{number}", "title": edit.title})
            number += 1
        elif edit.kind == "retitled":
            parts.append({"type": "todo.retitled", "todo_id": edit.todo_id, "title": edit.title})
    return parts


def _check_restored(state: GoalState, payload: Restored, facts: Facts) -> None:
    if not payload.edits:
        raise UsageError("invalid_event", "A drift without an edit is none")


def _check_adopted(state: GoalState, payload: Adopted, facts: Facts) -> None:
    _check_restored(state, payload, facts)
    check_parts(payload.parts, _parts(state, payload.edits))


def _evolve_settled(state: GoalState, payload: Restored, facts: Facts) -> GoalState:
    settled = {**state.settled, payload.path: payload.digest}
    # The goal's own version moves, so that the same line copied to a later place does nothing.
    return state.model_copy(update={"settled": settled, "goal_seq": facts.seq})


def _check_retitled(state: GoalState, payload: Retitled, facts: Facts) -> None:
    state.todo(payload.todo_id)
    check_line(payload.title, "title")


def _evolve_retitled(state: GoalState, payload: Retitled, facts: Facts) -> GoalState:
    todo = state.todo(payload.todo_id)
    update = {"title": payload.title, "changed_at": facts.at, "seq": facts.seq}
    return state.with_todo(todo.model_copy(update=update))


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType(
        "drift.adopted",
        Adopted,
        OWNER,
        _check_adopted,
        _evolve_settled,
        parts=frozenset({"todo.added", "todo.retitled"}),
    ),
    EventType("drift.restored", Restored, OWNER, _check_restored, _evolve_settled),
    EventType(
        "todo.retitled",
        Retitled,
        OWNER,
        _check_retitled,
        _evolve_retitled,
        part_only=True,
    ),
)
