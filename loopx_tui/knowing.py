"""Looking up what the ledger knows of an object, for worker threads."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from loopx_kernel.domain.event import WORKSPACE_JOURNAL
from loopx_kernel.errors import LoopxError

from loopx_tui import strings_goal
from loopx_tui.presentation import known, known_lines
from loopx_tui.presentation.facts import OWNERS, Facts, Subject, plain
from loopx_tui.presentation.finding import NAMED
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.workspace import Workspace

_TODO: Final = re.compile(r"T[1-9][0-9]*")
_LINES: Final = 50
"""How many lines about an object are told."""


def look_up(open_workspace: Callable[[], Workspace], subject: Subject, pen: Pen) -> Facts:
    """What is known of a todo (its files, statement and origin), a turn (its brief, receipt and
    evidence), the turn an event is about, the owners, or whatever has a name in the journal;
    nothing of anything else. What cannot be read is said, never raised."""
    look = _LOOKS.get(subject.kind)
    if look is None or (look is _of_todo and not _TODO.fullmatch(subject.id)):
        return []
    try:
        workspace = open_workspace()
    except LoopxError:
        # That there is none the first screen says.
        return []
    try:
        return look(workspace, subject, pen)
    except LoopxError as error:
        return [plain("unread", error.message, "alert")]


def _of_todo(workspace: Workspace, subject: Subject, pen: Pen) -> Facts:
    from loopx_kernel.workspace.lineage import origins_of

    todo = workspace.history.todo(subject.goal_id, subject.id)
    proof = known.of_proof(workspace.evidence.of(subject.goal_id, todo))
    return proof + known.of_origin(origins_of(workspace, subject.goal_id, todo.id), pen)


def _of_owners(workspace: Workspace, subject: Subject, pen: Pen) -> Facts:
    people = workspace.owners
    signed = {row.event.seq: row for row in workspace.events.list(WORKSPACE_JOURNAL, 0, "owner")}
    return [
        *known.of_pin(people.pins.look()),
        *known.of_narrowing(people.narrowing),
        *(fact for one in people.list() for fact in known.of_owner(one, signed, pen)),
    ]


def _of_event(workspace: Workspace, subject: Subject, pen: Pen) -> Facts:
    payload = workspace.events.show(subject.goal_id, subject.id).event.payload
    turn_id = payload.get("turn_id") or payload.get("effect_ref")
    if not isinstance(turn_id, str):
        return []
    return known.of_turn(workspace.turns.show(subject.goal_id, turn_id), pen)


def _of_turn(workspace: Workspace, subject: Subject, pen: Pen) -> Facts:
    """What stood in the turn's brief, and what was handed in with its receipt."""
    turn = workspace.turns.show(subject.goal_id, subject.id)
    past = workspace.history.at(subject.goal_id, turn.opened_seq)
    lines = workspace.events.page(subject.goal_id, _LINES, about=subject.id).rows
    return [*known_lines.of_brief(past.state, turn), *known_lines.of_receipt(lines, pen)]


def _of_named(workspace: Workspace, subject: Subject, pen: Pen) -> Facts:
    """Whatever the journal knows by a name: a todo, a turn, a line, or the lines about it."""
    goal_id, name = subject.goal_id, subject.id
    if name.startswith("#"):
        rows = workspace.events.page(goal_id, 1, since=int(name[1:]) - 1).rows
        return [fact for row in rows for fact in known_lines.of_line(row, pen)] or _unknown(name)
    told: Facts = []
    if _TODO.fullmatch(name.upper()):
        todo = workspace.history.todo(goal_id, name.upper())
        told = known_lines.of_old_todo(todo, pen) + _of_todo(
            workspace, subject._replace(id=todo.id), pen
        )
    elif name.startswith("turn-"):
        told = known.of_turn(workspace.turns.show(goal_id, name), pen)
        told += _of_turn(workspace, subject, pen)
    about = told[0].value.text if told and told[0].label == "todo" else name
    rows = workspace.events.page(goal_id, _LINES, about=about).rows
    told += known_lines.of_lines(rows, pen)
    if told:
        return told
    return known_lines.of_line(workspace.events.show(goal_id, name), pen)


def _unknown(name: str) -> Facts:
    return [plain("unread", strings_goal.NOT_FOUND.format(name=name), "alert")]


_LOOKS: Final[dict[str, Callable[[Workspace, Subject, Pen], Facts]]] = {
    OWNERS: _of_owners,
    "event": _of_event,
    "turn": _of_turn,
    "spend": _of_turn,
    NAMED: _of_named,
    "todo": _of_todo,
    "lease": _of_todo,
    "need": _of_todo,
}
