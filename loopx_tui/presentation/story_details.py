"""Everything known about what only a goal's own screens show: turns, versions, bookings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from difflib import ndiff
from typing import TYPE_CHECKING, Final

from loopx_kernel.text import counted, safe

from loopx_tui.presentation import known, turns
from loopx_tui.presentation.cells import Cell
from loopx_tui.presentation.facts import Fact, Facts, plain, when
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.workspace.objectives import Version

    from loopx_tui.presentation.story import Story

_SENTENCE: Final = re.compile(r"(?<=[.;!?。；！？])\s+|\n")
_MARKS: Final = {"-": "alert", "+": "run", " ": "text-dim"}


def of(kind: str, story: Story, object_id: str, pen: Pen) -> Facts | None:
    """What is known of an object of this kind; ``None`` for a kind that is told elsewhere."""
    build = _BUILDERS.get(kind)
    return None if build is None else build(story, object_id, pen)


def diff(before: str, after: str) -> Iterator[Fact]:
    """What two texts share and where they differ, sentence by sentence."""
    old, new = _sentences(before), _sentences(after)
    label = "change"
    for line in ndiff(old, new):
        mark, text = line[:1], line[2:]
        if mark in _MARKS:
            yield Fact(label, Cell(f"{mark} {safe(text)}", _MARKS[mark]))
            label = ""


def _sentences(text: str) -> list[str]:
    return [one for one in _SENTENCE.split(text) if one]


def _turn(story: Story, turn_id: str, pen: Pen) -> Facts:
    turn = story.turn(turn_id)
    if turn is None:
        return []
    return [Fact("outcome", turns.outcome_cell(turn, pen)), *known.of_turn(turn, pen)]


def _version(story: Story, number: str, pen: Pen) -> Facts:
    versions = {str(one.version): one for one in story.versions or ()}
    one = versions.get(number)
    if one is None:
        return []
    before = versions.get(str(one.version - 1))
    facts = [plain("by", one.by), *when("at", one.at, pen)]
    facts += [plain("reason", one.reason)] if one.reason else []
    facts += [plain("on facts", "\n".join(one.facts))] if one.facts else []
    facts += [plain("by gate", one.gate_id)] if one.gate_id else []
    facts.append(plain("event", one.event_id, "text-dim"))
    return [*facts, *_wording(one, before)]


def _wording(one: Version, before: Version | None) -> Iterator[Fact]:
    if before is None:
        yield plain("objective", one.text)
        return
    yield from diff(before.text, one.text)


def _duty(story: Story, duty_id: str, pen: Pen) -> Facts:
    one = story.state.obligations.get(duty_id)
    if one is None:
        return []
    facts = [
        plain("status", one.status, "repair" if one.status == "open" else "text"),
        plain("reason", one.reason),
        plain("about", ", ".join(one.todo_ids) or "the goal"),
        plain("work", f"{one.replan_todo} is the todo in which it is done"),
        plain("asked by", one.by),
        *when("at", one.at, pen),
    ]
    facts += [plain("on facts", "\n".join(one.facts))] if one.facts else []
    if one.closed_by:
        facts.append(plain("closed by", one.closed_by))
    after = {ref: story.state.todos.get(ref) for ref in one.todo_ids}
    pairs = [f"{ref} -> {todo.superseded_by}" for ref, todo in after.items()
             if todo is not None and todo.superseded_by]  # fmt: skip
    facts += [plain("new route", "\n".join(pairs))] if pairs else []
    return [*facts, *when("closed", one.closed_at, pen)]


def _escalation(story: Story, escalation_id: str, pen: Pen) -> Facts:
    one = story.state.escalations.get(escalation_id)
    if one is None:
        return []
    facts = [
        plain("status", one.status, "alert" if one.status == "open" else "text"),
        plain("cause", one.cause.replace("_", " ")),
        plain("detail", one.detail),
        plain("about", one.todo_id or "the whole goal"),
        *when("raised", one.at, pen),
    ]
    facts += [plain("turn", one.turn_id)] if one.turn_id else []
    if one.answer:
        facts.append(plain("answer", f"{one.answer.replace('_', ' ')} by {one.by}", "verified"))
    facts += [plain("reason", one.reason)] if one.reason else []
    return [*facts, *when("answered", one.answered_at, pen)]


def _spend(story: Story, ref: str, pen: Pen) -> Facts:
    one = story.state.spends.get(ref)
    if one is None:
        return _turn(story, ref, pen)
    facts = [plain("booked", counted(one.slots, "slot")), plain("by", one.by),
             *when("at", one.at, pen), plain("line", f"#{one.seq}", "text-dim")]  # fmt: skip
    if one.voided_at is not None:
        who = "by the kernel, as its turn failed" if one.of_failed else "by a person"
        facts += [plain("void", f"{one.void_reason} ({who}, #{one.void_seq})", "past")]
        facts += when("voided", one.voided_at, pen)
    return facts + _turn(story, ref, pen)


_BUILDERS: Final[dict[str, Callable[[Story, str, Pen], Facts]]] = {
    "turn": _turn,
    "version": _version,
    "replan": _duty,
    "escalation": _escalation,
    "spend": _spend,
}
