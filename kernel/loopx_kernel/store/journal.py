"""Reading a journal: forwards from a known place, backwards by page, by place and event id.

Content never raises here: a reader gets everything good up to the damage, and the damage.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from loopx_kernel.errors import Damaged
from loopx_kernel.store.disk import Signature, is_at_rest, opened, signature
from loopx_kernel.store.files import Files
from loopx_kernel.store.line import (
    MAX_LINE,
    START,
    Line,
    Position,
    damaged,
    decode,
    event_id_prefix,
)
from loopx_kernel.value import Value

_FORWARD = 1024 * 1024
_BACKWARD = 32 * 1024
_LINE = 4 * 1024
BATCH = 2048
"""How many lines are held at a time where a journal is read as a stream."""


class ReadResult(Value):
    """What a journal says from a place on.

    ``position`` is right after the last good line. ``tail`` is what stands after the last newline
    (at most one line's length of it): not committed, no damage. ``size`` is the file's in bytes.
    ``more`` tells that a limit stopped the reading.
    """

    lines: tuple[Line, ...]
    position: Position
    tail: bytes = b""
    damage: Damaged | None = None
    exists: bool = True
    size: int = 0
    more: bool = False


class Page(Value):
    """Neighbouring lines, oldest first; ``start`` is the byte offset to scan back from next."""

    lines: tuple[Line, ...]
    start: int
    damage: Damaged | None = None


class Journal(Value):
    """The journal file at ``path``; reading takes no lock and changes nothing."""

    path: Path
    files: Files

    def read(self, after: Position = START, *, limit: int | None = None) -> ReadResult:
        """Reads what follows ``after``, at most ``limit`` lines.

        The line before ``after`` is read again and must be the one ``after`` names. Damage is
        reported after a second look with the same result. Raises ``Storage`` alone.
        """
        first = self._read_once(after, limit)
        if first.damage is None:
            return first
        left = None if limit is None else limit - len(first.lines)
        again = self._read_once(first.position, left)
        return replace(again, lines=first.lines + again.lines)

    def batches(self, after: Position = START, limit: int | None = None) -> Iterator[ReadResult]:
        """Everything after ``after``, at most ``limit`` lines, a bounded part at a time.

        There is always a first result; damage and a tail stand in the last one.
        """
        while True:
            result = self.read(after, limit=BATCH if limit is None else min(BATCH, limit))
            yield result
            if limit is not None:
                limit -= len(result.lines)
            if not result.more or limit == 0:
                return
            after = result.position

    def raw_lines(self, after: Position) -> Iterator[tuple[int, bytes]]:
        """Offset and bytes of the committed lines after ``after``, none of them tested.

        The line before ``after`` must be the one it names. Raises ``Damaged``, ``Storage``.
        """
        with opened(self.files, self.path) as fd:
            size = self.files.fstat(fd).st_size if fd is not None else 0
            if size < after.offset:
                raise self._rolled_back(after, size)
            if fd is None:
                return
            self._check_anchor(fd, after)
            for offset, raw, terminated in self._raw_forwards(fd, after.offset):
                if not terminated:
                    return
                yield offset, raw

    def holds(self, position: Position) -> bool:
        """Whether the journal still has the line ``position`` comes after. Raises ``Storage``."""
        with opened(self.files, self.path) as fd:
            if fd is None or self.files.fstat(fd).st_size < position.offset:
                return position.offset == 0
            with contextlib.suppress(Damaged):
                self._check_anchor(fd, position)
                return True
        return False

    def scan_backwards(self, limit: int, before_offset: int | None = None) -> Page:
        """The last ``limit`` lines that end at or before ``before_offset`` (default: the end)."""
        found: list[Line] = []
        start = 0
        with opened(self.files, self.path) as fd:
            if fd is None:
                return Page((), 0)
            end = self.committed_end(fd, before_offset)
            start = end
            try:
                for offset, raw in self._raw_backwards(fd, end):
                    if len(found) == limit:
                        break
                    line = decode(raw, offset, path=self.path)
                    self._check_link(line, found[-1] if found else None)
                    found.append(line)
                    start = offset
            except Damaged as damage:
                return Page(tuple(reversed(found)), start, damage)
        return Page(tuple(reversed(found)), start)

    def find_event_id(self, event_id: str, since: int = 0) -> Line | None:
        """The committed line of that event, searched for by its bytes; ``None`` without one.

        ``since`` is the offset of the first line that is looked at.
        """
        needle = event_id_prefix(event_id)
        with opened(self.files, self.path) as fd:
            if fd is None:
                return None
            for offset in self._occurrences(fd, needle, since):
                raw = self.raw_at(fd, offset)
                with contextlib.suppress(Damaged):
                    if raw is not None:
                        return decode(raw, offset, path=self.path)
        return None

    def signature(self) -> Signature | None:
        """What tells of a change of the file without reading it; ``None`` where nothing can, as in
        the moment after a change."""
        found = signature(self.path, files=self.files)
        return found if found and is_at_rest(found) else None

    def flush(self) -> None:
        """All lines written so far are durable on return; raises ``Storage``."""
        with opened(self.files, self.path) as fd:
            if fd is not None:
                self.files.fsync(fd)

    def committed_end(self, fd: int, before: int | None = None) -> int:
        """The offset right after the last newline (at or before the offset ``before``)."""
        end = self.files.fstat(fd).st_size if before is None else before
        while end > 0:
            start = max(0, end - _BACKWARD)
            at = self.files.read_at(fd, end - start, start).rfind(b"\n")
            if at >= 0:
                return start + at + 1
            end = start
        return 0

    def line_before(self, fd: int, end: int, number: int | None = None) -> Line | None:
        """The line that ends at offset ``end``; ``None`` at the beginning. Raises ``Damaged``,
        which names the line by ``number`` where that is known."""
        for offset, raw in self._raw_backwards(fd, end):
            return decode(raw, offset, path=self.path, number=number)
        return None

    def raw_at(self, fd: int, offset: int) -> bytes | None:
        """The bytes from ``offset`` to the next newline; ``None`` where a line ends nowhere."""
        for size in (_LINE, MAX_LINE + 1):
            raw, newline, _ = self.files.read_at(fd, size, offset).partition(b"\n")
            if newline:
                return raw
        return None

    def _read_once(self, after: Position, limit: int | None) -> ReadResult:
        with opened(self.files, self.path) as fd:
            size = self.files.fstat(fd).st_size if fd is not None else 0
            if size < after.offset:
                damage = self._rolled_back(after, size)
                return ReadResult((), after, damage=damage, exists=fd is not None, size=size)
            if fd is None:
                return ReadResult((), after, exists=False)
            try:
                self._check_anchor(fd, after)
            except Damaged as damage:
                return ReadResult((), after, damage=damage, size=size)
            return self._collect(fd, after, limit, size)

    def _collect(self, fd: int, after: Position, limit: int | None, size: int) -> ReadResult:
        lines: list[Line] = []
        last, head = after.seq, after.head

        def read(**how_it_ended: Any) -> ReadResult:
            position = lines[-1].position if lines else after
            return ReadResult(tuple(lines), position, size=size, **how_it_ended)

        for offset, raw, terminated in self._raw_forwards(fd, after.offset):
            if not terminated:
                return read(tail=raw)
            if len(lines) == limit:
                return read(more=True)
            try:
                line = decode(raw, offset, path=self.path, number=last + 1)
                if line.seq != last + 1 or line.prev != head:
                    self._check_place(line, last, head)
            except Damaged as damage:
                return read(damage=damage)
            lines.append(line)
            last, head = line.seq, line.sha256
        return read()

    def _check_anchor(self, fd: int, after: Position) -> None:
        if after.offset == 0:
            return
        if self.files.read_at(fd, 1, after.offset - 1) == b"\n":
            line = self.line_before(fd, after.offset, after.seq)
            if line is not None and (line.seq, line.sha256) == (after.seq, after.head):
                return
        what = f"line {after.seq} is not the one that was read before"
        raise damaged("broken_chain", what, after.offset, path=self.path, number=after.seq)

    def _check_place(self, line: Line, last: int, head: str) -> None:
        """That a line follows the line ``last``, which has the hash ``head``."""
        number = last + 1
        if line.seq != number:
            what = f"seq {line.seq} stands where {number} belongs"
            raise damaged("hole", what, line.offset, path=self.path, number=number)
        if line.prev != head:
            what = "prev is not the hash of the line before"
            raise damaged("broken_chain", what, line.offset, path=self.path, number=number)

    def _check_link(self, line: Line, following: Line | None) -> None:
        if following is not None:
            self._check_place(following, line.seq, line.sha256)

    def _rolled_back(self, after: Position, size: int) -> Damaged:
        what = f"the journal ends at {size} bytes, but line {after.seq} was seen before"
        return damaged("shorter", what, size, path=self.path, number=after.seq, code="rolled_back")

    def _raw_forwards(self, fd: int, offset: int) -> Iterator[tuple[int, bytes, bool]]:
        """Offset, bytes and whether a newline ended them, for everything from ``offset`` on."""
        rest = b""
        while chunk := self.files.read_at(fd, _FORWARD, offset + len(rest)):
            *complete, rest = (rest + chunk).split(b"\n")
            for raw in complete:
                yield offset, raw, True
                offset += len(raw) + 1
            if len(rest) > MAX_LINE:
                yield offset, rest[: MAX_LINE + 1], self._ends_later(fd, offset + len(rest))
                return
        if rest:
            yield offset, rest, False

    def _ends_later(self, fd: int, offset: int) -> bool:
        while chunk := self.files.read_at(fd, _FORWARD, offset):
            if b"\n" in chunk:
                return True
            offset += len(chunk)
        return False

    def _raw_backwards(self, fd: int, end: int) -> Iterator[tuple[int, bytes]]:
        """Offset and bytes of the lines before ``end``, the last one first."""
        rest = b""
        while end > 0:
            start = max(0, end - len(rest) - _BACKWARD)
            rest = self.files.read_at(fd, end - len(rest) - start, start) + rest
            first, *complete = rest[:-1].split(b"\n")
            for raw in reversed(complete):
                end -= len(raw) + 1
                yield end, raw
            rest = first + b"\n"
            if start == 0 or len(first) > MAX_LINE:
                yield start, first
                return

    def _occurrences(self, fd: int, needle: bytes, offset: int) -> Iterator[int]:
        """The offsets of ``needle`` at the beginning of a line, from the line at ``offset`` on."""
        if self.files.read_at(fd, len(needle), offset) == needle:
            yield offset
        step = max(_FORWARD, 2 * len(needle))
        while len(chunk := self.files.read_at(fd, step, offset)) > len(needle):
            at = -1
            while (at := chunk.find(b"\n" + needle, at + 1)) >= 0:
                yield offset + at + 1
            offset += len(chunk) - len(needle)
