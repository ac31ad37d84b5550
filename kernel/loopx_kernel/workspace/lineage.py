"""Where a todo comes from, back to the first: each todo on the way and the event that made it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_kernel.value import Value

if TYPE_CHECKING:
    from loopx_kernel.domain.records import Todo
    from loopx_kernel.workspace.events import EventRow
    from loopx_kernel.workspace.workspace import Workspace


class Made(Value):
    """A todo and the event that made it."""

    todo: Todo
    event: EventRow

    @property
    def facts(self) -> tuple[str, ...]:
        """What the event rests on, as it says itself."""
        event = self.event.event
        told = tuple(event.payload.get("facts", ()))
        if event.event_type != "observation.recorded":
            return told
        seen = "{kind}:{ref} {status} ({basis})".format_map(event.payload)
        return (*told, seen)


def origins_of(workspace: Workspace, goal_id: str, todo_id: str) -> tuple[Made, ...]:
    """The todo itself, then everything it comes from, the nearest first. Lineage is set from todos
    that exist, so it has no circles. Raises ``unknown_todo``, ``journal_damaged``."""
    found: dict[str, Made] = {}
    waiting = [todo_id]
    while waiting:
        ref = waiting.pop(0)
        if ref not in found:
            todo = workspace.history.todo(goal_id, ref)
            found[ref] = Made(todo, workspace.events.show(goal_id, todo.origin.event_id))
            waiting += todo.lineage_todo_ids
    return tuple(found.values())
