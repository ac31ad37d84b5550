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
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from loopx_tui.demo import jobs, repo, world
from loopx_tui.demo.checks import Ci, Result, run_tests
from loopx_tui.demo.chores import LANDS, WAITS, Chores
from loopx_tui.demo.command import Loopx, Reply
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
    """A todo this worker holds in a turn, with the numbers that prove it."""

    todo_id: str
    turn: str
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


class Worker:
    """The life of one worker in one goal."""

    def __init__(self, place: Place, agent: str, goal: str, pace: Pace) -> None:
        self.place = place
        self.goal = goal
        self.pace = pace
        self.loopx = Loopx(place, agent, goal)
        self.ci = Ci(place, goal)
        self.chores = Chores(place, self.loopx)
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
        self.chores.do(self.beats)
        queued = self.ci.take(CI_SECONDS / self.pace.speed)
        if queued is not None:
            _done(self.chores.land(self.ci, queued), "observe", queued)
            return
        contract = self.loopx.ask("quota", "should-run").body
        if contract.get("answer") == "run":
            self._work(contract)
        elif (contract.get("repair") or {}).get("kind") == "unclosed_turn":
            self._step("turn", "recover")

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

    def _ask_ci(self, todo_id: str) -> None:
        self._step("todo", "wait", todo_id, "--on", WAITS[LANDS[self.goal]], "--every", "10m")
        self.ci.enqueue(todo_id)

    def _title(self, todo_id: str) -> str:
        return str(self.loopx.must("todo", "show", todo_id)["todo"]["title"])

    # -- one todo -------------------------------------------------------------------------------

    def _work(self, contract: Mapping[str, Any]) -> None:
        todo = contract["todo"]
        if todo["kind"] == "replan":
            self._replan()
            return
        below = int(todo["id"][1:]) + BACKLOG
        mended = todo["lineage_todo_ids"][0] if todo["kind"] == "fix" else None
        job = jobs.find(self.goal, self._title(mended) if mended else todo["title"], below)
        if job is not None and mended:
            job = replace(job, title=todo["title"], twist="plain", draft=None)
        if job is None:
            self._step("todo", "block", todo["id"], "--reason", "Not in the script of the demo")
            return
        begun = self.loopx.ask("turn", "begin").body
        if begun.get("answer") != "run" or begun["todo"]["id"] != todo["id"]:
            return
        held = self._renew(_held(begun["turn_id"], begun["lease"]))
        if job.twist == "later" and held.first_time:
            self._put_off(held)
            return
        if job.twist == "stuck":
            self.pace.pause(1)
            self._settle(held, "failed", "--note", "The page it links to is not written yet")
            return
        self.pace.pause(2)
        repo.write(self.place.repo, dict(job.files) | dict(job.draft or {}))
        self.pace.pause(2)
        if job.twist == "dies" and held.first_time and todo["status"] == "open":
            os.kill(os.getpid(), signal.SIGKILL)
        held, result = self._prove(job, held)
        # What works here need not be all that was committed: the CI will tell.
        forgets = job.twist == "ci" and held.first_time and LANDS[self.goal] == "report"
        repo.commit(self.place, job.title, job.scope[1:] if forgets else job.scope)
        if mended:
            self._ask_ci(mended)
        self._hand_over(job, held, result, begun["brief"]["refusals"])

    def _replan(self) -> None:
        """Finds another way for what a person would not see tried again."""
        begun = self.loopx.ask("turn", "begin").body
        if begun.get("answer") != "run" or begun["todo"]["kind"] != "replan":
            return
        duties = self.loopx.must("replan", "list")["obligations"]
        duty = next(one for one in duties if one["replan_todo"] == begun["todo"]["id"])
        pairs = []
        for old in duty["todo_ids"]:
            title = self._title(old).removesuffix(jobs.REROUTED) + jobs.REROUTED
            job = jobs.find(self.goal, title, int(old[1:]) + BACKLOG)
            scopes = [part for path in job.scope for part in ("--write-scope", path)] if job else []
            new = self._step("todo", "add", title, "--lineage", old, *scopes)["todo"]["id"]
            pairs += ["--supersede", f"{old}:{new}"]
        self._step("replan", "fulfil", duty["id"], *pairs, "--reason", "Without that link")
        done = ("turn", "settle", "--turn", begun["turn_id"], "--outcome", "done")
        self._step(*done, "--handoff", f"{duty['id']} is fulfilled; the new work leads around it.")

    def _renew(self, held: Held) -> Held:
        ttl = ("--ttl", f"{self.pace.lease_seconds}s")
        return _held(
            held.turn, self._step("todo", "renew", held.todo_id, *held.proof, *ttl)["lease"]
        )

    def _settle(self, held: Held, outcome: str, *options: str) -> None:
        self._step("turn", "settle", "--turn", held.turn, "--outcome", outcome, *options)

    def _put_off(self, held: Held) -> None:
        self._settle(held, "blocked", "--note", "Not before its time", "--handoff", "Nothing yet.")
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
        return _held(held.turn, self.loopx.must("lease", "show", held.todo_id)["lease"])

    def _hand_over(self, job: Job, held: Held, result: Result, refusals: list[str]) -> None:
        """What follows a passed test: a gate, the CI, or the end of the todo."""
        note = job.summary
        if job.action is not None and refusals:
            note = f"{job.summary}; left local, as the owner decided"
        elif job.action is not None and not self._allowed(job.action, held, result):
            return
        report = self.ci.report(held.todo_id)
        looked = not held.first_time if LANDS[self.goal] != "report" else report is not None
        if job.twist == "ci" and not looked:
            after = f"{held.todo_id} is pushed. Next: look at its CI."
            self._settle(held, "blocked", "--note", "Its CI runs", "--handoff", after)
            self._ask_ci(held.todo_id)
            return
        evidence = ("--evidence", str(report or result.report), "--tests", "passed")
        self.pace.pause(2)
        words = ("--note", note, "--handoff", f"{held.todo_id} is done. {note}.")
        self._settle(held, "done", *evidence, *words)

    # -- what only the owner may allow ----------------------------------------------------------

    def _allowed(self, action: Action, held: Held, result: Result) -> bool:
        """Does the action if its one approval can be taken; else asks, and lets go of the todo."""
        what = self._words(action)
        if self.loopx.ask("gate", "check", *what).status == 0:
            self._step("gate", "use", *what)
            self._act(action)
            return True
        sharp = ("--irreversible",) if action.irreversible else ()
        question = ("--question", action.question, "--blocks", held.todo_id)
        self._step("gate", "request", *what, *question, *sharp)
        evidence = ("--evidence", str(result.report), "--tests", "passed")
        after = ("--handoff", f"{held.todo_id} waits for its gate; the rest is done.")
        self._settle(held, "progress", *evidence, *after)
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
        return _done(self.loopx.ask(*arguments), *arguments[:3])


def _done(reply: Reply, *words: str) -> Mapping[str, Any]:
    if not reply.ok:
        raise Dropped(f"{' '.join(words)}: {reply.code}: {reply.message}")
    return reply.body


def _held(turn: str, lease: Mapping[str, Any]) -> Held:
    return Held(lease["todo_id"], turn, str(lease["version"]), str(lease["lease_epoch"]))


def main(arguments: list[str]) -> None:
    """Works until standard input ends."""
    top, agent, goal, speed = arguments
    pace = Pace(float(speed), random.Random(f"{agent} {goal}"))
    with suppress(Over, KeyboardInterrupt):
        Worker(Place(Path(top)), agent, goal, pace).live()


if __name__ == "__main__":
    main(sys.argv[1:])
