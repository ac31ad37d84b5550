"""`loopx event`: the journal, as it stands."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session
from loopx_kernel.clock import format_time

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.views.envelope import Envelope
    from loopx_kernel.workspace import EventRow, Workspace

SCHEMA = "loopx_events_v0"
WORKSPACE = "_workspace"
FOLLOW_SECONDS = 0.5
LONGEST_PAGE = 10_000


@click.group("event", cls=Group, example="loopx event list --since 100")
def command() -> None:
    """The journal: list, show, verify. --goal _workspace names the workspace's own."""


@command.command("list", example="loopx event list --since 140 --type gate.requested")
@click.option("--since", type=click.IntRange(min=0), metavar="SEQ", help="Only later.")
@click.option("--before", type=click.IntRange(min=1), metavar="SEQ", help="Only earlier.")
@click.option("--type", "event_type", metavar="TYPE", help="Only this type.")
@click.option(
    "--about", metavar="ID", help="Only about this todo, gate, source, turn or agent: T3, G1."
)
@click.option(
    "--limit",
    type=click.IntRange(1, LONGEST_PAGE),
    metavar="N",
    help="At most N: with --since the first ones, else the last ones.",
)
@click.option("--follow", is_flag=True, help="Go on with new ones as they come, one a line.")
@click.pass_obj
def list_all(session: Session, /, *, limit: int | None, follow: bool, **wanted: Any) -> None:
    """Events in their order, with whether each has an effect.

    With --follow and --json the first object holds those there are; then one object a line.
    """
    workspace = session.reading()
    goal_id = _journal(session, workspace)
    if limit is None:
        last = _all(session, workspace, goal_id, wanted)
    else:
        last = _page(session, workspace, goal_id, limit, wanted)
    if follow:
        _follow(session, workspace, goal_id, max(last, wanted["since"] or 0), wanted)


def _all(session: Session, workspace: Workspace, goal_id: str, wanted: dict[str, Any]) -> int:
    """Prints every event that is wanted, as it is read; the last one's ``seq``."""
    last = 0

    def noted() -> Iterator[EventRow]:
        nonlocal last
        for row in workspace.events.list(goal_id, **wanted | {"since": wanted["since"] or 0}):
            last = row.event.seq
            yield row

    envelope = _envelope(workspace, goal_id)
    if session.options.json:
        values = map(_value, noted())
        session.answer_list(SCHEMA, envelope, {"goal_id": goal_id}, "events", values)
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
        forward = wanted["since"] is not None
        onward = f"--since {rows[-1].event.seq}" if forward else f"--before {rows[0].event.seq}"

    def text(printer: Printer) -> None:
        _lines(printer, rows)
        if onward is not None:
            printer.line(f"more: the same command with {onward}", "dim")

    body = {"goal_id": goal_id, "more": page.more, "events": [_value(row) for row in rows]}
    session.answer(SCHEMA, _envelope(workspace, goal_id), body, text)
    return rows[-1].event.seq if rows else 0


@command.command("show", example="loopx event show e-0142 --statement")
@click.argument("wanted", metavar="ID")
@click.option("--statement", is_flag=True, help="The exact bytes that were signed.")
@click.option("--signature", is_flag=True, help="The signature, for ssh-keygen -Y verify.")
@click.pass_obj
def show(session: Session, /, *, wanted: str, statement: bool, signature: bool) -> None:
    """One event; or what was signed, byte by byte."""
    workspace = session.reading()
    goal_id = _journal(session, workspace)
    if statement or signature:
        signed = workspace.events.statement(goal_id, wanted) if statement else None
        armored = workspace.events.signature(goal_id, wanted) if signature else None
        if session.options.json:
            body = {"statement": signed and signed.decode("utf-8"), "signature": armored}
            session.answer(SCHEMA, _envelope(workspace, goal_id), body, lambda _: None)
        else:
            _raw(signed, armored)
        return
    row = workspace.events.show(goal_id, wanted)
    value = _value(row)

    def text(printer: Printer) -> None:
        import json

        _lines(printer, (row,))
        for name in ("event_id", "actor_kind", "actor_agent_id", "prev", "sha256"):
            printer.line(f"{name}: {value[name]}")
        printer.line(f"payload: {json.dumps(value['payload'], ensure_ascii=False)}")
        if row.event.signed is not None:
            holds = "holds" if row.signature_ok else "DOES NOT HOLD"
            printer.line(f"signature {holds}: {row.signer} {row.fingerprint} ({row.level})")

    session.answer(SCHEMA, _envelope(workspace, goal_id), {"event": value}, text)


@command.command("verify", example="loopx event verify --goal dark-mode")
@click.option("--deep", is_flag=True, help="Compare every file and checkpoint with it too.")
@click.pass_obj
def verify(session: Session, /, *, deep: bool) -> int:
    """Replay every line and check hash, chain and signature. Exit 0 whole, 1 not.

    With --deep each thing that differs is tampered, rolled_back, damaged, edited, missing or
    behind, or could_not_check.
    """
    workspace = session.reading()
    if session.options.goal:
        journals = [_journal(session, workspace)]
    else:
        journals = [WORKSPACE, *workspace.goal_ids]
    if deep:
        return _audit(session, workspace, journals)
    found = [workspace.events.verify(goal_id) for goal_id in journals]
    whole = all(one.ok for one in found)

    def text(printer: Printer) -> None:
        for one in found:
            verdict = f"whole, head {one.head}" if one.ok else "NOT WHOLE"
            printer.line(
                f"{one.goal_id}: {one.lines} lines, {verdict}", "" if one.ok else "bold red"
            )
            for problem in (*one.problems, *one.alerts):
                printer.line(f"  {problem}", "bold red")

    envelope = workspace.workspace_view(projection="event-verify").envelope
    session.answer(SCHEMA, envelope, {"verified": whole, "journals": found}, text)
    return 0 if whole else 1


def _audit(session: Session, workspace: Workspace, journals: list[str]) -> int:
    from loopx_kernel.views.plain import to_json

    found = [workspace.events.audit(goal_id) for goal_id in journals]
    whole = all(one.status == "whole" for one in found)

    def text(printer: Printer) -> None:
        for one in found:
            style = "" if one.status == "whole" else "bold red"
            printer.line(f"{one.goal_id}: {one.lines} lines, {one.status}", style)
            for finding in one.findings:
                printer.line(f"  {finding.status} {finding.path}: {finding.detail}", style)
                printer.line(f"    next: {finding.command}")

    body = {
        "verified": whole,
        "journals": [to_json(one) | {"status": one.status} for one in found],
    }
    envelope = workspace.workspace_view(projection="event-verify").envelope
    session.answer(SCHEMA, envelope, body, text)
    return 0 if whole else 1


def _journal(session: Session, workspace: Workspace) -> str:
    return WORKSPACE if session.options.goal == WORKSPACE else session.goal_id(workspace)


def _envelope(workspace: Workspace, goal_id: str) -> Envelope:
    if goal_id == WORKSPACE:
        return workspace.workspace_view(projection="events").envelope
    return workspace.view(goal_id, projection="events").envelope


def _value(row: EventRow) -> dict[str, Any]:
    value = row.event.model_dump(mode="json")
    if row.event.signed is None:
        del value["signed"]
    value["effective"] = row.effective
    if row.problem:
        value["problem"] = row.problem
    if row.event.signed is not None:
        value |= {"signature_ok": row.signature_ok, "level": row.level, "signer": row.signer}
    return value


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
        parts.append("signed" if row.signature_ok else "SIGNATURE DOES NOT HOLD")
    if not row.effective:
        parts.append(f"NO EFFECT: {row.problem}")
    return "  ".join(parts)


_TELLING = ("todo_id", "gate_id", "effect_ref", "source_id", "agent_id", "name", "title", "reason")


def _lines(printer: Printer, rows: Iterable[EventRow]) -> None:
    for row in rows:
        printer.line(_line(row), "" if row.effective else "bold red")


def _raw(signed: bytes | None, armored: str | None) -> None:
    # Exact bytes: with one newline more the signature would not hold.
    sys.stdout.flush()
    sys.stdout.buffer.write((signed or b"") + (armored or "").encode("ascii"))
    sys.stdout.buffer.flush()


def _follow(
    session: Session, workspace: Workspace, goal_id: str, since: int, wanted: dict[str, Any]
) -> None:
    from loopx_kernel.cli.output import print_json

    printer = session.printer()
    while True:
        sys.stdout.flush()
        time.sleep(FOLLOW_SECONDS)
        for row in workspace.events.list(goal_id, **wanted | {"since": since}):
            since = row.event.seq
            if session.options.json:
                print_json(_value(row))
            else:
                printer.line(_line(row))
