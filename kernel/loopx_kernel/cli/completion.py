"""`loopx completion`: is the goal finished, check by check. Derived, never written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Command
from loopx_kernel.cli.session import Session

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer

SCHEMA = "loopx_completion_v0"


@click.command("completion", cls=Command, example="loopx completion --goal dark-mode")
@click.pass_obj
def command(session: Session) -> int:
    """Is the goal finished, check by check. Exit 0 when complete, 1 when not."""
    workspace = session.reading()
    view = workspace.view(session.goal_id(workspace), projection="completion")
    completion = view.completion
    body = {
        "goal_id": view.goal_id,
        "complete": completion.complete,
        "derived": completion.derived,
        "source": completion.source,
        "checks": completion.checks,
    }

    def show(printer: Printer) -> None:
        verdict = "complete" if completion.complete else "not complete"
        printer.line(f"{view.goal_id} is {verdict} [derived, {completion.source}]")
        printer.table(
            ("gate", "check", "ok", "count", "ids"),
            (
                (c.gate, c.check, "yes" if c.ok else "NO", c.count, ", ".join(c.ids))
                for c in completion.checks
            ),
        )

    session.answer(SCHEMA, view.envelope, body, show)
    return 0 if completion.complete else 1
