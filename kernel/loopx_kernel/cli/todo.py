"""`loopx todo`: work is added, shown and listed here; `todo_work` and `todo_aside` do the rest."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, get_args

import click

from loopx_kernel.cli import todo_aside, todo_away, todo_work
from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session
from loopx_kernel.cli.todo_proof import show_looks, show_origins, show_proof
from loopx_kernel.clock import format_time, parse_time
from loopx_kernel.errors import UsageError

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.domain.records_of_work import Observation
    from loopx_kernel.views.goal import TodoRow
    from loopx_kernel.workspace.evidence import Proof
    from loopx_kernel.workspace.lineage import Made

SCHEMA = "loopx_todos_v0"
FINISHED = ("done", "superseded", "cancelled")
_MOMENT_STATUSES = ("expired", "gated")


@click.group("todo", cls=Group, example="loopx todo list")
def command() -> None:
    """Add work, take it, hand it in."""


todo_work.register(command)
todo_aside.register(command)
todo_away.register(command)


@command.command("add", example="loopx todo add 'Convert components' --write-scope 'src/theme/**'")
@click.argument("title")
@click.option("--role", type=click.Choice(["agent", "human"]), default="agent", show_default=True)
@click.option(
    "--kind",
    type=click.Choice(["work", "fix", "monitor", "replan"]),
    default="work",
    show_default=True,
)
@click.option(
    "--priority",
    type=click.Choice(["P0", "P1", "P2", "P3"]),
    default="P2",
    show_default=True,
    help="P0 comes first.",
)
@click.option("--write-scope", multiple=True, metavar="SCOPE", help="A path, dir/ or glob.")
@click.option("--depends-on", multiple=True, metavar="TODO", help="Must be finished first.")
@click.option("--acceptance", multiple=True, metavar="ITEM", help="An acceptance item's id.")
@click.option("--lineage", multiple=True, metavar="TODO", help="The todo this one comes from.")
@click.option("--requires-statement", is_flag=True, help="Needs a validation statement.")
@click.option("--resume-at", type=parse_time, metavar="TIME", help="Not before this time.")
@click.option(
    "--next-check-at", type=parse_time, metavar="TIME", help="When a monitor looks again."
)
@click.pass_obj
def add(
    session: Session,
    /,
    *,
    title: str,
    resume_at: datetime | None,
    next_check_at: datetime | None,
    **values: Any,
) -> None:
    """New work; prints the todo with its id."""
    from loopx_kernel.domain.todo import AddTodo

    workspace = session.writing()
    goal_id = session.goal_id(workspace)
    asked = AddTodo(title=title, resume_at=resume_at, next_check_at=next_check_at, **values)
    done = workspace.todos.add(goal_id, session.agent(), asked, event_id=session.options.event_id)
    todo = done.state.todo(done.object_id)
    session.done(workspace, done, f"{todo.id} added: {todo.title}", todo=todo)


@command.command("list", example="loopx todo list --status open")
@click.option("--status", metavar="STATUS", help="Only todos with this status.")
@click.option("--all", "everything", is_flag=True, help="Finished ones too.")
@click.option(
    "--finished",
    "most",
    type=click.IntRange(min=0),
    metavar="N",
    help="Finished ones too, of those finished long ago only the last N.",
)
@click.pass_obj
def list_all(
    session: Session, /, *, status: str | None, everything: bool, most: int | None
) -> None:
    """The todos that are not finished, or those asked for."""
    if status is not None:
        _check_status(status)
    workspace = session.reading()
    goal_id = session.goal_id(workspace)
    view = workspace.view(goal_id, session.agent_id, projection="todos")
    everything = everything or most is not None
    rows = [row for row in view.todos if _wanted(row, status, everything)]
    if view.earlier and (status in FINISHED or (everything and status is None)):
        from loopx_kernel.views.goal import row_of_finished

        earlier = map(row_of_finished, workspace.history.finished(goal_id, most))
        rows = [*(row for row in earlier if _wanted(row, status, everything)), *rows]
    from loopx_kernel.cli.values import todo_value

    session.answer(
        SCHEMA,
        view.envelope,
        {"todos": [todo_value(row) for row in rows], "counts": view.counts},
        lambda printer: _table(printer, rows),
    )


@command.command("show", example="loopx todo show T3")
@click.argument("todo_id", metavar="ID")
@click.pass_obj
def show(session: Session, /, *, todo_id: str) -> None:
    """One todo with its whole origin: what it comes from, and the event that made each."""
    from loopx_kernel.workspace.lineage import origins_of

    workspace = session.reading()
    goal_id = session.goal_id(workspace)
    made = origins_of(workspace, goal_id, todo_id)
    view = workspace.view(goal_id, session.agent_id, projection="todo")
    from loopx_kernel.cli.values import (
        evidence_value,
        lease_of,
        origin_value,
        statement_value,
        todo_value,
    )
    from loopx_kernel.domain.landing import looks_for
    from loopx_kernel.views.goal import row_of_finished

    found = (row for row in view.todos if row.todo.id == todo_id)
    row = next(found, None) or row_of_finished(made[0].todo)
    proof = workspace.evidence.of(goal_id, row.todo)
    looks = looks_for(workspace.state(goal_id), todo_id)

    body = {
        "todo": todo_value(row),
        "lease": lease_of(goal_id, row.todo),
        "lineage": [one.todo for one in made[1:]],
        "origins": [origin_value(one) for one in made],
        "statement": statement_value(proof.statement),
        "evidence": [evidence_value(item) for item in proof.evidence],
        "observations": looks,
    }
    session.answer(
        SCHEMA, view.envelope, body, lambda printer: _show(printer, row, made, proof, looks)
    )


def _check_status(status: str) -> None:
    from loopx_kernel.domain.records import TodoStatus

    known = (*get_args(TodoStatus), *_MOMENT_STATUSES)
    if status not in known:
        raise UsageError(
            "invalid_status",
            f"{status!r} is not a status of a todo",
            next=f"use one of {', '.join(known)}",
            status=status,
        )


def _wanted(row: TodoRow, status: str | None, everything: bool) -> bool:
    if status is not None:
        return status in (row.todo.status, row.display_status)
    return everything or not row.todo.finished


def _table(printer: Printer, rows: list[TodoRow]) -> None:
    printer.table(
        ("id", "status", "priority", "holder", "title"),
        (
            (
                row.todo.id,
                row.display_status,
                row.todo.priority,
                row.holder,
                row.todo.title,
            )
            for row in rows
        ),
    )


def _show(
    printer: Printer, row: TodoRow, made: tuple[Made, ...], proof: Proof, looks: list[Observation]
) -> None:
    todo = row.todo
    printer.line(f"{todo.id} {row.display_status} {todo.priority} {todo.kind}: {todo.title}")
    printer.line(f"version {todo.version}, epoch {todo.lease_epoch}, for {todo.role}")
    facts = (
        ("holder", row.holder),
        ("scopes", " ".join(todo.write_scope)),
        ("needs", ", ".join(row.needs)),
        ("gated by", ", ".join(row.gated_by)),
        ("acceptance", ", ".join(todo.acceptance)),
        ("reason", todo.reason),
        ("due", format_time(todo.resume_at) if todo.resume_at else ""),
        ("claimed tests", todo.claimed_tests),
        ("superseded by", todo.superseded_by),
    )
    for name, value in facts:
        if value:
            printer.line(f"{name}: {value}")
    show_looks(printer, todo.waiting_on, looks)
    show_proof(printer, proof)
    show_origins(printer, made)
