"""What is damaged, for a person: whose the workspace is first, and an owners file with other
people in it, whom other programs would take for the owners."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from loopx_kernel.domain.needs_you import OWNERS_CHANGED, Damage
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Damaged, LoopxError
from loopx_kernel.store.disk import MIB, read_regular
from loopx_kernel.store.records import Verdict, damaged_file
from loopx_kernel.workspace.damage import file_damage, journal_damage
from loopx_kernel.workspace.piece import Piece

if TYPE_CHECKING:
    from loopx_kernel.workspace.core import Core
    from loopx_kernel.workspace.ledger import Ledger


def owners_fault(core: Core, verdict: Verdict) -> Damaged:
    """The error for an owners file that is not what the journal says: ``owners_changed`` where
    it names somebody, or a key, that the journal does not, else ``file_damaged``."""
    path = core.layout.owners
    fault = damaged_file(path, verdict)
    who = strangers(core)
    if not who:
        return fault
    message = f"{path} names owners that nobody enrolled: {', '.join(who)}"
    return Damaged(OWNERS_CHANGED, message, next=fault.next, **fault.facts)


def basic_damage(core: Core, ledger: Ledger) -> tuple[Damage, ...]:
    """What is wrong before any file is looked at; whose the workspace is comes first."""
    of_journals = (*journal_damage(core.house), *journal_damage(ledger))
    return (*core.pins.damage(), *of_journals, *_links(core, ledger))


def _links(core: Core, ledger: Ledger) -> tuple[Damage, ...]:
    """Links in the place of folders the kernel writes in: it goes through none."""
    folders = core.layout.folders_of(ledger.name)
    if isinstance(ledger.state, GoalState) and ledger.state.rules is not None:
        folders += core.state_folders(ledger.state)
    return tuple(
        Damage(
            core.shown(folder),
            "a link stands in the place of this folder; nothing is written through it",
            command=f"rm {shlex.quote(str(folder))} (it is only a link)",
        )
        for folder in dict.fromkeys(folders)
        if folder.is_symlink()
    )


def damage_of(core: Core, piece: Piece, verdict: Verdict) -> Damage:
    """A damaged file for a person, with both digests."""
    who = strangers(core) if piece.path == core.layout.owners else ()
    if who:
        what = f"{OWNERS_CHANGED}: it names owners that nobody enrolled: {', '.join(who)}"
        verdict = replace(verdict, what=what)
    return file_damage(core.shown(piece.path), verdict, piece.todo_id)


def strangers(core: Core) -> tuple[str, ...]:
    """Who stands in the owners file with a key the journal does not give them, by name."""
    from loopx_kernel.trust.owners import parse_owners

    try:
        data = read_regular(core.layout.owners, 4 * MIB, files=core.files) or b""
    except LoopxError:
        return ()
    present = {(one.name, one.fingerprint) for one in core.house.state.present_owners}
    listed = {(one.name, one.fingerprint) for one in parse_owners(data)[0]}
    return tuple(sorted(name for name, _ in listed - present))
