"""`loopx refresh-state`: the hand-over is written back, and the files brought level."""

from __future__ import annotations

from pathlib import Path

import click

from loopx_kernel.cli.framework import Command
from loopx_kernel.cli.session import Session
from loopx_kernel.errors import Storage, UsageError


@click.command(
    "refresh-state", cls=Command, example="loopx refresh-state --handoff 'CSS done; next: T4'"
)
@click.option("--handoff", metavar="TEXT", help="What the next turn must know.")
@click.option("--handoff-file", metavar="FILE", help="The same, from a UTF-8 file.")
@click.pass_obj
def command(session: Session, /, *, handoff: str | None, handoff_file: str | None) -> None:
    """Write back the state for the next turn: chosen, tried and dropped, next."""
    if (handoff is None) == (handoff_file is None):
        raise UsageError(
            "invalid_value",
            "Say what the next turn must know, in one way",
            next="loopx refresh-state --handoff TEXT (or --handoff-file FILE)",
        )
    text = handoff if handoff is not None else read_text(handoff_file or "")
    workspace = session.writing()
    done = workspace.handoff.write(
        session.goal_id(workspace), session.agent(), text, event_id=session.options.event_id
    )
    session.done(workspace, done, "the hand-over is written", handoff=done.state.handoff)


def read_text(path: str) -> str:
    """A UTF-8 file named on the command line; ``permission`` or ``invalid_value``."""
    try:
        return Path(path).read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(
            "invalid_value", f"{path} is not UTF-8 text", next=f"iconv -t UTF-8 {path}", path=path
        ) from None
    except PermissionError:
        raise Storage(
            "permission", f"{path} may not be read", next=f"ls -l {path}", path=path
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            "invalid_value", f"{path} cannot be read: {reason}", next="name another file", path=path
        ) from None
