"""The seam for file operations: every system call the store makes goes through ``Files``.

A test subclasses ``Files`` and lets the k-th call fail. The methods raise
``OSError`` as the system does; the functions of ``store.disk`` turn it into
``Storage``.
"""

from __future__ import annotations

import errno
import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_EXCHANGE = 2
"""``RENAME_EXCHANGE`` of Linux and ``RENAME_SWAP`` of macOS have the same value."""


class Files:
    """The real file system; descriptors are plain integers, offsets and sizes are bytes.

    Who may read and write what it makes is for the umask and the folder's own rules to say, so
    that people and agents can be users of their own who share a group.
    """

    def open_read(self, path: Path) -> int:
        """Opens for reading, without following a link at the end and without blocking."""
        return os.open(path, _READ)

    def open_append(self, path: Path) -> int:
        """Opens for reading and appending; makes the file where it is missing."""
        return os.open(path, _APPEND, 0o666)

    def open_new(self, path: Path, mode: int = 0o666) -> int:
        """Makes a file that must not exist, open for reading and writing."""
        return os.open(path, _NEW, mode)

    def close(self, fd: int) -> None:
        os.close(fd)

    def read_at(self, fd: int, size: int, offset: int) -> bytes:
        """At most ``size`` bytes from ``offset`` on; empty at the end."""
        return os.pread(fd, size, offset)

    def write(self, fd: int, data: bytes) -> int:
        """One ``write``; returns how many bytes the file system took."""
        return os.write(fd, data)

    def fsync(self, fd: int) -> None:
        """What was written to ``fd`` is durable on return."""
        if sys.platform == "darwin":
            import fcntl

            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        else:
            os.fsync(fd)

    def fsync_dir(self, folder: Path) -> None:
        """The names in ``folder`` are durable on return."""
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def chmod(self, fd: int, mode: int) -> None:
        os.fchmod(fd, mode)

    def fstat(self, fd: int) -> os.stat_result:
        return os.fstat(fd)

    def lstat(self, path: Path) -> os.stat_result:
        """The status of ``path`` itself, even where it is a link."""
        return os.lstat(path)

    def replace(self, source: Path, target: Path) -> None:
        """Renames ``source`` over ``target`` in one step."""
        source.replace(target)

    def exchange(self, one: Path, other: Path) -> bool:
        """Swaps two names in one step; ``False`` where the system cannot."""
        call = _exchange_call()
        if call is None:
            return False
        code = call(os.fsencode(one), os.fsencode(other))
        if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
            return False
        if code:
            raise OSError(code, os.strerror(code), str(other))
        return True

    def link(self, source: Path, target: Path) -> None:
        """Gives ``source`` a second name; fails where ``target`` exists."""
        os.link(source, target, follow_symlinks=False)

    def unlink(self, path: Path) -> None:
        path.unlink()

    def mkdir(self, folder: Path, mode: int = 0o777) -> None:
        folder.mkdir(mode)


@functools.cache
def _exchange_call() -> Callable[[bytes, bytes], int] | None:
    """A function that swaps two paths and returns an errno, 0 for success."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        at_cwd = -100

        def swap(one: bytes, other: bytes) -> int:
            failed = library.renameat2(at_cwd, one, at_cwd, other, _EXCHANGE)
            return ctypes.get_errno() if failed else 0

        return swap
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):

        def swap_np(one: bytes, other: bytes) -> int:
            return ctypes.get_errno() if library.renamex_np(one, other, _EXCHANGE) else 0

        return swap_np
    return None
