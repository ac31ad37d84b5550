"""`loopx start-goal`: open a goal with all its first rules; a person signs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from loopx_kernel.cli.framework import Command
from loopx_kernel.cli.session import Session

if TYPE_CHECKING:
    from loopx_kernel.workspace import Workspace

_TEXTS = (
    ("--objective", "objective", "TEXT", "What is wanted, in a sentence."),
    ("--id", "id", "ID", "Else made from the objective."),
    ("--display-name", "display_name", "TEXT", "What people call it."),
    ("--domain", "domain", "TEXT", "Its field, such as frontend."),
    ("--repo", "repo", "DIR", "Where the work is, seen from the workspace [default: .]."),
    ("--state-file", "state_file", "PATH", "Where the todo list is rendered."),
    ("--compute", "compute", "SHARE", "Share of the window's slots [default: 0.4]."),
    ("--window-hours", "window_hours", "N", "The sliding window [default: 24]."),
    ("--judge", "judge", "COMMAND", "Who judges a rubric: JSON on stdin, 0 to 10 on line 1."),
    ("--slot-minutes", "slot_minutes", "N", "The length of a slot [default: 1]."),
)
_LISTS = (
    ("--write-scope", "write_scope", "SCOPE", "Where workers may write: path, dir/ or glob."),
    ("--requires-approval", "requires_approval", "KIND", "Such as publish, delete, write."),
    ("--gate", "gates", "RULE", "KIND[:COMMAND_GLOB][@PATH_GLOB], such as 'publish:git push*'."),
    ("--acceptance", "acceptance", "SPEC", "[ID=]cmd:COMMAND, junit:PATH <- COMMAND, …"),
    ("--search-path", "search_path", "DIR", "Where programs of the rules are, such as .venv/bin."),
    ("--probe", "probes", "ID=COMMAND", "A command the kernel may run to see for itself."),
    ("--source", "sources", "SPEC", "ID=PROVIDER[,required][,window=3d][,on-demand]."),
)


def _rule_options(wrapped: Callable[..., Any]) -> Callable[..., Any]:
    for name, key, metavar, text in reversed(_LISTS):
        wrapped = click.option(name, key, metavar=metavar, multiple=True, help=text)(wrapped)
    for name, key, metavar, text in reversed(_TEXTS):
        wrapped = click.option(name, key, metavar=metavar, help=text)(wrapped)
    return wrapped


@click.command(
    "start-goal",
    cls=Command,
    example="loopx start-goal --objective 'Dark mode for the shop' --gate 'publish:git push*'",
)
@click.option("--guided", is_flag=True, help="Ask step by step, on your terminal.")
@click.option("--from", "from_file", metavar="FILE.yaml", help="The same keys as YAML.")
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@_rule_options
@click.pass_obj
def command(
    session: Session, /, *, guided: bool, from_file: str | None, dry_run: bool, **given: Any
) -> None:
    """Open a goal: its objective, gates, scope, acceptance and quota. A person signs."""
    from loopx_kernel.cli.person import decide, enrolled_key, refuse_agents
    from loopx_kernel.cli.values import goal_value
    from loopx_kernel.workspace.goal_words import open_goal

    refuse_agents(session)
    workspace = session.writing()
    values: dict[str, Any] = {}
    if from_file is not None:
        from loopx_kernel.cli.goal_rules import read_yaml

        values = read_yaml(from_file)
    values |= {key: value for key, value in given.items() if value not in (None, ())}
    if guided:
        enrolled_key(session, workspace)  # no questions to somebody who cannot sign
        values = _ask(values)
    asked = open_goal(values, workspace.goal_ids)
    done = decide(
        session,
        workspace,
        lambda owner: workspace.goals.open(owner, asked, event_id=session.options.event_id),
        dry_run=dry_run,
    )
    if done is None:
        return
    goal = goal_value(workspace.view(asked.goal_id))
    session.done(workspace, done, f"{asked.goal_id} is open: {asked.objective}", goal=goal)
    if not session.options.json:
        _show_next(session, workspace, asked.goal_id)


def _ask(values: dict[str, Any]) -> dict[str, Any]:
    from loopx_kernel.cli.guided import ask_for_goal
    from loopx_kernel.cli.person import Terminal

    return ask_for_goal(Terminal(), values)


def _show_next(session: Session, workspace: Workspace, goal_id: str) -> None:
    printer = session.printer()
    if not workspace.agents.list():
        printer.line("next: loopx agent add claude-code")
    printer.line(f"next: loopx todo add 'First piece of work' --goal {goal_id} --agent claude-code")
    printer.line("then, at every wake-up of a worker: loopx quota should-run --agent claude-code")
