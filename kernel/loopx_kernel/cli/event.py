"""`loopx event`: the journal, as it stands."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from loopx_kernel.cli import event_verify
from loopx_kernel.cli.event_verify import WORKSPACE, journal_named
from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.recorded import envelope_of_lines
from loopx_kernel.cli.session import Session
from loopx_kernel.clock import format_time, parse_time
from loopx_kernel.domain.levels import MEANING

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.workspace import EventRow, Workspace

SCHEMA = "loopx_events_v0"
SIGNERS_SCHEMA = "loopx_allowed_signers_v0"
FOLLOW_SECONDS = 0.5
LONGEST_PAGE = 10_000


def place(text: str) -> int | datetime:
    """A line's number, or a time with a zone."""
    return int(text) if re.fullmatch(r"[0-9]{1,12}", text) else parse_time(text)


@click.group("event", cls=Group, example="loopx event list --since 100")
def command() -> None:
    """The journal: list, show, verify. --goal _workspace names the workspace's own."""


event_verify.register(command)


@command.command("list", example="loopx event list --since 2026-09-16T22:00:00Z --type gate")
@click.option("--since", type=place, metavar="SEQ|TIME", help="Only after this line, or from then.")
@click.option("--until", type=place, metavar="SEQ|TIME", help="Only up to this line, or before.")
@click.option("--before", type=click.IntRange(min=1), metavar="SEQ", help="Only earlier lines.")
@click.option(
    "--type", "event_type", metavar="TYPE", help="Only types that begin so: gate, todo.claimed."
)
@click.option("--actor", metavar="ID", help="Only what this worker, person or loopx did.")
@click.option(
    "--object",
    "--about",
    "about",
    metavar="ID",
    help="Only about this todo, gate, source, turn or agent: T3, G1.",
)
@click.option(
    "--limit",
    type=click.IntRange(1, LONGEST_PAGE),
    metavar="N",
    help="At most N: with --since the first ones, else the last ones.",
)
@click.option("--follow", is_flag=True, help="Go on with new ones as they come, one a line.")
@click.pass_obj
def list_all(
    session: Session,
    /,
    *,
    since: int | datetime | None,
    until: int | datetime | None,
    before: int | None,
    limit: int | None,
    follow: bool,
    **wanted: Any,
) -> None:
    """Events in their order, with whether each has an effect.

    With --follow and --json the first object holds those there are; then one object a line.
    """
    wanted |= _from(since) | _to(until, before)
    workspace = session.reading()
    goal_id = journal_named(session, workspace)
    if limit is None:
        last = _all(session, workspace, goal_id, wanted)
    else:
        last = _page(session, workspace, goal_id, limit, wanted)
    if follow:
        _follow(session, workspace, goal_id, wanted | {"since": max(last, wanted["since"] or 0)})


def _from(since: int | datetime | None) -> dict[str, Any]:
    by_time = isinstance(since, datetime)
    return {"since": None if by_time else since, "begin": since if by_time else None}


def _to(until: int | datetime | None, before: int | None) -> dict[str, Any]:
    if isinstance(until, datetime):
        return {"before": before, "end": until}
    limits = [limit for limit in (before, until and until + 1) if limit is not None]
    return {"before": min(limits, default=None), "end": None}


def _all(session: Session, workspace: Workspace, goal_id: str, wanted: dict[str, Any]) -> int:
    """Prints every event that is wanted, as it is read; the last one's ``seq``."""
    last = 0

    def noted() -> Iterator[EventRow]:
        nonlocal last
        for row in workspace.events.list(goal_id, **wanted | {"since": wanted["since"] or 0}):
            last = row.event.seq
            yield row

    envelope = envelope_of_lines(workspace, goal_id, "events")
    if session.options.json:
        body = {"goal_id": goal_id, "more": False, "next": None}
        session.answer_list(SCHEMA, envelope, body, "events", map(_value, noted()))
    else:
        session.answer(SCHEMA, envelope, {}, lambda printer: _lines(printer, noted()))
    return last


def _page(
    session: Session, workspace: Workspace, goal_id: str, limit: int, wanted: dict[str, Any]
) -> int:
    """Prints one page and how to get the next; the ``seq`` of its last event."""
    page = workspace.events.page(goal_id, limit, **wanted)
    rows = page.rows
    onward = None
    if page.more:
        last = rows[-1].event.seq if page.forward else rows[0].event.seq
        onward = {"since": last} if page.forward else {"before": last}

    def text(printer: Printer) -> None:
        _lines(printer, rows)
        for option, seq in (onward or {}).items():
            printer.line(f"more: the same command with --{option} {seq}", "dim")

    body = {
        "goal_id": goal_id,
        "more": page.more,
        "next": onward,
        "events": [_value(row) for row in rows],
    }
    session.answer(SCHEMA, envelope_of_lines(workspace, goal_id, "events"), body, text)
    return rows[-1].event.seq if rows else 0


@command.command("show", example="loopx event show e-0142 --statement")
@click.argument("wanted", metavar="ID")
@click.option("--statement", is_flag=True, help="The exact bytes that were signed.")
@click.option("--signature", is_flag=True, help="The signature, for ssh-keygen -Y verify.")
@click.pass_obj
def show(session: Session, /, *, wanted: str, statement: bool, signature: bool) -> None:
    """One event; or what was signed, byte by byte."""
    workspace = session.reading()
    goal_id = journal_named(session, workspace)
    if statement or signature:
        signed = workspace.events.statement(goal_id, wanted) if statement else None
        armored = workspace.events.signature(goal_id, wanted) if signature else None
        if session.options.json:
            body = {"statement": signed and signed.decode("utf-8"), "signature": armored}
            session.answer(
                SCHEMA, envelope_of_lines(workspace, goal_id, "events"), body, lambda _: None
            )
        else:
            _raw(signed, armored)
        return
    row = workspace.events.show(goal_id, wanted)
    value = _value(row)
    if goal_id != WORKSPACE and row.effective:
        value["copies"] = workspace.evidence.copies(goal_id, row.event.payload)

    def text(printer: Printer) -> None:
        import json

        _lines(printer, (row,))
        for name in ("event_id", "actor_kind", "actor_agent_id", "prev", "sha256"):
            printer.line(f"{name}: {value[name]}")
        printer.line(f"payload: {json.dumps(value['payload'], ensure_ascii=False)}")
        for sha256, copy in value.get("copies", {}).items():
            printer.line(f"copy {sha256}: {copy}", "" if copy == "kept" else "bold red")
        if row.event.signed is not None:
            _signature(printer, row)

    session.answer(SCHEMA, envelope_of_lines(workspace, goal_id, "events"), {"event": value}, text)


@command.command("export-owners", example="loopx event export-owners")
@click.pass_obj
def export_owners(session: Session) -> None:
    """The keys of all owners there ever were, as an allowed_signers file.

    With it ssh-keygen -Y verify checks what event show --statement and --signature print.
    """
    workspace = session.reading()
    lines = workspace.owners.allowed_signers()
    if session.options.json:
        envelope = workspace.workspace_view(projection="owners").envelope
        session.answer(SIGNERS_SCHEMA, envelope, {"allowed_signers": lines}, lambda _: None)
    else:
        _raw(lines.encode("utf-8"), None)


def _value(row: EventRow) -> dict[str, Any]:
    value = row.event.model_dump(mode="json")
    if row.event.signed is None:
        del value["signed"]
    value |= {"effective": row.effective, "goes_back": row.goes_back}
    if row.problem:
        value["problem"] = row.problem
    if row.event.signed is not None:
        value |= {"signature_ok": row.signature_ok, "level": row.level, "signer": row.signer}
        value |= {"fingerprint": row.fingerprint, "user_verified": row.user_verified}
    return value


def _signature(printer: Printer, row: EventRow) -> None:
    """Whose signature it is, whether it holds, and how strongly it speaks for its owner."""
    holds = "holds" if row.signature_ok else "DOES NOT HOLD"
    style = "" if row.signature_ok else "bold red"
    printer.line(f"signature {holds}: {row.signer} {row.fingerprint}", style)
    if row.signature_ok and row.level:
        verified = ", after its PIN or a finger" if row.user_verified else ""
        unattended = "red" if row.level == "software" else ""
        printer.line(f"level {row.level}: {MEANING[row.level]}{verified}", unattended)


def _line(row: EventRow) -> str:
    event = row.event
    parts = [
        f"#{event.seq}",
        format_time(event.recorded_at),
        event.event_type,
        event.actor_agent_id,
    ]
    parts += [str(event.payload[key]) for key in _TELLING if event.payload.get(key)]
    if event.signed is not None:
        parts.append(f"signed, {row.level}" if row.signature_ok else "SIGNATURE DOES NOT HOLD")
    if row.goes_back:
        parts.append("EARLIER THAN THE LINE BEFORE IT")
    if not row.effective:
        parts.append(f"NO EFFECT: {row.problem}")
    return "  ".join(parts)


_TELLING = (
    "todo_id",
    "gate_id",
    "obligation_id",
    "escalation_id",
    "effect_ref",
    "source_id",
    "agent_id",
    "name",
    "title",
    "reason",
)


def _lines(printer: Printer, rows: Iterable[EventRow]) -> None:
    for row in rows:
        printer.line(_line(row), "" if row.effective else "bold red")


def _raw(signed: bytes | None, armored: str | None) -> None:
    # Exact bytes: with one newline more the signature would not hold.
    sys.stdout.flush()
    sys.stdout.buffer.write((signed or b"") + (armored or "").encode("ascii"))
    sys.stdout.buffer.flush()


def _follow(session: Session, workspace: Workspace, goal_id: str, wanted: dict[str, Any]) -> None:
    from loopx_kernel.cli.output import print_json

    printer = session.printer()
    while True:
        sys.stdout.flush()
        time.sleep(FOLLOW_SECONDS)
        for row in workspace.events.list(goal_id, **wanted):
            wanted["since"] = row.event.seq
            if session.options.json:
                print_json(_value(row))
            else:
                printer.line(_line(row))
