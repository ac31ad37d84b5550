"""What a todo rests on, for people: facts from outside, its evidence, the statement about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_kernel.clock import format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loopx_kernel.cli.output import Printer
    from loopx_kernel.domain.records import WaitingOn
    from loopx_kernel.domain.records_of_work import Observation
    from loopx_kernel.workspace.evidence import Proof
    from loopx_kernel.workspace.lineage import Made

_SINCE = {"same": "", "changed": ", changed since", "gone": ", gone since", "unreadable": ""}
_COPY = {"kept": "copy kept", "missing": "COPY MISSING", "damaged": "COPY DAMAGED"}


def show_looks(printer: Printer, wait: WaitingOn | None, looks: list[Observation]) -> None:
    """What the todo waits for, and a line for each fact it waited for or is to fix."""
    if wait is not None:
        printer.line(f"waits for: {wait.fact}, every {wait.every_seconds} s")
    for seen in looks:
        when = format_time(seen.at)
        printer.line(f"seen: {seen.key} {seen.status} ({seen.basis} by {seen.by}, {when})")


def show_origins(printer: Printer, made: Sequence[Made]) -> None:
    """A line for the todo and for each that it comes from, back to the first, with its event."""
    for number, one in enumerate(made):
        event = one.event.event
        name = "" if number == 0 else f" {one.todo.id} {one.todo.title}:"
        text = f"{'comes from' if number else 'origin'}:{name} {event.actor_kind} "
        text += f"{event.actor_agent_id}, #{event.seq} {event.event_type} {event.event_id}, "
        text += format_time(event.recorded_at)
        if one.facts:
            text += f", on {', '.join(one.facts)}"
        printer.line(text)


def show_proof(printer: Printer, proof: Proof) -> None:
    """A line for each file handed in, then the statement with its digest."""
    for row in proof.evidence:
        item = row.evidence
        style = "bold red" if row.copy in ("missing", "damaged") else ""
        read = f"{item.kind} read, {item.result}" if item.result else "told"
        copy = _COPY.get(row.copy, "no copy: larger than 1 MiB")
        since = _SINCE[row.since]
        printer.line(f"evidence: {item.path} ({read}) sha256={item.sha256}, {copy}{since}", style)
    if proof.statement is None:
        return
    record, file = proof.statement.record, proof.statement.file
    well = file.level == "same"
    printer.line(
        f"statement: {record['result']}, {len(record['checks'])} looked at, {record['made_at']}, "
        f"sha256={record['sha256']}, file {'as recorded' if well else file.level.upper()}",
        "" if well else "bold red",
    )
    if file.found_digest and not well:
        printer.line(f"  found sha256={file.found_digest}", "bold red")
