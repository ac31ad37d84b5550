"""Finding single lines: by number, a binary search as every line names its own, and by place."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from loopx_kernel.errors import Damaged
from loopx_kernel.store.disk import opened
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.line import MAX_LINE, Line, Position, decode

_CHUNK = 1 << 20


def line_at(journal: Journal, offset: int) -> Line | None:
    """The good committed line that begins at ``offset``; ``None`` where none does."""
    with opened(journal.files, journal.path) as fd:
        if fd is None:
            return None
        begins = offset == 0 or journal.files.read_at(fd, 1, offset - 1) == b"\n"
        raw = journal.raw_at(fd, offset) if begins else None
        with contextlib.suppress(Damaged):
            return decode(raw, offset, path=journal.path) if raw is not None else None
    return None


def line_before(journal: Journal, offset: int) -> Line | None:
    """The good line that ends at ``offset``; ``None`` at the beginning, or where none does."""
    with opened(journal.files, journal.path) as fd, contextlib.suppress(Damaged):
        return None if fd is None else journal.line_before(fd, offset)
    return None


def ends_with(journal: Journal, position: Position) -> bool:
    """Whether nothing stands behind this position, and the line before it has its hash."""
    end = f'"{position.head}"}}\n'.encode("ascii")
    with opened(journal.files, journal.path) as fd:
        if fd is None or position.offset < len(end):
            return False
        begin = position.offset - len(end)
        return journal.files.read_at(fd, len(end) + 1, begin) == end


def newlines_after(journal: Journal, offset: int) -> int:
    """How many lines, of whatever content, end after ``offset``."""
    found = 0
    with opened(journal.files, journal.path) as fd:
        while fd is not None and (chunk := journal.files.read_at(fd, _CHUNK, offset)):
            found += chunk.count(b"\n")
            offset += len(chunk)
    return found


def whole_tail(journal: Journal) -> Line | None:
    """What stands after the last newline, where it is a record that lacks nothing else."""
    with opened(journal.files, journal.path) as fd:
        if fd is None:
            return None
        end = journal.committed_end(fd)
        return tail_line(journal, fd, end, journal.files.fstat(fd).st_size)


def tail_line(journal: Journal, fd: int, end: int, size: int) -> Line | None:
    """The same between the offsets ``end`` and ``size`` of the open file."""
    if not 0 < size - end <= MAX_LINE:
        return None
    try:
        line = decode(journal.files.read_at(fd, size - end, end), end, path=journal.path)
        before = journal.line_before(fd, end)
    except Damaged:
        return None
    if before is None:
        return line if line.seq == 1 else None
    return line if (line.seq, line.prev) == (before.seq + 1, before.sha256) else None


def starting_with(journal: Journal, prefix: bytes, offsets: Sequence[int]) -> list[int]:
    """Those of ``offsets`` at which the bytes ``prefix`` stand."""
    with opened(journal.files, journal.path) as fd:
        if fd is None:
            return []
        size = len(prefix)
        return [at for at in offsets if journal.files.read_at(fd, size, at) == prefix]


def line_with_seq(journal: Journal, seq: int, end: int | None = None) -> Line | None:
    """The committed line ``seq``, or ``None`` where there is none or its place is damaged. Lines
    that begin at the offset ``end``, or after it, may be anything."""
    with opened(journal.files, journal.path) as fd:
        if fd is None or seq < 1:
            return None
        low, high = 0, journal.committed_end(fd) if end is None else end
        try:
            while low < high:
                line = journal.line_before(fd, _line_end(journal, fd, (low + high) // 2, high))
                if line is None:
                    return None
                if line.seq == seq:
                    return line
                if line.seq < seq:
                    low = line.position.offset
                else:
                    high = line.offset
        except Damaged:
            return None
    return None


def _line_end(journal: Journal, fd: int, at: int, high: int) -> int:
    """The offset after the newline of the line that holds the byte ``at``."""
    rest = journal.raw_at(fd, at)
    return high if rest is None else min(high, at + len(rest) + 1)
