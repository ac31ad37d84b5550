"""`loopx replay`: a goal as it stood at an earlier line of its journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Command
from loopx_kernel.cli.session import Session
from loopx_kernel.cli.status import show_goal
from loopx_kernel.cli.values import status_value
from loopx_kernel.clock import format_time

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer

SCHEMA = "loopx_replay_v0"


@click.command("replay", cls=Command, example="loopx replay --at 142")
@click.option(
    "--at", "seq", type=click.IntRange(min=1), required=True, metavar="SEQ", help="The line."
)
@click.pass_obj
def command(session: Session, /, *, seq: int) -> None:
    """The state right after one line, by the clock of that line. Looks; changes nothing.

    Owners and agents are those of today; files beside the journal have no past.
    """
    workspace = session.reading()
    past = workspace.history.at(session.goal_id(workspace), seq)
    view = past.view
    rules = tuple(rule.text for rule in past.state.the_rules.approval_rules)
    place = {"seq": view.seq, "head": view.head, "recorded_at": past.at}

    def show(printer: Printer) -> None:
        printer.line(
            f"PAST: {view.goal_id} right after #{view.seq}, {format_time(past.at)}; "
            f"its journal goes on to #{past.last_seq}",
            "bold reverse",
        )
        show_goal(printer, view, rules)

    session.answer(
        SCHEMA,
        view.envelope,
        {
            "past": True,
            "at": place,
            "last_seq": past.last_seq,
            "scope": "goal",
            **status_value(view, rules),
        },
        show,
    )
