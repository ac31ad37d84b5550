"""What stands behind a todo: its statement, and what became of the evidence handed in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from loopx_kernel.domain.landing import report_of
from loopx_kernel.domain.records import EvidenceRef, Todo
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import LoopxError
from loopx_kernel.store.records import Level, Verdict, sealed
from loopx_kernel.value import Value
from loopx_kernel.views.statement import statement_record
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.everything import read_whole
from loopx_kernel.workspace.piece import names_in
from loopx_kernel.workspace.proofs import Proofs, orphans

if TYPE_CHECKING:
    from loopx_kernel.observe.evidence import Since

Copy = Literal["kept", "missing", "damaged", "not_kept"]
_COPY: dict[Level, Copy] = {Level.SAME: "kept", Level.MISSING: "missing"}


class EvidenceRow(Value):
    """A file that was handed in, what became of it ``since``, and how its ``copy`` stands."""

    evidence: EvidenceRef
    since: Since
    copy: Copy


class Statement(Value):
    """The statement as the journal gives it, with its digest as ``sha256``, and how its file
    stands to that."""

    record: dict[str, Any]
    file: Verdict


class Proof(Value):
    """Everything a todo's result rests on; ``statement`` is ``None`` where none is due."""

    statement: Statement | None
    evidence: tuple[EvidenceRow, ...]


class Kept(Value):
    """How many copies of evidence a goal keeps, and how many of them no hand-in speaks of."""

    copies: int
    orphans: int


def _kept_in(payload: Mapping[str, Any]) -> Iterator[str]:
    if payload.get("kept") and isinstance(payload.get("sha256"), str):
        yield payload["sha256"]
    for inner in (*payload.get("evidence", ()), *payload.get("parts", ())):
        yield from _kept_in(inner)


class Evidence:
    """Statements and evidence as they stand now; changes nothing."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._proofs = Proofs(core)

    def of(self, goal_id: str, todo: Todo) -> Proof:
        """What stands behind this todo. Reads each file of its evidence that has its size still."""
        with self._core.lock:
            self._core.house.refresh()
            state = self._core.fresh_goal(goal_id).state
            rows = tuple(self.row(state, ref) for ref in todo.evidence)
            return Proof(self._statement(goal_id, todo) if todo.stated else None, rows)

    def copies(self, goal_id: str, payload: Mapping[str, Any]) -> dict[str, Copy]:
        """How the copies stand whose bytes an event tells of, in its parts too, by digest."""
        return {sha256: self._copy(goal_id, sha256) for sha256 in _kept_in(payload)}

    def kept(self, goal_id: str) -> Kept:
        """Counts the copies. Reads the journal from line 1 where some are not of todos at hand."""
        with self._core.lock:
            self._core.house.refresh()
            state = self._core.fresh_goal(goal_id).state
            objects = self._proofs.objects(goal_id)
            reports = filter(None, map(report_of, state.observations.values()))
            strange = orphans(objects, state.todos.values(), reports)
            if strange:
                whole = read_whole(self._core, goal_id)
                strange = orphans(objects, whole.todos.values(), whole.reports.values())
            copies = [name for name in names_in(objects.folder) if not name.startswith(".")]
            return Kept(len(copies), len(strange))

    def _statement(self, goal_id: str, todo: Todo) -> Statement:
        record = statement_record(goal_id, todo)
        try:
            verdict = self._proofs.statement(goal_id, todo.id).level(record)
        except LoopxError as error:
            verdict = Verdict(Level.DAMAGED, what=error.message)
        return Statement(sealed(record), verdict)

    def row(self, state: GoalState, ref: EvidenceRef) -> EvidenceRow:
        """What became of one file; reads it where it has its size still."""
        since, _ = self._proofs.since(state, ref)
        if not ref.kept:
            return EvidenceRow(ref, since, "not_kept")
        return EvidenceRow(ref, since, self._copy(state.goal_id, ref.sha256))

    def _copy(self, goal_id: str, sha256: str) -> Copy:
        try:
            level = self._proofs.objects(goal_id).audit(sha256).level
        except LoopxError:
            level = Level.DAMAGED
        return _COPY.get(level, "damaged")
