"""`loopx objective`: a new wording of what is wanted, and every one there was."""

from __future__ import annotations

from difflib import ndiff
from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.recorded import envelope_of_lines
from loopx_kernel.cli.session import Session
from loopx_kernel.clock import format_time

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.workspace.objectives import Version

SCHEMA = "loopx_objective_v0"
_STYLES = {"+": "green", "-": "red"}


@click.group("objective", cls=Group, example="loopx objective history")
def command() -> None:
    """What the goal is for: change it, and see every earlier version."""


@command.command(
    "patch", example="loopx objective patch --text 'Dark mode, shop only' --reason 'smaller scope'"
)
@click.option("--text", required=True, metavar="TEXT", help="The whole new objective.")
@click.option("--reason", required=True, metavar="TEXT", help="Why.")
@click.option("--fact", "facts", multiple=True, metavar="REF", help="What it rests on.")
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def patch(
    session: Session, /, *, text: str, reason: str, facts: tuple[str, ...], dry_run: bool
) -> None:
    """A new version; the old ones stay. Asks on your terminal, and signs."""
    from loopx_kernel.cli.person import decide, refuse_agents
    from loopx_kernel.domain.objective import PatchObjective

    refuse_agents(session, "loopx propose objective --text 'what is wanted now' --reason 'why'")
    workspace = session.writing()
    goal_id = session.goal_id(workspace)
    asked = PatchObjective(text=text, reason=reason, facts=facts)
    done = decide(
        session,
        workspace,
        lambda owner: workspace.objectives.patch(
            goal_id, owner, asked, event_id=session.options.event_id
        ),
        dry_run=dry_run,
    )
    if done is None:
        return
    made = next(
        one
        for one in workspace.objectives.history(goal_id)
        if one.event_id == done.receipt.event_id
    )
    session.done(workspace, done, f"The objective is at version {made.version}", objective=made)


@command.command("history", example="loopx objective history --json")
@click.pass_obj
def history(session: Session) -> None:
    """Every version, the newest last: what it changed, who did, why, on which facts."""
    workspace = session.reading()
    goal_id = session.goal_id(workspace)
    versions = workspace.objectives.history(goal_id)
    from loopx_kernel.views.plain import to_json

    session.answer(
        SCHEMA,
        envelope_of_lines(workspace, goal_id, "objective"),
        {
            "versions": [
                to_json(one) | {"diff": changed(before, one)}
                for before, one in zip((None, *versions), versions, strict=False)
            ]
        },
        lambda printer: _show(printer, versions),
    )


def changed(before: Version | None, after: Version) -> list[str]:
    """The text line by line: ``+`` is new, ``-`` was there before, a space stayed."""
    old = before.text.splitlines() if before is not None else []
    return [line for line in ndiff(old, after.text.splitlines()) if line[0] != "?"]


def _show(printer: Printer, versions: tuple[Version, ...]) -> None:
    for before, one in zip((None, *versions), versions, strict=False):
        printer.line(f"version {one.version}: by {one.by} at {format_time(one.at)}", "bold")
        for line in changed(before, one):
            printer.line(f"  {line}", _STYLES.get(line[0], ""))
        if one.reason:
            printer.line(f"  reason: {one.reason}")
        for fact in one.facts:
            printer.line(f"  fact: {fact}")
        where = f", proposed as {one.gate_id}" if one.gate_id else ""
        printer.line(f"  event {one.event_id}{where}", "dim")
