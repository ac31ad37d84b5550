"""Todo and lease commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from loopx_kernel.domain import aside, lease, todo
from loopx_kernel.domain.aside import ReopenTodo, SetAside
from loopx_kernel.domain.lease import ClaimTodo, ReleaseLease, RenewLease
from loopx_kernel.domain.records import EvidenceRef
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.todo import AddTodo, FinishHumanTodo, UpdateTodo
from loopx_kernel.workspace.commit import commit, recorded
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.orders import Done, Order, named
from loopx_kernel.workspace.signing import Unsigned, prepare


class Todos:
    """Work: adding it, taking it, handing it in, setting it aside."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def add(
        self, goal_id: str, agent: str, command: AddTodo, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Adds work; ``object_id`` is the new todo."""
        return self._todo(goal_id, agent, command, event_id)

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
        event_id: str | None = None,
    ) -> Done[GoalState]:
        """Hands in a result. ``evidence`` are paths in the repo, read here and once.

        Raises ``missing_evidence``, ``evidence_mismatch``, ``not_verified``, and
        the lease errors.
        """
        asked = {
            "todo_id": todo_id,
            "complete": complete,
            "evidence": list(evidence),
            "tests": tests,
            "note": note,
            "version": version,
            "epoch": epoch,
        }
        actor = named("agent", agent)
        # A hand-in after the lease ran out is compared with the neighbours' leases.
        order = Order(
            goal_id,
            UpdateTodo(todo_id=todo_id),
            todo.decide,
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
            state.todo(todo_id)
            repo = self._core.repo(state)
            home = self._core.state_file(state).parent
        refs, proven = read_evidence(repo, home, evidence, tests)
        command = UpdateTodo(
            todo_id=todo_id,
            complete=complete,
            evidence=refs,
            tests=tests,
            proven=proven,
            note=note,
            version=version,
            epoch=epoch,
        )
        return commit(self._core, replace(order, command=command))

    def set_aside(
        self, goal_id: str, agent: str, command: SetAside, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Blocks, waits for an outside fact, or puts off to a date; ends the lease."""
        return self._aside(goal_id, agent, command, event_id)

    def reopen(
        self, goal_id: str, agent: str, command: ReopenTodo, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Puts a todo that was set aside back to open."""
        return self._aside(goal_id, agent, command, event_id)

    def finish_human(
        self, goal_id: str, owner: str, command: FinishHumanTodo, *, event_id: str | None = None
    ) -> Unsigned:
        """Prepares a person's word that their own todo is done."""
        actor = named("owner", owner)
        order = Order(goal_id, command, todo.decide, actor, event_id)
        return prepare(self._core, order, f"finish {command.todo_id} of {goal_id}")

    def _aside(
        self, goal_id: str, agent: str, command: SetAside | ReopenTodo, event_id: str | None
    ) -> Done[GoalState]:
        actor = named("agent", agent)
        return commit(self._core, Order(goal_id, command, aside.decide, actor, event_id))

    def _todo(
        self, goal_id: str, agent: str, command: todo.Command, event_id: str | None
    ) -> Done[GoalState]:
        actor = named("agent", agent)
        return commit(self._core, Order(goal_id, command, todo.decide, actor, event_id))

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


def read_evidence(
    repo: Path, home: Path, paths: Sequence[str], tests: Literal["passed", "failed"] | None
) -> tuple[tuple[EvidenceRef, ...], bool]:
    """The files handed in, bound by digest, and whether a machine could read the claim in them."""
    from loopx_kernel.observe.evidence import agree, bind

    found = [bind(repo, path, (home,)) for path in paths]
    proven = agree(found, tests)
    refs = tuple(
        EvidenceRef(
            path=item.path,
            sha256=item.sha256,
            size=item.size,
            kind=item.kind,
            result=item.result,
            tests=item.tests if item.kind == "junit" else None,
            failures=item.failures + item.errors if item.kind == "junit" else None,
        )
        for item in found
    )
    return refs, proven
