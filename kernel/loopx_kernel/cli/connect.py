"""`loopx connect`: make or re-use .loopx, and enrol the first owner."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Command
from loopx_kernel.cli.session import Session
from loopx_kernel.errors import Denied, LoopxError, UsageError

if TYPE_CHECKING:
    from loopx_kernel.cli.person import Terminal
    from loopx_kernel.workspace import KeyChoice, Workspace

SCHEMA = "loopx_connect_v0"
START_GOAL = "loopx start-goal --guided"


@dataclass(frozen=True, slots=True)
class Wish:
    """What the person asked for: whose key, which, and how it may be used."""

    owner: str
    key: Path | None
    new_key: bool
    passphrase: bool
    unattended: bool


@click.command("connect", cls=Command, example="loopx connect --owner huang --new-key")
@click.option("--owner", metavar="NAME", help="Your name here [default: your user name].")
@click.option("--new-key", is_flag=True, help="Make a key for LoopX alone, with a passphrase.")
@click.option("--no-passphrase", is_flag=True, help="With --new-key: without one.")
@click.option(
    "--allow-unattended",
    is_flag=True,
    help="The key may decide without you being asked; stands beside every decision.",
)
@click.pass_obj
def command(
    session: Session,
    owner: str | None,
    new_key: bool,
    no_passphrase: bool,
    allow_unattended: bool,
) -> None:
    """Make or re-use .loopx here, and enrol the first owner.

    On a workspace that has an owner it changes not one byte.
    """
    root = _place(session)
    present = _connected(session, root)
    if present is not None:
        _show_present(session, present)
        return
    wish = Wish(
        owner=owner or _user_name(),
        key=Path(session.options.key).expanduser() if session.options.key else None,
        new_key=new_key,
        passphrase=not no_passphrase,
        unattended=allow_unattended,
    )
    _check(wish)
    _enrol(session, root, wish)


def _place(session: Session) -> Path:
    from loopx_kernel.workspace import Workspace

    if session.options.root:
        return Path(session.options.root)
    return Workspace.find() or Path.cwd()


def _connected(session: Session, root: Path) -> Workspace | None:
    """The workspace, if it is there and has an owner."""
    from loopx_kernel.workspace import Workspace

    try:
        workspace = Workspace.open(root, clock=session.clock, read_only=True)
    except LoopxError as error:
        if error.code == "not_initialised":
            return None
        raise
    return workspace if workspace.owners.list() else None


def _show_present(session: Session, workspace: Workspace) -> None:
    goals = workspace.goal_ids
    owners = [owner.name for owner in workspace.owners.list() if owner.revoked_seq is None]
    view = workspace.workspace_view(projection="connect")
    body = {
        "root": str(workspace.root),
        "workspace_id": workspace.workspace_id,
        "created": False,
        "owners": owners,
        "goals": goals,
        "next": None if goals else START_GOAL,
    }

    session.answer(
        SCHEMA,
        view.envelope,
        body,
        lambda printer: (
            printer.line(f"connected already: {workspace.root}, owned by {', '.join(owners)}"),
            printer.line(f"goals: {', '.join(goals)}" if goals else _not_initialised()),
        )[0],
    )


def _check(wish: Wish) -> None:
    if wish.new_key and wish.key is not None:
        raise UsageError(
            "invalid_value",
            "--key names a key you have, --new-key makes one",
            next="loopx connect --new-key",
        )
    if not wish.passphrase and not (wish.new_key and wish.unattended):
        raise UsageError(
            "invalid_value",
            "A key without a passphrase is only used where its owner allows unattended use",
            next="loopx connect --new-key --no-passphrase --allow-unattended",
        )
    if wish.key is not None and not wish.key.is_file():
        raise Denied(
            "no_key", f"There is no key file {wish.key}", next="loopx connect --new-key",
            path=str(wish.key),
        )


def _enrol(session: Session, root: Path, wish: Wish) -> None:
    from loopx_kernel.cli.person import Terminal, consent, new_passphrase, refuse_agents
    from loopx_kernel.workspace import Workspace

    refuse_agents(session)
    terminal = None if wish.unattended else Terminal()
    passphrase = None
    if wish.new_key and wish.passphrase:
        terminal = terminal or Terminal()
        passphrase = new_passphrase(terminal)
    workspace = Workspace.connect(root, clock=session.clock)
    if wish.new_key:
        choice = workspace.keys.generate(_new_key_path(), f"loopx:{wish.owner}", passphrase)
    else:
        choice = _present_key(workspace, wish)
    unsigned = workspace.owners.enroll_first(wish.owner, choice.public_line, wish.unattended)
    if passphrase is not None:
        key = workspace.keys.unlock(choice, passphrase)
    elif wish.unattended and not choice.needs_passphrase:
        key = workspace.keys.unlock(choice, None)
    else:
        key = consent(workspace, choice, unsigned, terminal or Terminal())
    done = workspace.append(unsigned, key)
    if wish.new_key:
        _remember(choice)
    session.done(
        workspace,
        done,
        f"{root} is connected; {wish.owner} owns it with {choice.fingerprint} ({choice.path})",
        owner={"name": wish.owner, "fingerprint": choice.fingerprint},
        next=START_GOAL,
    )
    if not session.options.json:
        session.printer().line(_not_initialised())


def _not_initialised() -> str:
    return f"not initialised: {START_GOAL}"
