"""`loopx propose`: an agent asks a person for a change that only a person can make."""

from __future__ import annotations

from typing import Any

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session

_reason = click.option("--reason", required=True, metavar="TEXT", help="Why.")
_facts = click.option("--fact", "facts", multiple=True, metavar="REF", help="What it rests on.")


@click.group("propose", cls=Group, example="loopx propose cancel T3 --reason 'nobody needs it'")
def command() -> None:
    """Ask a person for a change; approving the gate carries it out."""


@command.command("cancel", example="loopx propose cancel T3 --reason 'nobody needs it'")
@click.argument("todo_id", metavar="ID")
@_reason
@click.pass_obj
def cancel(session: Session, /, *, todo_id: str, reason: str) -> None:
    """Take a todo away; until somebody decides it is not worked on."""
    _propose(session, kind="cancel", todo_ids=(todo_id,), reason=reason)


@command.command("supersede", example="loopx propose supersede T3 --by T5 --reason 'unstable'")
@click.argument("todo_id", metavar="ID")
@click.option("--by", "successor", required=True, metavar="TODO", help="What takes its place.")
@_reason
@click.pass_obj
def supersede(session: Session, /, *, todo_id: str, successor: str, reason: str) -> None:
    """Put another todo, added with --lineage ID, in the place of one."""
    _propose(session, kind="supersede", todo_ids=(todo_id,), successor=successor, reason=reason)


@command.command("route", example="loopx propose route --todo T3 --reason 'tests unstable'")
@click.option("--todo", "todo_ids", multiple=True, metavar="TODO", help="What is to be replanned.")
@_reason
@_facts
@click.pass_obj
def route(session: Session, /, **values: Any) -> None:
    """Look for another route for these todos, or for the goal."""
    _propose(session, kind="route", **values)


@command.command(
    "objective", example="loopx propose objective --text 'Shop only' --reason 'too large'"
)
@click.option("--text", required=True, metavar="TEXT", help="The whole new objective.")
@_reason
@_facts
@click.pass_obj
def objective(session: Session, /, **values: Any) -> None:
    """Word the objective anew."""
    _propose(session, kind="objective", **values)


def _propose(session: Session, **values: Any) -> None:
    from loopx_kernel.domain.propose import ProposeChange
    from loopx_kernel.domain.records_of_work import Proposal
    from loopx_kernel.workspace.goal_words import build

    workspace = session.writing()
    asked = ProposeChange(proposal=build(Proposal, values))
    done = workspace.replans.propose(
        session.goal_id(workspace), session.agent(), asked, event_id=session.options.event_id
    )
    gate = done.state.gate(done.object_id)
    session.done(workspace, done, f"{gate.id} asks: {gate.question}", gate=gate)
