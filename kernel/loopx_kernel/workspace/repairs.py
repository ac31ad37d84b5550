"""The signed way out of damage: what is damaged, a file rendered again, a journal cut."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopx_kernel.domain import repair
from loopx_kernel.domain.event import WORKSPACE_JOURNAL, Context, Draft
from loopx_kernel.domain.needs_you import Damage
from loopx_kernel.domain.repair import FoundFile, JournalCut, RepairFile, RepairJournal
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Damaged, LoopxError, UsageError
from loopx_kernel.store.quarantine import digest_of
from loopx_kernel.text import counted
from loopx_kernel.value import Value
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.damage import file_damage, journal_damage, of_journal
from loopx_kernel.workspace.everything import read_whole
from loopx_kernel.workspace.ledgers import GoalLedger
from loopx_kernel.workspace.materials import Materials
from loopx_kernel.workspace.mending import cut_of, mended
from loopx_kernel.workspace.opening import trace_of
from loopx_kernel.workspace.orders import Order, named
from loopx_kernel.workspace.piece import DAMAGED, Piece
from loopx_kernel.workspace.pieces import Pieces
from loopx_kernel.workspace.signing import Unsigned, prepare

if TYPE_CHECKING:
    from loopx_kernel.workspace.quarantined import Unreadable


class DamageRow(Value):
    """One thing that is damaged, in a goal or (``_workspace``) for all, and what it stops."""

    goal_id: str
    damage: Damage
    stops: str


class Repairs:
    """Damage of journals and materialised files."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._pieces = Pieces(core)

    def list(self) -> tuple[DamageRow, ...]:
        """Everything that is damaged, with both digests and the way out; changes nothing."""
        core = self._core
        with core.lock:
            core.house.refresh()
            found = journal_damage(core.house) or self._in_old_lines(WORKSPACE_JOURNAL)
            rows = [DamageRow(WORKSPACE_JOURNAL, damage, "every goal") for damage in found]
            rows += self._of_house()
            for goal_id in core.house.state.goals:
                rows += self._of_goal(goal_id)
            return tuple(rows)

    def quarantine(self) -> tuple[Unreadable, ...]:
        """Everything that could not be read, with an excerpt, and what was set aside earlier;
        changes nothing. What only a replay from line 1 finds, ``list`` finds."""
        from loopx_kernel.workspace.quarantined import unreadable

        return unreadable(self._core)

    def file(self, path: Path, owner: str, *, event_id: str | None = None) -> Unsigned:
        """Prepares rendering a damaged file again from the journal; what stands there goes to
        quarantine. ``path`` is absolute or relative to the workspace.

        Raises ``invalid_value`` for a file that is not damaged or not the kernel's, and
        ``stale_decision`` when it changes before the signature is recorded.
        """
        core = self._core
        with core.lock:
            core.house.refresh()
            core.house.require_whole()
            goal_id, piece = self._find(path)
            name = core.shown(piece.path)
            found = digest_of(piece.path, files=core.files) or ""
        command = RepairFile(file=FoundFile(path=name, sha256=found or "0" * 64))
        order = Order(
            goal_id,
            command,
            partial(self._decide_file, piece.path),
            named("owner", owner),
            event_id,
            arguments={"path": name},
            house=goal_id == WORKSPACE_JOURNAL,
            repairs="file",
        )
        preview = f"render {name} again; what stands there now ({found[:12]}…) is set aside"
        return prepare(core, order, preview)

    def journal(self, goal_id: str, owner: str, *, event_id: str | None = None) -> Unsigned:
        """Prepares cutting a damaged journal after its last good line; ``_workspace`` names the
        workspace's own. Nothing of what is cut counts until somebody does it again.

        Raises ``invalid_value`` for a journal that is whole, and ``format_too_new``.
        """
        core = self._core
        with core.lock:
            core.house.refresh()
            command = self._cut(goal_id)
        order = Order(
            goal_id,
            command,
            partial(self._decide_journal, goal_id),
            named("owner", owner),
            event_id,
            arguments={},
            house=goal_id == WORKSPACE_JOURNAL,
            repairs="journal",
        )
        return prepare(core, order, _in_words(goal_id, command.cut))

    def _decide_file(self, path: Path, state: Any, command: RepairFile, context: Context) -> Draft:
        """The file is looked at again each time: what was signed must still stand there."""
        goal_id, piece = self._find(path)
        if piece.audited().level not in DAMAGED or self._pieces.is_settled(piece.path, state):
            name = command.file.path
            raise UsageError(
                "invalid_value",
                f"{name} is not damaged",
                next="loopx repair list",
                path=name,
            )
        found = digest_of(path, files=self._core.files) or "0" * 64
        now = RepairFile(file=FoundFile(path=command.file.path, sha256=found))
        return repair.decide(state, now, context, object_id=goal_id)

    def _decide_journal(
        self, goal_id: str, state: Any, command: RepairJournal, context: Context
    ) -> Draft:
        if not self._is_damaged(goal_id):
            raise UsageError(
                "invalid_value",
                f"The journal of {goal_id} is whole",
                next=f"loopx event verify --goal {goal_id}",
                goal_id=goal_id,
            )
        return repair.decide(state, self._cut(goal_id), context, object_id=goal_id)

    def _is_damaged(self, goal_id: str) -> bool:
        core = self._core
        if mended(core, goal_id).damage is not None:
            return True
        ledger = core.house if goal_id == WORKSPACE_JOURNAL else core.goal(goal_id)
        ledger.refresh()
        if ledger.damage is not None or ledger.has_begun:
            return ledger.damage is not None
        return trace_of(core.layout, goal_id, files=core.files) is not None

    def _cut(self, goal_id: str) -> RepairJournal:
        """What is cut, and the files that tell of more than the good part of the journal."""
        core = self._core
        good = mended(core, goal_id)
        # A file about what only the cut lines tell of must not be taken for that of later work.
        pieces = (
            self._pieces.of_all(good.state, read_whole(core, goal_id))
            if isinstance(good, GoalLedger)
            else self._pieces.of_house()
        )
        files = []
        for piece in pieces:
            if piece.audited().level in DAMAGED:
                found = digest_of(piece.path, files=core.files)
                files += [FoundFile(path=core.shown(piece.path), sha256=found)] if found else []
        return RepairJournal(cut=cut_of(core, good), files=tuple(files))

    def _find(self, path: Path) -> tuple[str, Piece]:
        """The goal (or the workspace) a file belongs to, and what it should be."""
        core = self._core
        place = Path(os.path.normpath(core.layout.root / path))
        for piece in self._pieces.of_house():
            if piece.path == place:
                return WORKSPACE_JOURNAL, piece
        way_out = "loopx repair list"
        for goal_id in core.house.state.goals:
            if place == core.layout.goal_journal(goal_id):
                way_out = f"loopx repair journal --goal {goal_id}"
                break
            state = core.goal(goal_id).state
            if state.rules is not None and place == core.state_file(state):
                way_out = f"loopx state restore --goal {goal_id}"
                break
            if place.is_relative_to(core.layout.goal_runtime(goal_id)):
                state = core.fresh_goal(goal_id).state
                found = self._piece_at(self._pieces.of_goal(state), place)
                if found is None and self._pieces.proofs.is_proof(state, place):
                    whole = read_whole(core, goal_id)
                    found = self._piece_at(self._pieces.proofs.of_left(state, whole), place)
                if found is not None:
                    return goal_id, found
        raise UsageError(
            "invalid_value",
            f"{path} is no file that is rendered from a journal alone",
            next=way_out,
            path=str(path),
        )

    @staticmethod
    def _piece_at(pieces: Iterable[Piece], place: Path) -> Piece | None:
        return next((piece for piece in pieces if piece.path == place), None)

    def _of_house(self) -> Iterator[DamageRow]:
        for piece, stops in zip(self._pieces.of_house(), _STOPS, strict=True):
            # A goal may have been written to meanwhile: damage is what looks so twice.
            verdict = piece.audited()
            if verdict.level in DAMAGED:
                verdict = piece.audited()
            name = self._core.shown(piece.path)
            if verdict.level in DAMAGED:
                yield DamageRow(WORKSPACE_JOURNAL, file_damage(name, verdict, None), stops)

    def _in_old_lines(self, goal_id: str) -> tuple[Damage, ...]:
        """Damage of lines that a reading which goes on from a checkpoint does not read again."""
        try:
            return tuple(journal_damage(mended(self._core, goal_id)))
        except Damaged as error:
            path = self._core.layout.goal_journal(goal_id)
            return (of_journal(path, error, error.next or "loopx repair list"),)

    def _deeper(self, state: GoalState, known: Container[str]) -> tuple[Damage, ...]:
        """Damage that is seen only where all of a file is read, or of work long finished."""
        if state.rules is None:
            return ()
        whole = read_whole(self._core, state.goal_id)
        proofs = self._pieces.proofs.of_left(state, whole)
        left = [piece for piece in proofs if piece.todo_id is not None]
        found = []
        for piece in (*(piece for piece in self._pieces.of_goal(state) if piece.audit), *left):
            name = self._core.shown(piece.path)
            if name not in known:
                verdict = piece.audited()
                if verdict.level in DAMAGED:
                    found.append(file_damage(name, verdict, piece.todo_id))
        return tuple(found)

    def _of_goal(self, goal_id: str) -> Iterator[DamageRow]:
        core = self._core
        shared = {core.shown(core.layout.registry), core.shown(core.layout.owners)}
        house = journal_damage(core.house)
        try:
            ledger = core.fresh_goal(goal_id)
            found = Materials(core).look(ledger).damage
            if ledger.damage is None:
                found += self._in_old_lines(goal_id)
            found += self._deeper(ledger.state, {damage.path for damage in found})
        except Damaged as error:
            path = core.layout.goal_journal(goal_id)
            found = (of_journal(path, error, error.next or "loopx repair list"),)
        except LoopxError as error:
            journal = core.shown(core.layout.goal_journal(goal_id))
            found = (Damage(journal, error.message, command=error.next or "loopx doctor"),)
        for damage in found:
            if damage not in house and damage.path not in shared:
                whole = goal_id if damage.blocks_goal else "nothing"
                what = f"{damage.todo_id} of {goal_id}" if damage.todo_id else whole
                yield DamageRow(goal_id, damage, what)


_STOPS = ("goals whose entry it is, and opening goals", "every decision")


def _in_words(goal_id: str, cut: JournalCut) -> str:
    """What a cut means, in one sentence."""
    lost = [f"{d.event_type} {d.event_id} by {d.by}" for d in cut.decisions]
    words = f"cut the journal of {goal_id} after line {cut.after.seq}: "
    words += f"{counted(cut.lines, 'line')} set aside"
    words += f", among them {', '.join(lost)}" if lost else ", no decision that can be read"
    if cut.missed is not None:
        words += f"; line {cut.missed.seq}, which was seen earlier, is given up"
    return words
