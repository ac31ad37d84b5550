"""Locks between processes, each with a note of who holds it, since when and for what.

The operating system frees the lock of a process that dies. The lock file itself is
never deleted, renamed or followed through a link. The note beside it is believed
only while the lock is held.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import stat
import time
from collections.abc import Iterator
from dataclasses import asdict
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
from loopx_kernel.value import Value

if TYPE_CHECKING:
    from filelock import BaseFileLock

CHANGE_SECONDS = 10.0
CHECK_SECONDS = 2.0
_POLL_SECONDS = 0.01
_NOTE_LIMIT = 64 * 1024


class Holder(Value):
    """Who holds a lock: process, host, since when (RFC 3339, UTC), for what, and as whom.

    ``started`` tells the process from a later one with its number; empty where unknown.
    """

    pid: int
    host: str
    since: str
    purpose: str
    actor: str
    started: str = ""

    def is_running(self) -> bool | None:
        """Whether that process runs; ``None`` where it is on another host."""
        if self.host != os.uname().nodename:
            return None
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OverflowError:
            return False
        except PermissionError:
            pass
        return not self.started or started_at(self.pid) in ("", self.started)


class Held:
    """A lock that is held. ``require`` tells whether it still keeps everybody else out."""

    def __init__(self, path: Path, inode: tuple[int, int], files: Files) -> None:
        self._path = path
        self._inode = inode
        self._files = files

    def require(self) -> None:
        """``lock_timeout`` where the lock file was deleted or replaced since: then somebody else
        may hold a lock of that name too, so nothing more may be written."""
        with translated(self._path):
            present = _present(self._path, self._files)
        if present == self._inode:
            return
        raise Busy(
            "lock_timeout",
            f"{self._path} was deleted or replaced while it was held; nothing was recorded",
            next="send the same command again; never delete a lock file",
            path=str(self._path),
            holder=None,
        )


@contextlib.contextmanager
def hold(
    path: Path,
    *,
    purpose: str,
    actor: str,
    timeout_seconds: float,
    files: Files,
    clock: Clock | None = None,
) -> Iterator[Held]:
    """Holds the lock file ``path`` for the length of the block.

    Raises ``Busy`` ``lock_timeout``, naming the holder, when somebody else holds it for
    ``timeout_seconds``; ``Storage`` for a lock file that is a link or cannot be opened.
    """
    make_folder(path.parent, files=files)
    lock, inode = _acquire(path, timeout_seconds, files)
    try:
        since = format_time((clock or SystemClock()).read().now)
        pid = os.getpid()
        holder = Holder(pid, os.uname().nodename, since, purpose, actor, started_at(pid))
        _write_note(path, holder, files)
        yield Held(path, inode, files)
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
    texts = (holder.host, holder.since, holder.purpose, holder.actor, holder.started)
    good = type(holder.pid) is int and holder.pid > 0 and all(type(text) is str for text in texts)
    return holder if good else None


def started_at(pid: int) -> str:
    """When a process of this host started, in ticks since its boot; empty where that is unknown."""
    try:
        # The name, which stands before it in parentheses, may hold anything.
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError, UnicodeDecodeError):
        return ""


def _acquire(
    path: Path, timeout_seconds: float, files: Files
) -> tuple[BaseFileLock, tuple[int, int]]:
    from filelock import FileLock, Timeout

    deadline = time.monotonic() + timeout_seconds
    while True:
        with translated(path):
            before, mode = _made(path, files)
            lock = FileLock(path, mode=mode)  # the one it has; some versions set it anew
            with contextlib.suppress(Timeout):
                lock.acquire(timeout=0)
                # Deleting a lock file lets a second holder in: ours must still be
                # the file that everybody else will open.
                with contextlib.ExitStack() as taken_back:
                    taken_back.callback(lock.release)
                    if _present(path, files) == before:
                        taken_back.pop_all()
                        return lock, before
        if time.monotonic() >= deadline:
            raise _busy(path, timeout_seconds, files)
        time.sleep(_POLL_SECONDS * (1 + random.random()))


def _made(path: Path, files: Files) -> tuple[tuple[int, int], int]:
    """Device and inode of the lock file, made where it is missing, and its mode."""
    fd = files.open_append(path)
    try:
        status = files.fstat(fd)
    finally:
        files.close(fd)
    require_regular(status, path)
    return (status.st_dev, status.st_ino), stat.S_IMODE(status.st_mode)


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
