"""`loopx todo claim`, `renew`, `release`, `update` and `complete`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, get_args

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session
from loopx_kernel.cli.values import lease_of
from loopx_kernel.clock import format_time, parse_duration
from loopx_kernel.errors import UsageError

if TYPE_CHECKING:
    from loopx_kernel.workspace import Done, Workspace

_SETTING_ASIDE = {"blocked": "block", "waiting": "wait", "deferred": "defer", "open": "reopen"}


def register(group: Group) -> None:
    """Puts these commands under `loopx todo`."""
    for one in (claim, renew, release, update, complete):
        group.add_command(one)


def _command(name: str, example: str) -> Callable[[Callable[..., Any]], click.Command]:
    from loopx_kernel.cli.framework import Command

    return click.command(name, cls=Command, example=example)


def _held(wrapped: Callable[..., Any]) -> Callable[..., Any]:
    wrapped = click.option(
        "--epoch", type=int, required=True, metavar="N", help="The lease's epoch."
    )(wrapped)
    return click.option(
        "--version", type=int, required=True, metavar="N", help="The version you read."
    )(wrapped)


@_command("claim", "loopx todo claim T3 --expect-version 4 --ttl 15m")
@click.argument("todo_id", metavar="ID")
@click.option("--expect-version", type=int, metavar="N", help="The version you read.")
@click.option("--ttl", type=parse_duration, metavar="DURATION", help="How long the lease lasts.")
@click.pass_obj
def claim(
    session: Session, /, *, todo_id: str, expect_version: int | None, ttl: timedelta | None
) -> None:
    """Take a todo; prints the lease."""
    from loopx_kernel.domain.lease import ClaimTodo

    workspace = session.writing()
    asked = ClaimTodo(todo_id=todo_id, expect_version=expect_version, ttl_seconds=_seconds(ttl))
    goal_id = session.goal_id(workspace)
    done = workspace.todos.claim(goal_id, session.agent(), asked, event_id=session.options.event_id)
    _print_lease(session, workspace, done, "is yours")


@_command("renew", "loopx todo renew T3 --version 5 --epoch 2")
@click.argument("todo_id", metavar="ID")
@_held
@click.option(
    "--ttl", type=parse_duration, metavar="DURATION", help="How long the lease lasts from now."
)
@click.pass_obj
def renew(
    session: Session, /, *, todo_id: str, version: int, epoch: int, ttl: timedelta | None
) -> None:
    """Hold on to a todo for another lease length."""
    from loopx_kernel.domain.lease import RenewLease

    workspace = session.writing()
    asked = RenewLease(todo_id=todo_id, version=version, epoch=epoch, ttl_seconds=_seconds(ttl))
    goal_id = session.goal_id(workspace)
    done = workspace.todos.renew(goal_id, session.agent(), asked, event_id=session.options.event_id)
    _print_lease(session, workspace, done, "stays yours")


@_command("release", "loopx todo release T3 --version 6 --epoch 2")
@click.argument("todo_id", metavar="ID")
@_held
@click.pass_obj
def release(session: Session, /, *, todo_id: str, version: int, epoch: int) -> None:
    """Give a todo back."""
    from loopx_kernel.domain.lease import ReleaseLease

    workspace = session.writing()
    asked = ReleaseLease(todo_id=todo_id, version=version, epoch=epoch)
    goal_id = session.goal_id(workspace)
    done = workspace.todos.release(
        goal_id, session.agent(), asked, event_id=session.options.event_id
    )
    todo = done.state.todo(done.object_id)
    session.done(
        workspace, done, f"{todo.id} is open again", todo=todo, lease=lease_of(goal_id, todo)
    )


def _hand_in(wrapped: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--turn", metavar="ID", help="Your turn: this is one of its three parts."),
        click.option("--epoch", type=int, metavar="N", help="The lease's epoch."),
        click.option("--version", type=int, metavar="N", help="The version you read."),
        click.option("--note", default="", metavar="TEXT", help="One line on what was done."),
        click.option("--tests", type=click.Choice(["passed", "failed"]), help="What tests said."),
        click.option("--evidence", multiple=True, metavar="PATH", help="A file in the repo."),
    ):
        wrapped = option(wrapped)
    return wrapped


@_command("update", "loopx todo update T3 --evidence report.xml --tests failed --note 'two left'")
@click.argument("todo_id", metavar="ID")
@click.option("--status", metavar="STATUS", help="`done` finishes it.")
@_hand_in
@click.pass_obj
def update(session: Session, /, *, todo_id: str, status: str | None, **values: Any) -> None:
    """Hand in what was done so far; code checks it before it is recorded."""
    workspace = session.writing()
    goal_id = session.goal_id(workspace)
    workspace.state(goal_id).todo(todo_id)
    if status is not None:
        _check_status(todo_id, status)
    _update(session, workspace, todo_id, complete=status == "done", **values)


@_command("complete", "loopx todo complete T3 --evidence report.xml --tests passed")
@click.argument("todo_id", metavar="ID")
@_hand_in
@click.option("--reason", metavar="TEXT", help="A person finishes a person's todo; signed.")
@click.option("--dry-run", is_flag=True, help="With --reason: show what would be signed.")
@click.pass_obj
def complete(
    session: Session, /, *, todo_id: str, reason: str | None, dry_run: bool, **values: Any
) -> None:
    """Finish a todo: its worker with evidence, or a person with a reason."""
    workspace = session.writing()
    if reason is None:
        _update(session, workspace, todo_id, complete=True, **values)
        return
    from loopx_kernel.cli.person import decide
    from loopx_kernel.domain.handin import FinishHumanTodo

    goal_id = session.goal_id(workspace)
    asked = FinishHumanTodo(todo_id=todo_id, reason=reason)
    done = decide(
        session,
        workspace,
        lambda owner: workspace.todos.finish_human(
            goal_id,
            owner,
            asked,
            evidence=values["evidence"],
            event_id=session.options.event_id,
        ),
        dry_run=dry_run,
    )
    if done is not None:
        todo = done.state.todo(todo_id)
        session.done(workspace, done, f"{todo_id} is {todo.status}", todo=todo)


def _update(
    session: Session,
    workspace: Workspace,
    todo_id: str,
    *,
    complete: bool,
    evidence: tuple[str, ...],
    **values: Any,
) -> None:
    from loopx_kernel.domain.state import open_escalations

    goal_id = session.goal_id(workspace)
    done = workspace.todos.update(
        goal_id,
        session.agent(),
        todo_id,
        complete=complete,
        evidence=evidence,
        event_id=session.options.event_id,
        **values,
    )
    todo = done.state.todo(todo_id)
    proof = "" if todo.proven else " (unproven: no report that a machine can read)"
    sentence = f"{todo.id} is {todo.status}{proof}"
    asked = next((e for e in open_escalations(done.state, todo.id)), None)
    if complete and asked is not None:
        sentence = f"{todo.id} is not done, and {asked.id} asks a person: {asked.detail}"
    session.done(
        workspace,
        done,
        sentence,
        todo=todo,
        lease=lease_of(goal_id, todo),
        escalation=asked,
    )


def _check_status(todo_id: str, status: str) -> None:
    from loopx_kernel.domain.records import TodoStatus

    if status in ("done", "claimed"):
        return
    if status in _SETTING_ASIDE:
        raise UsageError(
            "illegal_transition",
            f"A hand-in does not make {todo_id} {status}",
            next=f"loopx todo {_SETTING_ASIDE[status]} {todo_id} --help",
            status=status,
        )
    known = ", ".join(get_args(TodoStatus))
    raise UsageError(
        "invalid_status",
        f"{status!r} is not a status a hand-in can give; the statuses are {known}",
        next=f"loopx todo update {todo_id} --status done",
        status=status,
    )


def _seconds(value: timedelta | None) -> int | None:
    return None if value is None else int(value.total_seconds())


def _print_lease(session: Session, workspace: Workspace, done: Done[Any], what: str) -> None:
    todo = done.state.todo(done.object_id)
    lease = lease_of(done.receipt.goal_id, todo)
    sentence = f"{todo.id} {what}: version {todo.version}, epoch {todo.lease_epoch}"
    if todo.lease is not None:
        sentence += f", until {format_time(todo.lease.expires_at)}"
    session.done(workspace, done, sentence, lease=lease, todo=todo)
