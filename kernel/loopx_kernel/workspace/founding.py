"""How a workspace begins: anew, or visibly in place of one whose owners lost their keys.

Nobody can give back a lost key, and no command makes owners of those who have none. What is
left is to begin again, in sight of everybody: the old ``.loopx`` is kept beside the new one,
whose first event says which workspace it replaces and where that ended. Whoever knew the old
one is told ``owners_changed`` and has to say that they trust the new one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from loopx_kernel.domain import roster
from loopx_kernel.domain.event import WORKSPACE_JOURNAL
from loopx_kernel.domain.roster import CreateWorkspace
from loopx_kernel.domain.roster_state import Replaced
from loopx_kernel.errors import Damaged, LoopxError, UsageError
from loopx_kernel.store.disk import translated
from loopx_kernel.store.layout import Layout
from loopx_kernel.workspace.commit import commit
from loopx_kernel.workspace.core import Core, not_initialised
from loopx_kernel.workspace.ledgers import RosterLedger
from loopx_kernel.workspace.orders import CODE, Order

if TYPE_CHECKING:
    from loopx_kernel.store.known_file import Known

REPLACE = "loopx connect --replaces"


def found(core: Core, replaces: Replaced | None = None) -> None:
    """Makes ``.loopx`` and its first event; durable on return. Nothing where others did."""
    core.require_writable()
    core.layout.make(core.files)
    command = CreateWorkspace(workspace_id=os.urandom(16).hex(), replaces=replaces)
    try:
        commit(core, Order(WORKSPACE_JOURNAL, command, roster.decide, CODE, house=True))
    except LoopxError as error:
        if error.code != "exists":
            raise


def require_never_begun(core: Core) -> None:
    """For a workspace without a line: ``owners_changed`` where this person knew one there, which
    is gone, ``rolled_back`` where its other files tell that there was one."""
    try:
        known = core.pins.known_here()
    except LoopxError as error:
        # A folder that may not be entered is not this user's home, and knows nothing.
        if error.code != "permission":
            raise
        known = None
    if known is None:
        _require_no_trace(core.layout)
        return
    who = ", ".join(sorted(known.owners.values()))
    raise Damaged(
        "owners_changed",
        f"The workspace of {who} that was known in {known.root} is gone",
        next=f"bring .loopx back from a backup, or begin anew in sight of everybody: {REPLACE}",
        root=known.root,
        workspace_id=known.workspace_id,
    )


def _require_no_trace(layout: Layout) -> None:
    journals = layout.runtime_folder.glob("*/events.jsonl")
    own = layout.workspace_journal
    trace = next((one for one in (layout.registry, *sorted(journals)) if _tells(one, own)), None)
    if trace is None:
        return
    raise Damaged(
        "rolled_back",
        f"{own} is {'empty' if own.exists() else 'missing'}, but {trace} tells of a workspace",
        next=f"bring it back from a backup, or begin anew in sight of everybody: {REPLACE}",
        path=str(own),
        kind="missing",
    )


def _tells(path: Path, own: Path) -> bool:
    return path != own and path.is_file() and path.stat().st_size > 0


def replace(core: Core) -> None:
    """Sets the present ``.loopx`` aside, beside it, and makes a new one that names it. One
    that was begun so already and has no owner yet is gone on with."""
    core.require_writable()
    folder, known = core.layout.folder, _known(core.pins.known_here())
    if folder.is_dir():
        house = _house(core.layout, core)
        if not (house.state.replaces and not house.state.owners):
            old = _end_of(house) or known or Replaced(workspace_id="unknown", seq=0, head="")
            _set_aside(core, folder, old)
            found(core, old)
    else:
        # After a crash between the two steps above the old one is only beside it.
        left = _aside(core) or known
        if left is None:
            raise not_initialised(core.layout.root)
        found(core, left)
    if known is not None:
        core.house.refresh()
        core.pins.trust()


def _house(layout: Layout, core: Core) -> RosterLedger:
    house = RosterLedger(layout, core.files, cached=False)
    house.refresh()
    return house


def _end_of(house: RosterLedger) -> Replaced | None:
    """Which workspace it is and where its journal ends, as far as it is good."""
    if not house.state.workspace_id:
        return None
    end = house.position
    return Replaced(workspace_id=house.state.workspace_id, seq=end.seq, head=end.head)


def _set_aside(core: Core, folder: Path, old: Replaced) -> None:
    place = folder.with_name(f"{folder.name}-{old.workspace_id}")
    if place.exists():
        raise UsageError(
            "invalid_value",
            f"{place} is there already",
            next=f"move {place} elsewhere",
            path=str(place),
        )
    with translated(folder):
        core.files.replace(folder, place)
        core.files.fsync_dir(folder.parent)


def _aside(core: Core) -> Replaced | None:
    """The workspace that was set aside there last."""
    folder = core.layout.folder
    beside = [path for path in folder.parent.glob(f"{folder.name}-*") if path.is_dir()]
    beside.sort(key=lambda path: path.lstat().st_ctime_ns, reverse=True)
    ends = (_end_of(_house(Layout(core.layout.root, path.name), core)) for path in beside)
    return next((end for end in ends if end is not None), None)


def _known(known: Known | None) -> Replaced | None:
    if known is None:
        return None
    return Replaced(workspace_id=known.workspace_id, seq=known.seq, head=known.head)
