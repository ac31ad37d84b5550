"""Reading ``ACTIVE_GOAL_STATE.md`` as people leave it behind."""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from loopx_kernel.store.state_text import (
    DETAIL_WORDS,
    FRONT_KEYS,
    TODOS,
    Header,
    split_lines,
    unescape,
)
from loopx_kernel.value import Value

if TYPE_CHECKING:
    from markdown_it.token import Token

_ROW = re.compile(r"\[([ xX])\](?:\s+(.*))?", re.DOTALL)
_ID = re.compile(r"\*\*(T[0-9]{1,9})\*\*(?: (.*))?")
_DETAIL = re.compile(rf"\*(?:{'|'.join(DETAIL_WORDS)})\*(?: |\Z)")
_BLANK = " \t\r\n\ufeff"
_FRONT_LIMIT = 4 * 1024
"""Characters of front matter looked at; ours has some two hundred."""


class ParsedRow(Value):
    """A row of the list; ``todo_id`` is ``None`` for one a person added; ``line`` from 1."""

    todo_id: str | None
    title: str
    ticked: bool
    line: int


class Section(Value):
    """A section, verbatim with its heading; ``line`` from 1."""

    name: str
    text: str
    line: int


class Problem(Value):
    """What could not be understood, and in which line (from 1)."""

    line: int
    reason: str


class Parsed(Value):
    """A state file taken apart.

    ``preamble`` stands between front matter and first section; ``sections`` are all but the to-do
    list, in their order; ``stray`` is what a person wrote where the kernel renders: kept, not used.
    """

    header: Header | None
    todos_digest: str | None
    rows: tuple[ParsedRow, ...]
    preamble: str
    sections: tuple[Section, ...]
    stray: str
    problems: tuple[Problem, ...]


def parse(text: str, ours: Container[str] | None = None) -> Parsed:
    """Takes the file's text (without BOM) apart; never raises for content.

    ``ours`` are the lines the kernel wrote (``state_text.own_lines``): whatever else stands in
    its parts is a person's, and stray. Without it, what looks like the kernel's counts as such.
    """
    lines = split_lines(text)
    problems = [
        Problem(number, "is not UTF-8")
        for number, line in enumerate(lines, 1)
        if any("\udc80" <= character <= "\udcff" for character in line)
    ]
    start, front = _front_lines(lines)
    header, digest, foreign = _read_front(lines[start:front], ours, problems)
    tokens = _tokens("".join(lines[front:]))
    preamble, sections = _sections(lines, front, tokens)
    places = [section for section in sections if section.name.casefold() == TODOS.casefold()]
    if not places:
        problems.append(Problem(1, f"there is no section ## {TODOS}"))
    rows, used = _rows(tokens, front, places, ours)
    if not sections:
        # Without a heading, nobody knows whether a fence in the text was ever closed.
        foreign += lines[front:] if "".join(lines[front:]).strip() else []
    stray = foreign + list(_stray(lines, places, used, problems))
    others = tuple(section for section in sections if section not in places)
    problems.sort(key=lambda problem: problem.line)
    return Parsed(header, digest, tuple(rows), preamble, others, "".join(stray), tuple(problems))


def _tokens(body: str) -> list[Token]:
    from markdown_it import MarkdownIt

    # Only the blocks are wanted, and `[x]: y` in a list is a row, not a link definition.
    return MarkdownIt("commonmark").disable(["inline", "reference"]).parse(body)


def _front_lines(lines: Sequence[str]) -> tuple[int, int]:
    """Where the front matter starts and ends, below blank lines; ``(0, 0)`` without one."""
    start = next((n for n, line in enumerate(lines) if line.strip(_BLANK)), len(lines))
    if start == len(lines) or lines[start].strip(_BLANK) != "---":
        return 0, 0
    for number, line in enumerate(lines[start + 1 :], start + 1):
        if line.rstrip() == "---":
            return start, number + 1
    return 0, 0


def _read_front(
    lines: list[str], ours: Container[str] | None, problems: list[Problem]
) -> tuple[Header | None, str | None, list[str]]:
    """Header, digest, and the lines of the front matter that are not ours."""
    if not lines:
        problems.append(Problem(1, "there is no front matter"))
        return None, None, []
    inner = lines[1:-1]
    found = _load_yaml("".join(inner))
    foreign = [line for line in inner if line.strip() and line.strip() not in (ours or ())]
    if found is None:
        problems.append(Problem(1, "the front matter is not readable"))
        return None, None, foreign
    texts = {key: value for key, value in found.items() if isinstance(value, str)}
    if ours is None and not set(found) - set(FRONT_KEYS):
        foreign = []
    seq = texts.get("seq", "")
    if not all(texts.get(key) for key in FRONT_KEYS) or not re.fullmatch(r"[0-9]{1,15}", seq):
        problems.append(Problem(1, "the front matter lacks what the kernel wrote there"))
        return None, None, foreign
    header = Header(texts["goal_id"], texts["handoff_mode"], texts["updated_at"], int(seq))
    return header, texts["todos_digest"], foreign


def _load_yaml(text: str) -> dict[str, Any] | None:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    if len(text) > _FRONT_LIMIT:
        return None
    try:
        found = YAML(typ="base", pure=True).load(text.replace("\r\n", "\n"))
    except (YAMLError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _sections(
    lines: Sequence[str], front: int, tokens: Sequence[Token]
) -> tuple[str, list[Section]]:
    starts: list[tuple[int, str]] = []
    for opening, inline in itertools.pairwise(tokens):
        if opening.type != "heading_open" or opening.level or opening.map is None:
            continue
        if opening.tag == "h2" or (opening.tag == "h1" and starts):
            starts.append((opening.map[0] + front, inline.content.strip(" \t")))
    if not starts:
        return "", []
    ends = [start for start, _ in starts[1:]] + [len(lines)]
    sections = [
        Section(name, "".join(lines[start:end]), start + 1)
        for (start, name), end in zip(starts, ends, strict=True)
    ]
    preamble = "".join(lines[front : starts[0][0]])
    return preamble if preamble.strip() else "", sections


def _rows(
    tokens: Sequence[Token], front: int, places: Sequence[Section], ours: Container[str] | None
) -> tuple[list[ParsedRow], set[int]]:
    """The rows in the to-do sections, and the numbers (from 1) of the lines that are ours."""
    spans = [range(place.line, place.line + len(split_lines(place.text))) for place in places]
    rows: list[ParsedRow] = []
    used = {number + front + 1 for number in _heading_lines(tokens)}
    for first, end, content in _items(tokens):
        numbers = range(first + front + 1, end + front + 1)
        if not any(numbers[0] in span for span in spans):
            continue
        match = _ROW.fullmatch(content)
        if match:
            rows.append(_row(match, numbers[0]))
            used.update(numbers)
        elif _DETAIL.match(content):
            used.update(_own(numbers, content, ours))
    return rows, used


def _own(numbers: range, content: str, ours: Container[str] | None) -> Iterator[int]:
    """Which lines of a detail the kernel wrote: all, or those it wrote as they stand."""
    whole = ours is None or _unwrapped(content) in ours
    for number, line in zip(numbers, content.split("\n"), strict=False):
        if whole or line.strip() in (ours or ()):
            yield number


def _heading_lines(tokens: Sequence[Token]) -> Iterator[int]:
    for token in tokens:
        if token.type == "heading_open" and token.tag == "h2" and not token.level and token.map:
            yield from range(*token.map)


def _unwrapped(text: str) -> str:
    """What an editor broke into several lines, on one."""
    first, *more = text.split("\n")
    return " ".join([first.rstrip(" "), *(line.strip(" ") for line in more)]) if more else text


def _row(match: re.Match[str], line: int) -> ParsedRow:
    text = _unwrapped(match[2] or "")
    known = _ID.fullmatch(text)
    title = (known[2] or "") if known else text
    return ParsedRow(known[1] if known else None, unescape(title), match[1] != " ", line)


def _items(tokens: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
    """First line, end line (from 0) and text of every list item outside a quote."""
    quotes = 0
    for number, token in enumerate(tokens):
        if token.type in ("blockquote_open", "blockquote_close"):
            quotes += token.nesting
        elif token.type == "inline" and not quotes and token.map:
            before = [one.type for one in tokens[max(0, number - 2) : number]]
            if before == ["list_item_open", "paragraph_open"]:
                yield token.map[0], token.map[1], token.content


def _stray(
    lines: Sequence[str], places: Sequence[Section], used: set[int], problems: list[Problem]
) -> Iterator[str]:
    """The lines of the to-do sections that the kernel did not write and does not understand."""
    for place in places:
        count = len(split_lines(place.text))
        inside = range(place.line + 1, place.line + count)
        before = 0
        for number in inside:
            if number in used or not lines[number - 1].strip():
                continue
            yield lines[number - 1].rstrip("\r\n") + "\n"
            if number - 1 != before:
                problems.append(Problem(number, "is no row of the to-do list"))
            before = number
