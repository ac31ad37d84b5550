"""What this person saw a workspace to be, in their own ``~/.config/loopx/known_workspaces``.

A pin is the id of the workspace at a place, its owners, and the line of its journal that made
them so. It is made on first sight, by a person: when they sign, and when they look at it with
no agent named. It moves by itself to owners that the signed chain from that line explains;
everything else is ``owners_changed``, shown before anything else and refused for every
signature until a person says that they trust what stands there now.

An agent's call compares and never pins: what it came upon first would otherwise be what the
person is asked to trust later. The file itself is no more than a file of this user: an agent
that runs as the same user can write or remove it, and gains that a workspace it swapped is
not noticed; it still has nobody's key. It is those who can write the workspace and not this
folder, another user or machine, whom a pin stops.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from loopx_kernel.domain.needs_you import OWNERS_CHANGED, Damage
from loopx_kernel.errors import Damaged, LoopxError
from loopx_kernel.store.known_file import Known, KnownFile
from loopx_kernel.value import Value
from loopx_kernel.workspace.person import config_folder

if TYPE_CHECKING:
    from loopx_kernel.store.files import Files
    from loopx_kernel.store.layout import Layout
    from loopx_kernel.workspace.ledgers import RosterLedger

NAME = "known_workspaces"
TRUST = "loopx owner trust"


class Sight(Value):
    """How a workspace stands to what was known of it. ``known`` is ``None`` at first sight;
    ``problem`` says why nothing can be told."""

    known: Known | None = None
    change: str | None = None
    problem: LoopxError | None = None


class Pins:
    """The pin of one workspace, compared again where the file or the journal moved."""

    def __init__(self, house: RosterLedger, layout: Layout, files: Files) -> None:
        self._house, self._layout, self._files = house, layout, files
        self._of: object = None
        self._sight = Sight()

    @cached_property
    def file(self) -> KnownFile:
        """The person's file."""
        return KnownFile(config_folder() / NAME, self._files)

    @property
    def root(self) -> str:
        """Where the workspace is, links followed."""
        return os.path.realpath(self._layout.root)

    def look(self) -> Sight:
        """How the workspace, as far as its journal was read, stands to what was known."""
        house = self._house
        basis = (self.file.signature(), house.position, house.damage is None)
        if basis != self._of:
            self._of, self._sight = basis, self._compared()
        return self._sight

    def require(self) -> None:
        """Raises ``owners_changed``, or why the file cannot be read: then nothing is signed."""
        sight = self.look()
        if sight.problem is not None:
            raise sight.problem
        if sight.change is not None:
            raise Damaged(
                "owners_changed",
                sight.change,
                next=TRUST,
                root=self.root,
                known=sight.known.owners if sight.known else {},
                present=self._present(),
            )

    def damage(self) -> tuple[Damage, ...]:
        """The change as damage of the workspace, for projections. A folder that may not be
        entered is not this user's home, and knows nothing that could be compared."""
        sight = self.look()
        problem = sight.problem
        if problem is not None and problem.code != "permission":
            return (Damage(OWNERS_CHANGED, problem.message, command=problem.next or TRUST),)
        return (Damage(OWNERS_CHANGED, sight.change, command=TRUST),) if sight.change else ()

    def see(self) -> None:
        """Pins on first sight, and moves the pin to owners that its chain explains. A person
        is looking or has signed, and nothing is done in an agent's shell. Where nothing can be
        kept, nothing is pinned."""
        if os.environ.get("LOOPX_AGENT"):
            return
        sight, house = self.look(), self._house
        if sight.change or sight.problem or house.damage is not None or not self._present():
            return
        try:
            now = self._now()
            if now != sight.known:
                self.file.put(now)
        except LoopxError:
            # A home that is missing, full or read-only keeps nobody from working.
            return

    def trust(self) -> Known:
        """Pins what stands there now, whatever was known; durable on return. Raises what
        writing the file raises."""
        self._house.require_whole()
        now = self._now()
        self.file.put(now)
        return now

    def known_here(self) -> Known | None:
        """What is known at this place. Raises why the file cannot be read."""
        return next((one for one in self.file.read() if one.root == self.root), None)

    def _compared(self) -> Sight:
        try:
            every = self.file.read()
        except LoopxError as error:
            return Sight(problem=error)
        own = self._house.state.workspace_id
        here = [one for one in every if one.root == self.root]
        there = [one for one in every if one.workspace_id == own]
        known = next(iter([*here, *there]), None)
        return Sight() if known is None else Sight(known, self._change(known))

    def _change(self, known: Known) -> str | None:
        house = self._house
        who = ", ".join(sorted(known.owners.values()))
        if house.state.workspace_id != known.workspace_id:
            return f"Another workspace stands in {known.root} than the one known here, of {who}"
        if house.position.seq < known.seq and house.damage is not None:
            return None  # The damage is told already, and whose it was is behind it.
        then = {one.fingerprint for one in house.state.owners_at(known.seq + 1)}
        if house.hash_at(known.seq) == known.head and then == set(known.owners):
            return None
        now = ", ".join(sorted(self._present().values())) or "nobody"
        return f"The owners of {self._layout.root} are not those known here: {who}; now {now}"

    def _now(self) -> Known:
        house = self._house
        seq = house.state.owners_seq
        return Known(
            root=self.root,
            workspace_id=house.state.workspace_id,
            seq=seq,
            head=house.hash_at(seq) or "",
            owners=self._present(),
        )

    def _present(self) -> dict[str, str]:
        return {one.fingerprint: one.name for one in self._house.state.present_owners}
