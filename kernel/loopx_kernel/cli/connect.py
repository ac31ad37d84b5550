"""`loopx connect`: make or re-use .loopx, and enrol the first owner."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Command
from loopx_kernel.cli.session import Session
from loopx_kernel.errors import Conflict, Denied, LoopxError, UsageError

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.cli.person import SigningKey, Terminal
    from loopx_kernel.workspace import Unsigned, Workspace
    from loopx_kernel.workspace.person import KeyFile

SCHEMA = "loopx_connect_v0"
START_GOAL = "loopx start-goal --guided"
NOT_INITIALISED = f"not initialised: {START_GOAL}"


@dataclass(frozen=True, slots=True)
class Wish:
    """What the person asked for: whose key, which, and how it may be used."""

    owner: str
    key: Path | None
    new_key: bool
    passphrase: bool
    unattended: bool
    file: KeyFile | None = None


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
    /,
    *,
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
    _enrol(session, root, _check(wish))


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

    def show(printer: Printer) -> None:
        printer.line(f"connected already: {workspace.root}, owned by {', '.join(owners)}")
        printer.line(f"goals: {', '.join(goals)}" if goals else NOT_INITIALISED)

    session.answer(SCHEMA, view.envelope, body, show)


def _check(wish: Wish) -> Wish:
    """The wish, with a new key where the person has none; refused before anything is made."""
    from loopx_kernel.workspace.person import default_key

    if wish.owner != _legal_name(wish.owner):
        # Checked here too: a folder and a key would be made before the kernel refuses it.
        raise _invalid(
            f"{wish.owner!r} cannot be an owner's name",
            "use letters, digits, dots, dashes and @, for example --owner huang",
        )
    if wish.new_key and wish.key is not None:
        raise _invalid("--key names a key you have, --new-key makes one", "loopx connect --new-key")
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
    from loopx_kernel.workspace.person import candidate_keys, look_at_key

    files = [look_at_key(path) for path in candidate_keys(wish.key)]
    if not files:
        return replace(wish, new_key=True)
    found = next((file for file in files if file.fingerprint), None)
    if found is None:
        raise Denied("no_key", files[0].problem or "", next="loopx connect --new-key")
    if not found.needs_passphrase and not wish.unattended:
        raise _invalid(
            f"{found.path} has no passphrase, so it can only sign unattended",
            f"loopx connect --key {found.path} --allow-unattended",
        )
    return replace(wish, file=found)


def _enrol(session: Session, root: Path, wish: Wish) -> None:
    from loopx_kernel.cli.person import Terminal, new_passphrase, refuse_agents
    from loopx_kernel.workspace import Workspace
    from loopx_kernel.workspace.person import default_key, generate_key, remember_key

    refuse_agents(session)
    terminal = None if wish.unattended and not (wish.new_key and wish.passphrase) else Terminal()
    passphrase = None
    if wish.new_key and wish.passphrase and terminal is not None:
        terminal.say("A new key for LoopX; you type its passphrase at each decision.")
        passphrase = new_passphrase(terminal, f"loopx connect --owner {wish.owner} --new-key")
    workspace = Workspace.connect(root, clock=session.clock)
    file = wish.file or generate_key(default_key(), f"loopx:{wish.owner}", passphrase)
    unsigned = workspace.owners.enroll_first(
        wish.owner, file.public_line, wish.unattended, event_id=session.options.event_id
    )
    key = _open(workspace, file, unsigned, passphrase, terminal)
    done = workspace.append(unsigned, key)
    remember_key(file.path)
    session.done(
        workspace,
        done,
        f"{root} is connected; {wish.owner} owns it with {file.fingerprint} ({file.path})",
        owner={"name": wish.owner, "fingerprint": file.fingerprint},
        next=START_GOAL,
    )
    if not session.options.json:
        session.printer().line(NOT_INITIALISED)


def _open(
    workspace: Workspace,
    file: KeyFile,
    unsigned: Unsigned,
    passphrase: bytes | None,
    terminal: Terminal | None,
) -> SigningKey:
    from loopx_kernel.cli.person import Terminal, consent

    if passphrase is not None or not file.needs_passphrase:
        return workspace.keys.unlock(file, passphrase)
    return consent(workspace, file, unsigned, terminal or Terminal())


def _user_name() -> str:
    from getpass import getuser

    try:
        name = getuser()
    except (KeyError, OSError):
        name = ""
    return _legal_name(name) or "owner"


def _legal_name(text: str) -> str:
    """What of a text may be an owner's name."""
    return re.sub(r"[^A-Za-z0-9@._-]", "", text).lstrip("@._-")[:64]


def _invalid(message: str, step: str) -> UsageError:
    return UsageError("invalid_value", message, next=step)
