"""Kernel and editor at one file at once: no word is lost, no todo made up, no hand-in refused."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)
from loopx_kernel.domain.lease import RenewLease
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import LoopxError
from loopx_kernel.store.state_swap import read_state
from loopx_kernel.store.state_text import squeezed
from loopx_kernel.workspace import state_files
from loopx_kernel.workspace.state_files import rows_of

from tests.faults.person import EDITS, STYLES, Person, Watched, marks, rows_in
from tests.kernel.workspace.build import CLAUDE, CODEX, GOAL, OWNER, Place, copied, with_files

SAVES = st.tuples(
    st.sampled_from(EDITS),
    st.integers(0, 6),
    st.sampled_from([*STYLES[:3]] * 4 + [*STYLES]),
    st.booleans(),
)
RACES = st.lists(st.tuples(st.integers(1, 24), SAVES), max_size=2)
SETTLED = {"invalid_value", "stale_decision", "not_regular"}


class TwoWriters(RuleBasedStateMachine):
    """Every command may be interleaved with saves at any of its steps on the file."""

    template: ClassVar[Place]

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.patch = pytest.MonkeyPatch()
        self.patch.setenv("LOOPX_CACHE_DIR", str(self.folder / "cache"))
        self.patch.setattr(state_files, "read_state", partial(read_state, pause=lambda _: None))
        place = copied(self.template, self.folder)
        self.person = Person(place.state_file)
        self.files = Watched(place.state_file.parent, self.person.go_on)
        self.place = Place(with_files(place.root, self.files, place.clock), place.clock, place.keys)
        self.todos = len(self.state().todos)
        self.settled: set[str] = set()
        self.shown: dict[int, list[tuple[str, str, bool]]] = {}
        self._note_rows()

    def teardown(self) -> None:
        self.person.finish()
        self.patch.undo()
        shutil.rmtree(self.folder)

    def state(self) -> Any:
        return self.place.ws.state(GOAL)

    def _note_rows(self) -> None:
        state = self.state()
        rows = [(row.todo_id, squeezed(row.title), row.ticked) for row in rows_of(state)]
        self.shown[state.list_seq] = sorted(rows)

    def _during(self, races: list[Any], act: Callable[[], Any]) -> LoopxError | None:
        """Runs a command with saves in between; its error."""
        self.files.arm([(step, lambda save=save: self.person.act(*save)) for step, save in races])
        try:
            act()
        except LoopxError as error:
            return error
        finally:
            self.files.settle()
            self.person.finish()
            self._note_rows()
        return None

    @rule(save=SAVES)
    def edit(self, save: Any) -> None:
        self.person.act(*save)
        self.person.finish()

    @rule()
    def load(self) -> None:
        self.person.load()

    @rule(races=RACES)
    def add(self, races: list[Any]) -> None:
        command = AddTodo(title=f"Work {self.todos}")
        assert self._during(races, lambda: self.place.ws.todos.add(GOAL, CODEX, command)) is None
        self.todos += 1

    @rule(races=RACES)
    def hand_over(self, races: list[Any]) -> None:
        text = f"Next: {len(self.shown)}\n## Todos\n- [ ] no row\n```"
        assert self._during(races, lambda: self.place.ws.handoff.write(GOAL, CLAUDE, text)) is None

    @rule(races=RACES, renews=st.booleans())
    def hand_in(self, races: list[Any], renews: bool) -> None:
        """Work that is under way is never refused, whatever stands in the list."""
        todo = self.state().todos["T3"]
        renewal = RenewLease(todo_id="T3", version=todo.version, epoch=todo.lease_epoch)

        def act() -> None:
            if renews:
                self.place.ws.todos.renew(GOAL, CLAUDE, renewal)
            else:
                note = f"look {len(self.shown)}"
                self.place.ws.todos.update(GOAL, CLAUDE, "T3", note=note, epoch=todo.lease_epoch)

        assert self._during(races, act) is None

    @rule(races=RACES, adopts=st.booleans())
    def settle(self, races: list[Any], adopts: bool) -> None:
        drifts = self.place.ws.drift
        added: list[Any] = []

        def act() -> None:
            unsigned = (drifts.adopt if adopts else drifts.restore)(GOAL, OWNER)
            payload = unsigned.statement["payload"]
            self.place.sign(unsigned)
            self.settled.add(payload["digest"])
            added.extend(one for one in payload["edits"] if one["kind"] == "added")

        error = self._during(races, act)
        self.todos += len(added) if adopts else 0
        if error is not None:
            assert error.code in SETTLED, error
        elif not races:
            assert not self.place.ws.view(GOAL).reads.drift

    @invariant()
    def nothing_typed_is_lost(self) -> None:
        kept = (self.place.runtime / "quarantine").glob("*-drift*")
        there = marks(self.person.content()).union(*(marks(path.read_bytes()) for path in kept))
        assert self.person.typed <= there

    @invariant()
    def nothing_is_left_beside(self) -> None:
        assert {path.name for path in self.files.folder.iterdir()} <= {self.person.page.name}

    @invariant()
    def no_todo_is_made_up(self) -> None:
        state = self.state()
        assert len(state.todos) == self.todos
        assert state.todos["T3"].status == "claimed"

    @invariant()
    def drift_is_what_a_person_changed_in_the_list(self) -> None:
        data, reads = self.person.content(), self.place.ws.view(GOAL).reads
        if data is None:
            missing = not self.person.page.is_symlink() and not self.person.page.exists()
            assert (not reads.drift, bool(reads.missing_files), not reads.damage) == (
                True,
                missing,
                missing,
            )
            return
        if hashlib.sha256(data).hexdigest() in self.settled:
            return
        text = data.decode("utf-8")
        assert bool(reads.drift) == (rows_in(text) != self._rendered(text))
        for item in reads.drift:
            if item.kind != "removed":
                line = text.replace("\r\n", "\n").split("\n")[item.line - 1]
                assert (item.todo_id or item.text) in line

    def _rendered(self, text: str) -> list[tuple[str, str, bool]]:
        """The rows as the kernel wrote them into this file."""
        now = self.state().list_seq
        head = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n---\n")[0]
        said = [line.removeprefix("seq: ") for line in head.split("\n") if line.startswith("seq: ")]
        return self.shown[int(said[0]) if said and text.lstrip("\ufeff").startswith("---") else now]


def test_of_two_saves_during_one_rendering_neither_is_gone(_template: Place) -> None:
    TwoWriters.template = _template
    for second in range(5, 13):
        machine = TwoWriters()
        note = ("note", 0, "by rename", False)
        machine.add(races=[(4, note), (second, ("note", 0, "in place", False))])
        assert len(machine.person.typed) == 2
        machine.nothing_typed_is_lost()
        machine.nothing_is_left_beside()
        machine.teardown()


def test_kernel_and_editor_at_once(_template: Place) -> None:
    TwoWriters.template = _template
    run_state_machine_as_test(
        TwoWriters, settings=settings(max_examples=15, stateful_step_count=10)
    )
