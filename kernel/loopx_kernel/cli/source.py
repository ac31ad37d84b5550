"""`loopx source`: what the goal reads decisions from, and how old that is."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session
from loopx_kernel.clock import format_time, parse_duration
from loopx_kernel.errors import UsageError

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.domain.freshness import SourceReading
    from loopx_kernel.workspace import Done, Workspace


@click.group("source", cls=Group, example="loopx source list")
def command() -> None:
    """What the goal reads decisions from, and how old that is."""


@command.command("add", example="loopx source add tickets --provider jira --required --window 3d")
@click.argument("source_id", metavar="ID")
@click.option("--provider", required=True, metavar="NAME", help="Where it is read.")
@click.option("--required", is_flag=True, help="Without it the goal is not complete.")
@click.option(
    "--window",
    type=parse_duration,
    metavar="DURATION",
    default="3d",
    show_default=True,
    help="Fresh for so long.",
)
@click.option("--on-demand", is_flag=True, help="Read only when asked.")
@click.pass_obj
def add(
    session: Session,
    /,
    *,
    source_id: str,
    provider: str,
    required: bool,
    window: timedelta,
    on_demand: bool,
) -> None:
    """Register a source. That says nothing about its health."""
    from loopx_kernel.domain.rules import SourceRule, check_id
    from loopx_kernel.domain.source import AddSource
    from loopx_kernel.text import check_line

    rule = SourceRule(
        id=check_id(source_id, "a source"),
        provider=check_line(provider, "provider", limit=128),
        required=required,
        on_demand=on_demand,
        window_seconds=int(window.total_seconds()),
    )
    workspace = session.writing()
    done = workspace.sources.add(
        session.goal_id(workspace), AddSource(rule=rule), event_id=session.options.event_id
    )
    _print(session, workspace, done, "is registered; bind it, then read it")


@command.command("bind", example="loopx source bind tickets")
@click.argument("source_id", metavar="ID")
@click.pass_obj
def bind(session: Session, /, *, source_id: str) -> None:
    """Its provider is connected. Bound is not yet read."""
    from loopx_kernel.domain.source import BindSource

    workspace = session.writing()
    done = workspace.sources.bind(
        session.goal_id(workspace),
        BindSource(source_id=source_id),
        event_id=session.options.event_id,
    )
    _print(session, workspace, done, "is bound")


@command.command(
    "read", example="loopx source read tickets --status read --items 12 --unreadable 0"
)
@click.argument("source_id", metavar="ID")
@click.option(
    "--status",
    required=True,
    type=click.Choice(["read", "no_change", "failed"]),
    help="How it went.",
)
@click.option("--items", type=click.IntRange(min=0), metavar="N", help="Items found.")
@click.option("--unreadable", type=click.IntRange(min=0), metavar="N", help="Of them not readable.")
@click.option("--pending", type=click.IntRange(min=0), metavar="N", help="Waiting to be settled.")
@click.pass_obj
def read(
    session: Session,
    /,
    *,
    source_id: str,
    status: Literal["read", "no_change", "failed"],
    items: int | None,
    unreadable: int | None,
    pending: int | None,
) -> None:
    """Record one attempt to read it, with what it reported."""
    from loopx_kernel.domain.source import ReadSource

    workspace = session.writing()
    asked = ReadSource(
        source_id=source_id, status=status, items=items, unreadable=unreadable, pending=pending
    )
    done = workspace.sources.read(
        session.goal_id(workspace), asked, event_id=session.options.event_id
    )
    _print(session, workspace, done, "was looked at")


@command.command("list", example="loopx source list --json")
@click.pass_obj
def list_all(session: Session) -> None:
    """Every source with the age of its last good reading."""
    from loopx_kernel.domain.freshness import ENABLED_STATE_IMPLIES_FRESHNESS, FRESHNESS_SCHEMA

    workspace = session.reading()
    view = workspace.view(session.goal_id(workspace), projection="sources")
    body = {
        "enabled_state_implies_freshness": ENABLED_STATE_IMPLIES_FRESHNESS,
        "sources": view.sources,
    }
    session.answer(
        FRESHNESS_SCHEMA, view.envelope, body, lambda printer: _table(printer, view.sources)
    )


def _print(session: Session, workspace: Workspace, done: Done[Any], what: str) -> None:
    view = workspace.view(done.receipt.goal_id)
    source = next((s for s in view.sources if s.id == done.object_id), None)
    if source is None:
        raise UsageError("unknown_source", f"There is no source {done.object_id}")
    sentence = f"{source.id} {what}: {source.status}, {source.read_status}"
    session.done(workspace, done, sentence, source=source)


def _table(printer: Printer, sources: tuple[SourceReading, ...]) -> None:
    printer.line("enabled_state_implies_freshness: false")
    printer.table(
        ("id", "status", "last read", "last success", "window s", "pending", "queue", "alerts"),
        (
            (
                source.id,
                source.status,
                source.read_status,
                format_time(source.last_success_at) if source.last_success_at else "never",
                source.window_seconds,
                source.pending_count,
                source.queue,
                ", ".join(source.alert_reasons),
            )
            for source in sources
        ),
    )
