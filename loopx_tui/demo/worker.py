"""One scripted worker: asks what to do, does it for real, hands it in. A process of its own.

``python -m loopx_tui.demo.worker TOP AGENT GOAL SPEED``
"""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from loopx_tui.demo import jobs, repo, world
from loopx_tui.demo.checks import Ci, Result, run_tests
from loopx_tui.demo.command import Loopx
from loopx_tui.demo.jobs import Action, Job
from loopx_tui.demo.pace import Over, Pace
from loopx_tui.demo.place import DemoError, Place

BACKLOG = 3
CI_SECONDS = 15
LATER_SECONDS = 25
SOURCE_BEATS = {"origin": 6, "support-inbox": 25}


class Dropped(Exception):
    """The ledger refused a step of this todo; the worker lets go of it and asks again."""


@dataclass(frozen=True, slots=True)
class Held:
    """A todo this worker holds, with the numbers that prove it."""

    todo_id: str
    version: str
    epoch: str

    @property
    def proof(self) -> tuple[str, ...]:
        """The options by which the ledger knows the holder."""
        return ("--version", self.version, "--epoch", self.epoch)

    @property
    def first_time(self) -> bool:
        """Whether nobody held the todo before."""
        return self.epoch == "1"

    @property
    def turn(self) -> str:
        """A name for this piece of work that nobody else uses."""
        return f"turn-{int(self.todo_id[1:]):04d}{self.epoch}"


class Worker:
    """The life of one worker in one goal."""

    def __init__(self, place: Place, agent: str, goal: str, pace: Pace) -> None:
        self.place = place
        self.goal = goal
        self.pace = pace
        self.loopx = Loopx(place, agent, goal)
        self.ci = Ci(place, goal)
        self.beats = 0

    def live(self) -> None:
        """Beats until the starter is gone. What goes wrong costs one beat."""
        self.pace.pause(2)
        while True:
            try:
                self.beat()
            except (DemoError, Dropped) as problem:
                print(problem, file=sys.stderr, flush=True)  # noqa: T201
            self.pace.pause(2.5)

    def beat(self) -> None:
        """One wake-up."""
        self.beats += 1
        self._read_sources()
        self._top_up()
        queued = self.ci.take(CI_SECONDS / self.pace.speed)
        if queued is not None:
            self._run_ci(queued)
            return
        contract = self.loopx.ask("quota", "should-run").body
        if contract.get("answer") == "run":
            self._work(contract)

    def _read_sources(self) -> None:
        for source in world.sources(self.goal):
            if self.beats % SOURCE_BEATS[source] == 0:
                world.read_source(self.place, self.loopx, source)

    def _top_up(self) -> None:
        """Adds the goal's next job while little is left to do."""
        status = self.loopx.must("status")
        gates = [need for need in status["needs_you"] if need["kind"] == "gate"]
        gated = {ref for gate in gates for ref in gate["blocks"]}
        todos = status["todos"]
        if todos["open"] - len(gated) < BACKLOG:
            world.add_todo(self.loopx, self.goal, todos["total"], asks=not gates)

    def _run_ci(self, todo_id: str) -> None:
        self.ci.run(todo_id)
        self._step("todo", "reopen", todo_id)

    # -- one todo -------------------------------------------------------------------------------

    def _work(self, contract: Mapping[str, Any]) -> None:
        todo = contract["todo"]
        below = int(todo["id"][1:]) + BACKLOG
        job = jobs.find(self.goal, todo["title"], below)
        if job is None:
            self._step("todo", "block", todo["id"], "--reason", "Not in the script of the demo")
            return
        held = self._hold(todo)
        if job.twist == "later" and held.first_time:
            self._put_off(held)
            return
        self.pace.pause(2)
        repo.write(self.place.repo, dict(job.files) | dict(job.draft or {}))
        self.pace.pause(2)
        if job.twist == "dies" and held.first_time and todo["status"] == "open":
            os.kill(os.getpid(), signal.SIGKILL)
        held, result = self._prove(job, held)
        repo.commit(self.place, job.title, job.scope)
        self._hand_over(job, held, result, contract["brief"]["refusals"])

    def _hold(self, todo: Mapping[str, Any]) -> Held:
        lease = todo["lease"]
        if todo["status"] == "claimed" and lease and lease["owner"] == self.loopx.agent:
            held = Held(todo["id"], str(lease["version"]), str(lease["lease_epoch"]))
            return self._renew(held)
        return self._leased("claim", todo["id"], "--expect-version", str(todo["version"]))

    def _renew(self, held: Held) -> Held:
        return self._leased("renew", held.todo_id, *held.proof)

    def _leased(self, verb: str, todo_id: str, *options: str) -> Held:
        ttl = ("--ttl", f"{self.pace.lease_seconds}s")
        lease = self._step("todo", verb, todo_id, *options, *ttl)["lease"]
        return Held(todo_id, str(lease["version"]), str(lease["lease_epoch"]))

    def _put_off(self, held: Held) -> None:
        until = datetime.now(UTC) + timedelta(seconds=self.pace.seconds(LATER_SECONDS, 5))
        moment = until.isoformat(timespec="seconds").replace("+00:00", "Z")
        self._step("todo", "defer", held.todo_id, "--until", moment)

    def _prove(self, job: Job, held: Held) -> tuple[Held, Result]:
        """Runs the job's tests until they pass; a failed run is handed in as what it is."""
        result = self._test(job, held)
        if not result.passed and job.draft is not None:
            evidence = ("--evidence", str(result.report), "--tests", "failed")
            self._step(
                "todo", "update", held.todo_id, *evidence, "--note", result.problem, *held.proof
            )
            self.pace.pause(3)
            held = self._renew(self._held_now(held))
            repo.write(self.place.repo, dict(job.files))
            self.pace.pause(2)
            result = self._test(job, held)
        if not result.passed:
            raise Dropped(f"{held.todo_id}: {result.problem}")
        return held, result

    def _test(self, job: Job, held: Held) -> Result:
        name = f"{self.goal}-{held.todo_id}"
        return run_tests(self.place, self.place.repo, job.test, name)

    def _held_now(self, held: Held) -> Held:
        """The same lease with the version that the last hand-in gave it."""
        lease = self.loopx.must("lease", "show", held.todo_id)["lease"]
        return Held(held.todo_id, str(lease["version"]), held.epoch)

    def _hand_over(self, job: Job, held: Held, result: Result, refusals: list[str]) -> None:
        """What follows a passed test: a gate, the CI, or the end of the todo."""
        note = job.summary
        if job.action is not None and refusals:
            note = f"{job.summary}; left local, as the owner decided"
        elif job.action is not None and not self._allowed(job.action, held):
            return
        report = self.ci.report(held.todo_id)
        if job.twist == "ci" and report is None:
            self._step("todo", "wait", held.todo_id, "--on", "ci", "--every", "10m")
            self.ci.enqueue(held.todo_id)
            return
        evidence = ("--evidence", str(report or result.report), "--tests", "passed")
        self.pace.pause(1.5)
        self._step("todo", "complete", held.todo_id, *evidence, "--note", note, *held.proof)
        self.pace.pause(1.5)
        self._step("quota", "spend-slot", "--turn", held.turn)
        self.pace.pause(1)
        self._step("refresh-state", "--handoff", f"{held.todo_id} is done. {note}.")

    # -- what only the owner may allow ----------------------------------------------------------

    def _allowed(self, action: Action, held: Held) -> bool:
        """Does the action if its one approval can be taken; else asks, and lets go of the todo."""
        what = self._words(action)
        if self.loopx.ask("gate", "check", *what).status == 0:
            self._step("gate", "use", *what)
            self._act(action)
            return True
        sharp = ("--irreversible",) if action.irreversible else ()
        question = ("--question", action.question, "--blocks", held.todo_id)
        self._step("gate", "request", *what, *question, *sharp)
        self._step("todo", "release", held.todo_id, *held.proof)
        return False

    def _words(self, action: Action) -> tuple[str, ...]:
        where = ("--command", action.command) if action.command else ("--path", action.path)
        return ("--action", action.kind, *where)

    def _act(self, action: Action) -> None:
        if action.command:
            repo.push(self.place, action.command)
            return
        if action.kind == "delete":
            (self.place.repo / action.path).unlink(missing_ok=True)
        else:
            repo.write(self.place.repo, {action.path: action.content})
        repo.commit(self.place, action.question, (action.path,))

    def _step(self, *arguments: str) -> Mapping[str, Any]:
        reply = self.loopx.ask(*arguments)
        if not reply.ok:
            raise Dropped(f"{' '.join(arguments[:3])}: {reply.code}: {reply.message}")
        return reply.body


def main(arguments: list[str]) -> None:
    """Works until standard input ends."""
    top, agent, goal, speed = arguments
    pace = Pace(float(speed), random.Random(f"{agent} {goal}"))
    with suppress(Over, KeyboardInterrupt):
        Worker(Place(Path(top)), agent, goal, pace).live()


if __name__ == "__main__":
    main(sys.argv[1:])
