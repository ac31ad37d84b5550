"""`loopx todo cancel` and `supersede`: people take work away, and sign."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Command, Group
from loopx_kernel.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from loopx_kernel.workspace import Unsigned, Workspace


def register(group: Group) -> None:
    """Puts these commands under `loopx todo`."""
    for one in (cancel, supersede):
        group.add_command(one)


@click.command("cancel", cls=Command, example="loopx todo cancel T3 --reason 'nobody needs it'")
@click.argument("todo_id", metavar="ID")
@click.option("--reason", required=True, metavar="TEXT", help="Why.")
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def cancel(session: Session, /, *, todo_id: str, reason: str, dry_run: bool) -> None:
    """Take a todo away; it stays readable. Asks on your terminal, and signs."""
    from loopx_kernel.cli.person import refuse_agents
    from loopx_kernel.domain.cancel import CancelTodo

    refuse_agents(session, f"loopx propose cancel {todo_id} --reason 'why'")
    asked = CancelTodo(todo_id=todo_id, reason=reason)
    _take_away(
        session,
        todo_id,
        dry_run,
        lambda workspace, goal_id, owner: workspace.replans.cancel(
            goal_id, owner, asked, event_id=session.options.event_id
        ),
        f"{todo_id} is cancelled",
    )


@click.command(
    "supersede", cls=Command, example="loopx todo supersede T3 --by T5 --reason 'tests unstable'"
)
@click.argument("todo_id", metavar="ID")
@click.option("--by", required=True, metavar="TODO", help="What takes its place.")
@click.option("--reason", required=True, metavar="TEXT", help="Why.")
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def supersede(session: Session, /, *, todo_id: str, by: str, reason: str, dry_run: bool) -> None:
    """Put a todo that was added with --lineage ID in the place of another. A person signs; an
    agent may where a duty to replan names the todo."""
    from loopx_kernel.domain.cancel import SupersedeTodo

    if session.agent_id is not None and not dry_run:
        _by_agent(session, todo_id, by, reason)
        return
    asked = SupersedeTodo(todo_id=todo_id, by=by, reason=reason)
    _take_away(
        session,
        todo_id,
        dry_run,
        lambda workspace, goal_id, owner: workspace.replans.supersede(
            goal_id, owner, asked, event_id=session.options.event_id
        ),
        f"{by} takes the place of {todo_id}",
    )


def _by_agent(session: Session, todo_id: str, by: str, reason: str) -> None:
    from loopx_kernel.cli.person import refuse_agents
    from loopx_kernel.cli.replan import fulfil_duty
    from loopx_kernel.domain.replan import FulfilReplan
    from loopx_kernel.domain.state import open_obligations

    workspace = session.reading()
    state = workspace.state(session.goal_id(workspace))
    duty = next((one for one in open_obligations(state) if todo_id in one.todo_ids), None)
    if duty is None:
        refuse_agents(session, f"loopx propose supersede {todo_id} --by {by} --reason 'why'")
        return
    fulfil_duty(
        session,
        FulfilReplan(obligation_id=duty.id, supersede=((todo_id, by),), reason=reason),
    )


def _take_away(
    session: Session,
    todo_id: str,
    dry_run: bool,
    prepare: Callable[[Workspace, str, str], Unsigned],
    sentence: str,
) -> None:
    from loopx_kernel.cli.person import decide

    workspace = session.writing()
    goal_id = session.goal_id(workspace)
    done = decide(
        session, workspace, lambda owner: prepare(workspace, goal_id, owner), dry_run=dry_run
    )
    if done is not None:
        todo = workspace.history.todo(goal_id, todo_id)
        session.done(workspace, done, sentence, todo=todo)
