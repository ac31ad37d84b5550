"""The materialised files of a goal: catching them up, following a commit, judging them.

Decisions come from the fold; the files are what others read, and a witness.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopx_kernel.domain.clashes import clashes
from loopx_kernel.domain.event import WORKSPACE_JOURNAL, LiveLease
from loopx_kernel.domain.fence import obstacle
from loopx_kernel.domain.needs_you import Difference, Reads
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Conflict, Damaged, LoopxError, Storage
from loopx_kernel.store.disk import signature
from loopx_kernel.store.line import Line
from loopx_kernel.store.quarantine import digest_of
from loopx_kernel.store.records import Level, Verdict, damaged_file
from loopx_kernel.views.records import lease_record, registry_entry
from loopx_kernel.workspace.beside import leases_of
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.damage import Written, unread_lines, unreadable
from loopx_kernel.workspace.everything import todos_named
from loopx_kernel.workspace.ledger import Ledger
from loopx_kernel.workspace.ledgers import GoalLedger
from loopx_kernel.workspace.looking import look_where_it_matters
from loopx_kernel.workspace.opening import trace_of
from loopx_kernel.workspace.pages import Shown
from loopx_kernel.workspace.piece import DAMAGED, Piece
from loopx_kernel.workspace.pieces import Pieces
from loopx_kernel.workspace.proofs import lost_copies
from loopx_kernel.workspace.spending import first_spend, spends_since
from loopx_kernel.workspace.state_files import StateFile
from loopx_kernel.workspace.swapped import basic_damage, damage_of, owners_fault

if TYPE_CHECKING:
    from loopx_kernel.workspace.orders import Order


class Materials:
    """All materialised files of one workspace."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.pieces = Pieces(core)
        self.registry = self.pieces.registry
        self.owners = self.pieces.owners
        self.proofs = self.pieces.proofs

    def catch_up(self, ledger: GoalLedger, order: Order) -> tuple[str, ...]:
        """Brings level what a crash left behind, before anything is decided.

        Returns the files that were missing although they had been written
        before. Raises ``file_damaged`` for a damaged record the order touches,
        and ``drift`` or ``Storage`` where a person must see to the todo list before new
        work starts. The caller holds the goal's lock; the workspace's is taken here
        where the order did without it and one of its files must be written.
        A repair is stopped by no damage of files.
        """
        state = ledger.state
        page = StateFile(self.core, ledger)
        shown = page.show()
        written = Written(shown.seq, ledger.position.seq)
        missing: list[Path] = []
        with _tolerated(order):
            missing += self._catch_up_house(state, order, written)
        self.finish_repairs(ledger)
        if state.spend_seq:
            spend = self.pieces.spend(state)
            with _tolerated(order):
                level = spend.bring_level(spends_since(ledger, state))
                lost = written.lost(spend.path, level, first_spend(state))
                missing += [spend.path] if lost else []
        for todo in state.todos.values():
            if todo.lease is None:
                continue
            file = self.pieces.lease(state, todo.id)
            late = todo.id == order.todo_id or not written.surely(todo.lease.seq)
            if late or not os.path.lexists(file.path):
                with _tolerated(order):
                    level = file.bring_level(lease_record(state, todo))
                    lost = written.lost(file.path, level, todo.lease.seq)
                    missing += [file.path] if lost else []
        touched = None if order.repairs else order.todo_id
        missing += self.proofs.catch_up(state, written, touched=touched)
        if shown.problem is None and written.rendered == 0 and written.surely(1):
            missing.append(page.path)
        drift = self._level_list(page, shown, order)
        if drift and order.starts_work:
            raise Conflict(
                "drift",
                f"The todo list of {state.goal_id} was edited by hand: {drift[0].sentence}",
                next=f"loopx state check --goal {state.goal_id}",
                goal_id=state.goal_id,
                differences=[item.sentence for item in drift],
            )
        return tuple(self.core.shown(path) for path in missing)

    def _level_list(self, page: StateFile, shown: Shown, order: Order) -> tuple[Difference, ...]:
        """Work that is under way is handed in whatever stands in the todo list's place."""
        try:
            return page.bring_level(shown)
        except Storage:
            if order.starts_work:
                raise
            return ()

    def _catch_up_house(self, state: GoalState, order: Order, written: Written) -> list[Path]:
        """The registry entry and the owners file, which other goals' writers write too."""
        from loopx_kernel.workspace.locking import house_held

        self._finish_house(order)
        entry, house = registry_entry(state), self.core.house
        registry = self.registry.level(entry)
        owners = self.owners.level(self.pieces.owner_lines(), house.state.owners_seq)
        if registry.level is Level.DAMAGED:
            raise damaged_file(self.registry.path, registry)
        if not order.both and registry.level is owners.level is Level.SAME:
            return []
        missing = []
        held = contextlib.nullcontext() if order.both else house_held(self.core, order)
        with held:
            if written.lost(self.registry.path, self.registry.bring_level(entry), 1):
                missing.append(self.registry.path)
            # Whoever hands in work does not stop for what only decisions rest on.
            if order.both and owners.level is Level.DAMAGED:
                raise owners_fault(self.core, owners)
            if owners.level is not Level.DAMAGED:
                lines, seq = self.pieces.owner_lines(), house.state.owners_seq
                if written.lost(self.owners.path, self.owners.bring_level(lines, seq), 0):
                    missing.append(self.owners.path)
        return missing

    def require_room(self, order: Order) -> None:
        """What a person's act in the workspace journal writes next is not damaged, and a goal
        to be opened left nothing here before. The caller holds the workspace's lock."""
        self._finish_house(order)
        owners = self.owners.level(self.pieces.owner_lines(), self.core.house.state.owners_seq)
        if owners.level in (Level.DAMAGED, Level.AHEAD):
            raise owners_fault(self.core, owners)
        goal_id = order.goal_id
        known = goal_id == WORKSPACE_JOURNAL or goal_id in self.core.house.state.goals
        trace = None if known else trace_of(self.core.layout, goal_id, files=self.core.files)
        if trace is not None:
            what = f"it tells of a goal {goal_id} that was never opened"
            damage = damaged_file(trace, Verdict(Level.DAMAGED, what=what))
            if trace != self.registry.path:
                damage.next = f"choose another id than {goal_id}"
            raise damage

    def finish_repairs(self, ledger: GoalLedger) -> None:
        """Writes anew the goal's files that a person decided to have repaired, where that
        is still to come. The caller holds the goal's lock."""
        state = ledger.state
        if state.settled:
            self.pieces.renew(self.pieces.of_goal(state), state.settled, ledger.quarantine)
            self.pieces.renew(self.proofs.of_settled(state), state.settled, ledger.quarantine)

    def _finish_house(self, order: Order) -> None:
        """The same for registry and owners, under the workspace's lock."""
        from loopx_kernel.workspace.locking import house_held

        core = self.core
        waiting = [
            path
            for path, wanted in core.house.state.settled.items()
            if digest_of(core.layout.root / path, files=core.files) == wanted
        ]
        if waiting:
            held = order.both or order.house
            with contextlib.nullcontext() if held else house_held(core, order):
                self._renew_house()

    def _renew_house(self) -> None:
        settled, folder = self.core.house.state.settled, self.core.layout.workspace_quarantine
        self.pieces.renew(self.pieces.of_house(), settled, folder)

    def follow(self, ledger: Ledger, before: Any, line: Line) -> None:
        """Writes what a committed line changed. The state file is last: its ``seq`` says
        up to where the others are level."""
        if not isinstance(ledger, GoalLedger):
            self._follow_roster(line)
            return
        state: GoalState = ledger.state
        if state.settled != before.settled:
            self.finish_repairs(ledger)
        if state.registry_seq != before.registry_seq:
            self.registry.bring_level(registry_entry(state))
        if state.spend_seq != before.spend_seq:
            self.pieces.spend(state).bring_level(spends_since(ledger, state))
        for todo in _named_todos(state, line):
            if todo.lease is not None:
                self.pieces.lease(state, todo.id).bring_level(lease_record(state, todo))
            try:
                self.proofs.follow(state, todo)
            except (Damaged, Storage) as error:
                # Unlike what stands in its place, what was not written now is only late.
                if error.code not in ("file_damaged", "not_regular"):
                    raise
        for todo_id in before.todos.keys() - state.todos.keys():
            self.pieces.lease(state, todo_id).discard()
        if state.list_seq != before.list_seq:
            StateFile(self.core, ledger).follow(before)

    def _follow_roster(self, line: Line) -> None:
        if line.record["event_type"] == "goal.opened":
            ledger = self.core.goal(line.record["goal_id"])
            ledger.refresh()
            self.core.roll_forward_opening(ledger)
            self.registry.bring_level(registry_entry(ledger.state))
            StateFile(self.core, ledger).follow(ledger.state)
        elif line.record["event_type"].startswith("owner."):
            state = self.core.house.state
            self.owners.bring_level(self.pieces.owner_lines(), state.owners_seq)
        elif line.record["event_type"] == "damage.repaired":
            self.core.house.refresh()
            self._renew_house()

    def look(self, ledger: GoalLedger, neighbours: tuple[LiveLease, ...] = ()) -> Reads:
        """How the files stand to the journal; changes nothing.

        Reads on where a file is ahead: ``ledger`` may have moved afterwards.
        """
        if ledger.state.rules is None:
            return Reads(damage=basic_damage(self.core, ledger))
        found = self._verdicts(ledger.state)
        while any(verdict.level is Level.AHEAD for _, verdict in found) and self._moved(ledger):
            found = self._verdicts(ledger.state)
        state, shown = ledger.state, self.core.shown
        damage = [*basic_damage(self.core, ledger)]
        absent = [one for one, verdict in found if verdict.level is Level.MISSING]
        missing = [shown(one.path) for one in absent if not one.copy_of]
        behind = [shown(one.path) for one, verdict in found if verdict.level is Level.BEHIND]
        damage += [
            damage_of(self.core, one, verdict) for one, verdict in found if verdict.level in DAMAGED
        ]
        page = StateFile(self.core, ledger).look()
        missing += [shown(page.path)] if page.missing else []
        behind += [shown(page.path)] if page.behind else []
        if page.problem:
            damage.append(unreadable(shown(page.path), page.problem))
        return Reads(
            damage=tuple(damage),
            drift=page.drift,
            drift_since=page.changed_at,
            missing_files=tuple(missing),
            missing_evidence=lost_copies(self.core, absent),
            behind_files=tuple(behind),
            repo=self.core.real_repo(state),
            repo_present=self.core.repo(state).is_dir(),
            neighbours=neighbours,
            clashes=clashes(leases_of(self.core, state, self.core.clock.read()), neighbours),
            fenced=obstacle(self.core.house.state, self.core.generation),
            seen=look_where_it_matters(self.core, state),
            incomplete_tail=ledger.has_tail,
            unread_lines=unread_lines(ledger),
        )

    def _verdicts(self, state: GoalState) -> list[tuple[Piece, Verdict]]:
        found = []
        _, owners = self.pieces.of_house()
        for piece in (self.pieces.entry_of(state), owners, *self.pieces.of_goal(state)):
            try:
                verdict = self._cached(piece)
            except LoopxError as error:
                # What no repair can open, a person takes out of the way.
                step = error.next if error.code in ("not_regular", "permission") else None
                verdict = Verdict(Level.DAMAGED, what=error.message, step=step or "")
            if verdict.level in DAMAGED and self.pieces.is_settled(piece.path, state):
                verdict = Verdict(Level.BEHIND)
            found.append((piece, verdict))
        return found

    def _moved(self, ledger: GoalLedger) -> bool:
        """Reads on; whether there was anything new. A file that is ahead of a journal
        read after it is not one of ours."""
        before = (self.core.house.position, ledger.position)
        self.core.house.refresh()
        ledger.refresh()
        return before != (self.core.house.position, ledger.position)

    def _cached(self, piece: Piece) -> Verdict:
        """The verdict, judged again only when the file or what is expected of it changed."""
        found, key = signature(piece.path, files=self.core.files), piece.key
        slot = piece.path / str(key[0]) if isinstance(key, tuple) else piece.path
        known = self.core.judged.get(slot)
        if known is not None and known[:2] == (found, key):
            return known[2]
        verdict = piece.level()
        self.core.judged[slot] = (found, key, verdict)
        return verdict


def _named_todos(state: GoalState, line: Line) -> list[Todo]:
    named = todos_named(line.record["payload"])
    return [state.todos[ref] for ref in named if ref in state.todos]


def _tolerated(order: Order) -> contextlib.AbstractContextManager[None]:
    """A repair is not stopped by what else is damaged."""
    return contextlib.suppress(Damaged) if order.repairs else contextlib.nullcontext()
