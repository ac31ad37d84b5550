"""Keys held against the owners of a workspace: which could sign here, and opening one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from loopx_kernel.domain.roster_state import Owner
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.person import KeyFile, candidate_keys, look_at_key

if TYPE_CHECKING:
    from loopx_kernel.trust.keys import PrivateKey


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """A key file. ``owner`` is whose it is in this workspace, ``None`` if nobody's.

    ``problem`` is a sentence: why it cannot be used, or, for a ``usable`` key,
    what is wrong with who may read it.
    """

    path: Path
    owner: str | None
    fingerprint: str
    public_line: str
    needs_passphrase: bool
    allow_unattended: bool
    problem: str | None
    usable: bool

    @property
    def level(self) -> Literal["software", "passphrase"]:
        """How strongly a signature with this key speaks for its owner."""
        return "passphrase" if self.needs_passphrase and not self.allow_unattended else "software"


class Keys:
    """The keys a person may sign with."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def choices(self, explicit: Path | None = None) -> tuple[KeyChoice, ...]:
        """The keys to choose from: the one named, else ``$LOOPX_KEY``, else the ``key`` of the
        person's own configuration and LoopX's own key. Asks nobody."""
        with self._core.lock:
            self._core.house.refresh()
            owners = self._core.house.state.present_owners
        return tuple(_choice(look_at_key(path), owners) for path in candidate_keys(explicit))

    def unlock(self, choice: KeyChoice | KeyFile, passphrase: bytes | None) -> PrivateKey:
        """The key, ready to sign; nothing is kept. Raises ``wrong_passphrase``, ``no_key``."""
        from loopx_kernel.trust.keys import load_private

        return load_private(choice.path, passphrase)


def _choice(key: KeyFile, owners: tuple[Owner, ...]) -> KeyChoice:
    owner = next((o for o in owners if key.fingerprint and o.fingerprint == key.fingerprint), None)
    unattended = bool(owner and owner.allow_unattended)
    refusal = _refusal(key, owner)
    return KeyChoice(
        path=key.path,
        owner=owner.name if owner else None,
        fingerprint=key.fingerprint,
        public_line=key.public_line,
        needs_passphrase=key.needs_passphrase,
        allow_unattended=unattended,
        problem=refusal or key.problem,
        usable=refusal is None,
    )


def _refusal(key: KeyFile, owner: Owner | None) -> str | None:
    if not key.fingerprint:
        return key.problem
    if owner is None:
        return f"{key.fingerprint} is not enrolled in this workspace"
    if not key.needs_passphrase and not owner.allow_unattended:
        return (
            f"{key.path} has no passphrase, and {owner.name} was not enrolled with "
            "--allow-unattended"
        )
    return None
