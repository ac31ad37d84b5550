"""``spend.jsonl``: the quota ledger. It only grows by appending.

Whoever writes holds the goal's lock. Looking at the end of the file is enough for a writer;
``audit`` looks at all of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

from loopx_kernel.store.disk import (
    MIB,
    atomic_write,
    opened,
    require_regular,
    translated,
    write_all,
)
from loopx_kernel.store.files import Files
from loopx_kernel.store.records import (
    Level,
    Record,
    Verdict,
    compare,
    damaged_file,
    parse_json,
    sealed,
)
from loopx_kernel.value import Value

Since = Callable[[int], Iterable[Mapping[str, Any]]]
"""Gives the journal's spend lines with at least that ``seq``, in order, not sealed."""

_CHUNK = 64 * 1024
_MAX_LINE = MIB


class _End(Value):
    """The end of the file: the last lines that share one ``seq``, and what stands after them."""

    found: tuple[Any, ...]
    tail: bytes
    committed: int
    exists: bool

    @property
    def seq(self) -> int:
        return _seq_of(self.found[-1]) or 0 if self.found else 0


class SpendFile(Value):
    """The quota ledger at ``path``.

    A line has ``goal_id``, ``effect_ref``, ``action`` (spent, voided), ``slots``, ``recorded_at``
    (RFC 3339, UTC), for a void ``reason``, then ``seq`` and ``sha256``.
    """

    path: Path
    files: Files

    def read(self) -> list[Record]:
        """All whole lines as they stand; raises ``Damaged`` at one that is no record."""
        with opened(self.files, self.path) as fd:
            if fd is None:
                return []
            found = [_parsed(raw) for raw in self._all(fd)]
        for record in found:
            verdict = compare(record, None)
            if verdict.level is Level.DAMAGED:
                raise damaged_file(self.path, verdict)
        return found

    def level(self, since: Since) -> Verdict:
        """How the end of the file stands to the journal; changes nothing.

        What stands after the last newline is ignored: it may be an append under way.
        """
        return self._look(since, writing=False)[2]

    def audit(self, since: Since) -> Verdict:
        """The same for every line of the file."""
        verdict = self._audit_once(since)
        return self._audit_once(since) if verdict.level is Level.DAMAGED else verdict

    def bring_level(self, since: Since) -> Level:
        """Appends the lines that are missing at the end; durable on return.

        A torn tail of our own is cut off first. Returns how the file stood before. Raises
        ``Damaged`` ``file_damaged`` and ``Storage``.
        """
        end, missing, verdict = self._look(since, writing=True)
        if verdict.level is Level.DAMAGED:
            raise damaged_file(self.path, verdict)
        if verdict.level in (Level.MISSING, Level.BEHIND):
            self._append(end, missing)
        return verdict.level

    def write_all(self, since: Since) -> None:
        """Puts the whole ledger there, whatever stood in the file (a repair); durable on return."""
        atomic_write(self.path, b"".join(map(_line, since(0))), files=self.files)

    def _audit_once(self, since: Since) -> Verdict:
        with opened(self.files, self.path) as fd:
            found = [_parsed(raw) for raw in self._all(fd)] if fd is not None else []
        expected = list(since(0))
        newest = expected[-1]["seq"] if expected else 0
        for number, record in enumerate(found):
            wanted = expected[number] if number < len(expected) else None
            verdict = compare(record, wanted)
            ahead = wanted is None and verdict.level is Level.SAME and record["seq"] > newest
            if verdict.level is not Level.SAME or (wanted is None and not ahead):
                return _foreign(verdict)
        return self.level(since)

    def _look(self, since: Since, *, writing: bool) -> tuple[_End, list[bytes], Verdict]:
        looked = self._look_once(since, writing)
        damaged = looked[2].level is Level.DAMAGED
        return self._look_once(since, writing) if damaged else looked

    def _look_once(self, since: Since, writing: bool) -> tuple[_End, list[bytes], Verdict]:
        end = self._end()
        wanted = since(end.seq)
        # A reader who finds nothing there needs no more than that there should be something.
        expected = list(wanted if end.exists or writing else islice(wanted, 1))
        verdict = _judge(end, expected)
        missing = [_line(record) for record in expected[len(end.found) :]]
        if verdict.level is Level.SAME and (missing or (writing and end.tail)):
            verdict = _judge_tail(end, missing) if writing else Verdict(Level.BEHIND)
        return end, missing, verdict

    def _append(self, end: _End, missing: list[bytes]) -> None:
        with translated(self.path):
            fd = self.files.open_append(self.path)
            try:
                require_regular(self.files.fstat(fd), self.path)
                if end.tail:
                    self.files.truncate(fd, end.committed)
                write_all(self.files, fd, b"".join(missing))
                self.files.fsync(fd)
                if not end.exists:
                    self.files.fsync_dir(self.path.parent)
            finally:
                self.files.close(fd)

    def _end(self) -> _End:
        with opened(self.files, self.path) as fd:
            if fd is None:
                return _End((), b"", 0, exists=False)
            size = self.files.fstat(fd).st_size
            data = b""
            while len(data) < size:
                start = max(0, size - len(data) - _CHUNK)
                data = self.files.read_at(fd, size - len(data) - start, start) + data
                lines = data.split(b"\n")
                # The first piece may be half a line; one more tells where the group begins.
                records = [_parsed(raw) for raw in lines[1 if start else 0 : -1]]
                group = _last_group(records)
                if len(group) < len(records):
                    break
                if len(data) > _MAX_LINE:
                    # No line of ours is that long: what stands here is no record.
                    group = group or [None]
                    break
            else:
                lines = data.split(b"\n")
                group = _last_group([_parsed(raw) for raw in lines[:-1]])
            return _End(tuple(group), lines[-1], size - len(lines[-1]), exists=True)

    def _all(self, fd: int) -> list[bytes]:
        parts: list[bytes] = []
        offset = 0
        while part := self.files.read_at(fd, MIB, offset):
            parts.append(part)
            offset += len(part)
        return b"".join(parts).split(b"\n")[:-1]


def _judge(end: _End, expected: list[Mapping[str, Any]]) -> Verdict:
    if not end.exists:
        return Verdict(Level.MISSING if expected else Level.SAME)
    if not expected and end.found:
        verdict = compare(end.found[-1], None)
        return replace(verdict, level=Level.AHEAD) if verdict.level is Level.SAME else verdict
    for number, record in enumerate(end.found):
        if number == len(expected):
            what = "a line is not in the journal"
            return replace(compare(record, None), level=Level.DAMAGED, what=what)
        verdict = compare(record, expected[number])
        if verdict.level is not Level.SAME:
            return _foreign(verdict)
    return Verdict(Level.SAME)


def _foreign(verdict: Verdict) -> Verdict:
    what = verdict.what or "a line is missing, added or in another place"
    return replace(verdict, level=Level.DAMAGED, what=what)


def _judge_tail(end: _End, missing: list[bytes]) -> Verdict:
    # A crash may leave the room that was made for our line, with the first part of it or none.
    written = end.tail.rstrip(b"\0")
    ours = not written or (missing and missing[0].startswith(written))
    if ours:
        return Verdict(Level.BEHIND)
    return Verdict(Level.DAMAGED, what="its last line is torn, and not by us")


def _last_group(records: list[Any]) -> list[Any]:
    last = _seq_of(records[-1]) if records else None
    if last is None:
        return records[-1:]
    same = takewhile(lambda record: _seq_of(record) == last, reversed(records))
    return list(same)[::-1]


def _seq_of(record: Any) -> int | None:
    seq = record.get("seq") if isinstance(record, dict) else None
    return seq if type(seq) is int else None


def _line(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(sealed(record), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode() + b"\n"


def _parsed(raw: bytes) -> Any:
    try:
        return parse_json(raw)
    except ValueError:
        return None
