"""`loopx event verify`: is every journal whole, and every file as it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Command, Group
from loopx_kernel.cli.session import Session

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.workspace import Workspace

SCHEMA = "loopx_verification_v0"
WORKSPACE = "_workspace"


def register(group: Group) -> None:
    """Puts this command under `loopx event`."""
    group.add_command(verify)


@click.command("verify", cls=Command, example="loopx event verify --goal dark-mode")
@click.option("--deep", is_flag=True, help="Compare every file and checkpoint with it too.")
@click.pass_obj
def verify(session: Session, /, *, deep: bool) -> int:
    """Replay every line and check hash, chain and signature. Exit 0 whole, 1 not.

    With --deep each thing that differs is tampered, rolled_back, damaged, edited, missing or
    behind, or could_not_check.
    """
    workspace = session.reading()
    if session.options.goal:
        journals = [journal_named(session, workspace)]
    else:
        journals = [WORKSPACE, *workspace.goal_ids]
    if deep:
        return _audit(session, workspace, journals)
    found = [workspace.events.verify(goal_id) for goal_id in journals]
    whole = all(one.ok for one in found)

    def text(printer: Printer) -> None:
        for one in found:
            verdict = f"whole, head {one.head}" if one.ok else "NOT WHOLE"
            printer.line(
                f"{one.goal_id}: {one.lines} lines, {verdict}", "" if one.ok else "bold red"
            )
            for problem in (*one.problems, *one.alerts):
                printer.line(f"  {problem}", "bold red")

    envelope = workspace.workspace_view(projection="event-verify").envelope
    session.answer(SCHEMA, envelope, {"verified": whole, "journals": found}, text)
    return 0 if whole else 1


def _audit(session: Session, workspace: Workspace, journals: list[str]) -> int:
    from loopx_kernel.views.plain import to_json

    found = [workspace.events.audit(goal_id) for goal_id in journals]
    whole = all(one.status == "whole" for one in found)

    def text(printer: Printer) -> None:
        for one in found:
            style = "" if one.status == "whole" else "bold red"
            printer.line(f"{one.goal_id}: {one.lines} lines, {one.status}", style)
            for finding in one.findings:
                printer.line(f"  {finding.status} {finding.path}: {finding.detail}", style)
                printer.line(f"    next: {finding.command}")

    body = {
        "verified": whole,
        "journals": [to_json(one) | {"status": one.status} for one in found],
    }
    envelope = workspace.workspace_view(projection="event-verify").envelope
    session.answer(SCHEMA, envelope, body, text)
    return 0 if whole else 1


def journal_named(session: Session, workspace: Workspace) -> str:
    """The journal asked for: the workspace's own, or that of a goal."""
    return WORKSPACE if session.goal_named == WORKSPACE else session.goal_id(workspace)
