"""`loopx connect`: make or re-use .loopx, and enrol the first owner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Command
from loopx_kernel.cli.session import Session
from loopx_kernel.errors import LoopxError
from loopx_kernel.value import Value

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.cli.person import SigningKey, Terminal
    from loopx_kernel.workspace import KeyChoice, Unsigned, Workspace
    from loopx_kernel.workspace.connecting import Wish
    from loopx_kernel.workspace.guide import Placed

SCHEMA = "loopx_connect_v0"
START_GOAL = "loopx start-goal --guided"
NOT_INITIALISED = f"not initialised: {START_GOAL}"


class Guided(Value):
    """What became of the block for agents in their page."""

    path: str
    placed: Placed

    @property
    def sentence(self) -> str:
        """One line for people."""
        return f"block for agents in {self.path}: {self.placed}"


@click.command("connect", cls=Command, example="loopx connect --owner huang --new-key")
@click.option("--owner", metavar="NAME", help="Your name here [default: your user name].")
@click.option("--new-key", is_flag=True, help="Make a key for LoopX alone, with a passphrase.")
@click.option("--no-passphrase", is_flag=True, help="With --new-key: without one.")
@click.option(
    "--allow-unattended",
    is_flag=True,
    help="The key may decide without you being asked; stands beside every decision.",
)
@click.option(
    "--confirmed",
    is_flag=True,
    help="Your ssh-agent holds the key and asks you at each use (ssh-add -c); your claim.",
)
@click.option(
    "--replaces",
    is_flag=True,
    help="Begin anew in sight of everybody, as no owner has a key any more; the old is kept.",
)
@click.option(
    "--agents-file",
    metavar="FILE",
    help="Also put a block for agents into this page of the folder, such as AGENTS.md.",
)
@click.pass_obj
def command(
    session: Session,
    /,
    *,
    agents_file: str | None,
    owner: str | None,
    new_key: bool,
    no_passphrase: bool,
    allow_unattended: bool,
    confirmed: bool,
    replaces: bool,
) -> None:
    """Make or re-use .loopx here, and enrol the first owner.

    On a workspace that has an owner it changes not one byte of .loopx, unless you say that it
    --replaces that.
    """
    root = _place(session)
    present = None if replaces else _connected(session, root)
    if present is not None:
        _show_present(session, present, _guided(root, agents_file))
        return
    from loopx_kernel.cli.person import named_key
    from loopx_kernel.workspace.connecting import Wish, check, user_name

    wish = Wish(
        owner=owner or user_name(),
        key=named_key(session),
        new_key=new_key,
        passphrase=not no_passphrase,
        unattended=allow_unattended,
        confirmed=confirmed,
        replaces=replaces,
    )
    _enrol(session, root, check(wish), agents_file)


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


def _guided(root: Path, agents_file: str | None) -> Guided | None:
    if agents_file is None:
        return None
    from loopx_kernel.workspace.guide import put_guide

    return Guided(agents_file, put_guide(root, agents_file))


def _show_present(session: Session, workspace: Workspace, guided: Guided | None) -> None:
    from loopx_kernel.workspace.connecting import note

    goals = workspace.goal_ids
    owners = [owner.name for owner in workspace.owners.list() if owner.revoked_seq is None]
    note(workspace)
    view = workspace.workspace_view(projection="connect")
    body = {
        "root": str(workspace.root),
        "workspace_id": workspace.workspace_id,
        "created": False,
        "owners": owners,
        "goals": goals,
        "next": None if goals else START_GOAL,
        "agents_file": guided,
    }

    def show(printer: Printer) -> None:
        printer.line(f"connected already: {workspace.root}, owned by {', '.join(owners)}")
        if guided is not None:
            printer.line(guided.sentence)
        printer.line(f"goals: {', '.join(goals)}" if goals else NOT_INITIALISED)

    session.answer(SCHEMA, view.envelope, body, show)


def _enrol(session: Session, root: Path, wish: Wish, agents_file: str | None) -> None:
    from loopx_kernel.cli.begin_anew import confirm
    from loopx_kernel.cli.person import Terminal, new_passphrase, refuse_agents
    from loopx_kernel.workspace.connecting import begin, finish

    refuse_agents(session)
    by_itself = wish.unattended and not (wish.new_key and wish.passphrase) and not wish.replaces
    terminal = None if by_itself else Terminal()
    if wish.replaces and terminal is not None:
        confirm(terminal, root)
    passphrase = None
    if wish.new_key and wish.passphrase and terminal is not None:
        terminal.say("A new key for LoopX; you type its passphrase at each decision.")
        passphrase = new_passphrase(terminal, f"loopx connect --owner {wish.owner} --new-key")
    begun = begin(root, wish, passphrase, clock=session.clock, event_id=session.options.event_id)
    workspace, choice = begun.workspace, begun.key
    key = _open(workspace, choice, begun.unsigned, passphrase, terminal)
    done = workspace.append(begun.unsigned, key)
    finish(begun, wish)
    guided = _guided(root, agents_file)
    session.done(
        workspace,
        done,
        f"{root} is connected; {wish.owner} owns it with {choice.fingerprint} ({choice.place})",
        owner={"name": wish.owner, "fingerprint": choice.fingerprint, "level": choice.level},
        next=START_GOAL,
        agents_file=guided,
    )
    if not session.options.json:
        if guided is not None:
            session.printer().line(guided.sentence)
        session.printer().line(NOT_INITIALISED)


def _open(
    workspace: Workspace,
    choice: KeyChoice,
    unsigned: Unsigned,
    passphrase: bytes | None,
    terminal: Terminal | None,
) -> SigningKey:
    from loopx_kernel.cli.person import Terminal, consent

    if passphrase is not None or choice.asks is None:
        return workspace.keys.unlock(choice, passphrase)
    return consent(workspace, choice, unsigned, terminal or Terminal())
