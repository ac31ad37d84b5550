"""One line of a journal: bytes that prove themselves, and the strict way back.

A line is ``P`` + ``,"sha256":"`` + 64 hex digits + ``"}``; the hash is over the bytes ``P``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from loopx_kernel.errors import Damaged, UsageError
from loopx_kernel.store.strict_json import Bad, dumps, parse, scan

SCHEMA_VERSION = "loopx_event_v1"
MAX_LINE = 1024 * 1024
MAX_DEPTH = 32
GENESIS = "0" * 64
"""The ``prev`` of the first line of a workspace's journal."""

_EVENT_KEYS = ("event_id", "goal_id", "event_type", "recorded_at", "actor_kind", "actor_agent_id")
_CHAIN_KEYS = ("request", "seq", "schema_version", "prev", "sha256")
_UNSIGNED = (*_EVENT_KEYS, "payload", *_CHAIN_KEYS)
_SIGNED = (*_EVENT_KEYS, "payload", "signed", *_CHAIN_KEYS)
_OBJECTS = frozenset({"payload", "signed"})
_TYPES = {
    keys: [int if key == "seq" else dict if key in _OBJECTS else str for key in keys]
    for keys in (_UNSIGNED, _SIGNED)
}
_GIVEN = frozenset(_SIGNED) - {"seq", "schema_version", "prev", "sha256"}

_SEAL = re.compile(rb',"sha256":"([0-9a-f]{64})"\}\Z')
_SEAL_SIZE = 77
_HEX = "0123456789abcdef"
_VERSION = re.compile(r"loopx_event_v(\d{1,9})")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class Position(NamedTuple):
    """A place between lines: ``offset`` in bytes, and ``seq`` and hash of the line before it."""

    offset: int
    seq: int
    head: str


START = Position(0, 0, GENESIS)
"""The beginning of a workspace's journal."""


class Line(NamedTuple):
    """A line that proved itself: all keys parsed, its bytes without newline, where it begins."""

    record: dict[str, Any]
    raw: bytes
    offset: int
    seq: int
    prev: str
    sha256: str
    event_id: str

    @property
    def position(self) -> Position:
        """The place right after this line."""
        return Position(self.offset + len(self.raw) + 1, self.seq, self.sha256)


def seal(head: str) -> bytes:
    """The bytes every line with the hash ``head`` ends with, newline included."""
    return b',"sha256":"' + head.encode("ascii") + b'"}\n'


def event_id_prefix(event_id: str) -> bytes:
    """The bytes every line of that event begins with."""
    return b'{"event_id":' + dumps(event_id) + b',"goal_id":'


def fields_of(line: Line) -> dict[str, Any]:
    """What a line was made of: ``encode`` with its own ``seq`` and ``prev`` makes it again."""
    return {key: value for key, value in line.record.items() if key in _GIVEN}


def encode(fields: Mapping[str, Any], *, seq: int, prev: str) -> tuple[bytes, str]:
    """The bytes of one line, newline included, and its hash.

    ``fields`` has ``event_id``, ``goal_id``, ``event_type``, ``recorded_at``, ``actor_kind``,
    ``actor_agent_id``, ``payload``, ``request`` and, for signed events, ``signed``. Raises
    ``UsageError`` ``invalid_event`` for whatever ``decode`` would not take back.
    """
    chained = {**fields, "seq": seq, "schema_version": SCHEMA_VERSION, "prev": prev}
    order = _SIGNED if "signed" in fields else _UNSIGNED
    if not _GIVEN.issuperset(fields) or not set(order[:-1]).issubset(chained):
        raise _invalid("bad_record", "keys are missing or unknown")
    try:
        body = dumps({key: chained[key] for key in order[:-1]})[:-1]
    except (ValueError, TypeError, RecursionError) as error:
        raise _invalid("bad_json", str(error)) from error
    digest = hashlib.sha256(body).hexdigest()
    raw = body + seal(digest)
    try:
        decode(raw[:-1], 0)
    except Damaged as damage:
        raise _invalid(damage.facts["kind"], damage.message) from damage
    return raw, digest


def decode(raw: bytes, offset: int, *, path: Path | None = None, number: int | None = None) -> Line:
    """Reads one line, given without its newline, and tests everything the format promises.

    ``number`` (from 1) and ``path`` go into the error. Raises ``Damaged``: ``journal_damaged``
    with ``kind``, ``file``, ``line`` and ``offset``, or ``format_too_new``.
    """
    try:
        record = _plainly_good(raw)
        if record is None:
            record = _checked(raw)
    except Bad as bad:
        code = "format_too_new" if bad.kind == "format_too_new" else "journal_damaged"
        raise damaged(bad.kind, bad.what, offset, path=path, number=number, code=code) from bad
    seq, prev, sha256 = record["seq"], record["prev"], record["sha256"]
    return Line(record, raw, offset, seq, prev, sha256, record["event_id"])


def damaged(
    kind: str,
    what: str,
    offset: int,
    *,
    path: Path | None,
    number: int | None,
    code: str = "journal_damaged",
) -> Damaged:
    """The error for a journal that is not what it should be at ``offset``."""
    place = f"line {number}, offset {offset}" if number else f"offset {offset}"
    step = "install a newer loopx" if code == "format_too_new" else "loopx repair journal"
    facts = {"kind": kind, "file": str(path or ""), "line": number, "offset": offset}
    return Damaged(code, f"{path or 'journal'}, {place}: {what}", next=step, **facts)


def _plainly_good(raw: bytes) -> dict[str, Any] | None:
    """The record of a line as the kernel writes nearly all of them; ``None``: look closely.

    Cheap tests, made so that what passes here passes every test of ``_checked``.
    """
    digest = hashlib.sha256(raw[:-_SEAL_SIZE]).hexdigest()
    if raw[-_SEAL_SIZE:] != seal(digest)[:-1] or len(raw) > MAX_LINE:
        return None
    if raw.count(b"{") + raw.count(b"[") > MAX_DEPTH or b"\\u" in raw:
        return None
    try:
        record, end = scan(text := raw.decode("utf-8"), 0)
    except (StopIteration, ValueError):
        return None
    if end != len(text) or type(record) is not dict:
        return None
    types = _TYPES.get(tuple(record))
    if types is None or list(map(type, record.values())) != types:
        return None
    event_id: str = record["event_id"]
    begins = b'{"event_id":"' + event_id.encode("utf-8") + b'","goal_id":'
    good = (
        event_id
        and raw.startswith(begins)
        and record["schema_version"] == SCHEMA_VERSION
        and record["seq"] >= 1
        and _is_hash(record["prev"])
    )
    return record if good else None


def _is_hash(text: str) -> bool:
    return len(text) == 64 and not text.strip(_HEX)


def _checked(raw: bytes) -> dict[str, Any]:
    _check_bytes(raw)
    _check_hash(raw)
    record = _parse(raw)
    _check_record(record, raw)
    return record


def _check_bytes(raw: bytes) -> None:
    if len(raw) > MAX_LINE:
        raise Bad("too_long", f"the line is longer than {MAX_LINE} bytes")
    if raw.startswith(b"\xef\xbb\xbf") or raw.endswith(b"\r"):
        raise Bad("line_ends_changed", "something changed the line ends or added a BOM")
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Bad("not_utf8", "this is UTF-16, not UTF-8")
    if b"\0" in raw:
        raise Bad("nul", "the line holds NUL bytes")


def _check_hash(raw: bytes) -> None:
    match = _SEAL.search(raw, max(0, len(raw) - _SEAL_SIZE))
    if match is None:
        whole = raw.startswith(b"{") and raw.endswith(b"}")
        raise Bad("bad_hash" if whole else "bad_json", "the line has no hash at its end")
    digest = hashlib.sha256(raw[:-_SEAL_SIZE]).hexdigest()
    if match[1] != digest.encode("ascii"):
        raise Bad("bad_hash", "the hash does not fit the line")


def _parse(raw: bytes) -> dict[str, Any]:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Bad("not_utf8", "the line is not UTF-8") from None
    if raw.count(b"{") + raw.count(b"[") > MAX_DEPTH and _depth(raw) > MAX_DEPTH:
        raise Bad("too_deep", f"values are nested deeper than {MAX_DEPTH}")
    try:
        record = parse(text)
    except ValueError as error:
        raise Bad("bad_json", f"the line is not JSON ({error})") from None
    if not isinstance(record, dict):
        raise Bad("bad_json", "the line is not an object")
    if _SURROGATE.search(raw):
        _refuse_lone_surrogates(record)
    return record


def _check_record(record: dict[str, Any], raw: bytes) -> None:
    version = record.get("schema_version")
    if version != SCHEMA_VERSION:
        match = _VERSION.fullmatch(version) if isinstance(version, str) else None
        if match and int(match[1]) > 1:
            raise Bad("format_too_new", f"the line has the newer format {version}")
        raise Bad("bad_record", f"the line does not have the format {SCHEMA_VERSION}")
    if tuple(record) not in (_UNSIGNED, _SIGNED):
        raise Bad("bad_record", "keys are missing, unknown or out of order")
    for key, value in record.items():
        wanted = int if key == "seq" else dict if key in _OBJECTS else str
        if type(value) is not wanted:
            raise Bad("bad_record", f"{key} has the wrong type")
    if record["seq"] < 1 or not _is_hash(record["prev"]):
        raise Bad("bad_record", "seq or prev is out of range")
    # Events are looked up by these bytes: another spelling of the id would hide one.
    if not record["event_id"] or not raw.startswith(event_id_prefix(record["event_id"])):
        raise Bad("bad_record", "event_id is empty or not written the one way")


def _depth(raw: bytes) -> int:
    deepest = depth = 0
    for byte in _STRING.sub(b"", raw):
        if byte in b"{[":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"}]":
            depth -= 1
    return deepest


def _refuse_lone_surrogates(record: dict[str, Any]) -> None:
    try:
        dumps(record)
    except UnicodeEncodeError:
        raise Bad("lone_surrogate", "a text holds half a surrogate pair") from None


def _invalid(kind: str, what: str) -> UsageError:
    return UsageError(
        "invalid_event",
        f"this event cannot be recorded: {what}",
        next="change what the event holds, then send it again",
        kind=kind,
    )
