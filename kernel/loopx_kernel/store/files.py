"""The seam for file operations: every system call the store makes goes through ``Files``.

A test subclasses ``Files`` and lets the k-th call fail. The methods raise
``OSError`` as the system does; the functions of ``store.disk`` turn it into
``Storage``.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_EXCHANGE = 2
"""``RENAME_EXCHANGE`` of Linux and ``RENAME_SWAP`` of macOS have the same value."""


class Files:
    """The real file system; descriptors are plain integers, offsets and sizes are bytes.

    Who may read and write what it makes is for the umask and the folder's own rules to say, so
    that people and agents can be users of their own who share a group.
    """

    confined: tuple[Path, ...] = ()
    """Folders below which nothing is changed through a link: whoever may write there could
    otherwise have others change what lies elsewhere."""

    def confine(self, folder: Path) -> None:
        """From now on whatever changes something below ``folder`` raises ``OSError`` ``ELOOP``
        where a folder on the way is a link. ``folder`` itself may be one."""
        if folder not in self.confined:
            self.confined = (*self.confined, folder)

    def open_read(self, path: Path) -> int:
        """Opens for reading, without following a link at the end and without blocking."""
        return os.open(path, _READ)

    def open_append(self, path: Path) -> int:
        """Opens for reading and appending; makes the file where it is missing."""
        with self._place(path) as (folder, name):
            return os.open(name, _APPEND, 0o666, dir_fd=folder)

    def open_new(self, path: Path, mode: int = 0o666) -> int:
        """Makes a file that must not exist, open for reading and writing."""
        with self._place(path) as (folder, name):
            return os.open(name, _NEW, mode, dir_fd=folder)

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
        with self._place(folder / "_") as (fd, _):
            if fd is not None:
                os.fsync(fd)
                return
        fd = os.open(folder, _FOLDER)
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
        with self._place(source) as (here, old), self._place(target) as (there, new):
            os.replace(old, new, src_dir_fd=here, dst_dir_fd=there)

    def exchange(self, one: Path, other: Path) -> bool:
        """Swaps two names in one step; ``False`` where the system cannot."""
        call = _exchange_call()
        if call is None:
            return False
        with self._place(one) as (here, old), self._place(other) as (there, new):
            code = call(here, os.fsencode(old), there, os.fsencode(new))
        if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
            return False
        if code:
            raise OSError(code, os.strerror(code), str(other))
        return True

    def link(self, source: Path, target: Path) -> None:
        """Gives ``source`` a second name; fails where ``target`` exists."""
        with self._place(source) as (here, old), self._place(target) as (there, new):
            os.link(old, new, src_dir_fd=here, dst_dir_fd=there, follow_symlinks=False)

    def unlink(self, path: Path) -> None:
        with self._place(path) as (folder, name):
            os.unlink(name, dir_fd=folder)

    def mkdir(self, folder: Path, mode: int = 0o777) -> None:
        with self._place(folder) as (parent, name):
            os.mkdir(name, mode, dir_fd=parent)

    @contextlib.contextmanager
    def _place(self, path: Path) -> Iterator[tuple[int | None, str]]:
        """An open folder and a name in it; no folder, and the whole path, where ``path`` is not
        confined."""
        around = [one for one in self.confined if path.is_relative_to(one) and path != one]
        base = max(around, key=lambda one: len(one.parts), default=None)
        if base is None:
            yield None, str(path)
            return
        fd = os.open(base, _FOLDER)
        try:
            for name in path.parent.relative_to(base).parts:
                inner = _folder_in(fd, name, path)
                os.close(fd)
                fd = inner
            yield fd, path.name
        finally:
            os.close(fd)


def _folder_in(fd: int, name: str, path: Path) -> int:
    try:
        return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=fd)
    except OSError as error:
        if error.errno == errno.ENOTDIR and stat.S_ISLNK(
            os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode
        ):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None
        raise


@functools.cache
def _exchange_call() -> Callable[[int | None, bytes, int | None, bytes], int] | None:
    """A function that swaps two names, each in an open folder, and returns an errno, 0 for
    success."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    known = {"linux": ("renameat2", -100), "darwin": ("renameatx_np", -2)}
    name, at_cwd = known.get(sys.platform, ("", 0))
    if not name or not hasattr(library, name):
        return None
    call = library[name]

    def swap(here: int | None, one: bytes, there: int | None, other: bytes) -> int:
        source, target = (at_cwd if fd is None else fd for fd in (here, there))
        return ctypes.get_errno() if call(source, one, target, other, _EXCHANGE) else 0

    return swap
