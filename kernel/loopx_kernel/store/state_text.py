"""The text of ``ACTIVE_GOAL_STATE.md``: its parts, and rendering what is the kernel's.

Front matter and the to-do list are the kernel's; every other section belongs to whoever edits it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from loopx_kernel.value import Value

TODOS = "Todos"
HANDOFF = "Handoff"
FRONT_KEYS = ("goal_id", "handoff_mode", "updated_at", "seq", "todos_digest")
DETAIL_WORDS = ("held by", "evidence", "note", "earlier")

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_ROW_LINE = re.compile(
    r"- \[([ x])\] \*\*(T[0-9]{1,9})\*\* (.*)"
    rf"|(?:- \*earlier\*|  - \*(?:{'|'.join(DETAIL_WORDS)})\*) .*"
)
_PLAIN_YAML = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._:+-]*[A-Za-z0-9])?")
_FRONT = re.compile(
    "---\n"
    + "".join(f"{key}: {_PLAIN_YAML.pattern}\n" for key in FRONT_KEYS[:3])
    + "seq: ([1-9][0-9]{0,14})\ntodos_digest: ([0-9a-f]{64})\n---\n\n"
    + f"## {TODOS}\n\n"
)
_MARKUP = re.compile(
    r"[\\`*\[\]<>~]"
    r"|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"
    r"|&(?=#?[A-Za-z0-9]+;)"
)
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]|\s\Z")
_ESCAPED = re.compile(
    r"\\([!-/:-@\[-`{-~])|&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]*));"
)


class Header(Value):
    """The front matter: times RFC 3339, UTC; ``seq`` of the event the file shows. ``earlier``
    is no part of it: how many finished todos the list leaves out."""

    goal_id: str
    handoff_mode: str
    updated_at: str
    seq: int
    earlier: int = 0


class Row(Value):
    """A todo as the list shows it; ``lease_until`` RFC 3339, UTC; all texts one line."""

    todo_id: str
    title: str
    ticked: bool
    holder: str | None = None
    lease_until: str | None = None
    evidence: tuple[str, ...] = ()
    note: str = ""


class RowLike(Protocol):
    """What counts about a row: the rest is rendered again at will."""

    @property
    def todo_id(self) -> str | None: ...
    @property
    def title(self) -> str: ...
    @property
    def ticked(self) -> bool: ...


def todos_digest(rows: Iterable[RowLike]) -> str:
    """SHA-256 over id, title and tick of every row; spaces and order do not count."""
    meaning = sorted([row.todo_id or "", squeezed(row.title), row.ticked] for row in rows)
    text = json.dumps(meaning, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def squeezed(title: str) -> str:
    """A title with every run of spaces made one."""
    return " ".join(title.split())


def render_front(header: Header, rows: Sequence[RowLike]) -> str:
    """The front matter with its two ``---`` lines and a blank line."""
    values = (header.goal_id, header.handoff_mode, header.updated_at, header.seq)
    pairs = zip(FRONT_KEYS, (*values, todos_digest(rows)), strict=True)
    return "".join(["---\n", *(f"{key}: {_yaml(str(value))}\n" for key, value in pairs), "---\n\n"])


def render_todos(rows: Iterable[Row], earlier: int = 0) -> str:
    """The section ``## Todos``; it ends after its last row, or says how many are left out."""
    more = f"- *earlier* {earlier} more are finished: loopx todo list --all\n" if earlier else ""
    return "".join([f"## {TODOS}\n", "\n", *map(_render_row, rows), more])


def unchanged(text: str, header: Header, rows: Sequence[Row]) -> bool:
    """Whether ``text`` begins with exactly the kernel's rendering; fast, without a parser.

    ``False`` may also mean that only a parser can tell.
    """
    return rest_of(text, render_top(header, rows)) is not None


def render_top(header: Header, rows: Sequence[Row]) -> str:
    """The kernel's part at the beginning of the file: front matter and to-do list."""
    return render_front(header, rows) + render_todos(rows, header.earlier)


def own_lines(*tops: str) -> frozenset[str]:
    """The lines of the kernel's parts ``tops``, and what its list items say, without blanks
    around them."""
    lines = [line.strip() for top in tops for line in split_lines(top)]
    return frozenset(lines).union(line.removeprefix("- ") for line in lines)


def rest_of(text: str, top: str) -> str | None:
    """What stands after the kernel's rendering ``top``; ``None`` unless ``text`` begins with
    exactly that and no second to-do list follows."""
    if not text.startswith(top):
        return None
    rest = text[len(top) :]
    return rest if _is_rest(rest) else None


def _is_rest(text: str) -> bool:
    """Whether this may stand after the kernel's part, which then ends right before it."""
    return not text or (text.startswith("\n## ") and not _TODOS_AGAIN.search(text))


_TODOS_AGAIN = re.compile(r"(?:^|\r)[^\S\n]*(?:##?[^\S\n]+)?todos\b", re.IGNORECASE | re.MULTILINE)
"""More than what makes a second list: Markdown ends lines at CR too, and trims any blank."""


def untouched_seq(text: str) -> int:
    """The ``seq`` at which the kernel rendered a file whose list nobody changed since; fast,
    without a parser. 0 where that is not plain to see: then only a parser can tell."""
    front = _FRONT.match(text)
    end = text.find("\n\n", front.end()) if front else -1
    rest = text[end + 1 :] if end >= 0 else ""
    listed = text[front.end() : len(text) - len(rest)].removesuffix("\n") if front else ""
    if front is None or "\r" in listed or not _is_rest(rest):
        return 0
    rows = list(map(_ROW_LINE.fullmatch, listed.split("\n"))) if listed else []
    found = [_Listed(row[2], unescape(row[3]), row[1] == "x") for row in rows if row and row[2]]
    return int(front[1]) if all(rows) and todos_digest(found) == front[2] else 0


class _Listed(NamedTuple):
    todo_id: str | None
    title: str
    ticked: bool


def escape(text: str) -> str:
    """One line of plain text as Markdown that shows it and that ``unescape`` takes back."""
    marked = _MARKUP.sub(lambda match: "\\" + match[0], text)
    return _INVISIBLE.sub(lambda match: f"&#{ord(match[0])};", marked)


def unescape(markdown: str) -> str:
    """Backslash escapes and character references of Markdown to what they stand for."""
    return _ESCAPED.sub(_unescaped, markdown)


def split_lines(text: str) -> list[str]:
    """The lines with their ends, cut where Markdown cuts: CRLF, LF and CR alone."""
    return _LINES.findall(text)


def quoted(text: str) -> str:
    """Text from elsewhere as a block quote: whatever it holds cannot reach beyond its section."""
    lines = (line.rstrip("\r\n") for line in split_lines(text))
    return "".join(f"> {line}".rstrip(" ") + "\n" for line in lines)


def to_text(data: bytes) -> str:
    """The file's bytes as text without BOM; bytes that are not UTF-8 survive the way back."""
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    """The way back from ``to_text``."""
    return text.encode("utf-8", "surrogateescape")


def _render_row(row: Row) -> str:
    tick = "x" if row.ticked else " "
    lines = [f"- [{tick}] **{row.todo_id}** {escape(row.title)}"]
    if row.holder is not None:
        until = f" until {escape(row.lease_until)}" if row.lease_until else ""
        lines.append(f"  - *held by* {escape(row.holder)}{until}")
    lines += [f"  - *evidence* {escape(item)}" for item in row.evidence]
    if row.note:
        lines.append(f"  - *note* {escape(row.note)}")
    return "".join(f"{line}\n" for line in lines)


def _yaml(value: str) -> str:
    return value if _PLAIN_YAML.fullmatch(value) else json.dumps(value, ensure_ascii=False)


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        return match[1]
    if match[4]:
        from html.entities import html5

        return html5.get(f"{match[4]};", match[0])
    code = int(match[2]) if match[2] else int(match[3], 16)
    known = 0 < code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
    return chr(code) if known else "\ufffd"
