"""Acceptance: items are run before any lock is taken, and people accept what no machine can."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from loopx_kernel.domain import acceptance
from loopx_kernel.domain.acceptance import AcceptByHand, RecordRun, items_of
from loopx_kernel.domain.items import worker_in
from loopx_kernel.domain.standing import RepoSeen, standing, worked_seq
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import UsageError
from loopx_kernel.workspace.commit import commit, recorded
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.looking import files_of, look_at_work
from loopx_kernel.workspace.orders import CODE, Done, Order, named
from loopx_kernel.workspace.signing import Unsigned, prepare

if TYPE_CHECKING:
    from loopx_kernel.observe.acceptance import Progress

_SHOWN_COMMIT = 12


class Accepting:
    """Running acceptance items, and accepting by hand."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def run(
        self,
        goal_id: str,
        todo_id: str | None = None,
        *,
        progress: Progress | None = None,
        event_id: str | None = None,
    ) -> Done[GoalState]:
        """Runs all items of the goal, or those of a todo, and records what came of it.

        Takes as long as their commands and judges do; ``progress`` is told before each. Raises
        ``unknown_todo``, ``invalid_value`` where there is no item, ``limit`` where the repo
        cannot be looked at.
        """
        order = Order(
            goal_id,
            RecordRun(results=(), todo_id=todo_id),
            acceptance.decide,
            CODE,
            event_id,
            arguments={"todo_id": todo_id},
        )
        with self._core.lock:
            self._core.require_writable()
            self._core.house.refresh()
            ledger = self._core.fresh_goal(goal_id)
            if (first := recorded(ledger, order)) is not None:
                return first
            state = ledger.state
        results = run_items(self._core, state, _asked(state, todo_id), progress)
        return commit(self._core, replace(order, command=replace(order.command, results=results)))

    def by_hand(
        self,
        goal_id: str,
        owner: str,
        reason: str,
        todo_id: str | None = None,
        *,
        event_id: str | None = None,
    ) -> Unsigned:
        """Prepares a person's word that the finished work of the goal, or the items of one
        finished todo, are accepted as they are in the repo now; its preview says what they are.

        Raises ``illegal_transition`` where something is not finished.
        """
        core = self._core
        with core.lock:
            core.house.refresh()
            state: GoalState = core.fresh_goal(goal_id).state
        seen = look_at_work(core, state)
        order = Order(
            goal_id,
            AcceptByHand(reason=reason, repo_state=seen.work, todo_id=todo_id),
            acceptance.decide,
            named("owner", owner),
            event_id,
            arguments={"reason": reason, "todo_id": todo_id},
        )
        return prepare(core, order, _review(core, state, seen, todo_id))


def run_items(
    core: Core, state: GoalState, item_ids: Iterable[str], progress: Progress | None = None
) -> tuple[dict[str, Any], ...]:
    """Runs these items of the signed rules in the goal's repo, each once; what came of it, in
    this order, as ``acceptance.ran`` holds it. No lock may be held: it takes its time.

    Raises ``invalid_value`` for an item the rules do not have, and ``limit`` where the repo
    cannot be looked at.
    """
    from loopx_kernel.observe.acceptance import Bench, run

    rules, objective = state.the_rules, state.objective
    items = items_of(state, tuple(dict.fromkeys(item_ids)))
    before = look_at_work(core, state)
    bench = Bench(
        repo=core.repo(state),
        seconds=rules.limits.acceptance_seconds,
        judge=rules.judge,
        worker=worker_in(rules.judge.command, core.house.state.agents) if rules.judge else None,
        search=rules.search_path,
        question={"goal_id": state.goal_id, "objective": objective.text if objective else ""},
    )
    found = run(items, bench, progress)
    after, results = look_at_work(core, state), []
    for item, seen in zip(items, found, strict=True):
        one = {
            "item_id": item.id,
            "result": seen.result,
            "detail": seen.detail,
            "repo_state": before.work,
            "left": after.work if after.work != before.work else None,
            "written": after.written if files_of(state) else None,
            "digest": seen.digest,
            "score": seen.score,
            "confidence": seen.confidence,
            "worked_seq": worked_seq(state),
        }
        results.append({key: value for key, value in one.items() if value is not None})
    return tuple(results)


def _asked(state: GoalState, todo_id: str | None) -> tuple[str, ...]:
    ids: tuple[str, ...] = tuple(item.id for item in state.the_rules.acceptance)
    what, step = state.goal_id, f"loopx accept by-hand --goal {state.goal_id} --reason 'why'"
    if todo_id is not None:
        ids = state.todo(todo_id).acceptance
        what, step = todo_id, f"loopx accept run --goal {state.goal_id}"
    if not ids:
        raise UsageError("invalid_value", f"{what} has no acceptance item to run", next=step)
    return ids


def _review(core: Core, state: GoalState, seen: RepoSeen, todo_id: str | None) -> str:
    """What a person accepts, in a sentence."""
    from loopx_kernel.observe.repo import asked

    items = state.the_rules.acceptance
    if todo_id is None:
        what = f"the work of {state.goal_id} by hand: {_finished(state)}"
    else:
        own = state.todo(todo_id)
        items = items_of(state, own.acceptance)
        what = f"the items of {todo_id} of {state.goal_id} by hand: {own.title}"
    stands = ", ".join(f"{item.id} {standing(state, item, seen)}" for item in items) or "no item"
    told = asked(core.repo(state))
    at = (told[1].commit if told is not None else None) or "none"
    where = f"commit {at[:_SHOWN_COMMIT]}, files {seen.work}"
    return f"accept {what}; acceptance: {stands}; repo at {where}"


def _finished(state: GoalState) -> str:
    counts = Counter(todo.status for todo in state.todos.values()) + Counter(state.left)
    return ", ".join(f"{number} {status}" for status, number in counts.items()) or "no todo"
