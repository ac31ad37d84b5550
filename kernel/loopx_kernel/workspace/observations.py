"""Facts from outside: a probe of the signed rules is run, a report read, a word taken down.

All of it happens before any lock is taken; what was seen is tested again under it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from loopx_kernel.domain import observation
from loopx_kernel.domain.observation import Observe, probe_of, status_of
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Denied
from loopx_kernel.store.objects import KEPT_LIMIT
from loopx_kernel.text import safe
from loopx_kernel.workspace.commit import commit, recorded
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.orders import CODE, Done, Order

SECONDS = 60
_NO_ANSWER = {
    "not_started": "could not be started; is it in a folder of search_path?",
    "timed_out": f"did not end within {SECONDS} s",
    "too_much": "printed without end",
}


class Observations:
    """Looks at facts from outside. Each raises ``unknown_todo``, and ``unknown_agent`` where
    ``by`` names nobody who is registered; nothing was recorded then."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def record(
        self, goal_id: str, command: Observe, *, event_id: str | None = None
    ) -> Done[GoalState]:
        """Records what somebody says; the basis is ``told``."""
        return commit(self._core, Order(goal_id, command, observation.decide, CODE, event_id))

    def read(
        self,
        goal_id: str,
        path: str,
        ref: str,
        *,
        todo_id: str | None = None,
        by: str | None = None,
        event_id: str | None = None,
    ) -> Done[GoalState]:
        """Reads a JUnit report in the repo, once, and records what it says; the basis is ``read``.
        Up to 1 MiB its bytes are kept.

        Raises ``missing_evidence``, and ``evidence_mismatch`` for a file that is no report or
        shows no test that ran.
        """
        asked = Observe(kind="ci", ref=ref, status="pending", basis="read", todo_id=todo_id, by=by)
        return self._see(
            goal_id, asked, {"path": path}, event_id, lambda state: self._report(state, path)
        )

    def probe(
        self,
        goal_id: str,
        probe_id: str,
        *,
        todo_id: str | None = None,
        by: str | None = None,
        event_id: str | None = None,
    ) -> Done[GoalState]:
        """Runs a probe of the signed rules in the repo and records its exit status; the basis is
        ``ran``. Exit status 0 is a pass, 75 is no result yet, any other a failure.

        Raises ``unknown_probe``, and ``not_verified`` for one that gave no answer.
        """
        asked = Observe(
            kind="ci", ref=probe_id, status="pending", basis="ran", todo_id=todo_id, by=by
        )
        return self._see(goal_id, asked, {}, event_id, lambda state: self._run(state, probe_id))

    def _see(
        self,
        goal_id: str,
        asked: Observe,
        also: Mapping[str, Any],
        event_id: str | None,
        look: Callable[[GoalState], dict[str, Any]],
    ) -> Done[GoalState]:
        arguments = {
            "basis": asked.basis,
            "ref": asked.ref,
            "todo_id": asked.todo_id,
            "by": asked.by,
            **also,
        }
        order = Order(goal_id, asked, observation.decide, CODE, event_id, arguments=arguments)
        with self._core.lock:
            self._core.require_writable()
            self._core.house.refresh()
            ledger = self._core.fresh_goal(goal_id)
            # What was recorded stays recorded, whatever became of the fact since.
            if (first := recorded(ledger, order)) is not None:
                return first
            state = ledger.state
        # Refused before anything is run or read, where it would be refused afterwards.
        observation.check_named(state, asked.ref, asked.todo_id)
        seen = look(state)
        keeps = seen.pop("keeps", ())
        return commit(self._core, replace(order, command=replace(asked, **seen), keeps=keeps))

    def _report(self, state: GoalState, path: str) -> dict[str, Any]:
        from loopx_kernel.observe.evidence import bind

        home = self._core.state_file(state).parent
        found = bind(self._core.repo(state), path, (home,))
        if found.kind != "junit" or found.result is None:
            raise Denied(
                "evidence_mismatch",
                f"{safe(path)} is no JUnit report that shows a test that ran",
                next="hand in the report your test runner wrote",
                path=path,
                reason=found.problem or "not_junit",
            )
        status = "pass" if found.result == "passed" else "fail"
        kept = found.size <= KEPT_LIMIT
        return {
            "status": status,
            "path": found.path,
            "sha256": found.sha256,
            "size": found.size,
            "kept": kept,
            "keeps": (found.content,) if kept else (),
        }

    def _run(self, state: GoalState, probe_id: str) -> dict[str, Any]:
        from loopx_kernel.observe.run import run_command, split_command

        probe = probe_of(state, probe_id)
        words, search = split_command(probe.command), state.the_rules.search_path
        run = run_command(words, self._core.repo(state), seconds=SECONDS, search=search)
        if run.status is None:
            raise Denied(
                "not_verified",
                f"The probe {probe.id} gave no answer: it {_NO_ANSWER[run.problem or '']}",
                next=f"loopx goal show --goal {state.goal_id}",
                probe=probe.id,
                command=probe.command,
                reason=run.problem,
            )
        return {
            "kind": probe.kind,
            "status": status_of(run.status),
            "probe": probe.id,
            "command": probe.command,
            "exit_status": run.status,
        }
