"""A person's edit of the todo list: shown, taken over, or put back."""

from __future__ import annotations

from functools import partial

from loopx_kernel.domain import drift
from loopx_kernel.domain.drift import AdoptDrift, Edit, RestoreDrift
from loopx_kernel.domain.event import Context, Draft
from loopx_kernel.domain.needs_you import Difference
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Conflict
from loopx_kernel.text import check_line
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.orders import Order, named
from loopx_kernel.workspace.pages import Edited
from loopx_kernel.workspace.signing import Unsigned, prepare
from loopx_kernel.workspace.state_files import StateFile


class Drifts:
    """Drift of ``ACTIVE_GOAL_STATE.md`` and the two signed ways out of it."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def look(self, goal_id: str) -> Edited:
        """What a person changed in the list, with a diff; changes nothing, picks no side.

        Raises ``Storage`` where the file cannot be read.
        """
        with self._core.lock:
            self._core.house.refresh()
            return StateFile(self._core, self._core.fresh_goal(goal_id)).edited()

    def adopt(
        self, goal_id: str, owner: str, shown: Edited | None = None, *, event_id: str | None = None
    ) -> Unsigned:
        """Prepares taking over new rows and titles of the edit ``shown`` (else the present
        one). Ticks are not taken over: a todo is done with evidence only.

        Raises ``invalid_value`` where there is no edit, or no title in it that may be one,
        and ``stale_decision`` where the file is not what was shown.
        """
        edit = shown or self.look(goal_id)
        edits = tuple(_edit(item, adopts=True) for item in edit.drift)
        command = AdoptDrift(path=edit.path, digest=edit.digest, edits=edits)
        order = self._order(goal_id, owner, command, edit, event_id)
        words = "; ".join(f"{item.sentence}, {_ADOPTED[item.kind]}" for item in edit.drift)
        return prepare(self._core, order, f"adopt the edited todo list of {goal_id}: {words}")

    def restore(
        self, goal_id: str, owner: str, shown: Edited | None = None, *, event_id: str | None = None
    ) -> Unsigned:
        """Prepares rendering the list again; the edited file is kept in quarantine.

        Raises as ``adopt`` does.
        """
        edit = shown or self.look(goal_id)
        edits = tuple(_edit(item, adopts=False) for item in edit.drift)
        command = RestoreDrift(path=edit.path, digest=edit.digest, edits=edits)
        order = self._order(goal_id, owner, command, edit, event_id)
        words = "; ".join(item.sentence for item in edit.drift)
        preview = f"restore the todo list of {goal_id} to what was recorded, although {words}"
        return prepare(self._core, order, preview)

    def _order(
        self,
        goal_id: str,
        owner: str,
        command: drift.Command,
        shown: Edited,
        event_id: str | None,
    ) -> Order:
        decide = partial(self._decide, shown)
        return Order(
            goal_id, command, decide, named("owner", owner), event_id, arguments={}, both=True
        )

    def _decide(
        self, shown: Edited, state: GoalState, command: drift.Command, context: Context
    ) -> Draft:
        """The file is looked at again each time: what was shown must still stand there."""
        now = StateFile(self._core, self._core.goal(state.goal_id)).edited()
        if (now.digest, now.drift) != (shown.digest, shown.drift):
            raise Conflict(
                "stale_decision",
                f"{now.path} was edited or settled after it was looked at",
                next=f"loopx state check --goal {state.goal_id}",
                object_id=state.goal_id,
                signed=shown.digest,
                now=now.digest,
            )
        return drift.decide(state, command, context)


def _edit(item: Difference, *, adopts: bool) -> Edit:
    counts = adopts and item.kind in ("added", "retitled")
    title = check_line(item.text, f"line {item.line}: a title") if counts else ""
    return Edit(kind=item.kind, todo_id=item.todo_id, line=item.line, title=title)


_ADOPTED = {
    "added": "which becomes a todo",
    "retitled": "which counts",
    "ticked": "which needs evidence and completes nothing",
    "unticked": "which is put back",
    "removed": "which comes back",
}
