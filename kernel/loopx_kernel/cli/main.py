"""Where the `loopx` command starts, and where every failure becomes a sentence."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from loopx_kernel import __version__
from loopx_kernel.cli.framework import LazyGroup, Options
from loopx_kernel.cli.session import Session
from loopx_kernel.clock import Clock, SystemClock
from loopx_kernel.errors import LoopxError, Storage, UsageError

INTERNAL = 70
INTERRUPTED = 130

COMMANDS = {
    "connect": "Make or re-use .loopx here, and enrol the first owner.",
    "start-goal": "Open a goal with its rules.",
    "goal": "List, show, edit, pause, resume or retire goals.",
    "status": "Where are we, what waits for a person, what is next.",
    "board": "Every goal's answer; one goal's todos, claims, gates and monitors.",
    "report": "What a period produced, cost and left open: text, Markdown, JSON, a page.",
    "review-packet": "All that one decision needs, and nothing else.",
    "dashboard": "Open the terminal UI.",
    "agent": "Register and list workers.",
    "owner": "The people whose keys count.",
    "todo": "Add work, take it, hand it in.",
    "lease": "Who works on what, until when.",
    "gate": "Ask for a decision, look it up, decide it.",
    "escalation": "Work taken out of the loop, and your answer.",
    "turn": "Bounded work: from a brief to its receipt.",
    "quota": "May I run now; book and show slots.",
    "refresh-state": "Write back the state for the next turn.",
    "observe": "Facts from outside: CI, reviews, sources.",
    "source": "What the goal reads decisions from, and how old that is.",
    "replan": "Another route: asked for by people, found by an agent.",
    "propose": "Ask a person for a change that only a person can make.",
    "objective": "What the goal is for: change it, and every earlier version.",
    "accept": "Run acceptance items; accept finished work by hand.",
    "completion": "Is the goal finished, check by check.",
    "doctor": "Is everything as it should be, layer by layer.",
    "state": "Does ACTIVE_GOAL_STATE.md say what the journal says; settle an edit by hand.",
    "repair": "What is damaged, and the signed way out of it.",
    "workspace": "Your list of workspaces, for looking at all of them at once.",
    "event": "The journal: list, show, verify.",
    "replay": "A goal as it stood at an earlier line.",
    "schema": "The JSON Schema of any file, event, contract or projection.",
}

_HELP = """A signed ledger per goal for long-running AI agents.

\b
Exit: 0 done; 1 the answer is no; 2 usage; 3 conflict; 4 fenced; 5 busy; 6 denied;
7 damaged; 8 storage; 70 internal; 130 interrupted.

\b
Completion in your shell (bash; likewise zsh_source, fish_source):
  eval "$(_LOOPX_COMPLETE=bash_source loopx)"
"""

root = LazyGroup(
    "loopx",
    commands_in=COMMANDS,
    help=_HELP,
    example="loopx start-goal --guided",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
click.version_option(__version__, prog_name="loopx", message="%(prog)s %(version)s")(root)


def run() -> None:
    """The console script: runs the command of this process and exits with its status."""
    collect_seldom()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its escape, not a failure.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    status = main(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        status = _quiet_pipe()
    sys.exit(status)


def collect_seldom() -> None:
    """Has Python look less often for values that hold each other: states are large and hold
    none, and looking again and again took a quarter of a command."""
    gc.set_threshold(200_000, 20, 20)


def main(arguments: Sequence[str], clock: Clock | None = None) -> int:
    """Runs one command; returns its exit status. Never raises but for ``SystemExit``."""
    session = Session(Options(), clock or SystemClock())
    arguments = list(arguments) or ["--help"]
    try:
        _refuse_what_is_no_text(arguments)
        return _status(root.main(arguments, prog_name="loopx", obj=session, standalone_mode=False))
    except BrokenPipeError:
        return _quiet_pipe()
    except (KeyboardInterrupt, click.Abort, EOFError):
        print("interrupted", file=sys.stderr)  # noqa: T201
        return INTERRUPTED
    except Exception as error:
        facts, status = _announced(error)
        if status == INTERNAL and os.environ.get("LOOPX_DEBUG") == "1":
            raise
        from loopx_kernel.cli.next_step import carry_on
        from loopx_kernel.cli.output import print_error

        facts["next"] = carry_on(facts["next"], session.options)
        print_error(facts, as_json=session.options.json or "--json" in arguments)
        return status


def _refuse_what_is_no_text(arguments: Sequence[str]) -> None:
    for number, argument in enumerate(arguments, 1):
        if "\0" in argument or any("\ud800" <= char <= "\udfff" for char in argument):
            raise UsageError(
                "invalid_value",
                f"Argument {number} is not UTF-8 text",
                next="loopx --help",
                argument=number,
            )


def _status(result: Any) -> int:
    return result if isinstance(result, int) else 0


def _announced(error: Exception) -> tuple[dict[str, Any], int]:
    """What is printed about a failure, and the exit status."""
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx is not None else "loopx"
        error = UsageError("invalid_value", error.format_message(), next=f"{path} --help")
    elif isinstance(error, OSError):
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        error = Storage("io_error", what, next="loopx doctor")
    if isinstance(error, LoopxError):
        return error.as_dict(), error.exit_status
    facts = {
        "code": "internal",
        "message": f"LoopX failed in a way it did not expect ({type(error).__name__}: {error})",
        "next": "LOOPX_DEBUG=1 shows where; please report it",
    }
    return facts, INTERNAL


def _quiet_pipe() -> int:
    # Python flushes once more at exit; the null device takes that.
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    return 0
