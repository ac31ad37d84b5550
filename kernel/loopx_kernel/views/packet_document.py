"""A review packet as a document: what warns first, the commands that decide last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from loopx_kernel.clock import to_the_second
from loopx_kernel.text import counted
from loopx_kernel.views.document import (
    Block,
    Document,
    Excerpt,
    Facts,
    Lines,
    Section,
    clip,
    facts,
    table,
)
from loopx_kernel.views.packet import Looked, Packet

_CHANGED = {
    "same": "unchanged since",
    "changed": "CHANGED since",
    "gone": "GONE since",
    "unreadable": "not readable now",
}

_OF_WORK = ("gate", "escalation", "human_todo", "acceptance")
"""Kinds of decisions about work; the others are about files."""


def document(packet: Packet) -> Document:
    """The document of a packet."""
    subject = packet.subject
    title = f"{subject.kind.replace('_', ' ')} {subject.id} of {packet.goal_id}, {subject.status}"
    return Document(title, packet.envelope, tuple(_sections(packet)))


def _sections(packet: Packet) -> Iterator[Section]:
    if packet.alerts:
        yield Section("First", (Lines(tuple(map(clip, packet.alerts)), "alert"),))
    yield _question(packet)
    if packet.subject.blocks:
        yield _blocked(packet)
    yield from grounds(packet)
    yield _decide(packet)


def grounds(packet: Packet) -> Iterator[Section]:
    """What a decision rests on: evidence, the change, the work behind it, cost, precedents."""
    of_work = packet.subject.kind in _OF_WORK
    if of_work or packet.evidence:
        yield _evidence(packet)
    if packet.change is not None:
        change = packet.change
        yield Section("What is changed", (Excerpt(change.told, change.text, change.left_out),))
    if packet.todos:
        yield _lineage(packet)
    if of_work:
        yield _cost(packet)
    yield _before(packet)


def _question(packet: Packet) -> Section:
    subject = packet.subject
    since = to_the_second(subject.since) if subject.since else None
    asked = facts(
        ("asked by", subject.asked_by), ("since", since), ("version", f"#{subject.version}")
    )
    # The action is what is signed: nothing of it is cut.
    told = Facts((*subject.action, *asked.pairs))
    return Section("The question", (Lines((subject.question,), "ask"), told))


def _blocked(packet: Packet) -> Section:
    titles = {todo.id: todo for todo in packet.todos}
    rows = (
        (ref, titles[ref].title, titles[ref].status) if ref in titles else (ref, "", "")
        for ref in packet.subject.blocks
    )
    return Section("What it holds up", (table(("what", "title", "status"), rows),))


def _evidence(packet: Packet) -> Section:
    blocks: list[Block] = []
    for rows in _alike(packet.evidence):
        blocks += _looked(rows[0], ", ".join(row.todo_id for row in rows))
    seen = (
        (row.what, row.result, row.basis, row.by, to_the_second(row.at), row.sha256)
        for row in packet.seen
    )
    if packet.seen:
        blocks.append(table(("seen", "result", "basis", "by", "at", "sha256"), seen))
    if packet.left_out:
        blocks.append(Lines(packet.left_out, "dim"))
    if not packet.evidence:
        blocks.insert(0, Lines(("no file was handed in",), "dim"))
    basis = "ran: the kernel ran it itself, read: it parsed a file handed in, told: arguments only"
    return Section("Evidence", tuple(blocks), basis)


def _alike(evidence: Sequence[Looked]) -> list[list[Looked]]:
    """Files handed in more than once are told once, with all they were handed in for."""
    found: dict[Looked, list[Looked]] = {}
    for row in evidence:
        found.setdefault(replace(row, todo_id=""), []).append(row)
    return list(found.values())


def _looked(row: Looked, todo_ids: str) -> Iterator[Block]:
    said = f", {row.result}" if row.result else ""
    yield facts(
        ("of", todo_ids),
        ("file", row.path),
        ("sha256", row.sha256),
        ("basis", f"{row.basis}{said}"),
        ("file now", f"{_CHANGED.get(row.since, row.since)}; copy {row.copy.replace('_', ' ')}"),
    )
    yield Excerpt(f"inside: {row.told}", row.excerpt, row.left_out)


def _lineage(packet: Packet) -> Section:
    rows = (
        (todo.id, todo.title, todo.status, ", ".join(todo.lineage), todo.origin)
        for todo in packet.todos
    )
    return Section(
        "The work behind it", (table(("todo", "title", "status", "from", "origin"), rows),)
    )


def _cost(packet: Packet) -> Section:
    cost, quota = packet.cost, packet.cost.quota
    window = f"{quota.used} of {quota.allowed} slots in {quota.window_hours} h"
    return Section(
        "Cost so far, and what is left",
        (
            facts(
                ("turns", f"{cost.turns}, {cost.failed} failed"),
                ("without progress", f"{cost.without_progress} in a row"),
                ("best score", cost.best_score),
                ("slots", counted(cost.slots, "slot")),
                ("goal", f"{window}, {quota.remaining} left, {quota.reserved} reserved"),
            ),
        ),
        "turns since the todos above were last given an allowance, slots of the turns at hand",
    )


def _before(packet: Packet) -> Section:
    rows = (
        (
            *(row.id, row.outcome, row.by, to_the_second(row.at), row.level, row.what, row.reason),
            "the very same" if row.same else "",
        )
        for row in packet.before
    )
    columns = ("decision", "outcome", "by", "at", "level", "what", "reason", "")
    return Section("Decided before", (table(columns, rows),), "decisions of the same kind at hand")


def _decide(packet: Packet) -> Section:
    if not packet.ways:
        return Section("To decide", (Lines(("nothing is left to decide",), "dim"),))
    return Section("To decide", (Facts(tuple((way.command, way.does) for way in packet.ways)),))
