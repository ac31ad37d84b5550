"""`loopx owner`: the people whose keys count."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.person import decide
from loopx_kernel.cli.session import Session
from loopx_kernel.clock import parse_time, to_the_second
from loopx_kernel.errors import UsageError

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.domain.roster_state import Owner
    from loopx_kernel.workspace import Done, Unsigned, Workspace

F = TypeVar("F", bound=Callable[..., Any])

SCHEMA = "loopx_owners_v0"


@click.group("owner", cls=Group, example="loopx owner list")
def command() -> None:
    """The people whose keys count."""


@command.command("list", example="loopx owner list")
@click.pass_obj
def list_all(session: Session) -> None:
    """Who may decide, with which key, and how strong that is."""
    workspace = session.reading()
    owners = workspace.owners.list()

    def show(printer: Printer) -> None:
        printer.table(
            ("owner", "key", "use", "state"),
            (
                (
                    owner.name,
                    owner.fingerprint,
                    "UNATTENDED" if owner.allow_unattended else owner.level,
                    _standing(owner),
                )
                for owner in owners
            ),
        )

    session.answer(
        SCHEMA,
        workspace.workspace_view(projection="owners").envelope,
        {"owners": [_value(owner) for owner in owners]},
        show,
    )


def _value(owner: Owner) -> dict[str, Any]:
    return owner.model_dump(mode="json") | {"level": owner.level}


def _standing(owner: Owner) -> str:
    words = "enrolled"
    if owner.valid_after:
        words += f", from {to_the_second(owner.valid_after)}"
    if owner.valid_before:
        words += f", until {to_the_second(owner.valid_before)}"
    if owner.revoked_seq is not None:
        words = f"revoked at #{owner.revoked_seq} by {owner.revoked_by}"
    return words


def _about_a_key(command: F) -> F:
    """The options of a key that is enrolled."""
    options = (
        click.option("--name", required=True, metavar="NAME", help="Whose key it is."),
        click.option(
            "--public-key",
            required=True,
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Their .pub file.",
        ),
        click.option(
            "--allow-unattended",
            is_flag=True,
            help="The key may decide without anybody being asked; stands beside every decision.",
        ),
        click.option(
            "--confirmed",
            is_flag=True,
            help="An ssh-agent holds the key and asks at each use (ssh-add -c); their claim.",
        ),
        click.option("--valid-after", type=parse_time, metavar="TIME", help="It counts from then."),
        click.option(
            "--valid-before", type=parse_time, metavar="TIME", help="It counts until then."
        ),
        click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@command.command("enroll", example="loopx owner enroll --name lin --public-key lin.pub")
@_about_a_key
@click.pass_obj
def enroll(session: Session, /, *, name: str, public_key: Path, dry_run: bool, **use: Any) -> None:
    """Let one more person decide. Asks on your terminal, and signs.

    Their key counts for what comes after the lines that end the journals now.
    """
    workspace, line = session.writing(), _public_line(public_key)

    def prepare(owner: str) -> Unsigned:
        event_id = session.options.event_id
        return workspace.owners.enroll(owner, name, line, **use, event_id=event_id)

    done = decide(session, workspace, prepare, dry_run=dry_run)
    _show(session, workspace, done, "is an owner")


@command.command("rotate", example="loopx owner rotate --name huang --public-key new.pub")
@_about_a_key
@click.pass_obj
def rotate(session: Session, /, *, name: str, public_key: Path, dry_run: bool, **use: Any) -> None:
    """Give a person a new key; the old one is revoked in the same event.

    Asks on your terminal, and signs, with the old key or that of another owner. What was
    decided with the old key stays decided.
    """
    workspace, line = session.writing(), _public_line(public_key)

    def prepare(owner: str) -> Unsigned:
        event_id = session.options.event_id
        return workspace.owners.rotate(owner, name, line, **use, event_id=event_id)

    done = decide(session, workspace, prepare, dry_run=dry_run)
    _show(session, workspace, done, "has a new key")


@command.command("revoke", example="loopx owner revoke --name lin --reason 'left the team'")
@click.option("--name", required=True, metavar="NAME", help="Whose key counts no more.")
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def revoke(session: Session, /, *, name: str, reason: str, dry_run: bool) -> None:
    """Take a person's key out of use. Asks on your terminal, and signs.

    What they decided until now stays decided. The last owner cannot be revoked.
    """
    workspace = session.writing()

    def prepare(owner: str) -> Unsigned:
        return workspace.owners.revoke(owner, name, reason, event_id=session.options.event_id)

    done = decide(session, workspace, prepare, dry_run=dry_run)
    _show(session, workspace, done, "decides nothing from now on")


def _show(session: Session, workspace: Workspace, done: Done[Any] | None, sentence: str) -> None:
    """What was recorded about a person's key, unless it was a dry run."""
    if done is not None:
        last = [owner for owner in done.state.owners if owner.name == done.object_id][-1]
        session.done(workspace, done, f"{last.name} {sentence} ({last.fingerprint})", owner=last)


@command.command("trust", example="loopx owner trust")
@click.pass_obj
def trust(session: Session, /) -> None:
    """Trust the owners who stand here now, where they are not those this machine knew.

    Asks on your terminal. It changes your own known_workspaces and nothing of the workspace.
    """
    from loopx_kernel.cli.person import Terminal, refuse_agents

    refuse_agents(session)
    workspace = session.reading()
    pins, terminal = workspace.owners.pins, Terminal()
    sight = pins.look()
    terminal.say(sight.change or "Nothing else is known of this workspace.")
    for owner in workspace.owners.list():
        terminal.say(f"{owner.name}  {owner.fingerprint}  {_standing(owner)}")
    wanted = workspace.workspace_id[:8]
    terminal.say("Compare the fingerprints with what these people tell you by another way.")
    if terminal.ask(f"Type {wanted} to trust them from now on:") != wanted:
        raise UsageError("invalid_value", "Nothing was changed", next="loopx owner list")
    known = pins.trust()
    view = workspace.workspace_view(projection="owners")
    names = ", ".join(sorted(known.owners.values()))
    session.answer(
        SCHEMA,
        view.envelope,
        {"owners": [_value(owner) for owner in workspace.owners.list()]},
        lambda printer: printer.line(f"trusted in {known.root}: {names}"),
    )


def _public_line(path: Path) -> str:
    from loopx_kernel.workspace.person import public_key_in

    return public_key_in(path).public_line
