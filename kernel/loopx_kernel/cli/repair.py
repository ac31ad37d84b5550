"""`loopx repair`: what is damaged, and the signed way out of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.person import decide
from loopx_kernel.cli.session import Session

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.workspace import DamageRow, Done, Workspace

SCHEMA = "loopx_repairs_v0"
WORKSPACE = "_workspace"


@click.group("repair", cls=Group, example="loopx repair list")
def command() -> None:
    """What is damaged, and the signed way out. --goal _workspace names the workspace's journal."""


@command.command("list", example="loopx repair list --json")
@click.pass_obj
def list_all(session: Session) -> int:
    """What is damaged, both digests, what it stops, the command. Exit 0 nothing, 1 something."""
    workspace = session.reading()
    rows = workspace.repairs.list()
    envelope = workspace.workspace_view(projection="repairs").envelope
    session.answer(
        SCHEMA,
        envelope,
        {"damaged": bool(rows), "damage": [_value(row) for row in rows]},
        lambda printer: _show(printer, rows),
    )
    return 1 if rows else 0


@command.command("file", example="loopx repair file .loopx/registry.json")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def file(session: Session, /, *, path: Path, dry_run: bool) -> None:
    """Render a damaged file again from the journal. Asks on your terminal, and signs.

    What stands there now is kept in quarantine. A todo list edited by hand is not damaged:
    `loopx state adopt` or `restore` settles it.
    """
    workspace = session.writing()
    place = path.absolute() if path.exists() else path
    done = decide(
        session,
        workspace,
        lambda owner: workspace.repairs.file(place, owner, event_id=session.options.event_id),
        dry_run=dry_run,
    )
    if done is not None:
        _report(session, workspace, done, f"{path} is rendered again")


@command.command("journal", example="loopx repair journal --goal dark-mode")
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def journal(session: Session, /, *, dry_run: bool) -> None:
    """Cut a damaged journal after its last good line. Asks on your terminal, and signs.

    The lines cut off are kept in quarantine and named in the signed event, with each decision
    among them. Nothing of them counts until somebody does it again.
    """
    workspace = session.writing()
    wanted = session.options.goal
    goal_id = WORKSPACE if wanted == WORKSPACE else session.goal_id(workspace)
    done = decide(
        session,
        workspace,
        lambda owner: workspace.repairs.journal(goal_id, owner, event_id=session.options.event_id),
        dry_run=dry_run,
    )
    if done is not None:
        _report(session, workspace, done, f"the journal of {goal_id} goes on after the cut")


def _report(session: Session, workspace: Workspace, done: Done[Any], sentence: str) -> None:
    left = workspace.repairs.list()
    if left:
        sentence += f"; still damaged: {', '.join(row.damage.path for row in left)}"
    session.done(workspace, done, sentence, damage=[_value(row) for row in left])


def _value(row: DamageRow) -> dict[str, Any]:
    damage = row.damage
    return {
        "goal_id": row.goal_id,
        "path": damage.path,
        "reason": damage.reason,
        "expected_digest": damage.expected_digest or None,
        "found_digest": damage.found_digest or None,
        "stops": row.stops,
        "command": damage.command,
    }


def _show(printer: Printer, rows: tuple[DamageRow, ...]) -> None:
    if not rows:
        printer.line("nothing is damaged")
    for row in rows:
        damage = row.damage
        printer.line(f"{damage.path} is damaged: {damage.reason}", "bold red")
        if damage.expected_digest or damage.found_digest:
            printer.line(f"  expected {damage.expected_digest or 'no such record'}")
            printer.line(f"  found    {damage.found_digest or 'no digest can be made'}")
        printer.line(f"  stops    {row.stops}")
        printer.line(f"  next     {damage.command}")
