"""Todo and lease commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from loopx_kernel.domain import aside, handin, lease, todo
from loopx_kernel.domain.aside import ReopenTodo, SetAside
from loopx_kernel.domain.handin import FinishHumanTodo, UpdateTodo
from loopx_kernel.domain.lease import ClaimTodo, ReleaseLease, RenewLease
from loopx_kernel.domain.risk import Risk
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.domain.turn_state import open_turn_of
from loopx_kernel.workspace.commit import commit, recorded
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.handing import look_at, run_for
from loopx_kernel.workspace.orders import Done, Order, named
from loopx_kernel.workspace.risks import refuse_risky, risks_in
from loopx_kernel.workspace.signing import Unsigned, prepare


class Todos:
    """Work: adding it, taking it, handing it in, setting it aside."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def add(
        self, goal_id: str, agent: str, command: AddTodo, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Adds work; ``object_id`` is the new todo."""
        actor = named("agent", agent)
        return commit(self._core, Order(goal_id, command, todo.decide, actor, event_id))

    def claim(
        self, goal_id: str, agent: str, command: ClaimTodo, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Takes a todo. Raises ``version_mismatch``, ``lease_held``, ``scope_overlap``,
        ``quota_exhausted``, ``quota_frozen``, ``gate_required``, ``drift``."""
        return self._lease(goal_id, agent, command, event_id, starts_work=True)

    def renew(
        self, goal_id: str, agent: str, command: RenewLease, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Holds on for another lease length. Raises ``stale_epoch`` when somebody took over."""
        return self._lease(goal_id, agent, command, event_id)

    def release(
        self, goal_id: str, agent: str, command: ReleaseLease, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Gives a todo back."""
        return self._lease(goal_id, agent, command, event_id)

    def update(
        self,
        goal_id: str,
        agent: str,
        todo_id: str,
        *,
        complete: bool = False,
        evidence: Sequence[str] = (),
        tests: Literal["passed", "failed"] | None = None,
        note: str = "",
        version: int | None = None,
        epoch: int | None = None,
        turn: str | None = None,
        event_id: str | None = None,
    ) -> Done[GoalState]:
        """Hands in a result. ``evidence`` are paths in the repo, read here and once. With a
        ``turn`` that is one of its three parts, and the todo's acceptance items are run. What
        shows an action that a rule covers, and nobody approved, finishes nothing: the todo is
        open again, and a person is asked.

        Raises ``missing_evidence``, ``evidence_mismatch``, ``not_verified``, the lease errors,
        and with a turn ``unknown_turn`` and ``turn_closed``.
        """
        asked = {
            "todo_id": todo_id,
            "complete": complete,
            "evidence": list(evidence),
            "tests": tests,
            "note": note,
            "version": version,
            "epoch": epoch,
            "turn": turn,
        }
        actor = named("agent", agent)
        # A hand-in after the lease ran out is compared with the neighbours' leases.
        order = Order(
            goal_id,
            UpdateTodo(todo_id=todo_id),
            handin.decide,
            actor,
            event_id,
            arguments=asked,
            both=True,
        )
        with self._core.lock:
            self._core.house.refresh()
            ledger = self._core.fresh_goal(goal_id)
            # What was recorded stays recorded, whatever became of its evidence since.
            if (first := recorded(ledger, order)) is not None:
                return first
            state = ledger.state
            work = state.todo(todo_id)
            if turn is not None:
                known = open_turn_of(state, turn, agent, state.seq + 1)
        seen = look_at(self._core, state, evidence, tests)
        high_risk: tuple[Risk, ...] = ()
        if turn is not None:
            refuse_risky(self._core, state, known, seen)
        elif work.lease is not None:
            high_risk = risks_in(self._core, state, agent, work.lease.acquired_at, seen)
        ran = run_for(self._core, state, work if turn else None, seen)
        command = UpdateTodo(
            todo_id=todo_id,
            complete=complete,
            evidence=seen.evidence,
            tests=tests,
            proven=seen.proven,
            note=note,
            version=version,
            epoch=epoch,
            turn_id=turn,
            results=ran.results,
            result_digest=ran.digest,
            high_risk=high_risk,
        )
        return commit(self._core, replace(order, command=command, keeps=seen.keeps))

    def set_aside(
        self, goal_id: str, agent: str, command: SetAside, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Blocks, waits for an outside fact, or puts off to a date; ends the lease."""
        return self._aside(goal_id, agent, command, event_id)

    def reopen(
        self, goal_id: str, agent: str, command: ReopenTodo, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Puts a todo that was set aside back to open. Raises ``quota_frozen`` for one that
        waits for what nobody looked at since."""
        return self._aside(goal_id, agent, command, event_id)

    def reopen_by_person(
        self, goal_id: str, owner: str, command: ReopenTodo, *, event_id: str | None = None
    ) -> Unsigned:
        """Prepares a person's word that a todo that was set aside is open again."""
        order = Order(goal_id, command, aside.decide, named("owner", owner), event_id)
        return prepare(self._core, order, f"reopen {command.todo_id} of {goal_id}")

    def finish_human(
        self,
        goal_id: str,
        owner: str,
        command: FinishHumanTodo,
        *,
        evidence: Sequence[str] = (),
        event_id: str | None = None,
    ) -> Unsigned:
        """Prepares a person's word that their own todo is done. ``evidence`` are paths in the
        repo, read here and once; raises ``missing_evidence`` where one is none."""
        asked = {"todo_id": command.todo_id, "reason": command.reason, "evidence": list(evidence)}
        actor = named("owner", owner)
        order = Order(goal_id, command, handin.decide, actor, event_id, arguments=asked)
        with self._core.lock:
            self._core.house.refresh()
            ledger = self._core.fresh_goal(goal_id)
            known, state = recorded(ledger, order), ledger.state
        if evidence and known is None:
            seen = look_at(self._core, state, evidence, None)
            order = replace(
                order, command=replace(command, evidence=seen.evidence), keeps=seen.keeps
            )
        return prepare(self._core, order, _finishing(goal_id, command, evidence))

    def _aside(
        self, goal_id: str, agent: str, command: SetAside | ReopenTodo, event_id: str | None
    ) -> Done[GoalState]:
        actor = named("agent", agent)
        return commit(self._core, Order(goal_id, command, aside.decide, actor, event_id))

    def _lease(
        self,
        goal_id: str,
        agent: str,
        command: ClaimTodo | RenewLease | ReleaseLease,
        event_id: str | None,
        starts_work: bool = False,
    ) -> Done[GoalState]:
        order = Order(
            goal_id,
            command,
            lease.decide,
            named("agent", agent),
            event_id,
            both=not isinstance(command, ReleaseLease),
            starts_work=starts_work,
        )
        return commit(self._core, order)


def _finishing(goal_id: str, command: FinishHumanTodo, evidence: Sequence[str]) -> str:
    words = f"finish {command.todo_id} of {goal_id}"
    return f"{words} on {', '.join(evidence)}" if evidence else words
