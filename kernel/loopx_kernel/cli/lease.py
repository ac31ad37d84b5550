"""`loopx lease`: who works on what, until when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session
from loopx_kernel.cli.values import LEASE_SCHEMA
from loopx_kernel.clock import format_time
from loopx_kernel.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from loopx_kernel.cli.output import Printer
    from loopx_kernel.views.goal import LeaseRow

SCHEMA = "loopx_leases_v0"


@click.group("lease", cls=Group, example="loopx lease list")
def command() -> None:
    """Who works on what, until when."""


@command.command("list", example="loopx lease list --json")
@click.pass_obj
def list_all(session: Session) -> None:
    """All leases, expired and ended ones too: they are a record.

    Then the lines by somebody whose time on a todo was over; they have no effect.
    """
    workspace = session.reading()
    view = workspace.view(session.goal_id(workspace), projection="leases")

    def show(printer: Printer) -> None:
        _table(printer, view.leases)
        for warned in view.warnings:
            printer.line(f"warning: {warned.sentence}; {warned.next}", "bold red")
        for alert in view.refused:
            printer.line(
                f"refused: #{alert.seq} {alert.event_type} by {alert.actor_agent_id}: "
                f"{alert.code}: {alert.message}",
                "bold red",
            )

    body = {
        "leases": view.leases,
        "warnings": view.warnings,
        "refused": [alert.model_dump(mode="json") for alert in view.refused],
    }
    session.answer(SCHEMA, view.envelope, body, show)


@command.command("show", example="loopx lease show T3")
@click.argument("todo_id", metavar="TODO")
@click.pass_obj
def show(session: Session, /, *, todo_id: str) -> None:
    """The lease of one todo."""
    workspace = session.reading()
    goal_id = session.goal_id(workspace)
    workspace.state(goal_id).todo(todo_id)
    view = workspace.view(goal_id, projection="lease")
    row = next((row for row in view.leases if row.todo_id == todo_id), None)
    if row is None:
        raise UsageError(
            "unknown_todo",
            f"Nobody ever held {todo_id}",
            next=f"loopx todo claim {todo_id}",
            todo_id=todo_id,
        )
    from loopx_kernel.views.plain import to_json

    value = {"schema_version": LEASE_SCHEMA, "goal_id": goal_id, **to_json(row)}
    session.answer(SCHEMA, view.envelope, {"lease": value}, lambda printer: _table(printer, [row]))


def _table(printer: Printer, rows: Iterable[LeaseRow]) -> None:
    printer.table(
        ("todo", "holder", "status", "version", "epoch", "until", "scopes"),
        (
            (
                row.todo_id,
                row.owner,
                f"{row.status}, by the wall clock" if row.by_wall_clock else row.status,
                row.version,
                row.lease_epoch,
                format_time(row.expires_at),
                " ".join(row.write_scopes),
            )
            for row in rows
        ),
    )
