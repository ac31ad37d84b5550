"""``$LOOPX_OWNERS``: a file of keys beside the journal's, which narrows whose decisions count.

The file is in OpenSSH's allowed_signers format and somebody else's to write, root's for one.
A key must be enrolled *and* stand in it, under whatever name, within both periods. It is held
against every decision at the append and at every reading; those of other keys do nothing and
raise the alert. Who is enrolled and revoked follows from the journal alone, for everybody
alike: a revocation that counted for some only would let the file add a key.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from loopx_kernel.domain.event import Verdict
from loopx_kernel.domain.roster_state import Owner
from loopx_kernel.errors import LoopxError, Storage
from loopx_kernel.store.disk import MIB, read_regular
from loopx_kernel.store.files import Files
from loopx_kernel.value import Value
from loopx_kernel.workspace.person import at_home

if TYPE_CHECKING:
    from loopx_kernel.trust.owners import BadLine
    from loopx_kernel.trust.owners import Owner as Listed

NAME = "LOOPX_OWNERS"
EVERYWHERE = frozenset({"owner.enrolled", "owner.revoked"})
"""What is the same for everybody, whatever the file says."""
_LIMIT = 4 * MIB


class Narrowing(Value):
    """The file as it stands; ``digest`` is that of its bytes."""

    path: Path
    content: bytes
    digest: str

    @property
    def bad(self) -> tuple[BadLine, ...]:
        """Its lines that are none; no key counts for them."""
        return tuple(self._parsed[1])

    @property
    def count(self) -> int:
        """How many keys stand in it."""
        return len(self._listed)

    def names(self, fingerprint: str) -> bool:
        """Whether a key stands in it."""
        return fingerprint in self._listed

    def within(self, owners: Iterable[Owner]) -> tuple[Owner, ...]:
        """The same owners, each only for as long as the file says too."""
        return tuple(self._within(owner) for owner in owners)

    def judge(self, verdict: Verdict) -> Verdict:
        """The verdict on a signature, unless it is of a key that does not stand in the file."""
        if verdict.ok and not self.names(verdict.fingerprint or ""):
            return replace(verdict, ok=False, level="none", problem="outside")
        return verdict

    def _within(self, owner: Owner) -> Owner:
        listed = self._listed.get(owner.fingerprint)
        if listed is None:
            return owner
        period = {
            "valid_after": max(_known(owner.valid_after, listed.valid_after), default=None),
            "valid_before": min(_known(owner.valid_before, listed.valid_before), default=None),
        }
        return owner.model_copy(update=period)

    @cached_property
    def _parsed(self) -> tuple[list[Listed], list[BadLine]]:
        from loopx_kernel.trust.owners import parse_owners

        return parse_owners(self.content)

    @cached_property
    def _listed(self) -> dict[str, Listed]:
        return {owner.fingerprint: owner for owner in self._parsed[0]}


def _known(*times: datetime | None) -> list[datetime]:
    return [time for time in times if time is not None]


def look(before: Narrowing | None, *, files: Files) -> Narrowing | None:
    """The file that ``$LOOPX_OWNERS`` names, ``None`` where it names none. ``before`` is given
    back where the bytes are the same.

    Raises ``permission`` where it cannot be read: then nobody's decision could be told to
    count.
    """
    named = os.environ.get(NAME)
    if not named:
        return None
    path = Path(os.path.realpath(at_home(named)))
    try:
        content = read_regular(path, _LIMIT, files=files)
    except LoopxError as error:
        raise _unreadable(path, error.message) from None
    if content is None:
        raise _unreadable(path, "there is no such file")
    digest = hashlib.sha256(content).hexdigest()
    if before is not None and (before.path, before.digest) == (path, digest):
        return before
    return Narrowing(path, content, digest)


def alerts(narrowing: Narrowing | None) -> list[str]:
    """What is wrong with the lines of the file."""
    bad = narrowing.bad if narrowing else ()
    return [f"{NAME}: line {one.line} counts for nothing: {one.reason}" for one in bad]


def _unreadable(path: Path, why: str) -> Storage:
    return Storage(
        "permission",
        f"{NAME} names {path}, which cannot be read ({why}), so nobody's decisions count",
        next=f"mend {path}, or name another file in {NAME}",
        path=str(path),
    )
