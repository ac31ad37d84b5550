"""`loopx todo block`, `defer`, `wait` and `reopen`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import click

from loopx_kernel.cli.framework import Command, Group
from loopx_kernel.cli.session import Session
from loopx_kernel.clock import format_time, parse_duration, parse_time
from loopx_kernel.errors import UsageError


def register(group: Group) -> None:
    """Puts these commands under `loopx todo`."""
    for one in (block, defer, wait, reopen):
        group.add_command(one)


@click.command("block", cls=Command, example="loopx todo block T3 --reason 'no access to staging'")
@click.argument("todo_id", metavar="ID")
@click.option("--reason", required=True, metavar="TEXT", help="What stands in the way.")
@click.pass_obj
def block(session: Session, /, *, todo_id: str, reason: str) -> None:
    """Something stands in the way; the lease ends."""
    _set_aside(session, f"{todo_id} is blocked", todo_id=todo_id, status="blocked", reason=reason)


@click.command("defer", cls=Command, example="loopx todo defer T3 --until 2026-09-17T09:00:00Z")
@click.argument("todo_id", metavar="ID")
@click.option(
    "--until", type=parse_time, metavar="TIME", required=True, help="Not before this time."
)
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@click.pass_obj
def defer(session: Session, /, *, todo_id: str, until: datetime, reason: str) -> None:
    """Put a todo off to a date."""
    _set_aside(
        session,
        f"{todo_id} is put off to {format_time(until)}",
        todo_id=todo_id,
        status="deferred",
        until=until,
        reason=reason,
    )


@click.command("wait", cls=Command, example="loopx todo wait T3 --on ci --every 10m")
@click.argument("todo_id", metavar="ID")
@click.option("--on", "fact", required=True, metavar="FACT", help="ci, review or source:ID.")
@click.option(
    "--every",
    type=parse_duration,
    metavar="DURATION",
    default="10m",
    show_default=True,
    help="The fact's rhythm.",
)
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@click.pass_obj
def wait(session: Session, /, *, todo_id: str, fact: str, every: timedelta, reason: str) -> None:
    """Wait for a fact from outside; meanwhile it costs nothing."""
    kind, _, ref = fact.partition(":")
    if kind not in ("ci", "review", "source") or (kind == "source" and not ref):
        raise UsageError(
            "invalid_value",
            f"{fact!r} is nothing that can be waited for",
            next=f"loopx todo wait {todo_id} --on ci (or review, or source:ID)",
            value=fact,
        )
    from loopx_kernel.domain.records import WaitingOn
    from loopx_kernel.workspace.goal_words import build

    rhythm = int(every.total_seconds())
    on = build(WaitingOn, {"kind": kind, "ref": ref, "every_seconds": rhythm})
    _set_aside(
        session,
        f"{todo_id} waits for {fact}",
        todo_id=todo_id,
        status="waiting",
        waiting_on=on,
        reason=reason,
    )


@click.command("reopen", cls=Command, example="loopx todo reopen T3")
@click.argument("todo_id", metavar="ID")
@click.option("--reason", metavar="TEXT", help="A person reopens it; signed.")
@click.option("--dry-run", is_flag=True, help="With --reason: show what would be signed.")
@click.pass_obj
def reopen(session: Session, /, *, todo_id: str, reason: str | None, dry_run: bool) -> None:
    """Put a blocked, waiting or deferred todo back to open.

    A worker ends a wait only after somebody looked at what is waited for, a person always.
    """
    from loopx_kernel.domain.aside import ReopenTodo

    workspace = session.writing()
    goal_id, event_id = session.goal_id(workspace), session.options.event_id
    if reason is None:
        asked = ReopenTodo(todo_id=todo_id)
        done = workspace.todos.reopen(goal_id, session.agent(), asked, event_id=event_id)
    else:
        from loopx_kernel.cli.person import decide

        said = ReopenTodo(todo_id=todo_id, reason=reason)
        made = decide(
            session,
            workspace,
            lambda owner: workspace.todos.reopen_by_person(goal_id, owner, said, event_id=event_id),
            dry_run=dry_run,
        )
        if made is None:
            return
        done = made
    todo = done.state.todo(todo_id)
    session.done(workspace, done, f"{todo_id} is open again", todo=todo)


def _set_aside(session: Session, sentence: str, **values: Any) -> None:
    from loopx_kernel.domain.aside import SetAside

    workspace = session.writing()
    done = workspace.todos.set_aside(
        session.goal_id(workspace),
        session.agent(),
        SetAside(**values),
        event_id=session.options.event_id,
    )
    session.done(workspace, done, sentence, todo=done.state.todo(done.object_id))
