"""`loopx refresh-state`: the hand-over is written back, and the files brought level."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Command
from loopx_kernel.cli.session import Session
from loopx_kernel.errors import Storage, UsageError

if TYPE_CHECKING:
    from loopx_kernel.workspace import Workspace

SCHEMA = "loopx_refresh_v0"


@click.command(
    "refresh-state", cls=Command, example="loopx refresh-state --handoff 'CSS done; next: T4'"
)
@click.option("--handoff", metavar="TEXT", help="What the next turn must know.")
@click.option("--handoff-file", metavar="FILE", help="The same, from a UTF-8 file.")
@click.option("--turn", metavar="ID", help="Your turn: this is one of its three parts.")
@click.pass_obj
def command(
    session: Session, /, *, handoff: str | None, handoff_file: str | None, turn: str | None
) -> None:
    """Write back the state for the next turn: chosen, tried and dropped, next.

    Without a text only the files are brought level with the journal.
    """
    text = handed_over(handoff, handoff_file)
    if text is None and turn is not None:
        raise UsageError(
            "invalid_value",
            f"The state of {turn} is written back with a text for the next turn",
            next=f"loopx refresh-state --turn {turn} --handoff-file NOTES.md",
            turn=turn,
        )
    workspace = session.writing()
    goal_id = session.goal_id(workspace)
    if text is None:
        _bring_level(session, workspace, goal_id)
        return
    done = workspace.handoff.write(
        goal_id, session.agent(), text, turn=turn, event_id=session.options.event_id
    )
    session.done(workspace, done, "the hand-over is written", handoff=done.state.handoff)


def handed_over(text: str | None, file: str | None) -> str | None:
    """The hand-over given as text or by file; ``invalid_value`` for both."""
    if text is not None and file is not None:
        raise UsageError(
            "invalid_value",
            "Say what the next turn must know in one way",
            next="loopx refresh-state --handoff-file NOTES.md",
        )
    return text if file is None else read_text(file)


def _bring_level(session: Session, workspace: Workspace, goal_id: str) -> None:
    state = workspace.handoff.bring_level(goal_id, session.agent())
    view = workspace.view(goal_id, projection="refresh-state")
    sentence = f"{state.goal_id}: the files say what the journal says up to #{state.seq}"
    session.answer(SCHEMA, view.envelope, {"seq": state.seq}, lambda out: out.line(sentence))


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
