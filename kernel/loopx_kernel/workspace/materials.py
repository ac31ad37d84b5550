"""The materialised files of a goal: catching them up, following a commit, judging them.

Decisions come from the fold; the files are what others read, and a witness.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopx_kernel.domain.event import WORKSPACE_JOURNAL, LiveLease
from loopx_kernel.domain.needs_you import Damage, Reads
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Conflict, LoopxError
from loopx_kernel.store.lease_file import LeaseFile
from loopx_kernel.store.line import Line
from loopx_kernel.store.owners_file import OwnersFile
from loopx_kernel.store.records import Level, Verdict, damaged_file
from loopx_kernel.store.registry_file import RegistryFile
from loopx_kernel.store.spend_file import SpendFile
from loopx_kernel.views.records import lease_record, registry_entry, spend_lines
from loopx_kernel.workspace.core import Core, Signature
from loopx_kernel.workspace.damage import Written, file_damage, journal_damage
from loopx_kernel.workspace.ledger import Ledger
from loopx_kernel.workspace.ledgers import GoalLedger
from loopx_kernel.workspace.opening import has_traces
from loopx_kernel.workspace.state_files import StateFile

if TYPE_CHECKING:
    from loopx_kernel.workspace.orders import Order


class Materials:
    """All materialised files of one workspace."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.registry = RegistryFile(core.layout.registry, core.files)
        self.owners = OwnersFile(core.layout.owners, core.files)

    def catch_up(self, ledger: GoalLedger, order: Order) -> tuple[str, ...]:
        """Brings level what a crash left behind, before anything is decided.

        Returns the files that were missing although they had been written
        before. Raises ``file_damaged`` for a damaged record the order touches,
        and ``drift`` where a person's edit must be settled before new work
        starts. The caller holds the goal's lock; the workspace's is taken here
        where the order did without it and one of its files must be written.
        """
        state = ledger.state
        page = StateFile(self.core, ledger)
        shown = page.show()
        written = Written(shown.seq, ledger.position.seq)
        missing = self._catch_up_house(state, order, written)
        if state.spends:
            spend = self._spend(state)
            first = min(item.seq for item in state.spends.values())
            if written.lost(spend.path, spend.bring_level(partial(spend_lines, state)), first):
                missing.append(spend.path)
        for todo in state.todos.values():
            if todo.lease and (todo.id == order.todo_id or not written.surely(todo.lease.seq)):
                file = self._lease(state, todo)
                level = file.bring_level(lease_record(state, todo))
                if written.lost(file.path, level, todo.lease.seq):
                    missing.append(file.path)
        if written.rendered == 0 and written.surely(1):
            missing.append(page.path)
        drift = page.bring_level(shown)
        if drift and order.starts_work:
            raise Conflict(
                "drift",
                f"The todo list of {state.goal_id} was edited by hand: {drift[0].sentence}",
                next=f"loopx state check --goal {state.goal_id}",
                goal_id=state.goal_id,
                differences=[item.sentence for item in drift],
            )
        return tuple(self._shown(path) for path in missing)

    def _catch_up_house(self, state: GoalState, order: Order, written: Written) -> list[Path]:
        """The registry entry and the owners file, which other goals' writers write too."""
        from loopx_kernel.workspace.locking import house_held

        entry, house = registry_entry(state), self.core.house
        registry = self.registry.level(entry)
        owners = self.owners.level(self.owner_lines(), house.state.owners_seq)
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
            if order.both or owners.level is not Level.DAMAGED:
                lines, seq = self.owner_lines(), house.state.owners_seq
                if written.lost(self.owners.path, self.owners.bring_level(lines, seq), 0):
                    missing.append(self.owners.path)
        return missing

    def require_room(self, order: Order) -> None:
        """What a person's act in the workspace journal writes next is not damaged, and a goal
        to be opened left nothing here before. The caller holds the workspace's lock."""
        owners = self.owners.level(self.owner_lines(), self.core.house.state.owners_seq)
        if owners.level in (Level.DAMAGED, Level.AHEAD):
            raise damaged_file(self.owners.path, owners)
        goal_id = order.goal_id
        known = goal_id == WORKSPACE_JOURNAL or goal_id in self.core.house.state.goals
        if not known and has_traces(self.core.layout, goal_id, files=self.core.files):
            what = f"it tells of a goal {goal_id} that was never opened"
            raise damaged_file(self.registry.path, Verdict(Level.DAMAGED, what=what))

    def follow(self, ledger: Ledger, before: Any, line: Line) -> None:
        """Writes what a committed line changed. The state file is last: its ``seq`` says
        up to where the others are level."""
        if not isinstance(ledger, GoalLedger):
            self._follow_roster(line)
            return
        state: GoalState = ledger.state
        if state.registry_seq != before.registry_seq:
            self.registry.bring_level(registry_entry(state))
        if state.spend_seq != before.spend_seq:
            self._spend(state).bring_level(partial(spend_lines, state))
        for todo in _named_todos(state, line):
            if todo.lease is not None:
                self._lease(state, todo).bring_level(lease_record(state, todo))
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
            self.owners.bring_level(self.owner_lines(), state.owners_seq)

    def owner_lines(self) -> list[str]:
        """The present owners as lines of an OpenSSH allowed_signers file."""
        from loopx_kernel.trust.owners import Owner, render_line

        return [
            render_line(Owner(owner.name, owner.key, owner.fingerprint, owner.allow_unattended))
            for owner in self.core.house.state.present_owners
        ]

    def look(self, ledger: GoalLedger, neighbours: tuple[LiveLease, ...] = ()) -> Reads:
        """How the files stand to the journal; changes nothing.

        Reads on where a file is ahead: ``ledger`` may have moved afterwards.
        """
        if ledger.state.rules is None:
            return Reads(damage=(*journal_damage(self.core.house), *journal_damage(ledger)))
        found = self._verdicts(ledger.state)
        while any(item.level is Level.AHEAD for _, _, item in found) and self._moved(ledger):
            found = self._verdicts(ledger.state)
        state = ledger.state
        damage = [*journal_damage(self.core.house), *journal_damage(ledger)]
        missing = [self._shown(path) for path, _, item in found if item.level is Level.MISSING]
        behind = [self._shown(path) for path, _, item in found if item.level is Level.BEHIND]
        for path, todo_id, verdict in found:
            if verdict.level in (Level.DAMAGED, Level.AHEAD):
                damage.append(file_damage(self._shown(path), verdict, todo_id))
        page = StateFile(self.core, ledger).look()
        missing += [self._shown(page.path)] if page.missing else []
        behind += [self._shown(page.path)] if page.behind else []
        if page.problem:
            damage.append(Damage(self._shown(page.path), page.problem, blocks_goal=True))
        return Reads(
            damage=tuple(damage),
            drift=page.drift,
            drift_since=page.changed_at,
            missing_files=tuple(missing),
            behind_files=tuple(behind),
            repo=self.core.real_repo(state),
            repo_present=self.core.repo(state).is_dir(),
            neighbours=neighbours,
            incomplete_tail=ledger.has_tail,
        )

    def _verdicts(self, state: GoalState) -> list[tuple[Path, str | None, Verdict]]:
        found = []
        for path, todo_id, judge in self._records(state):
            try:
                verdict = judge()
            except LoopxError as error:
                verdict = Verdict(Level.DAMAGED, what=error.message)
            found.append((path, todo_id, verdict))
        return found

    def _moved(self, ledger: GoalLedger) -> bool:
        """Reads on; whether there was anything new. A file that is ahead of a journal
        read after it is not one of ours."""
        before = (self.core.house.position, ledger.position)
        self.core.house.refresh()
        ledger.refresh()
        return before != (self.core.house.position, ledger.position)

    def _records(
        self, state: GoalState
    ) -> Iterable[tuple[Path, str | None, Callable[[], Verdict]]]:
        entry = registry_entry(state)
        key = (state.goal_id, state.registry_seq)
        path = self.registry.path
        yield path, None, partial(self._cached, path, key, lambda: self.registry.level(entry))
        owners = self.core.house.state
        path = self.owners.path
        yield (
            path,
            None,
            partial(
                self._cached,
                path,
                owners.owners_seq,
                lambda: self.owners.level(self.owner_lines(), owners.owners_seq),
            ),
        )
        spend = self._spend(state)
        since = partial(spend_lines, state)
        if state.spend_seq:
            judge = partial(self._cached, spend.path, state.spend_seq, lambda: spend.level(since))
            yield spend.path, None, judge
        for todo in state.todos.values():
            if todo.lease is None:
                continue
            file = self._lease(state, todo)
            record = lease_record(state, todo)
            level = partial(file.level, record)
            yield file.path, todo.id, partial(self._cached, file.path, todo.lease.seq, level)

    def _cached(self, path: Path, key: Any, judge: Callable[[], Verdict]) -> Verdict:
        """The verdict, judged again only when the file or what is expected of it changed."""
        signature = _signature(path)
        slot = path if not isinstance(key, tuple) else path / str(key[0])
        known = self.core.judged.get(slot)
        if known is not None and known[:2] == (signature, key):
            return known[2]
        verdict = judge()
        self.core.judged[slot] = (signature, key, verdict)
        return verdict

    def _spend(self, state: GoalState) -> SpendFile:
        return SpendFile(self.core.layout.spend(state.goal_id), self.core.files)

    def _lease(self, state: GoalState, todo: Todo) -> LeaseFile:
        return LeaseFile(self.core.layout.lease(state.goal_id, todo.id), self.core.files)

    def _shown(self, path: Path) -> str:
        root = self.core.layout.root
        return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _named_todos(state: GoalState, line: Line) -> list[Todo]:
    payload = line.record["payload"]
    named = [payload.get("todo_id"), *(part.get("todo_id") for part in payload.get("parts", ()))]
    return [state.todos[ref] for ref in dict.fromkeys(named) if ref in state.todos]


def _signature(path: Path) -> Signature | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
