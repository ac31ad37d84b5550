"""Appending to a journal: one write, one flush, and nothing half done is left behind.

Whoever uses a ``Writer`` holds the journal's lock.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from loopx_kernel.clock import parse_time
from loopx_kernel.errors import Conflict, Storage
from loopx_kernel.store.disk import (
    discard,
    opened,
    require_regular,
    storage_error,
    translated,
    write_temporary,
)
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.line import Line, Position, decode, encode, seal
from loopx_kernel.store.quarantine import set_aside
from loopx_kernel.store.seek import tail_line
from loopx_kernel.value import Value

_COPY = 1024 * 1024


class Settled(Value):
    """What was done about a tail: a whole line kept, or the copy of what was cut off."""

    kept: Line | None = None
    set_aside: Path | None = None


class Writer:
    """Appends to one journal; unusable after a failed write or flush. A context manager."""

    def __init__(self, journal: Journal, quarantine: Path) -> None:
        self._journal = journal
        self._files = journal.files
        self._path = journal.path
        self._quarantine = quarantine
        self._fd: int | None = None
        self._broken = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd is not None:
            self._files.close(self._fd)
            self._fd = None

    def settle_tail(self, at: datetime) -> Settled:
        """Deals with what stands after the last newline, before anything is decided.

        A whole record that fits the chain gets its newline and counts. Anything else is copied to
        quarantine, named by ``at`` (UTC), and cut off. Durable on return. Raises ``Storage``.
        """
        with translated(self._path):
            fd = self._open()
            size = self._files.fstat(fd).st_size
            end = self._journal.committed_end(fd)
            if end == size:
                return Settled()
            line = tail_line(self._journal, fd, end, size)
            if line is not None:
                self._commit(fd, size, b"\n", line.event_id, first=end == 0)
                return Settled(kept=line)
            nul = self._files.read_at(fd, 1, end) == b"\0"
            return Settled(set_aside=self._cut(fd, end, "nul" if nul else "torn", at))

    def append(self, fields: Mapping[str, Any], expected: Position) -> Line:
        """Appends one event after ``expected``; committed and durable on return.

        Raises ``UsageError`` ``invalid_event``; ``Conflict`` ``version_mismatch`` when the journal
        does not end at ``expected``; ``Storage``: ``durability_unknown`` when flushing failed,
        else nothing was recorded.
        """
        raw, _ = encode(fields, seq=expected.seq + 1, prev=expected.head)
        at = parse_time(fields["recorded_at"])
        with translated(self._path):
            self.settle_tail(at)
            fd = self._open()
            size = self._files.fstat(fd).st_size
            if size != expected.offset:
                raise _moved_on(expected, size)
            self._require_line_before(fd, expected)
            self._commit(fd, size, raw, fields["event_id"], first=size == 0)
        return decode(raw[:-1], size, path=self._path)

    def mend(self, fields: Mapping[str, Any], expected: Position, *, opening: bytes = b"") -> Line:
        """For a repair: the journal up to ``expected`` and this event take the journal's place
        in one step; what stood after ``expected`` was copied to quarantine before.

        Where not even the first line stands in the file, ``opening`` is that line. Committed
        and durable on return. Raises what ``append`` raises.
        """
        raw, _ = encode(fields, seq=expected.seq + 1, prev=expected.head)
        at = parse_time(fields["recorded_at"])
        kept = 0 if opening else expected.offset
        with translated(self._path), opened(self._files, self._path) as fd:
            if fd is not None:
                if not opening:
                    self._require_line_before(fd, expected)
                if self._files.fstat(fd).st_size > kept:
                    rest = self._parts(fd, kept)
                    set_aside(self._quarantine, "repair", rest, at=at, files=self._files)
            good = self._parts(fd, 0, kept) if fd is not None else ()
            begun = [opening] if opening else good
            self._take_place(itertools.chain(begun, [raw]), fields["event_id"])
        return decode(raw[:-1], expected.offset, path=self._path)

    def _take_place(self, parts: Iterable[bytes], event_id: str) -> None:
        temporary = write_temporary(self._path, parts, files=self._files)
        try:
            self._files.replace(temporary, self._path)
        except BaseException:
            discard(temporary, files=self._files)
            raise
        try:
            self._files.fsync_dir(self._path.parent)
        except OSError as error:
            raise self._failure(error, event_id, written=True) from error

    def _open(self) -> int:
        if self._broken:
            raise Storage(
                "io_error",
                f"{self._path}: an earlier write failed, so nothing more is written",
                next="send the same command again",
                path=str(self._path),
            )
        if self._fd is None:
            fd = self._files.open_append(self._path)
            try:
                require_regular(self._files.fstat(fd), self._path)
            except BaseException:
                self._files.close(fd)
                raise
            self._fd = fd
        return self._fd

    def _require_line_before(self, fd: int, position: Position) -> None:
        ending = seal(position.head)
        start = position.offset - len(ending)
        if position.offset and self._files.read_at(fd, len(ending), max(0, start)) != ending:
            raise _moved_on(position, self._files.fstat(fd).st_size)

    def _commit(self, fd: int, size: int, data: bytes, event_id: str, *, first: bool) -> None:
        written = False
        try:
            if self._files.write(fd, data) != len(data):
                raise OSError(errno.ENOSPC, "short write")
            written = True
            self._files.fsync(fd)
            if first:
                self._files.fsync_dir(self._path.parent)
        except BaseException as error:
            self._broken = True
            with contextlib.suppress(OSError):
                self._files.truncate(fd, size)
            if isinstance(error, OSError):
                raise self._failure(error, event_id, written=written) from error
            raise

    def _failure(self, error: OSError, event_id: str, *, written: bool) -> Storage:
        if not written:
            return storage_error(error, self._path)
        return Storage(
            "durability_unknown",
            f"{self._path}: flushing failed, so it is unknown whether {event_id} was recorded",
            next=f"send the same command again with --event-id {event_id}",
            path=str(self._path),
            event_id=event_id,
            errno=errno.errorcode.get(error.errno or 0, ""),
        )

    def _cut(self, fd: int, end: int, reason: str, at: datetime) -> Path:
        copy = set_aside(self._quarantine, reason, self._parts(fd, end), at=at, files=self._files)
        try:
            self._files.truncate(fd, end)
            self._files.fsync(fd)
        except BaseException:
            self._broken = True
            raise
        return copy

    def _parts(self, fd: int, offset: int, end: int | None = None) -> Iterator[bytes]:
        """The bytes from ``offset`` to ``end`` (default: the end of the file)."""
        while end is None or offset < end:
            size = _COPY if end is None else min(_COPY, end - offset)
            part = self._files.read_at(fd, size, offset)
            if not part:
                return
            yield part
            offset += len(part)


def _moved_on(expected: Position, size: int) -> Conflict:
    return Conflict(
        "version_mismatch",
        "the journal has moved on since it was read",
        next="send the same command again",
        expected_offset=expected.offset,
        offset=size,
    )
