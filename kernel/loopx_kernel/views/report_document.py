"""A report as a document: the alerts and what is open first, then what each figure rests on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from loopx_kernel.clock import to_the_second
from loopx_kernel.text import counted
from loopx_kernel.views.document import (
    Block,
    Document,
    Figures,
    Lines,
    Plot,
    Section,
    Series,
    clip,
    facts,
    table,
)
from loopx_kernel.views.report import Report
from loopx_kernel.views.report_rows import MOST, Place

_WHO = ("by", "at", "line")


def document(report: Report) -> Document:
    """The document that every form of the report is made from."""
    since, until = report.period.since, report.period.until
    name = clip(report.display_name or report.goal_id, 200)
    period = f"{since:%Y-%m-%d %H:%M} to {until:%Y-%m-%d %H:%M} UTC"
    sections = (
        _summary(report),
        *_alarms(report),
        _progress(report),
        _turns(report),
        _evidence(report),
        _spend(report),
        _decisions(report),
        _changes(report),
        _incidents(report),
        _still_open(report),
        _not_covered(report),
    )
    return Document(f"Report on {name}", report.envelope, sections, period)


def _period(report: Report) -> str:
    return f"{to_the_second(report.period.since)} to {to_the_second(report.period.until)}"


def _lines_of(report: Report) -> str:
    if report.first_seq is None:
        return "no line of the journal stands in this period"
    return f"journal lines #{report.first_seq} to #{report.last_seq}"


def _summary(report: Report) -> Section:
    after, spending = report.counts_after, report.spending
    ended = sum(after[name] for name in ("done", "superseded", "cancelled"))
    return Section(
        "Summary",
        (
            Figures(
                (
                    ("todos ended", f"{ended} of {after['total']}"),
                    ("slots used", str(spending.net)),
                    ("decisions", str(report.decisions.total)),
                    ("incidents", str(report.incidents.total)),
                    ("wait for a person", str(len(report.still_open.needs_you))),
                    ("answer at its end", report.still_open.answer),
                )
            ),
            facts(
                ("goal", report.goal_id),
                ("objective", f"v{report.objective_version}: {clip(report.objective, 2000)}"),
                ("period", _period(report)),
                ("todos", f"{after['done']} of {counted(after['total'], 'todo')} done"),
                ("in this period", f"{report.ended.total} ended, {report.added.total} added"),
                ("slots", f"{spending.booked} booked, {spending.voided} void"),
                ("complete", "yes [derived]" if report.still_open.complete else "no [derived]"),
            ),
        ),
        _lines_of(report),
    )


def _alarms(report: Report) -> Iterator[Section]:
    if report.alerts:
        yield Section(
            "Alerts now", (Lines(report.alerts, "alert"),), "the ledger as it is read now"
        )


def _progress(report: Report) -> Section:
    labels = _labels(report)
    done = tuple(part.ended for part in report.parts)
    total = tuple(part.total for part in report.parts)
    told = f"{done[-1]} of {total[-1]} todos ended at its end" if done else "nothing"
    ended = table(
        ("todo", "title", "outcome", "proof", "successor", "reason", *_WHO),
        (
            (
                *(row.todo_id, row.title, row.outcome),
                "proven" if row.proven else f"{row.evidence} files" if row.evidence else "none",
                *(row.superseded_by, row.reason, *_who(row.place)),
            )
            for row in report.ended.rows
        ),
        report.ended.left_out,
    )
    added = table(
        ("todo", "title", "kind", "from", *_WHO),
        (
            (row.todo_id, row.title, row.kind, ", ".join(row.lineage), *_who(row.place))
            for row in report.added.rows
        ),
        report.added.left_out,
    )
    series = (Series("ended", done), Series("there in all", total))
    plot = Plot("Todos over the period", "todos", labels, series, told, "steps")
    blocks: tuple[Block, ...] = (
        plot,
        Lines((f"{counted(report.ended.total, 'todo')} ended:",)),
        ended,
        Lines((f"{counted(report.added.total, 'todo')} came in:",)),
        added,
    )
    return Section("Progress", blocks, "todo events of the period; counts are of the folded state")


def _turns(report: Report) -> Section:
    outcomes = ", ".join(f"{count} {name}" for name, count in report.turn_outcomes.items())
    rows = table(
        ("turn", "todo", "outcome", "progress", "slots", "reason", *_WHO),
        (
            (
                *(row.turn_id, row.todo_id, row.outcome),
                "yes" if row.progress else "no",
                *(row.slots, row.reason, *_who(row.place)),
            )
            for row in report.turns.rows
        ),
        report.turns.left_out,
    )
    told = Lines((f"{report.turns_opened} opened; {outcomes or 'none closed'}",))
    basis = "turn events; progress needs verified, written back and booked together"
    return Section("Turns", (told, rows), basis)


def _evidence(report: Report) -> Section:
    rows = table(
        ("of", "what", "kind", "basis", "result", "sha256", *_WHO),
        (
            (row.of, row.what, row.kind, row.basis, row.result, row.sha256, *_who(row.place))
            for row in report.evidence.rows
        ),
        report.evidence.left_out,
    )
    basis = (
        "hand-ins, observations and acceptance runs; ran: the kernel ran it itself, "
        "read: it parsed a file handed in, told: arguments only"
    )
    return Section("Evidence", (rows,), basis)


def _spend(report: Report) -> Section:
    spending = report.spending
    labels = _labels(report)
    booked = Series("booked", tuple(part.booked for part in report.parts))
    voided = Series("given back", tuple(part.voided for part in report.parts))
    told = f"{spending.booked} booked, {spending.voided + spending.voided_earlier} given back"
    per = f"{spending.allowed_per_window} slots in {spending.window_hours} h"
    rows = table(
        ("turn", "slots", "what", "reason", *_WHO),
        (
            (
                *(row.effect_ref, row.slots, "given back" if row.voided else "booked"),
                *(row.reason, *_who(row.place)),
            )
            for row in report.bookings.rows
        ),
        report.bookings.left_out,
    )
    figures = facts(
        ("net", f"{counted(spending.net, 'slot')} of {spending.slot_minutes} min"),
        ("booked", f"{counted(spending.booked, 'slot')} in {counted(spending.spends, 'booking')}"),
        ("void", f"{counted(spending.voids, 'void')}, {counted(spending.voided, 'slot')}"),
        ("void, booked earlier", counted(spending.voided_earlier, "slot")),
        ("allowed", f"{per}, at the end of the period"),
        *(
            (f"by {name}", f"{counted(slots, 'slot')} booked")
            for name, slots in spending.by_agent.items()
        ),
    )
    plot = Plot("Slots over the period", "slots", labels, (booked, voided), told)
    return Section("Spend", (figures, plot, rows), "bookings and voids in the journal")


def _decisions(report: Report) -> Section:
    rows = table(
        ("decision", "about", "what", "reason", "signature", "level", "effect", *_WHO),
        (
            (
                *(row.event_type, row.about, row.what, row.reason),
                f"holds, {row.fingerprint}" if row.signature_ok else "does NOT hold",
                row.level,
                "yes" if row.effective else f"NONE: {row.problem}",
                *_who(row.place),
            )
            for row in report.decisions.rows
        ),
        report.decisions.left_out,
    )
    asked = table(
        ("gate", "action", "question", "blocks", "status", *_WHO),
        (
            (
                *(row.gate_id, row.action, row.question, ", ".join(row.blocks), row.status),
                *_who(row.place),
            )
            for row in report.gates.rows
        ),
        report.gates.left_out,
    )
    blocks = (rows, Lines((f"{counted(report.gates.total, 'gate')} asked for:",)), asked)
    return Section("Decisions", blocks, "lines by people; each signature was verified just now")


def _changes(report: Report) -> Section:
    rows = table(
        ("change", "what", "reason", "facts", *_WHO),
        (
            (row.event_type, row.what, row.reason, "; ".join(row.facts), *_who(row.place))
            for row in report.changes.rows
        ),
        report.changes.left_out,
    )
    return Section("Changes of plan", (rows,), "replans, proposals, the objective, the rules")


def _incidents(report: Report) -> Section:
    rows = table(
        ("incident", "what", *_WHO),
        ((row.kind, row.what, *_who(row.place)) for row in report.incidents.rows),
        report.incidents.left_out,
    )
    basis = (
        "failed turns, looks and acceptance, escalations, drift, repairs, lines without effect, "
        "times that go back"
    )
    return Section("Incidents", (rows,), basis)


def _still_open(report: Report) -> Section:
    left = report.still_open
    needs = tuple(f"{ref} {kind}: {clip(what)}" for ref, kind, what in left.needs_you)
    todos = table(
        ("todo", "title", "status", "holder", "needs", "gates"),
        (
            (
                *(row.todo.id, row.todo.title, row.display_status, row.holder),
                *(", ".join(row.needs), ", ".join(row.gated_by)),
            )
            for row in left.todos[:MOST]
        ),
        max(0, len(left.todos) - MOST),
    )
    failing = (f"{check} ({count}): {', '.join(ids)}" for check, count, ids in left.failing)
    more = facts(
        ("answer", f"{left.answer}: {'; '.join(left.reasons)}"),
        ("open turns", ", ".join(left.turns)),
        ("duties to replan", "; ".join(f"{ref}: {why}" for ref, why in left.obligations)),
        ("not complete", "; ".join(failing)),
    )
    waits = Lines(needs, "ask") if needs else Lines(("nothing waits for a person",), "dim")
    return Section("Still open", (waits, todos, more), f"the state at {_end(report)}")


def _end(report: Report) -> str:
    return f"line #{report.last_seq}" if report.last_seq else "the end of the period"


def _not_covered(report: Report) -> Section:
    return Section("Not covered", (Lines(report.not_covered),))


def _who(place: Place) -> tuple[str, str, str]:
    return place.by, to_the_second(place.at), f"#{place.seq}"


def _labels(report: Report) -> tuple[str, ...]:
    return tuple(_label(part.start, report.part_seconds) for part in report.parts)


def _label(start: datetime, seconds: int) -> str:
    return f"{start:%m-%d}" if seconds >= 86400 else f"{start:%m-%d %H:%M}"
