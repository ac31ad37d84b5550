"""The deep check: a journal from its first line against everything that was made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from loopx_kernel.domain.event import WORKSPACE_JOURNAL
from loopx_kernel.errors import Damaged, LoopxError
from loopx_kernel.store import checkpoint
from loopx_kernel.store.records import Level, Verdict
from loopx_kernel.value import Value
from loopx_kernel.workspace.audit_caches import false_index, false_states
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.damage import AHEAD, of_journal, refresh_command
from loopx_kernel.workspace.everything import WholeGoal
from loopx_kernel.workspace.ledger import Ledger
from loopx_kernel.workspace.ledgers import GoalLedger, RosterLedger
from loopx_kernel.workspace.piece import Piece
from loopx_kernel.workspace.pieces import Pieces
from loopx_kernel.workspace.state_files import StateFile

Status = Literal[
    "tampered", "rolled_back", "damaged", "could_not_check", "edited", "missing", "behind"
]
"""From the worst to the least. Tampered is what proves itself and still is not what was
recorded; damaged is what does not even prove itself."""

_ORDER: tuple[Status, ...] = (
    "tampered",
    "rolled_back",
    "damaged",
    "could_not_check",
    "edited",
    "missing",
    "behind",
)
_FORGED = ("hole", "broken_chain", "not_an_event", "rewritten")


class Finding(Value):
    """One thing that is not as it was recorded, and the command that helps."""

    path: str
    status: Status
    detail: str
    command: str


class Audit(Value):
    """A journal replayed from line 1 and compared with files and checkpoint, worst first."""

    goal_id: str
    lines: int
    head: str
    findings: tuple[Finding, ...]

    @property
    def status(self) -> Status | Literal["whole"]:
        """The worst that was found; a file that is behind is caught up by the next writer."""
        worst = self.findings[0].status if self.findings else "behind"
        return "whole" if worst == "behind" else worst


class Auditor:
    """Audits the journals of one workspace; changes nothing."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._pieces = Pieces(core)

    def audit(self, goal_id: str) -> Audit:
        """Everything about one journal; ``_workspace`` names the workspace's own."""
        core = self._core
        core.house.refresh()
        house = RosterLedger(core.layout, core.files, cached=False)
        ledger: Ledger = house
        if goal_id != WORKSPACE_JOURNAL:
            house.refresh()
            ledger = WholeGoal(core.layout, goal_id, house, core.files, cache=None)
        found = [*self._caches(false_states, ledger)]
        try:
            ledger.refresh(core.progress)
            found += [*self._journal(ledger), *self._files(ledger)]
            found += self._caches(false_index, ledger)
        except LoopxError as error:
            found.append(self._unchecked(core.shown(ledger.journal.path), error))
        found.sort(key=lambda finding: _ORDER.index(finding.status))
        return Audit(goal_id, ledger.position.seq, ledger.position.head, tuple(found))

    def _journal(self, ledger: Ledger) -> Iterator[Finding]:
        path = self._core.shown(ledger.journal.path)
        damage = ledger.damage or self._seen_before(ledger)
        if damage is not None:
            command = of_journal(ledger.journal.path, damage, ledger.repair_command).command
            yield Finding(path, _of_journal(damage), damage.message, command)
        for alert in ledger.state.alerts:
            detail = f"#{alert.seq} {alert.event_type} has no effect: {alert.message}"
            command = f"loopx event show {alert.event_id} --goal {ledger.name}"
            yield Finding(path, "tampered", detail, command)

    def _seen_before(self, ledger: Ledger) -> Damaged | None:
        """A head that was seen earlier and is gone, which line 1 and what follows cannot tell."""
        if ledger.name == WORKSPACE_JOURNAL:
            return self._core.house.damage
        try:
            return self._core.fresh_goal(ledger.name).damage
        except Damaged as damage:
            return damage

    def _caches(
        self, false: Callable[[Path, Ledger], Iterator[tuple[Path, str]]], ledger: Ledger
    ) -> Iterator[Finding]:
        core = self._core
        folder = checkpoint.cache_folder(core.house.state.workspace_id, ledger.name)
        for path, detail in false(folder, ledger):
            yield Finding(str(path), "tampered", detail, f"rm {path}")

    def _files(self, ledger: Ledger) -> Iterator[Finding]:
        if not isinstance(ledger, WholeGoal):
            pieces = [*self._pieces.of_house()]
        elif ledger.state.rules is None:
            return
        else:
            pieces = [
                self._pieces.entry_of(ledger.state),
                *self._pieces.of_all(ledger.state, ledger),
            ]
            yield from self._state_file(ledger)
        refresh = self._refresh(ledger)
        for piece in pieces:
            name = self._core.shown(piece.path)
            try:
                finding = _of_file(name, piece, _judged(piece), refresh)
            except LoopxError as error:
                finding = self._unchecked(name, error)
            if finding is not None:
                yield finding

    def _state_file(self, ledger: GoalLedger) -> Iterator[Finding]:
        page = StateFile(self._core, ledger).look()
        name = self._core.shown(page.path)
        if page.problem is not None:
            yield self._unchecked(name, page.problem)
        check = f"loopx state check --goal {ledger.name}"
        for item in page.drift:
            yield Finding(name, "edited", f"line {item.line}: {item.sentence}", check)
        if page.missing:
            yield Finding(
                name, "missing", "it is rebuilt by the next writer", self._refresh(ledger)
            )
        if page.behind:
            yield Finding(name, "behind", "the next writer catches up", self._refresh(ledger))

    def _refresh(self, ledger: Ledger) -> str:
        house = self._core.house.state
        goals = [ledger.name] if isinstance(ledger, GoalLedger) else [*house.goals]
        return refresh_command(next(iter(goals), ""), house.agents)

    def _unchecked(self, name: str, error: LoopxError) -> Finding:
        return Finding(name, "could_not_check", error.message, error.next or "loopx doctor")


def _judged(piece: Piece) -> Verdict:
    try:
        return (piece.audit or piece.level)()
    except Damaged as error:
        return Verdict(Level.DAMAGED, what=error.message)


def _of_file(name: str, piece: Piece, verdict: Verdict, refresh: str) -> Finding | None:
    if verdict.level is Level.SAME:
        return None
    if verdict.level is Level.MISSING:
        if piece.copy_of:
            detail = f"only {piece.copy_of}, of which it is a copy, can give it back"
            about = f"todo show {piece.todo_id}" if piece.todo_id else "event list"
            return Finding(name, "missing", detail, f"loopx {about}")
        return Finding(name, "missing", "it is rebuilt by the next writer", refresh)
    if verdict.level is Level.BEHIND:
        return Finding(name, "behind", "the next writer catches up", refresh)
    detail = verdict.what or AHEAD
    if verdict.expected_digest and verdict.found_digest:
        detail += f": expected {verdict.expected_digest}, found {verdict.found_digest}"
    status: Status = "tampered" if verdict.intact else "damaged"
    return Finding(name, status, detail, f"loopx repair file {name}")


def _of_journal(damage: Damaged) -> Status:
    if damage.code == "format_too_new":
        return "could_not_check"
    if damage.facts.get("kind") in _FORGED:
        return "tampered"
    return "rolled_back" if damage.code == "rolled_back" else "damaged"
