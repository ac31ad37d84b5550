"""What is said of people and their keys: how strong a decision is here, what makes
that so, and how to raise it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from loopx_kernel.domain.levels import LEVELS, MEANING
from loopx_kernel.workspace.findings import Finding

if TYPE_CHECKING:
    from loopx_kernel.domain.event import Level
    from loopx_kernel.domain.roster_state import Owner
    from loopx_kernel.workspace import KeyChoice, Workspace
    from loopx_kernel.workspace.keys import Held

_RAISE = {
    "none": "loopx connect makes the first owner",
    "software": "enrol a key with a passphrase and revoke this one: loopx owner enroll, "
    "loopx owner revoke",
    "passphrase": "a program of this user can still watch it being typed; stronger is a hardware "
    "key (ssh-keygen -t ed25519-sk, ssh-add, loopx owner enroll), or agents that run as another "
    "user (docs/trust.md)",
    "confirmed": "whether the agent does ask, nobody but its owner can tell; stronger is a "
    "hardware key (ssh-keygen -t ed25519-sk)",
    "presence": "it cannot be raised; agents that run as another user make it rest on more than "
    "one thing (docs/trust.md)",
}


def present_owners(workspace: Workspace) -> list[Owner]:
    """The owners whose key counts now."""
    return [owner for owner in workspace.owners.list() if owner.revoked_seq is None]


def weakest(owners: Sequence[Owner]) -> Level:
    """The weakest level at which a decision can be signed here."""
    return min((owner.level for owner in owners), key=LEVELS.index, default="none")


def findings(workspace: Workspace) -> Iterator[Finding]:
    """Owners, the level their keys give, the keys of the person here, and their ssh-agent."""
    from loopx_kernel.workspace.keys import held_by_agent

    owners = present_owners(workspace)
    names = ", ".join(f"{owner.name} {owner.fingerprint}" for owner in owners)
    yield Finding("owners", bool(owners), names or "nobody can decide here", "loopx connect")
    for owner in owners:
        unattended = "UNATTENDED, " if owner.allow_unattended else ""
        detail = f"{unattended}{owner.level}: {MEANING[owner.level]}"
        yield Finding(f"owner {owner.name}", True, detail, warns=owner.allow_unattended)
    yield from _narrowing(workspace, owners)
    yield _known(workspace)
    old = workspace.owners.replaces
    if old is not None:
        detail = f"{old.workspace_id}, which ended at #{old.seq}; nothing decided there counts here"
        yield Finding("begun in place of", True, detail, warns=True)
    level = weakest(owners)
    detail = f"{level}; to raise it: {_RAISE[level]}"
    yield Finding("level", True, detail, warns=level == "software")
    choices = workspace.keys.choices()
    for choice in choices:
        # A key of yours that is nobody's here is no fault of this workspace.
        well = choice.usable or (choice.owner is None and bool(choice.fingerprint))
        detail = choice.problem or f"{choice.owner} signs with it, {choice.level}"
        yield Finding(f"key {choice.place}", well, detail, choice.fix)
    yield _agent(held_by_agent(), owners, choices)


def _known(workspace: Workspace) -> Finding:
    """What this person knew the workspace to be, on this machine."""
    pins = workspace.owners.pins
    sight, path = pins.look(), pins.file.path
    if sight.problem is not None:
        return Finding("known workspace", False, sight.problem.message, sight.problem.next)
    if sight.change is not None:
        return Finding("known workspace", False, sight.change, "loopx owner trust")
    if sight.known is None:
        detail = f"nothing is pinned in {path} yet, so a swapped workspace would not be noticed"
        return Finding("known workspace", True, f"{detail}; looking at it on a terminal does it")
    who = ", ".join(sorted(sight.known.owners.values()))
    return Finding("known workspace", True, f"that of {who}, as {path} has it")


def _narrowing(workspace: Workspace, owners: Sequence[Owner]) -> Iterator[Finding]:
    """The file that narrows whose decisions count, if one is named."""
    found = workspace.owners.narrowing
    if found is None:
        return
    outside = [owner.name for owner in owners if not found.names(owner.fingerprint)]
    detail = f"{found.path} leaves {len(owners) - len(outside)} of {len(owners)} owners"
    if outside:
        detail += f"; decisions of {', '.join(outside)} do nothing here"
    if os.access(found.path, os.W_OK):
        detail += "; this user may write it, so it stops none of this user's programs"
    yield Finding("LOOPX_OWNERS", True, detail, warns=bool(outside))
    for bad in found.bad:
        detail = f"line {bad.line} counts for nothing: {bad.reason}"
        yield Finding("LOOPX_OWNERS", False, detail, f"mend {found.path}")


def _agent(held: Held, owners: Sequence[Owner], choices: Sequence[KeyChoice]) -> Finding:
    if held.socket is None:
        return Finding("ssh-agent", True, "none here (SSH_AUTH_SOCK); no key comes from one")
    if held.problem is not None:
        return Finding("ssh-agent", True, held.problem.message, warns=True)
    for owner in owners:
        if owner.level != "passphrase" or not held.has(owner.fingerprint):
            continue
        files = (one.path for one in choices if one.fingerprint == owner.fingerprint)
        file = next((str(path) for path in files if path != held.socket), "FILE")
        return Finding(
            "ssh-agent",
            False,
            f"holds the key of {owner.name}, so that every program of this user can sign with it "
            "and no passphrase is asked for",
            f"ssh-add -d {shlex.quote(file)}",
        )
    ours = ", ".join(owner.name for owner in owners if held.has(owner.fingerprint))
    return Finding("ssh-agent", True, f"answers, and holds the key of {ours or 'no owner here'}")
