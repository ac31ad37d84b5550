"""A fact from outside lands on the todos that wait for it: good or bad, they are open again."""

from __future__ import annotations

import shlex
from typing import Any

from loopx_kernel.domain.records import EvidenceRef, Todo, WaitingOn, fact_in_words
from loopx_kernel.domain.records_of_work import Observation, ObservationKind
from loopx_kernel.domain.state import GoalState

LANDS = frozenset({"todo.reopened", "todo.added"})
"""The types of part an event may carry because a fact landed with it."""
LONGEST_REF = 200
_MENDED: frozenset[ObservationKind] = frozenset({"ci", "review"})


def awaits(todo: Todo, kind: str, ref: str) -> bool:
    """Whether the todo waits for this fact. A wait without a ref is for any of its kind."""
    wait = todo.waiting_on
    return wait is not None and wait.kind == kind and wait.ref in ("", ref)


def awaiting(state: GoalState, kind: str, ref: str, todo_id: str | None = None) -> list[Todo]:
    """The todos that wait for this fact, oldest first; of them only ``todo_id`` where one is
    named."""
    if todo_id is not None:
        named = state.todos.get(todo_id)
        return [named] if named is not None and awaits(named, kind, ref) else []
    return [todo for todo in state.todos.values() if awaits(todo, kind, ref)]


def is_unproven(state: GoalState, seen: Observation) -> bool:
    """Whether work waited for this fact and the kernel did not see it pass for itself, and no
    person has accepted the work since."""
    accepted = state.accepted.seq if state.accepted is not None else 0
    return seen.todo_id is not None and not seen.proven and seen.seq >= accepted


def looks_for(state: GoalState, todo_id: str) -> list[Observation]:
    """The last looks at what the todo waited for, or is to fix, oldest first."""
    return [seen for seen in state.observations.values() if todo_id in (seen.todo_id, seen.fix)]


def looked_since(state: GoalState, todo: Todo) -> bool:
    """Whether somebody looked at what a waiting todo waits for since it began to, whatever they
    saw. A read of a source that succeeds needs no such look: it lands."""
    looks = state.observations.values()
    return any(seen.seq > todo.seq and awaits(todo, seen.kind, seen.ref) for seen in looks)


def look_command(state: GoalState, todo: Todo, wait: WaitingOn) -> str:
    """The command that looks at what a waiting todo waits for."""
    if wait.kind == "source":
        return f"loopx source read {wait.ref} --status read --items 12 --unreadable 0"
    for probe in state.the_rules.probes:
        if awaits(todo, probe.kind, probe.id):
            return f"loopx observe probe {probe.id} --todo {todo.id}"
    ref = shlex.quote(wait.ref or "pr-7")
    if wait.kind == "ci":
        return f"loopx observe junit report.xml --ref {ref} --todo {todo.id}"
    return f"loopx observe record --kind {wait.kind} --ref {ref} --status pending --todo {todo.id}"


def report_of(seen: Observation) -> EvidenceRef | None:
    """The report it was read in, where its bytes are kept."""
    if not seen.kept or seen.sha256 is None or seen.size is None:
        return None
    return EvidenceRef(
        path=seen.path, sha256=seen.sha256, size=seen.size, kind="junit", result=None, kept=True
    )


def thaws(waiting: list[Todo]) -> list[dict[str, Any]]:
    """The parts that put these todos back to open."""
    return [
        {"type": "todo.reopened", "todo_id": todo.id, "version": todo.version + 1}
        for todo in waiting
    ]


def _is_being_mended(state: GoalState, seen: Observation) -> bool:
    if seen.fix is None:
        return False
    return not (seen.passed_since and state.has_ended(seen.fix))


def fixes(
    state: GoalState, kind: ObservationKind, ref: str, waiting: list[Todo]
) -> list[dict[str, Any]]:
    """The part that adds the one todo to fix a failure these todos waited for, to be done where
    they work; none where there is one for this failure already.

    A failure lasts until the fact passes, so a fix that did not help brings no second one; what
    fails again after that, with the fix out of the way, is another.
    """
    seen = state.observations.get(f"{kind}:{ref}")
    if not waiting or kind not in _MENDED or (seen is not None and _is_being_mended(state, seen)):
        return []
    scopes = dict.fromkeys(scope for todo in waiting for scope in todo.write_scope)
    return [
        {
            "type": "todo.added",
            "todo_id": f"T{state.next_todo}",
            "title": f"Fix {fact_in_words(kind, ref)}",
            "kind": "fix",
            "priority": "P0",
            "write_scope": list(scopes),
            "lineage_todo_ids": [todo.id for todo in waiting],
        }
    ]
