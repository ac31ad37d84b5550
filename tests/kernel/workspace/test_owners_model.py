"""Owners come, go and change keys in any order beside work, decisions, repairs and readings.

A signed line counts exactly where its key was there when it was written, and every reading
says the same: from line 1, from any checkpoint, and one that never stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.trust.keys import PrivateKey
from loopx_kernel.workspace import Workspace

from tests.kernel.workspace.build import (
    CODEX,
    GOAL,
    OWNER,
    SECOND,
    Place,
    connected,
    copied,
    new_key,
    open_goal,
)
from tests.kernel.workspace.forge import append_raw, records, signed_line

GOALS = (GOAL, "shop")
NAMES = ("wu", "wu", OWNER, OWNER)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["enrol", "revoke", "rotate", "decide", "decide", "work", "read", "cut", "again"]
        ),
        st.integers(0, 9),
    ),
    max_size=12,
)


@dataclass
class Course:
    """A workspace and what is true of it: whose keys count, and how each goal stands.

    ``pool`` are keys of people, some of whom were never enrolled, or not yet.
    """

    place: Place
    folder: Path
    present: dict[str, PrivateKey]
    pool: list[tuple[str, PrivateKey]]
    reader: Workspace
    status: dict[str, list[str]] = field(default_factory=lambda: {g: ["active"] for g in GOALS})
    caches: list[Path] = field(default_factory=list)

    def signer(self) -> str:
        return next(iter(self.present))

    def journal(self, goal_id: str) -> Path:
        return self.place.runtime.parent / goal_id / "events.jsonl"

    def enrol(self, number: int) -> None:
        name, key = self.pool[number % len(self.pool)]
        if name in self.present or key in self.present.values():
            return
        ws, by = self.place.ws, self.signer()
        unsigned = ws.owners.enroll(by, name, key.public.line, allow_unattended=True)
        ws.append(unsigned, self.present[by])
        self.present[name] = key

    def revoke(self, number: int) -> None:
        name, by = [*self.present][number % len(self.present)], self.signer()
        if len(self.present) > 1:
            ws = self.place.ws
            ws.append(ws.owners.revoke(by, name), self.present[by])
            del self.present[name]

    def rotate(self, number: int) -> None:
        name, key = self.pool[number % len(self.pool)]
        if name not in self.present or key in self.present.values():
            return
        ws, by = self.place.ws, self.signer()
        unsigned = ws.owners.rotate(by, name, key.public.line, allow_unattended=True)
        ws.append(unsigned, self.present[by])
        self.present[name] = key

    def decide(self, number: int) -> None:
        """Somebody who is or was or will be an owner signs, and the line is put there by hand."""
        name, key = self.pool[number % len(self.pool)]
        goal_id = GOALS[number % 2]
        states = self.status[goal_id]
        to: Any = "paused" if states[-1] == "active" else "resumed"
        command = ChangeGoalStatus(to=to, reason="a look first")
        unsigned = self.place.ws.goals.change_status(goal_id, name, command)
        append_raw(self.journal(goal_id), signed_line(unsigned, key))
        counts = self.present.get(name) is key
        states.append({"paused": "paused", "resumed": "active"}[to] if counts else states[-1])

    def work(self, number: int) -> None:
        goal_id = GOALS[number % 2]
        self.place.ws.todos.add(goal_id, CODEX, AddTodo(title="More"))
        self.status[goal_id].append(self.status[goal_id][-1])

    def cut(self, number: int) -> None:
        """The last lines of a goal are spoiled, and a person gives them up."""
        goal_id = GOALS[number % 2]
        path, states = self.journal(goal_id), self.status[goal_id]
        lines = path.read_bytes().splitlines(keepends=True)
        kept = max(1, len(lines) - 1 - number % 3)
        broken = [*lines[:kept], b'{"spoiled":1}\n', *lines[kept:]]
        path.write_bytes(b"".join(broken))
        by = self.signer()
        ws = self.place.again()
        ws.append(ws.repairs.journal(goal_id, by), self.present[by])
        for row in ws.repairs.list():
            ws.append(ws.repairs.file(Path(row.damage.path), by), self.present[by])
        self.status[goal_id] = states[:kept]
        self.status[goal_id] += [states[kept - 1]] * (len(records(path)) - kept)
        self.place.ws = self.place.again()

    def again(self, number: int) -> None:
        """A line of a goal that was signed earlier, once more."""
        goal_id = GOALS[number % 2]
        signed = [r for r in records(self.journal(goal_id))[1:] if "signed" in r]
        if signed:
            append_raw(self.journal(goal_id), signed[number % len(signed)])
            self.status[goal_id].append(self.status[goal_id][-1])

    def read(self, number: int) -> None:
        """Somebody else reads as far as this and keeps what they read."""
        cache = self.folder / f"cache-{len(self.caches)}"
        self.caches.append(cache)
        with with_cache(cache):
            core = self.place.again()._core
            core.house.read_again()
            core.house.refresh()
            for goal_id in GOALS:
                core.goal(goal_id).read_again()
                core.fresh_goal(goal_id)
        assert (cache / core.house.state.workspace_id / GOAL / "checkpoint.json").exists()


@contextmanager
def with_cache(folder: Path) -> Iterator[None]:
    """Somebody with a cache of their own, and who knows other workspaces than anybody else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOPX_CACHE_DIR", str(folder))
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        yield


def told(ws: Workspace) -> dict[str, Any]:
    found: dict[str, Any] = {g: ws.state(g).model_dump(mode="json") for g in GOALS}
    return found | {"house": ws._core.house.state.model_dump(mode="json")}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Course:
    folder = tmp_path_factory.mktemp("owners")
    with with_cache(folder / "cache"):
        place = connected(folder)
        for goal_id in GOALS:
            open_goal(place, goal_id)
        place.sign(place.ws.owners.revoke(OWNER, SECOND))
        pool = [(name, new_key(folder, f"{name}-{n}")) for n, name in enumerate(NAMES)]
        present = {OWNER: place.keys[OWNER]}
        return Course(place, folder, present, [(OWNER, present[OWNER]), *pool], place.ws)


def begin(template: Course, folder: Path) -> Course:
    place = copied(template.place, folder)
    cache = folder / "reader"
    with with_cache(cache):
        reader = place.again()
        for goal_id in GOALS:
            reader.state(goal_id)
    return Course(place, folder, dict(template.present), template.pool, reader, caches=[cache])


@settings(max_examples=30, phases=[Phase.explicit, Phase.generate])
@given(STEPS)
def test_position_decides_for_every_reader(template: Course, steps: list[tuple[str, int]]) -> None:
    with TemporaryDirectory() as name, with_cache(Path(name) / "own"):
        folder = Path(name)
        course = begin(template, folder)
        place, reader = course.place, course.reader
        for kind, number in steps:
            getattr(course, kind)(number)
            if number % 2:
                # The goal's journal alone: of the workspace's it knows what it read before.
                reader._core.fresh_goal(GOALS[number // 2 % 2])
        with with_cache(folder / "none"):
            truth = told(place.again())
            assert [truth[g]["status"] for g in GOALS] == [course.status[g][-1] for g in GOALS]
            there = {name: key.public.fingerprint for name, key in course.present.items()}
            assert present(place.again()) == there
        for cache in course.caches:
            with with_cache(cache):
                assert told(place.again()) == truth
        assert told(reader) == truth


def present(ws: Workspace) -> dict[str, str]:
    return {o.name: o.fingerprint for o in ws.owners.list() if o.revoked_seq is None}
