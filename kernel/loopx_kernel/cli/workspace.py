"""`loopx workspace`: the person's list of workspaces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.views.everywhere import GlobalView

SCHEMA = "loopx_workspaces_v0"
CHANGED_SCHEMA = "loopx_workspace_listed_v0"


@click.group("workspace", cls=Group, example="loopx workspace list")
def command() -> None:
    """Your list of workspaces, for looking at all of them at once."""


@command.command("list", example="loopx workspace list --json")
@click.pass_obj
def list_all(session: Session) -> None:
    """Every workspace on your list, and how it could be read."""
    from loopx_kernel.cli.everywhere import look

    view = look(session, "workspaces").view
    session.answer(SCHEMA, view.envelope, workspaces_value(view), lambda p: _show(p, view))


@command.command("add", example="loopx workspace add /srv/mall-frontend")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.pass_obj
def add(session: Session, /, *, folder: Path) -> None:
    """Put a workspace on your list. `loopx connect` does it by itself."""
    from loopx_kernel.workspace import listed

    _say(session, folder, listed.add(folder), "is on your list", "was on your list already")


@command.command("remove", example="loopx workspace remove /srv/mall-frontend")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.pass_obj
def remove(session: Session, /, *, folder: Path) -> None:
    """Take a workspace off your list. Nothing in it changes."""
    from loopx_kernel.workspace import listed

    _say(session, folder, listed.remove(folder), "is off your list", "was not on your list")


def workspaces_value(view: GlobalView) -> dict[str, object]:
    """Every workspace with what is in it, and those that could not be read."""
    return {
        "scope": "global",
        "workspaces": [
            {
                "path": one.root,
                "workspace_id": one.workspace_id,
                "goals": [goal.goal_id for goal in one.goals],
                "unread_goals": [goal.goal_id for goal in one.unread],
                "needs_you": len(one.needs_you),
            }
            for one in view.workspaces
        ],
        "unread": view.unread,
    }


def _show(printer: Printer, view: GlobalView) -> None:
    from loopx_kernel.cli.everywhere import show_unread

    show_unread(printer, view)
    printer.table(
        ("workspace", "goals", "needs you", "id"),
        (
            (one.root, len(one.goals) + len(one.unread), len(one.needs_you), one.workspace_id)
            for one in view.workspaces
        ),
    )


def _say(session: Session, folder: Path, changed: bool, done: str, before: str) -> None:
    from loopx_kernel.workspace import listed

    if session.options.json:
        from loopx_kernel.cli.output import print_json
        from loopx_kernel.cli.session import head_value

        body = {"path": str(folder), "changed": changed}
        paths = [str(path) for path in listed.listed()]
        print_json(head_value(CHANGED_SCHEMA, None) | body | {"listed": paths})
        return
    session.printer().line(f"{folder} {done if changed else before}")
