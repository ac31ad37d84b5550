"""Finding single lines: by number, a binary search as every line names its own, and by place."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from loopx_kernel.errors import Damaged
from loopx_kernel.store.disk import opened
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.line import Line, decode


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


def starting_with(journal: Journal, prefix: bytes, offsets: Sequence[int]) -> list[int]:
    """Those of ``offsets`` at which the bytes ``prefix`` stand."""
    with opened(journal.files, journal.path) as fd:
        if fd is None:
            return []
        size = len(prefix)
        return [at for at in offsets if journal.files.read_at(fd, size, at) == prefix]


def line_with_seq(journal: Journal, seq: int) -> Line | None:
    """The committed line ``seq``, or ``None`` where there is none or its place is damaged."""
    with opened(journal.files, journal.path) as fd:
        if fd is None or seq < 1:
            return None
        low, high = 0, journal.committed_end(fd)
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
