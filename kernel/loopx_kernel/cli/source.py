"""`loopx source`: what the goal reads decisions from, and how old that is."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session
from loopx_kernel.clock import format_time, parse_duration, span
from loopx_kernel.errors import UsageError

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.domain.freshness import HostReading, SourceReading
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
    """Record one attempt to read it, with what it reported.

    One that succeeds puts the todos that wait for this source back to open.
    """
    from loopx_kernel.domain.source import ReadSource

    workspace = session.writing()
    asked = ReadSource(
        source_id=source_id, status=status, items=items, unreadable=unreadable, pending=pending
    )
    done = workspace.sources.read(
        session.goal_id(workspace), asked, event_id=session.options.event_id
    )
    todos = done.state.todos.values()
    thawed = [todo.id for todo in todos if todo.seq == done.receipt.seq]
    _print(session, workspace, done, "was looked at", thawed=thawed)


@command.command("settle", example="loopx source settle tickets --cursor batch-7 --pending 0")
@click.argument("source_id", metavar="ID")
@click.option("--cursor", required=True, metavar="TEXT", help="How far it is dealt with now.")
@click.option("--pending", type=click.IntRange(min=0), metavar="N", help="Still waiting.")
@click.pass_obj
def settle(session: Session, /, *, source_id: str, cursor: str, pending: int | None) -> None:
    """What was read is dealt with up to here. It says nothing of how fresh the source is."""
    from loopx_kernel.domain.source import SettleSource

    workspace = session.writing()
    asked = SettleSource(source_id=source_id, cursor=cursor, pending=pending)
    done = workspace.sources.settle(
        session.goal_id(workspace), asked, event_id=session.options.event_id
    )
    _print(session, workspace, done, f"is settled up to {cursor}")


@command.command("pause", example="loopx source pause tickets --reason 'cannot be replayed'")
@click.argument("source_id", metavar="ID")
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@click.pass_obj
def pause(session: Session, /, *, source_id: str, reason: str) -> None:
    """Settle nothing more of it for now. Reading it goes on, and its age counts as before."""
    _pause(session, source_id, paused=True, reason=reason)


@command.command("resume", example="loopx source resume tickets")
@click.argument("source_id", metavar="ID")
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@click.pass_obj
def resume(session: Session, /, *, source_id: str, reason: str) -> None:
    """Go on with settling it, where its cursor stands."""
    _pause(session, source_id, paused=False, reason=reason)


def _pause(session: Session, source_id: str, *, paused: bool, reason: str) -> None:
    from loopx_kernel.domain.source import PauseSource

    workspace = session.writing()
    asked = PauseSource(source_id=source_id, paused=paused, reason=reason)
    done = workspace.sources.pause(
        session.goal_id(workspace), asked, event_id=session.options.event_id
    )
    _print(session, workspace, done, "is paused" if paused else "goes on")


@command.command(
    "host", example="loopx source host jira --status ok --expires 1h --scanned tickets"
)
@click.argument("provider", metavar="PROVIDER")
@click.option("--status", required=True, type=click.Choice(["ok", "failed"]), help="How it went.")
@click.option("--scanned", multiple=True, metavar="ID", help="A source this run looked at.")
@click.option(
    "--expires",
    type=parse_duration,
    metavar="DURATION",
    default="1h",
    show_default=True,
    help="After that this report is none.",
)
@click.pass_obj
def host(
    session: Session,
    /,
    *,
    provider: str,
    status: Literal["ok", "failed"],
    scanned: tuple[str, ...],
    expires: timedelta,
) -> None:
    """Record one run of the program that reads a provider's sources.

    It has clocks of its own: that it ran says nothing of what it read.
    """
    from loopx_kernel.domain.source_host import ReportHost

    workspace = session.writing()
    goal_id = session.goal_id(workspace)
    asked = ReportHost(
        provider=provider,
        status=status,
        scanned=scanned,
        expires_seconds=int(expires.total_seconds()),
    )
    done = workspace.sources.report_host(goal_id, asked, event_id=session.options.event_id)
    found = next(one for one in workspace.view(goal_id).hosts if one.provider == provider)
    sentence = f"{found.id}: {found.report}; not scanned: {', '.join(found.not_scanned) or 'none'}"
    session.done(workspace, done, sentence, host=found)


@command.command("list", example="loopx source list --json")
@click.pass_obj
def list_all(session: Session) -> None:
    """Every source with the age of its last good reading; those nobody scanned are counted out."""
    from loopx_kernel.domain.freshness import ENABLED_STATE_IMPLIES_FRESHNESS, FRESHNESS_SCHEMA
    from loopx_kernel.views.envelope import Omission, lacking

    workspace = session.reading()
    view = workspace.view(session.goal_id(workspace), projection="sources")
    unseen = [source for source in view.sources if source.status == "not_scanned"]
    omitted: tuple[Omission, ...] = ()
    if unseen:
        omitted = (*view.envelope.coverage.omitted, Omission("not_scanned", len(unseen)))
    envelope = lacking(view.envelope, len(view.sources) - len(unseen), omitted)
    body = {
        "enabled_state_implies_freshness": ENABLED_STATE_IMPLIES_FRESHNESS,
        "sources": view.sources,
        "hosts": view.hosts,
    }

    def show(printer: Printer) -> None:
        _table(printer, view.sources)
        for one in view.hosts:
            _show_host(printer, one)

    session.answer(FRESHNESS_SCHEMA, envelope, body, show)


def _print(
    session: Session, workspace: Workspace, done: Done[Any], what: str, **more: list[str]
) -> None:
    view = workspace.view(done.receipt.goal_id)
    source = next((s for s in view.sources if s.id == done.object_id), None)
    if source is None:
        raise UsageError("unknown_source", f"There is no source {done.object_id}")
    sentence = f"{source.id} {what}: {source.status}, {source.read_status}"
    thawed = more.get("thawed")
    sentence += f"; {', '.join(thawed)} open again" if thawed else ""
    session.done(workspace, done, sentence, source=source, **more)


def _table(printer: Printer, sources: tuple[SourceReading, ...]) -> None:
    printer.line("enabled_state_implies_freshness: false")
    printer.table(
        (
            *("id", "status", "last read", "last success", "last try", "window", "failures"),
            *("pending", "cursor", "queue", "alerts"),
        ),
        (
            (
                source.id,
                source.status,
                source.read_status,
                format_time(source.last_success_at) if source.last_success_at else "never",
                format_time(source.checked_at) if source.checked_at else "never",
                span(source.window_seconds),
                source.failure_streak,
                source.pending_count,
                source.cursor,
                source.queue,
                ", ".join(source.alert_reasons),
            )
            for source in sources
        ),
        styles=["bold red" if source.needs_look else "" for source in sources],
    )


def _show_host(printer: Printer, one: HostReading) -> None:
    success = format_time(one.last_success_at) if one.last_success_at else "never"
    text = (
        f"{one.id} {one.report}, last success {success}, last run {format_time(one.checked_at)}, "
        f"expires {format_time(one.expires_at)}, failures in a row {one.failure_streak}"
    )
    if one.not_scanned:
        text += f", not scanned: {', '.join(one.not_scanned)}"
    printer.line(text, "bold red" if one.alert or one.not_scanned else "")
