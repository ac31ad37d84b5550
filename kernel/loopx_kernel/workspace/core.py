"""What every part of the façade stands on: paths, clock, the journals read so far."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from loopx_kernel.clock import Clock
from loopx_kernel.domain.fence import WRITER_GENERATION, require_unfenced
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Damaged, Storage, UsageError
from loopx_kernel.store import checkpoint
from loopx_kernel.store.disk import Signature
from loopx_kernel.store.files import Files
from loopx_kernel.store.layout import Layout
from loopx_kernel.workspace.ledgers import GoalLedger, RosterLedger
from loopx_kernel.workspace.opening import copy_opening, read_opening, trace_of

if TYPE_CHECKING:
    from loopx_kernel.store.locks import Held
    from loopx_kernel.store.records import Verdict
    from loopx_kernel.workspace.ledger import Progress
    from loopx_kernel.workspace.pages import Looked
    from loopx_kernel.workspace.pins import Pins

Judged = tuple[Signature | None, Any, "Verdict"]


@dataclass
class Core:
    """One open workspace. ``lock`` keeps the threads of this process apart; the locks
    between processes are taken by ``commit``, ``held`` are those it has. ``progress`` is told
    while a journal is read. ``generation`` is that of this program's writers.
    ``judged`` and ``pages`` remember how materialised files and state files stood, by size, times
    and inode; ``leased`` and ``kept_leases`` which todos of a goal are leased, by the state or the
    journal and owners they were found in."""

    layout: Layout
    clock: Clock
    read_only: bool = False
    progress: Progress | None = None
    generation: int = WRITER_GENERATION
    files: Files = field(default_factory=Files)
    lock: RLock = field(default_factory=RLock)
    held: list[Held] = field(default_factory=list)
    judged: dict[Path, Judged] = field(default_factory=dict)
    pages: dict[Path, Looked] = field(default_factory=dict)
    leased: dict[str, tuple[GoalState, GoalState]] = field(default_factory=dict)
    kept_leases: dict[str, tuple[Signature, Any, GoalState]] = field(default_factory=dict)
    _goals: dict[str, GoalLedger] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.files.confine(self.layout.folder)

    @cached_property
    def house(self) -> RosterLedger:
        """The workspace journal's ledger."""
        return RosterLedger(self.layout, self.files)

    @cached_property
    def pins(self) -> Pins:
        """What this person knew the workspace to be."""
        from loopx_kernel.workspace.pins import Pins

        return Pins(self.house, self.layout, self.files)

    def goal(self, goal_id: str) -> GoalLedger:
        """The goal's ledger, as far as it was read; ``unknown_goal`` if there is none."""
        ledger = self._goals.get(goal_id)
        if ledger is None or ledger.opened != self.house.opened(goal_id):
            cache = checkpoint.cache_folder(self.house.state.workspace_id, goal_id)
            ledger = GoalLedger(self.layout, goal_id, self.house, self.files, cache)
            self._goals[goal_id] = ledger
        return ledger

    def fresh_goal(self, goal_id: str) -> GoalLedger:
        """The goal's ledger, level with its journal; a goal that lost one is damaged.

        A goal that was only just opened is read from the workspace's line.
        """
        ledger = self.goal(goal_id)
        ledger.refresh(self.progress)
        if not ledger.has_begun and ledger.damage is None:
            self._require_unbegun(goal_id)
            read_opening(ledger)
        return ledger

    def require_writable(self) -> None:
        """Raises where nothing may be written: opened for reading, or locks do not hold."""
        if self.read_only:
            raise Storage(
                "read_only",
                "This workspace was opened for reading only",
                next="start again without --read-only",
            )
        from loopx_kernel.store.disk import refuse_network_filesystem

        refuse_network_filesystem(self.layout.folder)

    def require_unfenced(self) -> None:
        """Reads on in the workspace's journal; ``writer_fenced`` for a writer of a generation
        that is kept out there. The caller holds the lock of the write this protects."""
        self.house.refresh()
        require_unfenced(self.house.state, self.generation)

    def roll_forward_opening(self, ledger: GoalLedger) -> None:
        """Makes the first line of a goal's journal from the workspace's line, if a crash
        came between the two. The caller holds the goal's lock."""
        if ledger.has_begun or ledger.damage is not None:
            return
        self._require_unbegun(ledger.name)
        copy_opening(self.layout, ledger, files=self.files)

    def repo(self, state: GoalState) -> Path:
        """The goal's repo; rules name it relative to the workspace."""
        return self.layout.root / state.the_rules.repo

    def real_repo(self, state: GoalState) -> str:
        """The repo as a real path, for comparing scopes across goals."""
        return os.path.realpath(self.repo(state))

    def state_file(self, state: GoalState) -> Path:
        """Where the goal's ``ACTIVE_GOAL_STATE.md`` is: inside ``.loopx`` or inside the repo."""
        place = state.the_rules.state_file
        if place.startswith(".loopx/"):
            return self.layout.root / place
        return self.repo(state) / place

    def state_folders(self, state: GoalState) -> tuple[Path, ...]:
        """The folders below the repo, or below ``.loopx``, that the state file is in."""
        around, own = self.state_file(state).parents, self.layout.folder
        base = own if own in around else self.repo(state)
        return tuple(around[: around.index(base)])

    def rendered_in_repo(self, state: GoalState) -> tuple[str, ...]:
        """The todo list's path where it lies in the repo: what the kernel writes there itself is
        no change of the repo."""
        repo, rendered = self.repo(state), self.state_file(state)
        return (str(rendered.relative_to(repo)),) if rendered.is_relative_to(repo) else ()

    def shown(self, path: Path) -> str:
        """A path as it is shown and recorded: relative to the workspace where it can be."""
        root = self.layout.root
        return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)

    def has_read(self, goal_id: str) -> bool:
        """Whether this program read the goal's journal already."""
        return goal_id in self._goals

    def _require_unbegun(self, goal_id: str) -> None:
        """A journal that is missing or empty after it had begun is damage, never a new start."""
        if trace_of(self.layout, goal_id, files=self.files) is None:
            return
        path = self.layout.goal_journal(goal_id)
        raise Damaged(
            "rolled_back",
            f"{path} is {'empty' if path.exists() else 'missing'}, "
            f"but {goal_id} was opened in this workspace",
            next=f"loopx repair journal --goal {goal_id}",
            path=str(path),
            kind="missing",
            goal_id=goal_id,
        )


def not_initialised(root: Path) -> UsageError:
    """The error where there is no workspace."""
    return UsageError(
        "not_initialised",
        f"There is no .loopx in {root}",
        next="loopx connect",
        root=str(root),
    )
