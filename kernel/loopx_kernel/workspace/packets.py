"""Review packets: what a decision rests on, looked up and looked into."""

from __future__ import annotations

from collections.abc import Container
from itertools import islice
from typing import TYPE_CHECKING

from loopx_kernel.domain.records import EvidenceRef, Todo
from loopx_kernel.errors import LoopxError
from loopx_kernel.views.packet import (
    MOST_TODOS,
    Change,
    Looked,
    Packet,
    Precedent,
    looked,
    packet,
)
from loopx_kernel.views.packet_subject import Subject, followed, subject_of
from loopx_kernel.workspace.evidence import Evidence
from loopx_kernel.workspace.history import History
from loopx_kernel.workspace.paging import Wanted, last_to_first
from loopx_kernel.workspace.proofs import Proofs

if TYPE_CHECKING:
    from loopx_kernel.domain.state import GoalState
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.workspace.core import Core

MOST_FILES = 32
"""How many files are looked into."""
_EARLIER = 5
_DECISIONS = {
    "drift": ("drift.adopted", "drift.restored"),
    "tick": ("drift.adopted", "drift.restored"),
    "damage": ("damage.repaired",),
    "acceptance": ("work.accepted",),
}


def packet_on(core: Core, goal: GoalView, ref: str) -> Packet:
    """The packet on one thing that waits for a person, of a goal that was just looked at.

    Reads the repo and the files handed in; runs nothing of theirs. Raises as ``subject_of``.
    """
    state: GoalState = core.goal(goal.goal_id).state
    subject = subject_of(goal, state, ref)
    todos, lost = _todos(core, state, subject)
    rows = [(todo, item) for todo in todos for item in todo.evidence]
    left_out = [f"{name}: not to be found in the journal" for name in lost]
    if len(rows) > MOST_FILES:
        left_out.append(f"{len(rows) - MOST_FILES} more files of evidence: loopx todo show ID")
    return packet(
        goal,
        state,
        subject,
        todos,
        evidence=[_look(core, state, todo, item) for todo, item in rows[:MOST_FILES]],
        change=_change(core, state, subject, todos),
        earlier=_earlier(core, goal.goal_id, subject),
        left_out=left_out,
    )


def _todos(core: Core, state: GoalState, subject: Subject) -> tuple[list[Todo], list[str]]:
    """The todos a packet follows, the subject's own first, and those that were not found."""
    found: dict[str, Todo] = {}
    lost: list[str] = []
    history = History(core)
    waiting = followed(subject, ())
    while waiting and len(found) < MOST_TODOS:
        ref = waiting.pop(0)
        if ref in found or ref in lost:
            continue
        try:
            found[ref] = (
                state.todos[ref] if ref in state.todos else history.todo(state.goal_id, ref)
            )
            waiting += followed(subject, [found[ref]])
        except LoopxError:
            lost.append(ref)
    return [*found.values(), *_done_lately(state, subject, found)], lost


def _done_lately(state: GoalState, subject: Subject, found: Container[str]) -> list[Todo]:
    """Actions and acceptance are judged by the work that was done before, the latest first."""
    if subject.kind not in ("gate", "acceptance") or subject.about:
        return []
    recent = (state.todos[ref] for ref in reversed(state.recent) if ref not in found)
    return [todo for todo in recent if todo.status == "done"][:MOST_TODOS]


def _look(core: Core, state: GoalState, todo: Todo, ref: EvidenceRef) -> Looked:
    """A file handed in as it was then: from the file if it is the same, else from its copy."""
    from loopx_kernel.observe.excerpt import look_inside

    proofs = Proofs(core)
    since, content = proofs.since(state, ref)
    row = Evidence(core).row(state, ref)
    if not content and row.copy == "kept":
        content = proofs.objects(state.goal_id).read(ref.sha256)
    if not content:
        inside = Change("what was handed in is not there any more", "", "")
    else:
        seen = look_inside(ref.path, content)
        inside = Change(seen.told, seen.text, seen.left_out)
    return looked(todo.id, ref, since, row.copy, inside)


def _change(core: Core, state: GoalState, subject: Subject, todos: list[Todo]) -> Change | None:
    if subject.kind in ("drift", "tick", "damage"):
        return _edit(core, state) if subject.kind != "damage" else None
    from loopx_kernel.observe.excerpt import diff_inside

    gate = state.gates.get(subject.id)
    about = {*subject.about, *subject.blocks}
    scopes = [scope for todo in todos if todo.id in about for scope in todo.write_scope]
    paths = gate.paths if gate is not None else ()
    found = diff_inside(core.repo(state), paths, () if paths else scopes)
    return None if found is None else Change(found.told, found.text, found.left_out)


def _edit(core: Core, state: GoalState) -> Change | None:
    from loopx_kernel.observe.excerpt import DIFF_LINES, beginning
    from loopx_kernel.workspace.state_files import StateFile

    try:
        edited = StateFile(core, core.goal(state.goal_id)).edited()
    except LoopxError as error:
        return Change(error.message, "", "")
    text, left_out = beginning("\n".join(edited.diff).encode(), DIFF_LINES)
    return Change(f"{edited.path}, sha256={edited.digest}", text, left_out)


def _earlier(core: Core, goal_id: str, subject: Subject) -> list[Precedent]:
    """Decisions of the same kind that only the journal tells of, oldest first."""
    types = _DECISIONS.get(subject.kind)
    if types is None:
        return []
    ledger = core.goal(goal_id)
    lines = last_to_first(ledger, Wanted(types=types))
    good = (line for line in lines if ledger.fault_at(line.seq) is None)
    events = [ledger.event_of(line) for line in islice(good, _EARLIER)]
    return [
        Precedent(
            event.event_id,
            event.event_type.partition(".")[2],
            event.actor_agent_id,
            event.recorded_at,
            ledger.verdict(event).level,
            str(event.payload.get("path", "")),
            str(event.payload.get("reason", "")),
            same=False,
        )
        for event in reversed(events)
    ]
