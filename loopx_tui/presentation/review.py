"""The review of one gate as lines of text: all that a decision needs, alarms first."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from loopx_kernel.text import hidden_count, safe

if TYPE_CHECKING:
    from loopx_kernel.domain.records import Decision, Gate
    from loopx_kernel.workspace import Done, KeyChoice, Unsigned

    from loopx_tui.desk import Difference, Look

SIMILAR: Final = 3

STRONG: Final = "a passphrase, asked for at each decision"
WEAK: Final = "enrolled for unattended use: a program of yours could sign without you"


class Line(NamedTuple):
    """One line of text and its colour's name; it may be wider than the screen."""

    text: str = ""
    style: str = "text"


def review(look: Look, reason: str = "", changes: Sequence[Difference] = ()) -> list[Line]:
    """The whole review of a gate, safe to show; what changed under the reader's eyes first."""
    sections = (
        _changed(changes),
        _alarms(look),
        _question(look),
        _blocks(look),
        _before(look),
        _cost(look),
        _signature(look, reason),
    )
    lines: list[Line] = []
    for section in map(list, sections):
        if section:
            lines += [*section, Line()]
    return lines[:-1]


def _moment(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _head(text: str) -> Line:
    return Line(text, "text-dim")


def _changed(changes: Sequence[Difference]) -> Iterator[Line]:
    for change in changes:
        yield Line(f"▲ {change.field} changed while you looked", "alert")
        yield Line(f"  was  {safe(change.before)}", "text-dim")
        yield Line(f"  now  {safe(change.after)}")


def _alarms(look: Look) -> Iterator[Line]:
    gate = look.gate
    if gate.irreversible:
        yield Line("▲ irreversible: you will be asked to type its id", "alert")
    for reason in look.view.envelope.alert_reasons:
        ids = ", ".join(map(safe, reason.ids))
        yield Line(f"▲ {reason.code.replace('_', ' ')}: {ids}", "stale")
    for alert in look.view.alerts:
        yield Line(f"▲ {safe(alert)}", "alert")
    texts = (gate.question, gate.action, gate.command, *gate.paths)
    hidden = sum(map(hidden_count, texts))
    if hidden:
        yield Line(f"▲ hidden characters: {hidden}, made visible below", "alert")
    for word in sorted({word for text in texts for word in look_alikes(text)}):
        yield Line(f"▲ mixed alphabets: {word}", "alert")


def _question(look: Look) -> Iterator[Line]:
    gate = look.gate
    yield Line(safe(gate.question), "ask")
    yield _field("action", gate.action)
    if gate.command:
        yield _field("command", gate.command)
    for path in gate.paths:
        yield _field("path", path)
    asked = f"{safe(gate.requested_by)}, {_moment(gate.requested_at)}"
    yield Line(f"  {'asked by':<9} {asked}", "text-dim")
    yield Line(f"  {'status':<9} {look.status}", "text-dim")


def _field(name: str, value: str) -> Line:
    return Line(f"  {name:<9} {safe(value)}")


def _blocks(look: Look) -> Iterator[Line]:
    titles = {row.todo.id: row.todo.title for row in look.view.todos}
    yield _head("Blocks" if look.gate.blocks else "Blocks no todo")
    for todo_id in look.gate.blocks:
        yield Line(f"  {safe(todo_id)}  {safe(titles.get(todo_id, 'not in this goal'))}")


def _before(look: Look) -> Iterator[Line]:
    alike = [
        (row.gate, row.gate.decision)
        for row in look.view.gates
        if row.gate.action == look.gate.action
        and row.gate.id != look.gate.id
        and row.gate.decision is not None
    ]
    yield _head(f"Decided before about {safe(look.gate.action)}: {len(alike) or 'nothing'}")
    for gate, decision in alike[-SIMILAR:][::-1]:
        yield Line(f"  {_decided(gate, decision)}")


def _decided(gate: Gate, made: Decision) -> str:
    what = safe(gate.command or ", ".join(gate.paths))
    why = f"  “{safe(made.reason)}”" if made.reason else ""
    return f"{gate.id}  {made.outcome} by {safe(made.by)}, {_moment(made.at)}  {what}{why}"


def _cost(look: Look) -> Iterator[Line]:
    quota = look.view.contract.quota
    yield _head("Cost so far")
    yield Line(f"  {quota.used} of {quota.allowed} slots in the last {quota.window_hours}h")


def _signature(look: Look, reason: str) -> Iterator[Line]:
    gate = look.gate
    yield _head("What will be signed, fixed when you press the key")
    yield _field("decision", f"about {gate.id}, version #{gate.seq}")
    yield _field("digest", gate.digest)
    yield _field("reason", reason or "none")
    if look.no_signing:
        yield Line(f"▲ {safe(look.no_signing)}", "alert")
    elif look.key is not None:
        if len(look.keys) > 1:
            place = look.keys.index(look.key) + 1
            yield Line(f"  {'with':<9} key {place} of {len(look.keys)} that can sign here", "ask")
        yield from key_lines(look.key)


def key_lines(key: KeyChoice) -> Iterator[Line]:
    """With which key a statement is signed, and how strong that is."""
    yield _field("as", key.owner or "nobody")
    yield _field("key", _at_home(key.path))
    yield _field("", key.fingerprint)
    strong = key.level == "passphrase"
    yield Line(f"  {'strength':<9} {STRONG if strong else WEAK}", "text" if strong else "alert")
    if key.problem:
        yield Line(f"▲ {safe(key.problem)}", "alert")


def _at_home(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def fixed(unsigned: Unsigned, key: KeyChoice) -> list[Line]:
    """The statement as it is about to be signed, word for word."""
    seen = unsigned.statement["witnessed"]
    return [
        Line(safe(unsigned.preview), "ask"),
        *key_lines(key),
        _field("signed", unsigned.statement["signed_at"]),
        _field("seen", f"#{seen['seq']}  {seen['head']}"),
        Line(),
        _head("The statement, word for word"),
        Line(safe(unsigned.statement_bytes.decode("utf-8", "replace"))),
    ]


def receipt(done: Done[Any], owner: str, outcome: str, verify: str) -> list[Line]:
    """What was recorded, and the commands that prove it."""
    made = done.receipt
    return [
        Line(f"✔ {outcome}, recorded as #{made.seq}", "verified"),
        _field("event", made.event_id),
        _field("by", owner),
        _field("at", _moment(made.recorded_at)),
        _field("sha256", made.sha256),
        Line(),
        _head("Verify it with ssh-keygen"),
        *(Line(f"  {safe(line)}") for line in verify.splitlines()),
    ]


def settled(look: Look) -> list[Line]:
    """Why nothing is left to decide: who decided it, and when."""
    made = look.gate.decision
    lines = [Line(f"▲ {look.gate.id} is {look.status}: nothing is left to decide", "alert")]
    if made is not None:
        by = f"{safe(made.by)}, {_moment(made.at)}, event {safe(made.event_id)}"
        lines.append(_field(made.outcome, f"by {by}"))
    return lines


_WORD = re.compile(r"\w+")
_LOOK_ALIKE = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "FULLWIDTH", "MATHEMATICAL")


def look_alikes(text: str) -> list[str]:
    """Words that mix Latin letters with letters that look like them, each such one named."""
    if text.isascii():
        return []
    return [_spelled(word) for word in _WORD.findall(text) if _is_mixed(word)]


def _is_mixed(word: str) -> bool:
    return any(char.isascii() and char.isalpha() for char in word) and any(map(_is_alike, word))


def _is_alike(char: str) -> bool:
    return not char.isascii() and unicodedata.name(char, "").startswith(_LOOK_ALIKE)


def _spelled(word: str) -> str:
    return "".join(f"{char}⟨U+{ord(char):04X}⟩" if _is_alike(char) else char for char in safe(word))
