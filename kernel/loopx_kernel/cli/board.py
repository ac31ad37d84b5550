"""`loopx board`: every goal's answer; one goal's todos, claims, gates and monitors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from loopx_kernel.cli.framework import Command
from loopx_kernel.cli.session import Session

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.views.board import Board
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.workspace import Workspace

SCHEMA = "loopx_board_v0"


@click.command("board", cls=Command, example="loopx board --goal dark-mode")
@click.option(
    "--scope",
    type=click.Choice(["goal", "workspace", "global"]),
    help="One goal, all of the workspace, or of every workspace on your list "
    "[default: the goal that is named, or the only one; else workspace].",
)
@click.pass_obj
def command(session: Session, /, *, scope: str | None) -> None:
    """Every goal's answer; one goal's todos by state, claims, gates and monitors."""
    if scope == "global":
        _of_all(session)
        return
    workspace = session.reading()
    named = session.options.goal or os.environ.get("LOOPX_GOAL")
    if scope == "workspace" or (scope is None and not named and len(workspace.goal_ids) > 1):
        _of_workspace(session, workspace)
    else:
        _of_goal(session, workspace)


def _of_goal(session: Session, workspace: Workspace) -> None:
    from loopx_kernel.views.board_document import document
    from loopx_kernel.views.render_plain import plain_lines

    found = workspace.board(session.goal_id(workspace))
    session.answer(
        SCHEMA,
        found.view.envelope,
        {"scope": "goal", **board_value(found)},
        lambda printer: printer.document(plain_lines(document(found), printer.width)),
    )


def _of_workspace(session: Session, workspace: Workspace) -> None:
    from loopx_kernel.cli.everywhere import goals_table

    view = workspace.workspace_view("board")
    body = {
        "scope": "workspace",
        "goals": [answer_value(goal) for goal in view.goals],
        "unread": view.unread,
    }

    def show(printer: Printer) -> None:
        for unread in view.unread:
            printer.line(f"{unread.goal_id}: not read: {unread.message}", "bold red")
        goals_table(printer, (("", goal) for goal in view.goals))

    session.answer(SCHEMA, view.envelope, body, show)


def _of_all(session: Session) -> None:
    from loopx_kernel.cli.everywhere import goals_table, look, show_unread, unread_value

    view = look(session, "board").view
    body = {
        "scope": "global",
        "goals": [{"workspace": root, **answer_value(goal)} for root, goal in view.goals],
        **unread_value(view),
    }

    def show(printer: Printer) -> None:
        show_unread(printer, view)
        goals_table(printer, view.goals)

    session.answer(SCHEMA, view.envelope, body, show)


def answer_value(view: GoalView) -> dict[str, Any]:
    """A goal on a board of many: its answer, what waits for a person, its counts."""
    from loopx_kernel.cli.values import completion_value, goal_value, quota_value

    chosen = view.contract.todo
    return {
        "goal": goal_value(view),
        "answer": view.contract.answer,
        "reasons": view.contract.reasons,
        "needs_you": view.needs_you,
        "next_todo": None if chosen is None else {"id": chosen.id, "title": chosen.title},
        "todos": dict(view.counts),
        "quota": quota_value(view.contract.quota),
        "completion": completion_value(view.completion),
    }


def board_value(board: Board) -> dict[str, Any]:
    """The board of one goal with its public keys."""
    from loopx_kernel.cli.values import todo_value

    return {
        **answer_value(board.view),
        "columns": [
            {
                "status": column.status,
                "count": column.count,
                "earlier": column.earlier,
                "todos": [todo_value(row) for row in column.rows],
            }
            for column in board.columns
        ],
        "claims": board.claims,
        "gates": [row.gate.model_dump(mode="json") | {"status": row.status} for row in board.gates],
        "monitors": board.monitors,
    }
