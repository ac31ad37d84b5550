"""`loopx todo`: work is added, shown and listed here; `todo_work` and `todo_aside` do the rest."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, get_args

import click

from loopx_kernel.cli import todo_aside, todo_work
from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session
from loopx_kernel.clock import format_time, parse_time
from loopx_kernel.errors import UsageError

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.views.goal import TodoRow

SCHEMA = "loopx_todos_v0"
_MOMENT_STATUSES = ("expired", "gated")


@click.group("todo", cls=Group, example="loopx todo list")
def command() -> None:
    """Add work, take it, hand it in."""


todo_work.register(command)
todo_aside.register(command)


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
@click.pass_obj
def list_all(session: Session, /, *, status: str | None, everything: bool) -> None:
    """The todos that are not finished, or those asked for."""
    if status is not None:
        _check_status(status)
    workspace = session.reading()
    view = workspace.view(session.goal_id(workspace), session.agent_id, projection="todos")
    rows = [row for row in view.todos if _wanted(row, status, everything)]
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
    """One todo with its whole origin."""
    workspace = session.reading()
    goal_id = session.goal_id(workspace)
    state = workspace.state(goal_id)
    state.todo(todo_id)
    view = workspace.view(goal_id, session.agent_id, projection="todo")
    row = next(row for row in view.todos if row.todo.id == todo_id)
    lineage = _lineage(todo_id, {r.todo.id: r.todo.lineage_todo_ids for r in view.todos})
    from loopx_kernel.cli.values import lease_of, todo_value

    body = {
        "todo": todo_value(row),
        "lease": lease_of(goal_id, row.todo),
        "lineage": [state.todo(ref) for ref in lineage],
    }
    session.answer(SCHEMA, view.envelope, body, lambda printer: _show(printer, row, lineage))


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


def _lineage(todo_id: str, parents: dict[str, tuple[str, ...]]) -> list[str]:
    """Everything a todo comes from, nearest first."""
    found: list[str] = []
    waiting = list(parents[todo_id])
    while waiting:
        ref = waiting.pop(0)
        if ref not in found:
            found.append(ref)
            waiting += parents[ref]
    return found


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


def _show(printer: Printer, row: TodoRow, lineage: list[str]) -> None:
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
    for item in todo.evidence:
        read = f", {item.result}" if item.result else ""
        printer.line(f"evidence: {item.path} sha256={item.sha256}{read}")
    origin = todo.origin
    printer.line(
        f"origin: {origin.actor_kind} {origin.actor_agent_id}, {origin.event_id}, "
        f"{format_time(todo.added_at)}"
    )
    if lineage:
        printer.line(f"comes from: {' <- '.join(lineage)}")
