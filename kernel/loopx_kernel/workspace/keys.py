"""Keys held against the owners of a workspace: which could sign here, and opening one.

A key is used in the way it was enrolled, and in no other:

| enrolled | signs with |
| --- | --- |
| with neither word | its file, which has a passphrase |
| ``--confirmed`` | ssh-agent alone, which asks its owner at each use |
| ``--allow-unattended`` | its file, else ssh-agent, whether anybody is there or not |
| a hardware key | ssh-agent alone, and a touch |
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from loopx_kernel.domain.event import Level
from loopx_kernel.domain.levels import is_hardware, level_of_key
from loopx_kernel.domain.roster_state import Owner
from loopx_kernel.errors import Denied
from loopx_kernel.value import Value
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.person import KeyFile, candidate_keys, is_named, look_at_key

if TYPE_CHECKING:
    from loopx_kernel.trust.keys import PublicKey
    from loopx_kernel.trust.sshsig import Signer
    from loopx_kernel.workspace.narrowing import Narrowing
    from loopx_kernel.workspace.signing import Unsigned


class KeyChoice(Value):
    """A key. ``owner`` is whose it is in this workspace, ``None`` if nobody's.

    ``path`` is its file, or the socket of the agent that signs with a key ``in_agent``.
    ``problem`` is a sentence, why it cannot be used, with the error's ``code`` and the ``fix``
    that helps; ``None`` for a ``usable`` key.
    """

    path: Path
    owner: str | None
    fingerprint: str
    public_line: str
    needs_passphrase: bool
    allow_unattended: bool
    problem: str | None
    usable: bool
    confirmed: bool = False
    in_agent: bool = False
    code: str = "no_key"
    fix: str | None = None

    @property
    def level(self) -> Level:
        """How strongly a signature with this key speaks for its owner."""
        return level_of_key(
            self.public_line, allow_unattended=self.allow_unattended, confirmed=self.confirmed
        )

    @property
    def asks(self) -> Literal["passphrase", "agent", "touch"] | None:
        """What its owner has to do for a signature: type the passphrase, answer the agent's
        question or touch the key; ``None`` where it signs with nobody present."""
        if not self.in_agent:
            return "passphrase" if self.needs_passphrase else None
        return {"presence": "touch", "confirmed": "agent"}.get(self.level)  # type: ignore[return-value]

    @property
    def place(self) -> str:
        """Where the key is, in words."""
        return f"ssh-agent at {self.path}" if self.in_agent else str(self.path)


class Held(Value):
    """What the person's ssh-agent holds; it is asked once, when that first matters.

    ``socket`` is ``$SSH_AUTH_SOCK``, ``None`` without one.
    """

    socket: Path | None

    @cached_property
    def _answer(self) -> tuple[tuple[PublicKey, ...], Denied | None]:
        from loopx_kernel.trust.agent import Agent

        if self.socket is None:
            return (), None
        try:
            return Agent(self.socket).held(), None
        except Denied as problem:
            return (), problem

    @property
    def keys(self) -> tuple[PublicKey, ...]:
        """Its keys of kinds LoopX can use, in its order."""
        return self._answer[0]

    @property
    def problem(self) -> Denied | None:
        """Why it could not be asked (``no_agent``)."""
        return self._answer[1]

    def has(self, fingerprint: str) -> bool:
        """Whether it holds this key."""
        return any(key.fingerprint == fingerprint for key in self.keys)


class Keys:
    """The keys a person may sign with."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def choices(self, explicit: Path | None = None) -> tuple[KeyChoice, ...]:
        """The keys to choose from: the one named, else ``$LOOPX_KEY``, else the ``key`` of the
        person's own configuration, LoopX's own key, and the enrolled ones in ssh-agent. Asks
        nobody."""
        with self._core.lock:
            self._core.house.refresh()
            owners = self._core.house.state.present_owners
            narrowing = self._core.house.narrowing
        held = held_by_agent()
        files = [look_at_key(path) for path in candidate_keys(explicit)]
        of = {owner.fingerprint: owner for owner in owners}
        if not is_named(explicit):
            files += [file for file in _held_alone(files, held) if file.fingerprint in of]
        choices = tuple(_choice(file, of.get(file.fingerprint), held) for file in files)
        return tuple(_narrowed(choice, narrowing) for choice in choices)

    def unlock(
        self, choice: KeyChoice, passphrase: bytes | None, unsigned: Unsigned | None = None
    ) -> Signer:
        """The key, ready to sign; nothing is kept. Raises ``wrong_passphrase``, and the error
        of a key that is not usable.

        An agent signs ``unsigned`` at once, which may take until somebody touched the key or
        answered: ``agent_refused`` after 30 s. Without it, it is asked when the key signs.
        """
        if not choice.usable:
            raise Denied(choice.code, choice.problem or "", next=choice.fix)
        if choice.in_agent:
            from loopx_kernel.trust.agent import Agent, AgentKey
            from loopx_kernel.trust.keys import parse_public_line
            from loopx_kernel.trust.sshsig import data_of

            key = AgentKey(Agent(choice.path), parse_public_line(choice.public_line))
            return key if unsigned is None else key.ask(data_of(unsigned.statement_bytes))
        from loopx_kernel.trust.keys import load_private

        return load_private(choice.path, passphrase)


def _narrowed(choice: KeyChoice, narrowing: Narrowing | None) -> KeyChoice:
    """A key that ``$LOOPX_OWNERS`` leaves out cannot be used."""
    if narrowing is None or choice.owner is None or narrowing.names(choice.fingerprint):
        return choice
    problem = f"{choice.owner}'s key does not stand in {narrowing.path}, which LOOPX_OWNERS names"
    return replace(choice, usable=False, problem=problem, fix="loopx owner list")


_THROUGH_AGENT = {
    "presence": ("is a hardware key, which signs through ssh-agent", "ssh-add"),
    "confirmed": ("was enrolled to be confirmed at each use by ssh-agent", "ssh-add -c"),
}


def held_by_agent() -> Held:
    """What the ssh-agent of this shell holds."""
    named = os.environ.get("SSH_AUTH_SOCK")
    return Held(Path(named) if named else None)


def prospect(key: KeyFile, owner: str, *, unattended: bool, confirmed: bool) -> KeyChoice:
    """The choice that a key would be once it is enrolled so."""
    if not key.fingerprint:
        return _choice(key, None, held_by_agent())
    enrolled = Owner(
        name=owner,
        key=key.public_line,
        fingerprint=key.fingerprint,
        allow_unattended=unattended,
        confirmed=confirmed,
        enrolled_seq=0,
    )
    return _choice(key, enrolled, held_by_agent())


def prospects(owner: str) -> tuple[KeyChoice, ...]:
    """The choice that each key of the person would be once it is enrolled: the one named in
    ``$LOOPX_KEY``, else those of their own folder, opened with their passphrase, and those in
    ssh-agent, which asks for a touch or to be confirmed at each use. Asks nobody."""
    files = [look_at_key(path) for path in candidate_keys(None)]
    held = list(_held_alone(files, held_by_agent())) if not is_named(None) else []
    return (
        *(prospect(file, owner, unattended=False, confirmed=False) for file in files),
        *(
            prospect(file, owner, unattended=False, confirmed=not is_hardware(file.public_line))
            for file in held
        ),
    )


class _Refusal(Value):
    """Why a key is not used, and what helps."""

    problem: str
    fix: str
    code: str = "no_key"


def _held_alone(files: Iterable[KeyFile], held: Held) -> Iterator[KeyFile]:
    """The keys that the agent holds and no file tells of; their place is the agent."""
    told = {file.fingerprint for file in files}
    for key in held.keys:
        if key.fingerprint not in told and held.socket is not None:
            yield KeyFile(held.socket, key.fingerprint, key.line)


def _choice(key: KeyFile, owner: Owner | None, held: Held) -> KeyChoice:
    choice = KeyChoice(
        path=key.path,
        owner=owner.name if owner else None,
        fingerprint=key.fingerprint,
        public_line=key.public_line,
        needs_passphrase=key.needs_passphrase,
        allow_unattended=bool(owner and owner.allow_unattended),
        problem=None,
        usable=True,
        confirmed=bool(owner and owner.confirmed),
    )
    refusal = _why_nobodys(key, owner) or _why_not_from_file(key, choice.level, held)
    if refusal is None:
        return choice
    by_agent = owner is not None and choice.level != "passphrase"
    if by_agent and held.socket is not None and held.has(key.fingerprint):
        return replace(choice, path=held.socket, in_agent=True, needs_passphrase=False)
    if by_agent and held.problem is not None:
        refusal = _Refusal(held.problem.message, held.problem.next or "", held.problem.code)
    return replace(
        choice, usable=False, problem=refusal.problem, code=refusal.code, fix=refusal.fix
    )


def _why_nobodys(key: KeyFile, owner: Owner | None) -> _Refusal | None:
    if not key.fingerprint:
        return _Refusal(key.problem or f"no key at {key.path}", "loopx owner list")
    if owner is None:
        why = f"{key.fingerprint} ({key.path}) is not enrolled in this workspace"
        return _Refusal(why, "loopx owner list")
    return None


def _why_not_from_file(key: KeyFile, level: Level, held: Held) -> _Refusal | None:
    """Why a key of this level does not sign from its file."""
    path = shlex.quote(str(key.path).removesuffix(".pub"))
    if level in _THROUGH_AGENT:
        what, command = _THROUGH_AGENT[level]
        return _Refusal(f"{key.path} {what}, and yours does not hold it", f"{command} {path}")
    if not key.opens and level == "passphrase" and held.has(key.fingerprint):
        why = "is in ssh-agent, which signs unasked for every program of yours; it was enrolled "
        why += "to be opened with its passphrase"
        return _Refusal(f"{key.fingerprint} {why}", "name its file: --key PATH")
    if not key.opens:
        why = "the private half of the key is not there, and ssh-agent does not hold it"
        return _Refusal(f"{key.path}: {why}", f"ls -l {path}")
    if key.problem:
        return _Refusal(f"{key.problem}, so it is not used", f"chmod 600 {path}")
    if level == "passphrase" and not key.needs_passphrase:
        why = "has no passphrase, and was not enrolled with --allow-unattended"
        return _Refusal(f"{key.path} {why}", f"ssh-keygen -p -f {path}")
    return None
