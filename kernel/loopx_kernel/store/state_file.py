"""``ACTIVE_GOAL_STATE.md``: comparing it with the journal, and its new text.

Nothing a person typed is ever lost.
"""

from __future__ import annotations

import difflib
from collections.abc import Container, Sequence
from typing import Literal

from loopx_kernel.store.state_parse import Parsed, ParsedRow, Section, parse
from loopx_kernel.store.state_text import (
    HANDOFF,
    Header,
    Row,
    quoted,
    render_front,
    render_todos,
    split_lines,
    squeezed,
    todos_digest,
)
from loopx_kernel.value import Value


class Difference(Value):
    """One thing a person changed; ``line`` from 1, ``None`` for a row that is gone."""

    kind: Literal["ticked", "unticked", "retitled", "added", "removed"]
    todo_id: str | None
    line: int | None
    text: str


def is_own_rendering(parsed: Parsed) -> bool:
    """Whether the rows are those the kernel wrote at the file's own ``seq``: old, not changed."""
    return parsed.header is not None and parsed.todos_digest == todos_digest(parsed.rows)


def drift(parsed: Parsed, expected: Sequence[Row]) -> tuple[Difference, ...]:
    """What a person changed against ``expected``, the rows at the file's own ``seq``.

    Compared by meaning: spaces, bullets, line ends and order are no drift.
    """
    by_id = {row.todo_id: row for row in expected}
    seen: set[str] = set()
    found: list[Difference] = []
    for row in parsed.rows:
        known = by_id.get(row.todo_id or "") if row.todo_id not in seen else None
        if known is None:
            found.append(Difference("added", row.todo_id, row.line, row.title))
            if row.ticked:
                found.append(Difference("ticked", None, row.line, row.title))
        else:
            seen.add(known.todo_id)
            found += _changes(row, known)
    gone = [row for row in expected if row.todo_id not in seen]
    found += [Difference("removed", row.todo_id, None, row.title) for row in gone]
    return tuple(found)


def render(
    text: str | None,
    header: Header,
    rows: Sequence[Row],
    *,
    handoff: str | None,
    last_handoff: str | None,
    at: str,
    ours: Container[str] | None = None,
) -> str:
    """The file's new text: the kernel's parts made anew, everything else as in ``text``.

    ``text`` is the present content (``None``: missing), ``handoff`` the hand-over that counts,
    ``last_handoff`` the one rendered before, ``at`` the time (RFC 3339, UTC) for dated headings.
    What a person wrote inside the kernel's parts, ``ours`` being the lines the kernel wrote
    there, is kept in a section below them.
    """
    parsed = parse(text, ours) if text is not None else _NOTHING
    sections = list(parsed.sections)
    if handoff is not None and (text is None or handoff != last_handoff):
        sections = _with_handoff(sections, handoff, last_handoff, at)
    if parsed.stray:
        sections.insert(0, _section(f"Kept from the to-do list {at}", parsed.stray))
    newline = "\r\n" if text is not None and "\r\n" in text else "\n"
    return _rendered(parsed, header, rows, sections, newline)


def edit_as_diff(text: str, header: Header, rows: Sequence[Row]) -> tuple[str, ...]:
    """A unified diff from the list as the kernel wrote it (``rows``) to the edited ``text``."""
    parsed = parse(text)
    before = _bare_lines(_rendered(parsed, header, rows, parsed.sections, "\n"))
    after = _bare_lines(text)
    return tuple(difflib.unified_diff(before, after, "as recorded", "as edited", lineterm=""))


def _bare_lines(text: str) -> list[str]:
    return [line.rstrip("\r\n") for line in split_lines(text)]


def _rendered(
    parsed: Parsed, header: Header, rows: Sequence[Row], sections: Sequence[Section], newline: str
) -> str:
    front, todos = (
        part.replace("\n", newline)
        for part in (render_front(header, rows), render_todos(rows, header.earlier))
    )
    top = front + _ended(parsed.preamble.lstrip("\r\n"), newline) + todos
    return _joined(top, [section.text for section in sections], newline)


_NOTHING = Parsed(None, None, (), "", (), "", ())


def _changes(row: ParsedRow, known: Row) -> list[Difference]:
    found: list[Difference] = []
    if squeezed(row.title) != squeezed(known.title):
        found.append(Difference("retitled", known.todo_id, row.line, row.title))
    if row.ticked != known.ticked:
        kind: Literal["ticked", "unticked"] = "ticked" if row.ticked else "unticked"
        found.append(Difference(kind, known.todo_id, row.line, row.title))
    return found


def _with_handoff(
    sections: list[Section], handoff: str, last: str | None, at: str
) -> list[Section]:
    """The hand-over goes where the kernel's last one still stands; else below, dated."""
    places = [n for n, section in enumerate(sections) if _is_handoff(section)]
    bodies = {n: _body(sections[n]) for n in places}
    if quoted(handoff).strip() in bodies.values():
        return sections
    if not places:
        return [_section(HANDOFF, handoff), *sections]
    written = {"", quoted(last).strip()} if last is not None else {""}
    for place in places:
        if bodies[place] in written:
            plain = sections[place].name.casefold() == HANDOFF.casefold()
            new = _section(HANDOFF if plain else f"{HANDOFF} {at}", handoff)
            return [*sections[:place], new, *sections[place + 1 :]]
    after = places[-1] + 1
    return [*sections[:after], _section(f"{HANDOFF} {at}", handoff), *sections[after:]]


def _is_handoff(section: Section) -> bool:
    name, _, rest = section.name.casefold().partition(" ")
    return name == HANDOFF.casefold() and (not rest or rest[0].isdigit())


def _body(section: Section) -> str:
    lines = [line.rstrip("\r\n") for line in split_lines(section.text)[1:]]
    return "\n".join(lines).strip()


def _section(name: str, text: str) -> Section:
    return Section(name, f"## {name}\n\n{quoted(text)}\n", 0)


def _joined(text: str, sections: Sequence[str], newline: str) -> str:
    """Sections one after the other, so that none becomes part of the one before it."""
    if sections:
        text += newline
    for section in sections:
        text = _ended(text, newline)
        heading = section.lstrip(" ")
        underlined = not heading.startswith("#")
        if underlined and not text.endswith((newline * 2, "\n\n")):
            text += newline
        text += heading
    return text


def _ended(text: str, newline: str) -> str:
    return text if not text or text.endswith(("\n", "\r")) else text + newline
