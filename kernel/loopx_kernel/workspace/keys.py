"""A person's own keys: which could sign here, how strong they are, and opening one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from loopx_kernel.errors import LoopxError, UsageError
from loopx_kernel.workspace.core import Core

if TYPE_CHECKING:
    from loopx_kernel.trust.keys import PrivateKey, PublicKey

KEY_NAME = "loopx_ed25519"


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
        return tuple(self._choice(path) for path in _candidates(explicit))

    def unlock(self, choice: KeyChoice, passphrase: bytes | None) -> PrivateKey:
        """The key, ready to sign; nothing is kept. Raises ``wrong_passphrase``, ``no_key``."""
        from loopx_kernel.trust.keys import load_private

        return load_private(choice.path, passphrase)

    def generate(self, path: Path, comment: str, passphrase: bytes | None) -> KeyChoice:
        """Makes an ed25519 key file, durable on return; ``exists`` if one is there."""
        from loopx_kernel.trust.keys import generate

        generate(path, comment, passphrase)
        return self._choice(path)

    def _choice(self, path: Path) -> KeyChoice:
        from loopx_kernel.trust.keys import needs_passphrase, permissions_problem, public_of

        try:
            public = public_of(path)
            locked = needs_passphrase(path)
            exposed = permissions_problem(path)
        except LoopxError as error:
            return KeyChoice(path, None, "", "", False, False, error.message, usable=False)
        owner = self._owner_of(public)
        problem = exposed and f"{path}: {exposed}"
        usable = owner is not None
        if owner is None:
            problem = f"{public.fingerprint} is not enrolled in this workspace"
        elif not locked and not owner.allow_unattended:
            problem = (
                f"{path} has no passphrase, and {owner.name} was not enrolled with "
                "--allow-unattended"
            )
            usable = False
        return KeyChoice(
            path=path,
            owner=owner.name if owner else None,
            fingerprint=public.fingerprint,
            public_line=public.line,
            needs_passphrase=locked,
            allow_unattended=bool(owner and owner.allow_unattended),
            problem=problem,
            usable=usable,
        )

    def _owner_of(self, public: PublicKey) -> Any:
        for owner in self._core.house.state.present_owners:
            if owner.fingerprint == public.fingerprint:
                return owner
        return None


def config_folder() -> Path:
    """The person's own configuration folder."""
    from platformdirs import user_config_path

    return user_config_path("loopx")


def default_key() -> Path:
    """Where ``connect --new-key`` puts LoopX's own key."""
    return config_folder() / KEY_NAME


def _candidates(explicit: Path | None) -> list[Path]:
    if explicit is not None:
        return [explicit]
    if named := os.environ.get("LOOPX_KEY"):
        return [Path(named).expanduser()]
    found = [path for path in (_configured(), default_key()) if path is not None]
    return [path for path in dict.fromkeys(found) if path.exists()]


def _configured() -> Path | None:
    path = config_folder() / "config.yaml"
    if not path.exists():
        return None
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        values = YAML(typ="safe").load(path)
        named = values.get("key") if isinstance(values, dict) else None
        return Path(named).expanduser() if isinstance(named, str) else None
    except (YAMLError, OSError, UnicodeDecodeError):
        raise UsageError(
            "invalid_value",
            f"{path} is not YAML that can be read",
            next=f"mend {path}, or name the key with --key PATH",
            path=str(path),
        ) from None
