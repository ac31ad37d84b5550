"""The files finished work rests on: statements, and kept copies of evidence."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from loopx_kernel.domain.landing import report_of
from loopx_kernel.domain.needs_you import LostCopy
from loopx_kernel.domain.records import EvidenceRef, Todo
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import LoopxError
from loopx_kernel.store.disk import discard
from loopx_kernel.store.objects import Objects
from loopx_kernel.store.records import Level, RecordFile, Verdict, damaged_file
from loopx_kernel.views.statement import statement_record
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.damage import Written
from loopx_kernel.workspace.everything import WholeGoal, read_whole
from loopx_kernel.workspace.piece import DAMAGED, Piece, holds, names_in

if TYPE_CHECKING:
    from loopx_kernel.observe.evidence import Since

T = TypeVar("T")
_MANY = 100


class Proofs:
    """Statements and kept evidence of one workspace's goals."""

    def __init__(self, core: Core) -> None:
        self.core = core

    def statement(self, goal_id: str, todo_id: str) -> RecordFile:
        """The statement file of a todo."""
        return RecordFile(self.core.layout.statement(goal_id, todo_id), self.core.files)

    def objects(self, goal_id: str) -> Objects:
        """The kept evidence of a goal."""
        return Objects(self.core.layout.objects(goal_id), self.core.files)

    def of_goal(self, state: GoalState) -> Iterator[Piece]:
        """The proofs of the todos in the state, statements about those that are not done, and the
        reports of the facts from outside in it.

        How many there were before costs nothing here.
        """
        yield from self._of_todos(state, state.todos.values())
        yield from self._of_reports(state)
        folder = self.core.layout.statements(state.goal_id)
        not_done = [todo.id for todo in state.todos.values() if not todo.stated]
        for name in _those_in(folder, [f"{todo_id}.json" for todo_id in not_done]):
            yield self._of_no_work(folder / name, name.removesuffix(".json"))

    def of_left(self, state: GoalState, whole: WholeGoal) -> Iterator[Piece]:
        """The same for what left the state or never was, and kept bytes that nothing speaks of.
        ``whole`` has all there ever was."""
        left = {ref: todo for ref, todo in whole.todos.items() if ref not in state.todos}
        yield from self._of_todos(state, left.values())
        here = {seen.sha256 for seen in state.observations.values()}
        gone = [report for sha256, report in whole.reports.items() if sha256 not in here]
        yield from self._copies(state, gone, "")
        for path, todo_id in self._statements(state.goal_id):
            if todo_id not in state.todos and not (todo_id in left and left[todo_id].stated):
                yield self._of_no_work(path, todo_id)
        objects = self.objects(state.goal_id)
        for name in orphans(objects, whole.todos.values(), whole.reports.values()):
            remove = partial(discard, objects.path(name), files=self.core.files)
            yield Piece(objects.path(name), None, partial(objects.audit, name), remove)

    def of_settled(self, state: GoalState) -> Iterator[Piece]:
        """Those of them that a person decided to have replaced, where that is still to come."""
        root, files = self.core.layout.root, self.core.files
        waiting = (
            self.is_proof(state, root / name) and holds(root / name, wanted, files=files)
            for name, wanted in state.settled.items()
        )
        if any(waiting):
            yield from self.of_left(state, read_whole(self.core, state.goal_id))

    def is_proof(self, state: GoalState, path: Path) -> bool:
        """Whether a statement or kept evidence of this goal belongs there."""
        layout = self.core.layout
        return path.parent in (layout.statements(state.goal_id), layout.objects(state.goal_id))

    def follow(self, state: GoalState, todo: Todo) -> None:
        """Writes the statement about a todo, where there is one to write."""
        if todo.stated:
            record = statement_record(state.goal_id, todo)
            self.statement(state.goal_id, todo.id).bring_level(record)

    def catch_up(self, state: GoalState, written: Written, *, touched: str | None) -> list[Path]:
        """Brings the proofs of the todos in the state level; returns those that had been lost and
        are there again. Kept evidence is taken from the file that was handed in, if unchanged.

        The content is compared of the todo that is ``touched``, and only what is wrong with that
        one stops the writer: raises ``Damaged`` and ``Storage``.
        """
        found: list[Path] = []
        for todo in state.todos.values():
            if todo.evidence:
                own = todo.id == touched
                with contextlib.nullcontext() if own else contextlib.suppress(LoopxError):
                    found += self._catch_up(state, todo, written, touched=own)
        for piece in self._of_reports(state):
            with contextlib.suppress(LoopxError):
                found += _taken_again(piece)
        return found

    def _catch_up(
        self, state: GoalState, todo: Todo, written: Written, *, touched: bool
    ) -> list[Path]:
        found: list[Path] = []
        file = self.statement(state.goal_id, todo.id)
        if todo.stated and (
            touched or not written.surely(todo.done_seq) or not os.path.lexists(file.path)
        ):
            level = file.bring_level(statement_record(state.goal_id, todo))
            found += [file.path] if written.lost(file.path, level, todo.done_seq) else []
        for piece in self._copies(state, todo.evidence, todo.id):
            verdict = piece.audited() if touched else Verdict(Level.SAME)
            if verdict.level in DAMAGED:
                raise damaged_file(piece.path, verdict)
            found += _taken_again(piece)
        return found

    def catch_up_left(self, state: GoalState) -> tuple[str, ...]:
        """Writes what is missing of the statements about todos that left the state, and returns
        their names. Reads the journal from line 1 only where there are fewer than should be."""
        there = sum(ref not in state.todos for _, ref in self._statements(state.goal_id))
        if there >= state.statements:
            return ()
        found = []
        for piece in self.of_left(state, read_whole(self.core, state.goal_id)):
            if piece.copy_of is None and piece.audited().level is Level.MISSING:
                piece.write()
                found.append(self.core.shown(piece.path))
        return tuple(found)

    def _of_todos(self, state: GoalState, todos: Iterable[Todo]) -> Iterator[Piece]:
        for todo in todos:
            if todo.stated:
                file = self.statement(state.goal_id, todo.id)
                level = partial(_with_record, file.level, state.goal_id, todo)
                write = partial(_with_record, file.write, state.goal_id, todo)
                yield Piece(file.path, todo.done_seq, level, write, todo.id)
            if todo.evidence:
                yield from self._copies(state, todo.evidence, todo.id)

    def _of_reports(self, state: GoalState) -> Iterator[Piece]:
        for seen in state.observations.values():
            report = report_of(seen)
            if report is not None:
                yield from self._copies(state, (report,), seen.todo_id or "")

    def _copies(
        self, state: GoalState, refs: Iterable[EvidenceRef], todo_id: str
    ) -> Iterator[Piece]:
        objects = self.objects(state.goal_id)
        for ref in {ref.sha256: ref for ref in refs if ref.kept}.values():
            yield Piece(
                objects.path(ref.sha256),
                ref.sha256,
                partial(objects.level, ref.sha256, ref.size),
                partial(self._take_again, state, objects, ref),
                todo_id,
                partial(objects.audit, ref.sha256),
                copy_of=ref.path,
            )

    def _take_again(self, state: GoalState, objects: Objects, ref: EvidenceRef) -> None:
        """From the file that was handed in, if it still is what it was; else nothing is left."""
        since, content = self.since(state, ref)
        if since == "same":
            objects.put(content)
        else:
            discard(objects.path(ref.sha256), files=self.core.files)

    def since(self, state: GoalState, ref: EvidenceRef) -> tuple[Since, bytes]:
        """What became of an evidence file, and its bytes where they are the same."""
        from loopx_kernel.observe.evidence import look_again

        repo, home = self.core.repo(state), self.core.state_file(state).parent
        return look_again(repo, ref.path, (home,), sha256=ref.sha256, size=ref.size)

    def _statements(self, goal_id: str) -> Iterator[tuple[Path, str]]:
        folder = self.core.layout.statements(goal_id)
        for name in names_in(folder):
            if name.endswith(".json") and not name.startswith("."):
                yield folder / name, name.removesuffix(".json")

    def _of_no_work(self, path: Path, todo_id: str) -> Piece:
        remove = partial(discard, path, files=self.core.files)
        return Piece(path, None, _of_nothing_done, remove, todo_id)


def orphans(objects: Objects, todos: Iterable[Todo], reports: Iterable[EvidenceRef]) -> list[str]:
    """The names of kept bytes that none of these todos and reports speaks of: what was kept before
    an append that failed. They are harmless, and nothing removes them."""
    known = {ref.sha256 for todo in todos for ref in todo.evidence}
    known |= {report.sha256 for report in reports}
    return [name for name in names_in(objects.folder) if name not in known and name[0] != "."]


def _taken_again(piece: Piece) -> list[Path]:
    """Puts a copy that is missing back, where the file it was of still is what it was."""
    if os.path.lexists(piece.path):
        return []
    piece.write()
    return [piece.path] if os.path.lexists(piece.path) else []


def _those_in(folder: Path, names: Sequence[str]) -> list[str]:
    """Which of these names are in a folder: by asking for each, or for many by listing it."""
    if len(names) < _MANY:
        return [name for name in names if os.path.lexists(folder / name)]
    there = set(names_in(folder))
    return [name for name in names if name in there]


def lost_copies(core: Core, absent: Iterable[Piece]) -> tuple[LostCopy, ...]:
    """Of files that are missing those that were kept copies."""
    return tuple(
        LostCopy(piece.todo_id or "", piece.copy_of, core.shown(piece.path))
        for piece in absent
        if piece.copy_of
    )


def _with_record(act: Callable[[Mapping[str, Any]], T], goal_id: str, todo: Todo) -> T:
    """The record of a statement is made only where it is needed."""
    return act(statement_record(goal_id, todo))


def _of_nothing_done() -> Verdict:
    what = "it is a statement about what was not done on evidence"
    return Verdict(Level.AHEAD, what=what, intact=True)
