"""`loopx doctor`: each layer apart, and honest about what only looks safe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Command
from loopx_kernel.cli.session import Session
from loopx_kernel.workspace.health import look
from loopx_kernel.workspace.health_of_trust import present_owners, weakest

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer

SCHEMA = "loopx_doctor_v0"


@click.command("doctor", cls=Command, example="loopx doctor --json")
@click.option("--deep", is_flag=True, help="Compare every file and checkpoint from line 1.")
@click.pass_obj
def command(session: Session, /, *, deep: bool) -> int:
    """Is everything as it should be, layer by layer. Exit 0 healthy, 1 not."""
    workspace = session.reading()
    view = workspace.workspace_view(projection="doctor")
    checks = [*look(workspace, view, deep=deep)]
    healthy = all(check.ok for check in checks)
    body = {
        "healthy": healthy,
        "level": weakest(present_owners(workspace)),
        "enabled_state_implies_freshness": False,
        "checks": [{"name": c.name, "ok": c.ok, "detail": c.detail, "fix": c.fix} for c in checks],
    }

    def show(printer: Printer) -> None:
        for check in checks:
            style = "" if check.ok else "bold red"
            mark = "ok " if check.ok else "BAD"
            printer.line(f"{mark} {check.name}: {check.detail}", "red" if check.warns else style)
            if check.fix and not check.ok:
                printer.line(f"    fix: {check.fix}")
        printer.line("healthy" if healthy else "NOT healthy", "" if healthy else "bold red")

    session.answer(SCHEMA, view.envelope, body, show)
    return 0 if healthy else 1
