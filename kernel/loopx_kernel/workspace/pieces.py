"""The materialised files one by one: what each should be, and writing it anew."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.roster_state import WorkspaceState
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Damaged
from loopx_kernel.store.disk import discard
from loopx_kernel.store.lease_file import LeaseFile
from loopx_kernel.store.owners_file import OwnersFile
from loopx_kernel.store.quarantine import set_file_aside
from loopx_kernel.store.records import Level, Verdict, compare
from loopx_kernel.store.registry_file import RegistryFile
from loopx_kernel.store.spend_file import SpendFile
from loopx_kernel.views.records import lease_record, registry_entry
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.everything import WholeGoal
from loopx_kernel.workspace.opening import read_opening
from loopx_kernel.workspace.piece import DAMAGED, Piece, holds, names_in
from loopx_kernel.workspace.proofs import Proofs
from loopx_kernel.workspace.spending import spends_since

T = TypeVar("T")


class Pieces:
    """The files of one workspace, all but the state files."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.registry = RegistryFile(core.layout.registry, core.files)
        self.owners = OwnersFile(core.layout.owners, core.files)
        self.proofs = Proofs(core)

    def of_goal(self, state: GoalState) -> Iterator[Piece]:
        """The quota ledger, the leases and the proofs of a goal, and files of nothing known."""
        spend, since = self.spend(state), spends_since(self.core.goal(state.goal_id), state)
        write = partial(spend.write_all, since)
        audit = partial(spend.audit, since)
        yield Piece(spend.path, state.spend_seq, partial(spend.level, since), write, audit=audit)
        folder, files = self.core.layout.leases(state.goal_id), self.core.files
        leased = {f"{todo.id}.json": todo for todo in state.todos.values() if todo.lease}
        for name, todo in leased.items():
            file = LeaseFile(folder / name, files)
            level = partial(_with_record, file.level, state, todo)
            write = partial(_with_record, file.write, state, todo)
            yield Piece(file.path, todo.lease and todo.lease.seq, level, write, todo.id)
        for name in names_in(folder):
            todo_id = name.removesuffix(".json")
            of_none = name.endswith(".json") and name not in leased
            # What a crash left behind of a todo long finished tells of nothing any more.
            if of_none and not (todo_id not in state.todos and state.knows(todo_id)):
                remove = partial(discard, folder / name, files=files)
                yield Piece(folder / name, None, _of_no_lease, remove, todo_id)
        yield from self.proofs.of_goal(state)

    def of_all(self, state: GoalState, whole: WholeGoal) -> Iterator[Piece]:
        """The same, and the proofs of what left the state, of all that ever was."""
        yield from self.of_goal(state)
        yield from self.proofs.of_left(state, whole)

    def of_house(self) -> tuple[Piece, Piece]:
        """The registry as a whole, and the owners file."""
        lines, seq = self.owner_lines(), self.core.house.state.owners_seq
        return (
            Piece(self.registry.path, None, self._whole_registry, self._write_registry),
            Piece(
                self.owners.path,
                seq,
                partial(self.owners.level, lines, seq),
                partial(self.owners.write, lines, seq),
            ),
        )

    def entry_of(self, state: GoalState) -> Piece:
        """One goal's entry in the registry."""
        entry = registry_entry(state)
        level, write = partial(self.registry.level, entry), self._write_registry
        return Piece(self.registry.path, (state.goal_id, state.registry_seq), level, write)

    def renew(self, pieces: Iterable[Piece], settled: Mapping[str, str], folder: Path) -> None:
        """Writes anew each file that still has the content a person decided to have replaced,
        which is copied to quarantine first. The caller holds the locks."""
        core = self.core
        for piece in pieces if settled else ():
            wanted = settled.get(core.shown(piece.path))
            if wanted is None or not holds(piece.path, wanted, files=core.files):
                continue
            at, reason = core.clock.read().now, f"repair-{piece.path.name}"
            set_file_aside(folder, reason, piece.path, at=at, files=core.files)
            piece.write()

    def is_settled(self, path: Path, state: GoalState | WorkspaceState) -> bool:
        """Whether a person decided to have this content replaced, and that is still to come."""
        name = self.core.shown(path)
        settled = self.core.house.state.settled.get(name) or state.settled.get(name)
        return settled is not None and holds(path, settled, files=self.core.files)

    def owner_lines(self) -> list[str]:
        """The present owners as lines of an OpenSSH allowed_signers file."""
        from loopx_kernel.trust.owner_line import Owner, render_line

        return [
            render_line(
                Owner(
                    owner.name,
                    owner.key,
                    owner.fingerprint,
                    owner.allow_unattended,
                    confirmed=owner.confirmed,
                    valid_after=owner.valid_after,
                    valid_before=owner.valid_before,
                )
            )
            for owner in self.core.house.state.present_owners
        ]

    def spend(self, state: GoalState) -> SpendFile:
        """The quota ledger of a goal."""
        return SpendFile(self.core.layout.spend(state.goal_id), self.core.files)

    def lease(self, state: GoalState, todo_id: str) -> LeaseFile:
        """The lease file of a todo."""
        return LeaseFile(self.core.layout.lease(state.goal_id, todo_id), self.core.files)

    def _whole_registry(self) -> Verdict:
        states = self._states()
        for entry in self.registry.read() or ():
            if entry["id"] not in states:
                what = f"it tells of a goal {entry['id']} that was never opened"
                own = compare(entry, None, seq_key="revision")
                return replace(own, level=Level.DAMAGED, what=what)
        for goal_id, state in states.items():
            verdict = self.registry.level(registry_entry(state))
            if verdict.level in DAMAGED and self.core.goal(goal_id).damage is None:
                return verdict
        return Verdict(Level.SAME)

    def _write_registry(self) -> None:
        """All entries from the journals. Of a goal whose journal is damaged a sound entry is
        kept: it may tell of more than can be read."""
        kept: dict[str, Any] = {}
        with contextlib.suppress(Damaged):
            kept = {entry["id"]: entry for entry in self.registry.read() or ()}
        entries: list[Mapping[str, Any]] = []
        for goal_id, state in self._states().items():
            entry = kept.get(goal_id)
            whole = self.core.goal(goal_id).damage is None
            sound = compare(entry, None, seq_key="revision").level is Level.SAME
            entries.append(registry_entry(state) if whole or not entry or not sound else entry)
        self.registry.write_all(entries)

    def _states(self) -> dict[str, GoalState]:
        """The states of all goals, as far as their journals can be read."""
        found = {}
        for goal_id in self.core.house.state.goals:
            ledger = self.core.goal(goal_id)
            ledger.refresh()
            if ledger.state.rules is None:
                read_opening(ledger)
            found[goal_id] = ledger.state
        return found


def _with_record(act: Callable[[Mapping[str, Any]], T], state: GoalState, todo: Todo) -> T:
    """The record of a lease is made only where it is needed."""
    return act(lease_record(state, todo))


def _of_no_lease() -> Verdict:
    what = "it is a lease the journal knows nothing of"
    return Verdict(Level.AHEAD, what=what, intact=True)
