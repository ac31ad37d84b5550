"""The leases of the goals beside one, for comparing scopes across goals.

They are asked for at every beat, so what they are made of is kept small: a cache in the
checkpoint's folder and no more trusted. It holds for a journal that ends with the very line
it was made at, and for the same folding code and owners.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from loopx_kernel.clock import Reading
from loopx_kernel.domain import holding
from loopx_kernel.domain.event import LiveLease
from loopx_kernel.domain.scope import split_glob
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import LoopxError
from loopx_kernel.store import checkpoint
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.seek import ends_with
from loopx_kernel.workspace import resume
from loopx_kernel.workspace.ledgers import rests_on

if TYPE_CHECKING:
    from loopx_kernel.workspace.core import Core

FILE = "leases.json"


def live_leases(core: Core, reading: Reading, *, beside: str) -> tuple[LiveLease, ...]:
    """The live leases of all goals but ``beside``. A goal that cannot be read holds none."""
    found: list[LiveLease] = []
    for goal_id in core.house.state.goals:
        if goal_id == beside:
            continue
        with contextlib.suppress(LoopxError):
            held = _leased(core, goal_id)
            found += leases_of(core, held, reading) if held.todos else ()
    return tuple(found)


def leases_of(core: Core, state: GoalState, reading: Reading) -> tuple[LiveLease, ...]:
    """The live leases of one goal, with the scopes as they are on disk."""
    return _on_disk(holding.live_leases(state, reading, core.real_repo(state)))


def real_scopes(repo: str, scopes: tuple[str, ...]) -> tuple[str, ...]:
    """Where scopes lead on disk, relative to the real path ``repo``, links followed."""
    return tuple(_real_scope(repo, scope) for scope in scopes)


def _real_scope(repo: str, scope: str) -> str:
    folder, rest = split_glob(scope)
    real = os.path.relpath(os.path.realpath(Path(repo, folder)), repo)
    return f"{real}/{rest}" if rest else real


def _on_disk(leases: Iterable[LiveLease]) -> tuple[LiveLease, ...]:
    return tuple(
        replace(lease, write_scopes=real_scopes(lease.repo, lease.write_scopes)) for lease in leases
    )


def _leased(core: Core, goal_id: str) -> GoalState:
    """The rules of a goal and its todos that are leased."""
    if core.has_read(goal_id):
        return _of_read(core, core.fresh_goal(goal_id).state)
    known = _kept(core, goal_id)
    if known is not None:
        return known
    ledger = core.fresh_goal(goal_id)
    found = _of_read(core, ledger.state)
    if ledger.damage is None and ledger.has_begun and ledger.cache is not None:
        path = ledger.cache / FILE
        resume.save(path, found, ledger.position, rests_on(core.house), files=core.files)
    return found


def _of_read(core: Core, state: GoalState) -> GoalState:
    """The leased part of a state; sought once for each state."""
    known = core.leased.get(state.goal_id)
    if known is None or known[0] is not state:
        known = core.leased[state.goal_id] = state, _reduced(state)
    return known[1]


def _kept(core: Core, goal_id: str) -> GoalState | None:
    """What was kept, read once for each state of the journal and the owners."""
    journal, owners = _journal(core, goal_id), core.house.state.owners
    signature = journal.signature()
    known = core.kept_leases.get(goal_id)
    if known and signature and known[0] == signature and known[1] is owners:
        return known[2]
    core.kept_leases.pop(goal_id, None)
    folder = checkpoint.cache_folder(core.house.state.workspace_id, goal_id)
    found = resume.load(folder / FILE, rests_on(core.house), files=core.files)
    if found is None or not ends_with(journal, found.position):
        return None
    state = resume.state_of(found, GoalState)
    if state is None or state.goal_id != goal_id:
        return None
    if signature:
        core.kept_leases[goal_id] = signature, owners, state
    return state


def _journal(core: Core, goal_id: str) -> Journal:
    return Journal(core.layout.goal_journal(goal_id), core.files)


def _reduced(state: GoalState) -> GoalState:
    held = {ref: todo for ref, todo in state.todos.items() if todo.lease is not None}
    return GoalState(
        goal_id=state.goal_id, seq=state.seq, head=state.head, rules=state.rules, todos=held
    )
