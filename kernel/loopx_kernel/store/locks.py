"""Locks between processes, each with a note of who holds it, since when and for what.

The operating system frees the lock of a process that dies. The lock file itself is
never deleted, renamed or followed through a link. The note beside it is believed
only while the lock is held.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import random
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopx_kernel.clock import Clock, SystemClock, format_time
from loopx_kernel.errors import Busy, LoopxError
from loopx_kernel.store.disk import (
    atomic_write,
    discard,
    make_folder,
    read_regular,
    require_regular,
    translated,
)
from loopx_kernel.store.files import Files

if TYPE_CHECKING:
    from filelock import BaseFileLock

CHANGE_SECONDS = 10.0
CHECK_SECONDS = 2.0
_POLL_SECONDS = 0.01
_NOTE_LIMIT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock: process, host, since when (RFC 3339, UTC), for what, and as whom."""

    pid: int
    host: str
    since: str
    purpose: str
    actor: str

    def is_running(self) -> bool | None:
        """Whether that process runs; ``None`` where it is on another host."""
        if self.host != platform.node():
            return None
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except (PermissionError, OverflowError):
            return True
        return True


@contextlib.contextmanager
def hold(
    path: Path,
    *,
    purpose: str,
    actor: str,
    timeout_seconds: float,
    files: Files,
    clock: Clock | None = None,
) -> Iterator[None]:
    """Holds the lock file ``path`` for the length of the block.

    Raises ``Busy`` ``lock_timeout``, naming the holder, when somebody else holds it for
    ``timeout_seconds``; ``Storage`` for a lock file that is a link or cannot be opened.
    """
    make_folder(path.parent, files=files)
    lock = _acquire(path, timeout_seconds, files)
    try:
        since = format_time((clock or SystemClock()).read().now)
        _write_note(path, Holder(os.getpid(), platform.node(), since, purpose, actor), files)
        yield
    finally:
        lock.release()


def read_holder(path: Path, *, files: Files) -> Holder | None:
    """The note beside the lock file ``path``; ``None`` where it is missing or makes no sense."""
    try:
        data = read_regular(_note(path), _NOTE_LIMIT, files=files)
        found: dict[str, Any] = json.loads(data or b"")
        holder = Holder(**found)
    except (LoopxError, ValueError, TypeError, RecursionError):
        return None
    texts = (holder.host, holder.since, holder.purpose, holder.actor)
    good = type(holder.pid) is int and holder.pid > 0 and all(type(text) is str for text in texts)
    return holder if good else None


def _acquire(path: Path, timeout_seconds: float, files: Files) -> BaseFileLock:
    from filelock import FileLock, Timeout

    deadline = time.monotonic() + timeout_seconds
    while True:
        with translated(path):
            before = _made(path, files)
            lock = FileLock(path, mode=0o644)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                pass
            else:
                # Deleting a lock file lets a second holder in: ours must still be
                # the file that everybody else will open.
                if _present(path, files) == before:
                    return lock
                lock.release()
        if time.monotonic() >= deadline:
            raise _busy(path, timeout_seconds, files)
        time.sleep(_POLL_SECONDS * (1 + random.random()))


def _made(path: Path, files: Files) -> tuple[int, int]:
    """Device and inode of the lock file, made where it is missing."""
    fd = files.open_append(path)
    try:
        status = files.fstat(fd)
    finally:
        files.close(fd)
    require_regular(status, path)
    return status.st_dev, status.st_ino


def _present(path: Path, files: Files) -> tuple[int, int] | None:
    try:
        status = files.lstat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _busy(path: Path, waited: float, files: Files) -> Busy:
    holder = read_holder(path, files=files)
    if holder is None:
        return Busy(
            "lock_timeout",
            f"{path} is locked by a process that left no note (waited {waited:g} s)",
            next="send the same command again",
            path=str(path),
            holder=None,
        )
    running = holder.is_running()
    state = {True: "running", False: "not running", None: "on another host"}[running]
    return Busy(
        "lock_timeout",
        f"locked by pid {holder.pid} on {holder.host} ({state}) since {holder.since} "
        f"for {holder.purpose} by {holder.actor} (waited {waited:g} s)",
        next="send the same command again when it has finished",
        path=str(path),
        holder={**asdict(holder), "running": running},
    )


def _write_note(path: Path, holder: Holder, files: Files) -> None:
    note = _note(path)
    data = json.dumps(asdict(holder), ensure_ascii=False).encode("utf-8", "replace")
    try:
        atomic_write(note, data + b"\n", files=files, durable=False)
    except LoopxError:
        # A full disk must not keep anybody from taking the lock, but an
        # older note would name the wrong holder.
        discard(note, files=files)


def _note(path: Path) -> Path:
    return path.with_name(f"{path.name}.holder.json")
