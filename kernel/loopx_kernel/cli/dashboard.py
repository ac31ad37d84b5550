"""`loopx dashboard`: the terminal UI, with the same arguments."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import click

from loopx_kernel.cli.framework import Command
from loopx_kernel.cli.session import Session
from loopx_kernel.errors import UsageError


@click.command(
    "dashboard",
    cls=Command,
    example="loopx dashboard --goal dark-mode --read-only",
    takes_common=False,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def command(session: Session, /, *, arguments: tuple[str, ...]) -> None:
    """Open the terminal UI; the ARGUMENTS are those of loopx-tui."""
    program = _program()
    forwarded = [session.options.root] if session.options.root else []
    if session.options.goal:
        forwarded += ["--goal", session.options.goal]
    os.execv(program, [program, *forwarded, *arguments])


def _program() -> str:
    beside = Path(sys.argv[0]).resolve().with_name("loopx-tui")
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("loopx-tui")
    if found is None:
        raise UsageError(
            "invalid_value", "loopx-tui is not installed", next="pip install loopx-tui"
        )
    return found
