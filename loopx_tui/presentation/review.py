"""The frame of a review as lines of text: alarms first, what is signed and with which key last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopx_kernel.domain.levels import MEANING
from loopx_kernel.text import hidden_count, safe

from loopx_tui.presentation import packet
from loopx_tui.presentation.lines import Line, alert, field, head, moment
from loopx_tui.presentation.look_alikes import look_alikes

if TYPE_CHECKING:
    from loopx_kernel.workspace import Done, KeyChoice, Unsigned

    from loopx_tui.cases.case import Case, Difference, Matter, Values
    from loopx_tui.desk import Look


def review(
    case: Case, look: Look, values: Values, width: int, changes: Sequence[Difference] = ()
) -> list[Line]:
    """The whole review, safe to show; what changed under the reader's eyes first."""
    matter = look.matter
    sections = (
        _changed(changes),
        _as_of(look),
        _alarms(look, values),
        *case.show(matter, values, width),
        *_grounds(look, width),
        _signature(case, look, values),
        _commands(case, matter, values),
    )
    lines: list[Line] = []
    for section in map(list, sections):
        if section:
            lines += [*section, Line()]
    return lines[:-1]


def _changed(changes: Sequence[Difference]) -> Iterator[Line]:
    for change in changes:
        yield alert(f"{change.field} changed while you looked")
        yield Line(f"  was  {safe(change.before)}", "text-dim")
        yield Line(f"  now  {safe(change.after)}")


def _alarms(look: Look, values: Values) -> Iterator[Line]:
    matter = look.matter
    envelope = matter.view.envelope if matter.view is not None else look.rest.envelope
    if matter.irreversible:
        yield alert("irreversible: you will be asked to type its id")
    for reason in envelope.alert_reasons if envelope is not None else ():
        ids = ", ".join(map(safe, reason.ids))
        yield Line(f"▲ {reason.code.replace('_', ' ')}: {ids}", "stale")
    if matter.view is not None:
        yield from map(alert, matter.view.alerts)
    texts = (*matter.texts, *values.values())
    hidden = sum(hidden_count(line) for text in texts for line in text.splitlines())
    if hidden:
        yield alert(f"hidden characters: {hidden}, made visible below")
    for word in sorted({word for text in texts for word in look_alikes(text)}):
        yield Line(f"▲ mixed alphabets: {word}", "alert")


def _grounds(look: Look, width: int) -> Iterator[Iterable[Line]]:
    if look.rest.packet is not None:
        yield from packet.grounds(look.rest.packet, width)
    else:
        yield _cost(look.matter)


def _as_of(look: Look) -> Iterator[Line]:
    if look.rest.envelope is not None:
        yield packet.as_of(look.rest.envelope)
    if look.rest.problem:
        yield alert(f"what it rests on cannot be read: {look.rest.problem}")


def _cost(matter: Matter) -> Iterator[Line]:
    if matter.view is not None:
        quota = matter.view.contract.quota
        yield head("Cost so far")
        yield Line(f"  {quota.used} of {quota.allowed} slots in the last {quota.window_hours}h")


def _signature(case: Case, look: Look, values: Values) -> Iterator[Line]:
    matter = look.matter
    version = f", version #{matter.version}" if matter.version is not None else ""
    yield head("What will be signed, fixed when you press the key")
    yield field("decision", f"about {matter.object_id}{version}")
    for one in case.fields:
        if one.kind in ("line", "pick"):
            yield field(one.label, values.get(one.name) or "none")
    if look.no_signing:
        yield alert(look.no_signing)
    elif look.key is not None:
        if len(look.keys) > 1:
            place = look.keys.index(look.key) + 1
            yield Line(f"  {'with':<9} key {place} of {len(look.keys)} that can sign here", "ask")
        yield from key_lines(look.key)


def _commands(case: Case, matter: Matter, values: Values) -> Iterator[Line]:
    yield head("The same from a shell")
    for way in case.ways:
        # A text of several lines is quoted as it is: it can be pasted whole.
        for part in case.command_line(matter, values, way).split("\n"):
            yield Line(f"  {safe(part)}", "text-dim")


def key_lines(key: KeyChoice) -> Iterator[Line]:
    """With which key a statement is signed, and how strong that is."""
    yield field("as", key.owner or "nobody")
    yield field("key", ("ssh-agent at " if key.in_agent else "") + at_home(key.path))
    yield field("", key.fingerprint)
    weak = key.level == "software"
    yield field("strength", f"{key.level}: {MEANING[key.level]}", "alert" if weak else "text")
    if key.problem:
        yield alert(key.problem)


def at_home(path: Path) -> str:
    """A path as people write it."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def fixed(unsigned: Unsigned, key: KeyChoice) -> list[Line]:
    """The statement as it is about to be signed, word for word."""
    seen = unsigned.statement["witnessed"]
    return [
        Line(safe(unsigned.preview), "ask"),
        *key_lines(key),
        field("signed", unsigned.statement["signed_at"]),
        field("seen", f"#{seen['seq']}  {seen['head']}"),
        Line(),
        head("The statement, word for word"),
        Line(safe(unsigned.statement_bytes.decode("utf-8", "replace"))),
    ]


def receipt(done: Done[Any], owner: str, outcome: str, verify: str) -> list[Line]:
    """What was recorded, and the commands that prove it."""
    made = done.receipt
    return [
        Line(f"✔ {outcome}, recorded as #{made.seq}", "verified"),
        field("event", made.event_id),
        field("by", owner),
        field("at", moment(made.recorded_at)),
        field("sha256", made.sha256),
        Line(),
        head("Verify it with ssh-keygen"),
        *(Line(f"  {safe(line)}") for line in verify.splitlines()),
    ]


def settled(matter: Matter) -> list[Line]:
    """That nothing is left to decide, and by whom it was decided."""
    return [
        alert(f"{matter.object_id} is {matter.status}: nothing is left to decide"),
        *matter.settled,
    ]
