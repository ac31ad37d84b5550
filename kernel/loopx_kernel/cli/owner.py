"""`loopx owner`: the people whose keys count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer

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
                    "UNATTENDED" if owner.allow_unattended else "passphrase",
                    "enrolled" if owner.revoked_seq is None else f"revoked at #{owner.revoked_seq}",
                )
                for owner in owners
            ),
        )

    session.answer(
        SCHEMA,
        workspace.workspace_view(projection="owners").envelope,
        {"owners": owners},
        show,
    )
