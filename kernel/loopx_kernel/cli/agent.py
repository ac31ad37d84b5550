"""`loopx agent`: registered worker identities."""

from __future__ import annotations

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session
from loopx_kernel.clock import format_time

SCHEMA = "loopx_agents_v0"


@click.group("agent", cls=Group, example="loopx agent list")
def command() -> None:
    """Register and list workers."""


@command.command("add", example="loopx agent add claude-code --note 'laptop'")
@click.argument("agent_id", metavar="ID")
@click.option("--note", default="", metavar="TEXT", help="What this worker is.")
@click.pass_obj
def add(session: Session, /, *, agent_id: str, note: str) -> None:
    """Register a worker under an id; one that an agent registers is its own."""
    workspace = session.writing()
    parent = session.agent_id if session.agent_id != agent_id else None
    done = workspace.agents.add(agent_id, note, parent=parent, event_id=session.options.event_id)
    agent = next(a for a in workspace.agents.list() if a.id == agent_id)
    session.done(workspace, done, f"{agent_id} is registered", agent=agent)


@command.command("list", example="loopx agent list --json")
@click.pass_obj
def list_all(session: Session) -> None:
    """Who is registered. A name is a name, not a proof."""
    workspace = session.reading()
    agents = workspace.agents.list()
    session.answer(
        SCHEMA,
        workspace.workspace_view(projection="agents").envelope,
        {"agents": agents},
        lambda printer: printer.table(
            ("agent", "since", "by", "note"),
            ((a.id, format_time(a.added_at), a.parent or "", a.note) for a in agents),
        ),
    )
