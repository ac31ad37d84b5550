"""What lines of the journal tell: each in full, those about an object, a brief, a receipt."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from loopx_kernel.text import safe

from loopx_tui.presentation import events
from loopx_tui.presentation.cells import Cell
from loopx_tui.presentation.facts import Fact, Facts, plain, when
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.domain.records import Todo
    from loopx_kernel.domain.records_of_work import Turn
    from loopx_kernel.domain.state import GoalState
    from loopx_kernel.workspace import EventRow

_CLOSING = ("turn.settled", "turn.closed", "turn.recovered", "turn.withdrawn")


def of_line(row: EventRow, pen: Pen) -> Facts:
    """A line in full: what it did, who signed it and how strongly, and its place in the chain."""
    event = row.event
    facts = [
        Fact("type", Cell(safe(event.event_type), events.type_style(event.event_type))),
        plain("effect", "in effect" if row.effective else f"none: {row.problem}"),
        plain("actor", f"{event.actor_kind} {event.actor_agent_id}"),
        *when("recorded", event.recorded_at, pen),
        plain("seq", f"#{event.seq}"),
        plain("goal", event.goal_id),
    ]
    if event.signed is not None:
        facts.append(Fact("signature", events.signature_cell(row, pen)))
        facts += [plain("signer", row.signer)] if row.signer else []
        facts += [plain("key", row.fingerprint, "text-dim")] if row.fingerprint else []
        witness = event.signed.witnessed
        facts.append(plain("witnessed", f"#{witness.seq} {witness.head}", "text-dim"))
        facts += when("signed", event.signed.moment, pen)
    payload = json.dumps(event.payload, indent=2, ensure_ascii=False)
    facts.append(plain("payload", payload))
    return [
        *facts,
        plain("hash", event.sha256, "text-dim"),
        plain("previous", event.prev, "text-dim"),
    ]


def of_lines(rows: Sequence[EventRow], pen: Pen) -> Facts:
    """Lines about an object, one each, the newest first."""
    told = []
    for row in reversed(rows):
        event = row.event
        text = f"{pen.clock(event.recorded_at)}  {event.event_type} by {event.actor_agent_id}"
        style = events.type_style(event.event_type) if row.effective else "forged"
        told.append(plain(f"#{event.seq}", text, style))
    return told


def of_old_todo(todo: Todo, pen: Pen) -> Facts:
    """A todo that left the state, as it finished."""
    return [
        plain("todo", todo.id),
        plain("title", todo.title),
        plain("state", todo.status, "closed"),
        *([plain("reason", todo.reason)] if todo.reason else []),
        *when("finished", todo.done_at, pen),
    ]


def of_brief(then: GoalState, turn: Turn) -> Facts:
    """What the agent of a turn was told when it began; ``then`` is the goal right after it did."""
    from loopx_kernel.domain.brief import brief_for

    todo = then.todos.get(turn.todo_id)
    if todo is None:
        return []
    brief = brief_for(then, todo, turn.agent_id)
    parts = {
        "told": brief.title,
        "writes": "\n".join(brief.write_scope),
        "asks for": "\n".join(brief.ask_before),
        "checks": "\n".join(brief.verification),
        "refused": "\n".join(brief.refusals),
        "handed": brief.handoff,
    }
    return [plain(label, text) for label, text in parts.items() if text]


def of_receipt(rows: Sequence[EventRow], pen: Pen) -> Facts:
    """What was handed in with the line that closed a turn: evidence, results, words."""
    row = next((row for row in rows if row.event.event_type in _CLOSING), None)
    if row is None:
        return []
    event, payload = row.event, row.event.payload
    told = [plain("closed by", f"#{event.seq} {event.event_type}", "text-dim")]
    told += [plain("note", str(payload["note"]))] if payload.get("note") else []
    told += [plain("tests", str(payload["tests"]))] if payload.get("tests") else []
    return [*told, *(_evidence(one) for one in _handed_in(payload))]


def _handed_in(payload: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The evidence in a payload and its parts."""
    yield from (one for one in payload.get("evidence", ()) if isinstance(one, dict))
    for part in payload.get("parts", ()):
        yield from _handed_in(part)


def _evidence(one: dict[str, Any]) -> Fact:
    result = f", {one['result']}" if one.get("result") else ""
    tests = one.get("tests")
    counts = f", {tests} tests, {one.get('failures') or 0} failed" if tests is not None else ""
    text = f"{one.get('path')} ({one.get('kind')}, {one.get('size'):,} bytes{result}{counts})"
    style = "alert" if one.get("result") == "failed" else "text"
    return plain("evidence", f"{text}\n{one.get('sha256')}", style)
