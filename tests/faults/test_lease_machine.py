"""Leases in any order: two programs on one disk, lost files, moved clocks, machines that boot."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from loopx_kernel.clock import ManualClock
from loopx_kernel.domain.clashes import clashes
from loopx_kernel.domain.lease import ClaimTodo, ReleaseLease, RenewLease
from loopx_kernel.domain.state import GoalState, is_live
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import LoopxError
from loopx_kernel.views.records import lease_record
from loopx_kernel.workspace import Workspace
from loopx_kernel.workspace.beside import live_leases
from loopx_kernel.workspace.todos import Todos

from tests.kernel.workspace.build import CLAUDE, CODEX, GOAL, OPENED, connected, open_goal

GOALS = (GOAL, "shop")
SCOPES = ("src/**", "src/theme/**", "docs/**")
HANDLES = st.sampled_from([0, 1])
AGENTS = st.sampled_from([CLAUDE, CODEX])
ALL = [(goal, f"T{n}") for goal in GOALS for n in range(1, len(SCOPES) + 1)]
PLACES = st.sampled_from(ALL)
OFF = st.sampled_from([0, 0, 0, 0, 0, 1, -1])
RARELY = st.sampled_from([False, False, False, True])


@cache
def template() -> Path:
    """Two goals in one repo whose todos want the same files; made once."""
    place = connected(Path(tempfile.mkdtemp()))
    for goal_id in GOALS:
        open_goal(place, goal_id)
        for scope in SCOPES:
            place.ws.todos.add(goal_id, CODEX, AddTodo(title="Work", write_scope=(scope,)))
    return place.root


class Leases(RuleBasedStateMachine):
    """Every holder remembers what it was told last, and acts on it however old that is."""

    @initialize(two_hosts=st.booleans(), skew=st.integers(-30, 30))
    def open(self, two_hosts: bool, skew: int) -> None:
        self.folder = Path(tempfile.mkdtemp())
        root = Path(shutil.copytree(template(), self.folder / "work"))
        self.two_hosts = two_hosts
        self.clocks = [ManualClock(OPENED), ManualClock(OPENED)]
        if two_hosts:
            self.clocks[1].host_id = "host-2"
            self.clocks[1].now += timedelta(seconds=skew)
        self.handles = [Workspace.open(root, clock=clock) for clock in self.clocks]
        self.root = root
        self.told: dict[tuple[str, str, str], tuple[int, int]] = {}
        self.epochs: dict[tuple[str, str], int] = {}
        self.copies: dict[Path, bytes] = {}

    def teardown(self) -> None:
        if not hasattr(self, "root"):
            return
        fresh = Workspace.open(self.root, clock=self.clocks[0])
        for goal_id in GOALS:
            assert fresh.events.verify(goal_id).ok
            assert fresh.state(goal_id) == self.handles[0].state(goal_id)
        shutil.rmtree(self.folder)

    def attempt(
        self, handle: int, place: tuple[str, str], agent: str, act: Any, *, claims: bool = False
    ) -> None:
        """A command is refused, and then nothing moved; or it wrote one line, which counts up
        the version, and the epoch if it claims, and the todo's file says what the line says."""
        goal_id, todo_id = place
        before = self.handles[1 - handle].state(goal_id)
        try:
            done = act(self.handles[handle].todos)
        except LoopxError:
            after = self.handles[1 - handle].state(goal_id)
            assert after.todos == before.todos
            return
        todo, old = done.state.todos[todo_id], before.todos[todo_id]
        assert (todo.version, todo.lease_epoch) == (old.version + 1, old.lease_epoch + claims)
        self.told[goal_id, todo_id, agent] = (todo.version, todo.lease_epoch)
        assert self.handles[1 - handle].state(goal_id) == done.state
        record = json.loads(self.file(goal_id, todo_id).read_bytes())
        record.pop("sha256")
        assert record == lease_record(done.state, todo)

    def file(self, goal_id: str, todo_id: str) -> Path:
        runtime = self.root / ".loopx" / "runtime" / goal_id
        return runtime / "task-leases" / f"{todo_id}.json"

    @rule(handle=HANDLES, agent=AGENTS, place=PLACES, named=st.booleans(), off=OFF)
    def claim(self, handle: int, agent: str, place: tuple[str, str], named: bool, off: int) -> None:
        goal_id, todo_id = place
        version = self.handles[handle].state(goal_id).todos[todo_id].version + off
        command = ClaimTodo(todo_id=todo_id, expect_version=max(0, version) if named else None)
        self.attempt(handle, place, agent, lambda t: t.claim(goal_id, agent, command), claims=True)

    def held(self, pick: int, foreign: bool) -> tuple[tuple[str, str], str, int, int]:
        """A todo that somebody holds, if any is; who acts on it; and the version and epoch: the
        present ones, or for somebody else the last they were told."""
        todos = {(goal, ref): self.handles[0].state(goal).todos[ref] for goal, ref in ALL}
        active = [place for place, todo in todos.items() if todo.status == "claimed"]
        place = (active or ALL)[pick % len(active or ALL)]
        todo = todos[place]
        owner = todo.lease.owner if todo.lease else CLAUDE
        if not foreign:
            return place, owner, todo.version, todo.lease_epoch
        agent = {CLAUDE: CODEX, CODEX: CLAUDE}[owner]
        return place, agent, *self.told.get((*place, agent), (todo.version, todo.lease_epoch))

    @rule(
        handle=HANDLES,
        pick=st.integers(0, 5),
        foreign=RARELY,
        off=OFF,
        what=st.sampled_from(["renew", "renew", "release", "note", "note", "complete"]),
    )
    def hold(self, handle: int, pick: int, foreign: bool, off: int, what: str) -> None:
        place, agent, version, epoch = self.held(pick, foreign)
        goal_id, todo_id = place
        version = max(0, version + off)
        renew = RenewLease(todo_id=todo_id, version=version, epoch=epoch)
        release = ReleaseLease(todo_id=todo_id, version=version, epoch=epoch)
        numbers = {"version": version, "epoch": epoch}
        acts: dict[str, Callable[[Todos], Any]] = {
            "renew": lambda t: t.renew(goal_id, agent, renew),
            "release": lambda t: t.release(goal_id, agent, release),
            "note": lambda t: t.update(goal_id, agent, todo_id, note="n", **numbers),
            "complete": lambda t: t.update(goal_id, agent, todo_id, complete=True, **numbers),
        }
        self.attempt(handle, place, agent, acts[what])

    @rule(place=PLACES, what=st.sampled_from(["lost", "kept", "put back"]))
    def harm_file(self, place: tuple[str, str], what: str) -> None:
        file = self.file(*place)
        if what == "lost":
            file.unlink(missing_ok=True)
        elif what == "kept" and file.exists():
            self.copies[file] = file.read_bytes()
        elif what == "put back" and file in self.copies:
            file.write_bytes(self.copies[file])

    @rule(step=st.sampled_from([1, 8, 14, 16, 90, "clock", "boot"]), back=st.booleans())
    def time_goes_on(self, step: int | str, back: bool) -> None:
        if isinstance(step, int):
            for clock in self.clocks:
                clock.advance(minutes=step)
        elif step == "boot":
            host = self.clocks[back].host_id
            for clock in self.clocks:
                if clock.host_id == host:
                    clock.boot_id += "+"
                    clock.boot_seconds = 1.0
        elif not self.two_hosts:
            for clock in self.clocks:
                clock.now += timedelta(days=-2 if back else 2)

    @invariant()
    def one_live_holder_of_any_file(self) -> None:
        for ws in self.handles:
            core = ws._core
            reading = core.clock.read()
            assert clashes(live_leases(core, reading, beside=""), []) == ()

    @invariant()
    def both_agree_and_nothing_is_damaged(self) -> None:
        for goal_id in GOALS:
            one, two = (ws.state(goal_id) for ws in self.handles)
            assert one == two
            assert not one.alerts
            assert not self.handles[0].view(goal_id).reads.damage
            self.compare(goal_id, one)

    def compare(self, goal_id: str, state: GoalState) -> None:
        for todo in state.todos.values():
            key = (goal_id, todo.id)
            assert todo.lease_epoch >= self.epochs.get(key, 0)
            self.epochs[key] = todo.lease_epoch
            for clock in self.clocks:
                assert not (todo.finished and is_live(todo.lease, clock.read()))


Leases.TestCase.settings = settings(max_examples=12, stateful_step_count=50, deadline=None)
TestLeases = Leases.TestCase
