"""`loopx state check`: does ACTIVE_GOAL_STATE.md say what the journal says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer

SCHEMA = "loopx_state_check_v0"


@click.group("state", cls=Group, example="loopx state check")
def command() -> None:
    """Does ACTIVE_GOAL_STATE.md say what the journal says."""


@command.command("check", example="loopx state check --goal dark-mode")
@click.pass_obj
def check(session: Session) -> int:
    """What a person changed in the rendered list. Exit 0 level, 1 not. Picks no side."""
    workspace = session.reading()
    view = workspace.view(session.goal_id(workspace), projection="state-check")
    reads = view.reads
    level = not (reads.drift or reads.damage)
    body = {
        "level": level,
        "state_file": view.state_file,
        "drift": [
            {"kind": d.kind, "todo_id": d.todo_id, "line": d.line, "text": d.text}
            for d in reads.drift
        ],
        "drift_since": reads.drift_since,
        "damage": reads.damage,
        "missing": reads.missing_files,
        "behind": reads.behind_files,
    }

    def show(printer: Printer) -> None:
        printer.line(f"{view.state_file}: {'level with the journal' if level else 'NOT level'}")
        for difference in reads.drift:
            printer.line(f"line {difference.line}: {difference.sentence}", "bold yellow")
        for damage in reads.damage:
            printer.line(f"{damage.path} is damaged: {damage.reason}", "bold red")
            if damage.expected_digest:
                printer.line(f"  expected {damage.expected_digest}")
                printer.line(f"  found    {damage.found_digest}")
            printer.line(f"  next: {damage.command}")
        for what, paths in (("missing", reads.missing_files), ("behind", reads.behind_files)):
            for path in paths:
                printer.line(f"{path} is {what}; the next writing command brings it level")

    session.answer(SCHEMA, view.envelope, body, show)
    return 0 if level else 1
