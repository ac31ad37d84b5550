"""Two handles on one journal whose bytes go wrong: every event is there, or the damage is named."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import Damaged, LoopxError
from loopx_kernel.store.files import Files
from loopx_kernel.store.line import encode
from loopx_kernel.workspace import Receipt, Workspace, resume
from loopx_kernel.workspace.ledgers import GoalLedger, RosterLedger

from tests.kernel.workspace.build import CODEX, GOAL, OWNER, Place, copied
from tests.kernel.workspace.forge import CHAIN, records

HANDLES = st.integers(0, 1)


class TwoHandles(RuleBasedStateMachine):
    """``whole`` is what the journal must hold; ``receipts`` are what callers were given."""

    template: ClassVar[Place]

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(resume, "EVERY", 2)
        self._use_cache("one")
        self.place = copied(self.template, self.folder)
        self.journal = self.place.journal
        self.handles = [self.place.ws, self._open("two")]
        self.whole = self.journal.read_bytes()
        self.receipts: dict[str, Receipt] = {}
        self.half: bytes = b""
        self.number = 0
        added = next(r for r in records(self.journal) if r["event_type"] == "todo.added")
        self.added = {key: value for key, value in added.items() if key not in CHAIN}

    def teardown(self) -> None:
        self.patch.undo()
        shutil.rmtree(self.folder)

    def _use_cache(self, name: str) -> None:
        self.patch.setenv("LOOPX_CACHE_DIR", str(self.folder / name))

    def _open(self, cache: str) -> Workspace:
        self._use_cache(cache)
        return self.place.again()

    def _lines(self) -> list[bytes]:
        return self.journal.read_bytes().splitlines(keepends=True)

    def _ledger(self, handle: int) -> GoalLedger:
        core = self.handles[handle]._core
        core.house.refresh()
        try:
            return core.fresh_goal(GOAL)
        except Damaged:
            return core.goal(GOAL)

    def _from_line_1(self) -> GoalLedger:
        core = self.place.ws._core
        house = RosterLedger(core.layout, core.files, cached=False)
        house.refresh()
        ledger = GoalLedger(core.layout, GOAL, house, core.files, cache=None)
        ledger.refresh()
        return ledger

    def _all_but(self, count: int) -> list[bytes]:
        """The first lines; the very first is always among them."""
        first, *more = self.whole.splitlines(keepends=True)
        return [first, *more[: max(0, len(more) - count)]]

    def _tidy(self) -> bool:
        """Whether nothing stands there but what must, and perhaps half a line."""
        return self.journal.read_bytes() == self.whole + self.half

    # what callers do

    @rule(handle=HANDLES)
    def add(self, handle: int) -> None:
        self.number += 1
        event_id, before = f"e-new-{self.number}", self.journal.read_bytes()
        command = AddTodo(title=f"Work {self.number}")
        try:
            done = self.handles[handle].todos.add(GOAL, CODEX, command, event_id=event_id)
        except Damaged:
            assert not self._tidy(), "refused although nothing is wrong"
            assert self.journal.read_bytes() == before
            return
        self.receipts[event_id] = done.receipt
        added = self._lines()[-1]
        if self.half and not self.half.startswith((b"\0", b'{"torn')):
            self.whole += self.half + b"\n"
        self.whole, self.half = self.whole + added, b""

    @rule(handle=HANDLES, which=st.integers(0, 99))
    def send_again(self, handle: int, which: int) -> None:
        if not self.receipts:
            return
        event_id, first = list(self.receipts.items())[which % len(self.receipts)]
        number = event_id.removeprefix("e-new-")
        try:
            same = AddTodo(title=f"Work {number}")
            again = self.handles[handle].todos.add(GOAL, CODEX, same, event_id=event_id).receipt
        except Damaged:
            assert not self._tidy(), "refused although nothing is wrong"
            return
        self._settled_tail()
        assert again.replayed
        assert (again.seq, again.sha256) == (first.seq, first.sha256)
        with pytest.raises(LoopxError) as caught:
            other = AddTodo(title="Something else")
            self.handles[handle].todos.add(GOAL, CODEX, other, event_id=event_id)
        assert caught.value.code == "event_conflict"

    def _settled_tail(self) -> None:
        """A writer has been there: half a line is cut off, a whole one has its newline."""
        if self.half and not self.half.startswith((b"\0", b'{"torn')):
            self.whole += self.half + b"\n"
        self.half = b""

    @rule(handle=HANDLES, which=st.integers(0, 99))
    def look_up(self, handle: int, which: int) -> None:
        if not self.receipts:
            return
        event_id, first = list(self.receipts.items())[which % len(self.receipts)]
        try:
            row = self.handles[handle].events.show(GOAL, event_id)
        except LoopxError:
            assert not self._tidy(), "not found although nothing is wrong"
            return
        assert (row.event.seq, row.event.sha256) == (first.seq, first.sha256)

    @precondition(lambda self: self._tidy())
    @rule(handle=HANDLES, warm=st.booleans())
    def reopen(self, handle: int, warm: bool) -> None:
        """Another process: with the cache of the one before it, or with none at all."""
        self.number += 1
        name = ("one", "two")[handle] if warm else f"cold-{self.number}"
        self.handles[handle] = self._open(name)

    # what happens to the bytes

    @precondition(lambda self: self._tidy() and not self.half)
    @rule(tail=st.sampled_from([b'{"torn":', b"\0" * 80, b'{"torn":"\xe6\xbc']))
    def torn(self, tail: bytes) -> None:
        self.half = tail
        self._append(tail)

    @precondition(lambda self: self._tidy() and not self.half)
    @rule()
    def whole_line_without_its_end(self) -> None:
        """A writer died after all but the last byte of its line."""
        self.number += 1
        self.half = self._another(records(self.journal)[-1], f"e-died-{self.number}").rstrip(b"\n")
        self._append(self.half)

    def _append(self, data: bytes) -> None:
        with self.journal.open("ab") as file:
            file.write(data)

    def _another(self, last: dict[str, Any], event_id: str) -> bytes:
        fields = self.added | {"event_id": event_id}
        fields["payload"] = self.added["payload"] | {"title": event_id}
        raw, _ = encode(fields, seq=last["seq"] + 1, prev=last["sha256"])
        return raw

    @precondition(lambda self: self._tidy() and not self.half)
    @rule()
    def last_newline_lost(self) -> None:
        self.journal.write_bytes(self.whole[:-1])

    @precondition(lambda self: self._tidy())
    @rule(at=st.floats(0, 1), bit=st.integers(0, 7))
    def bit_turned(self, at: float, bit: int) -> None:
        data = bytearray(self.whole)
        data[int(at * (len(data) - 1))] ^= 1 << bit
        self.half = b""
        self.journal.write_bytes(data)

    @precondition(lambda self: self._tidy())
    @rule(count=st.integers(1, 5), beside=st.booleans())
    def older_copy(self, count: int, beside: bool) -> None:
        """Cut at the end of a line, in place or by putting an older file there."""
        data = b"".join(self._all_but(count))
        self.half = b""
        if beside:
            self.journal.with_name("backup").write_bytes(data)
            self.journal.with_name("backup").replace(self.journal)
        else:
            self.journal.write_bytes(data)

    @precondition(lambda self: self._tidy())
    @rule(count=st.integers(1, 3), more=st.integers(0, 2))
    def other_tail(self, count: int, more: int) -> None:
        """The last lines are others, whole and chained."""
        lines = self._all_but(count)
        self.half = b""
        self.journal.write_bytes(b"".join(lines))
        for number in range(count + more):
            self._append(self._another(records(self.journal)[-1], f"e-other-{number}"))

    # how it is set right

    @precondition(lambda self: not self._tidy())
    @rule()
    def put_back(self) -> None:
        self.half = b""
        self.journal.write_bytes(self.whole)

    @precondition(lambda self: not self._tidy())
    @rule(handle=HANDLES)
    def repair(self, handle: int) -> None:
        ws = self.handles[handle]
        try:
            ws.append(ws.repairs.journal(GOAL, OWNER), self.place.keys[OWNER])
        except LoopxError as error:
            # A lost newline is set right by any writer, so there is nothing to cut.
            assert error.code == "invalid_value"
            assert self.journal.read_bytes() == self.whole
            return
        for row in ws.repairs.list():
            ws.append(ws.repairs.file(Path(row.damage.path), OWNER), self.place.keys[OWNER])
        self.whole = self.journal.read_bytes()
        ids = {record["event_id"] for record in records(self.journal)}
        self.receipts = {key: value for key, value in self.receipts.items() if key in ids}

    # what must hold

    @invariant()
    def all_is_there_or_the_damage_is_named(self) -> None:
        ledgers = [self._ledger(0), self._ledger(1), self._from_line_1()]
        damages = [ledger.damage for ledger in ledgers]
        if not self._tidy():
            assert any(damages), "an acknowledged event is gone and nobody says so"
            return
        assert not any(damages), damages
        one, two, all_ = (ledger.state for ledger in ledgers)
        assert one == two == all_
        last = self.whole.splitlines()[-1]
        assert all(ledger.position.offset == len(self.whole) for ledger in ledgers)
        assert all(ledger.position.head.encode() in last for ledger in ledgers)

    @invariant()
    def damage_of_one_says_what_and_where(self) -> None:
        for handle in (0, 1):
            damage = self._ledger(handle).damage
            if damage is not None:
                assert damage.code in ("rolled_back", "journal_damaged")
                assert damage.facts["line"] and damage.facts["kind"]


def test_two_handles_and_bytes_that_go_wrong(_template: Place) -> None:
    TwoHandles.template = _template
    assert isinstance(_template.ws._core.files, Files)
    run_state_machine_as_test(
        TwoHandles, settings=settings(max_examples=20, stateful_step_count=12)
    )
