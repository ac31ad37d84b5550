"""Connecting a folder: whose key is enrolled first and how it may be used."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from loopx_kernel.errors import Conflict, Denied, LoopxError, UsageError
from loopx_kernel.value import Value
from loopx_kernel.workspace.keys import KeyChoice, prospect
from loopx_kernel.workspace.person import (
    KeyFile,
    candidate_keys,
    default_key,
    generate_key,
    look_at_key,
    remember_key,
)
from loopx_kernel.workspace.workspace import Workspace

if TYPE_CHECKING:
    from loopx_kernel.clock import Clock
    from loopx_kernel.workspace.signing import Unsigned


class Wish(Value):
    """What the person asked for: whose key, which, and how it may be used.

    ``key`` names its file; ``file`` is the key once it was looked at, or one that only ssh-agent
    tells of.
    """

    owner: str
    key: Path | None
    new_key: bool
    passphrase: bool
    unattended: bool
    confirmed: bool
    replaces: bool
    file: KeyFile | None = None


class Begun(Value):
    """A workspace that has no owner before ``unsigned`` is signed with ``key`` and appended."""

    workspace: Workspace
    key: KeyChoice
    unsigned: Unsigned


def begin(
    root: Path,
    wish: Wish,
    passphrase: bytes | None,
    *,
    clock: Clock | None = None,
    event_id: str | None = None,
) -> Begun:
    """Makes what is missing of the workspace and of the key, both durable on return.

    ``wish`` was checked; a new key gets the ``passphrase``. Raises ``owners_changed``, ``exists``
    where there is an owner already, and ``Storage``.
    """
    make = Workspace.replace if wish.replaces else Workspace.connect
    workspace = make(root, clock=clock)
    file = wish.file or generate_key(default_key(), f"loopx:{wish.owner}", passphrase)
    choice = prospect(file, wish.owner, unattended=wish.unattended, confirmed=wish.confirmed)
    unsigned = workspace.owners.enroll_first(
        wish.owner,
        choice.public_line,
        wish.unattended,
        confirmed=wish.confirmed,
        event_id=event_id,
    )
    return Begun(workspace, choice, unsigned)


def finish(begun: Begun, wish: Wish) -> None:
    """Notes the key and the workspace in the person's own folder, once it has an owner. A key
    that only ssh-agent tells of is found there."""
    path = wish.file.path if wish.file else default_key()
    if not (begun.key.in_agent and begun.key.path == path):
        remember_key(path)
    note(begun.workspace)


def note(workspace: Workspace) -> None:
    """Puts it on the person's list; a list that cannot be written is no reason to fail."""
    from loopx_kernel.workspace import listed

    with suppress(LoopxError):
        listed.add(workspace.root)


def check(wish: Wish) -> Wish:
    """The wish, with a new key where the person has none; refused before anything is made.

    Raises ``invalid_value``, ``exists`` where a new key would take an old one's place, and the
    error of a key that could not sign if it were enrolled so.
    """
    if wish.owner != legal_name(wish.owner):
        # Checked here too: a folder and a key would be made before the kernel refuses it.
        raise _invalid(
            f"{wish.owner!r} cannot be an owner's name",
            "use letters, digits, dots, dashes and @, for example --owner huang",
        )
    if wish.new_key and wish.key is not None:
        raise _invalid("--key names a key you have, --new-key makes one", "loopx connect --new-key")
    if wish.new_key and wish.confirmed:
        raise _invalid(
            "A new key is not in your ssh-agent yet, so it cannot ask you there",
            "ssh-keygen -t ed25519 -f FILE && ssh-add -c FILE, then loopx connect --key FILE "
            "--confirmed",
        )
    if not wish.passphrase and not (wish.new_key and wish.unattended):
        raise _invalid(
            "A key without a passphrase is only used where its owner allows unattended use",
            "loopx connect --new-key --no-passphrase --allow-unattended",
        )
    if wish.new_key and default_key().exists():
        raise Conflict(
            "exists",
            f"You have a LoopX key already: {default_key()}",
            next="loopx connect",
            path=str(default_key()),
        )
    return wish if wish.new_key else _with_own_key(wish)


def _with_own_key(wish: Wish) -> Wish:
    """The wish with the person's key looked at, or with a new one where they have none."""
    if wish.file is not None:
        files = [wish.file]
    else:
        files = [look_at_key(path) for path in candidate_keys(wish.key)]
    if not files and not wish.confirmed:
        return replace(wish, new_key=True)
    if not files:
        raise _invalid("--confirmed is said of a key you have", "loopx connect --key FILE.pub")
    file = next((file for file in files if file.fingerprint), files[0])
    choice = prospect(file, wish.owner, unattended=wish.unattended, confirmed=wish.confirmed)
    if not choice.usable:
        raise _unusable(choice, file)
    return replace(wish, file=file)


def _unusable(choice: KeyChoice, file: KeyFile) -> LoopxError:
    """Why no decision could be signed with the key, enrolled so, and how else it could be."""
    if not file.fingerprint:
        return Denied(choice.code, choice.problem or "", next="loopx connect --new-key")
    again = f"loopx connect --key {shlex.quote(str(file.path))}"
    if choice.level == "passphrase" and file.opens and not file.needs_passphrase:
        return _invalid(
            f"{file.path} has no passphrase, so it can only sign unattended",
            f"{again} --allow-unattended",
        )
    fix = choice.fix
    if choice.level == "passphrase" and not file.opens:
        fix = f"{again} --confirmed, if your agent asks at each use; else --allow-unattended"
    return Denied(choice.code, choice.problem or "", next=fix)


def user_name() -> str:
    """The name of this user, as far as it may be an owner's."""
    from getpass import getuser

    try:
        name = getuser()
    except (KeyError, OSError):
        name = ""
    return legal_name(name) or "owner"


def legal_name(text: str) -> str:
    """What of a text may be an owner's name."""
    return re.sub(r"[^A-Za-z0-9@._-]", "", text).lstrip("@._-")[:64]


def _invalid(message: str, step: str) -> UsageError:
    return UsageError("invalid_value", message, next=step)
