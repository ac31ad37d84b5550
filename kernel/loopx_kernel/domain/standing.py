"""How acceptance stands: what passed after the last work, and what is still a gap.

A result holds for the work it saw. It says nothing any more once the journal tells of later work,
nor once other files lie in the repo than it saw, whoever changed them: what is there was not
looked at. Time alone takes nothing from it. What counts is the content of the files in the goal's
write scopes, or of all where it has none; so a commit of what was accepted changes nothing, nor
does what others do elsewhere. It is not recorded that a goal is closed, so a closed goal whose
files change is open again until acceptance is run, or a person accepts it, anew. Who wants it left
alone retires it.
"""

from __future__ import annotations

from typing import Literal

from loopx_kernel.domain.records_of_work import ItemResult
from loopx_kernel.domain.rules import AcceptanceItem
from loopx_kernel.domain.state import GoalState
from loopx_kernel.value import Value

Standing = Literal["passed", "failed", "inconclusive", "unchecked"]
BY_HAND = "by_hand"
"""The gap of a goal without a required item: only a person's signed word closes it."""


class RepoSeen(Value):
    """A goal's files as they were looked at, as SHA-256 in hex: ``work`` over the content of those
    in its write scopes, committed or not, ``written`` over those its acceptance items are about,
    which commands of the rules write. Empty where they could not be looked at."""

    work: str
    written: str


def worked_seq(state: GoalState) -> int:
    """The ``seq`` of the last event that changed work; the latest finished todos are kept."""
    return max((todo.seq for todo in state.todos.values()), default=0)


def all_finished(state: GoalState) -> bool:
    """Whether all work is finished; without any todo nothing was begun."""
    return bool(state.todos) and all(todo.finished for todo in state.todos.values())


def hinges_on_files(state: GoalState) -> bool:
    """Whether what the files are now decides anything: all is finished, and something was seen."""
    return all_finished(state) and (bool(state.results) or state.accepted is not None)


def standing(state: GoalState, item: AcceptanceItem, now: RepoSeen | None = None) -> Standing:
    """How an item stands; without ``now`` the files are taken to be as it saw them."""
    result = state.results.get(item.id)
    if result is None or result.seq < worked_seq(state):
        return "unchecked"
    return result.result if now is None or _saw(result, now) else "unchecked"


def _saw(result: ItemResult, now: RepoSeen) -> bool:
    return result.repo_state == now.work and result.written in (None, now.written)


def is_accepted(state: GoalState, now: RepoSeen | None = None) -> bool:
    """Whether a person accepted the work as it is."""
    word = state.accepted
    if word is None or word.seq <= worked_seq(state):
        return False
    return now is None or word.repo_state == now.work


def required_items(state: GoalState) -> tuple[AcceptanceItem, ...]:
    """The items that count; optional ones alone never pass."""
    items = state.rules.acceptance if state.rules is not None else ()
    return tuple(item for item in items if not item.optional)


def gaps(state: GoalState, now: RepoSeen | None = None) -> tuple[str, ...]:
    """The ids of required items that did not pass, or ``by_hand`` where there is none."""
    if is_accepted(state, now):
        return ()
    required = required_items(state)
    if not required:
        return (BY_HAND,)
    return tuple(item.id for item in required if standing(state, item, now) != "passed")


def to_run(state: GoalState, now: RepoSeen | None = None) -> tuple[str, ...]:
    """The gaps that running acceptance may close. It does not where a run changes, each time it is
    made, the very files it looks at."""
    open_items = gaps(state, now)
    return tuple(
        item.id
        for item in required_items(state)
        if item.id in open_items and standing(state, item, now) == "unchecked"
        if not keeps_changing(state, item.id, now)
    )


def keeps_changing(state: GoalState, item_id: str, now: RepoSeen | None) -> bool:
    """Whether the files are as the last run of an item left them, which found them as the run
    before had left them, and both changed them."""
    result = state.results.get(item_id)
    if now is None or result is None or result.seq < worked_seq(state):
        return False
    return result.restless and result.left == now.work
