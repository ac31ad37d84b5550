"""Reading and writing whole files on top of ``Files``, with errors people can act on."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from loopx_kernel.errors import Storage
from loopx_kernel.store.files import Files

MIB = 1024 * 1024
Signature = tuple[int, int, int, int]
"""Size, times and inode of a file: whatever changes it changes one of them."""
_TICK_NS = 20_000_000
_NETWORK = frozenset(["nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "fuse.sshfs"])
_CODES = {
    errno.ENOSPC: ("no_space", "there is no space left", "free some space, then send it again"),
    errno.EDQUOT: ("no_space", "the disk quota is used up", "free some space, then send it again"),
    errno.EFBIG: ("no_space", "the file size limit is reached", "raise it, then send it again"),
    errno.EROFS: ("read_only", "the file system is read-only", "mount it writable; viewing works"),
    errno.EACCES: ("permission", "access is not allowed", "give this user access to the path"),
    errno.EPERM: ("permission", "access is not allowed", "give this user access to the path"),
    errno.ELOOP: (
        "not_regular",
        "it, or a folder it is in, is a link, and links are not followed",
        "put there what the link stands for",
    ),
    errno.ENOTDIR: ("not_regular", "it is not in a folder", "move what stands in its place"),
    errno.EISDIR: ("not_regular", "it is a folder", "move what stands in its place"),
}


def signature(path: Path, *, files: Files) -> Signature | None:
    """What tells of a change of ``path`` itself without reading it; ``None`` where nothing can be
    told, as where it is missing."""
    try:
        status = files.lstat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def is_at_rest(found: Signature) -> bool:
    """Whether a later change shows in the signature for sure: the times of a file move in ticks,
    and two changes within one of them may look alike."""
    return time.time_ns() - max(found[1], found[2]) > _TICK_NS


def storage_error(error: OSError, path: Path) -> Storage:
    """The typed error for what the system said about ``path``."""
    fallback = ("io_error", os.strerror(error.errno or errno.EIO), "look at the disk: loopx doctor")
    code, sentence, step = _CODES.get(error.errno or errno.EIO, fallback)
    name = errno.errorcode.get(error.errno or 0, "")
    return Storage(code, f"{path}: {sentence}", next=step, path=str(path), errno=name)


def not_regular(path: Path, what: str) -> Storage:
    """The error for something at ``path`` that is no regular file."""
    return Storage(
        "not_regular",
        f"{path} is {what}, not a regular file",
        next="move what stands in its place",
        path=str(path),
    )


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turns an ``OSError`` of the block into ``Storage`` about ``path``."""
    try:
        yield
    except OSError as error:
        raise storage_error(error, path) from error


@contextlib.contextmanager
def opened(files: Files, path: Path) -> Iterator[int | None]:
    """A descriptor for reading a regular file; ``None`` where it is missing.

    Raises ``Storage``: ``not_regular`` for a link, folder, pipe or device.
    """
    try:
        fd = files.open_read(path)
    except FileNotFoundError:
        yield None
        return
    except OSError as error:
        raise storage_error(error, path) from error
    try:
        require_regular(files.fstat(fd), path)
        yield fd
    except OSError as error:
        raise storage_error(error, path) from error
    finally:
        files.close(fd)


def require_regular(status: os.stat_result, path: Path) -> None:
    """Refuses everything that is no regular file with ``Storage`` ``not_regular``."""
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a link"
        known = stat.S_ISDIR(status.st_mode) or stat.S_ISLNK(status.st_mode)
        raise not_regular(path, kind if known else "a pipe or device")


def read_regular(path: Path, limit: int, *, files: Files) -> bytes | None:
    """The whole content of a regular file, ``None`` where it is missing.

    ``limit`` is in bytes. Follows no link and does not block on a pipe.
    Raises ``Storage``: ``not_regular``, ``too_large``, or what the system said.
    """
    with opened(files, path) as fd:
        if fd is None:
            return None
        parts: list[bytes] = []
        size = 0
        while part := files.read_at(fd, min(MIB, limit + 1 - size), size):
            parts.append(part)
            size += len(part)
            if size > limit:
                raise Storage(
                    "too_large",
                    f"{path} is larger than {limit} bytes",
                    next="look at what wrote it: loopx doctor",
                    path=str(path),
                    limit=limit,
                )
        return b"".join(parts)


def beginning_of(path: Path, count: int, offset: int = 0, *, files: Files) -> bytes:
    """At most ``count`` bytes of a regular file from ``offset`` on; none where it is missing.

    Raises ``Storage`` as ``read_regular`` does.
    """
    with opened(files, path) as fd:
        return b"" if fd is None else files.read_at(fd, count, offset)


def write_all(files: Files, fd: int, data: bytes) -> None:
    """Writes all of ``data``, going on after short writes."""
    rest = memoryview(data)
    while rest:
        rest = rest[files.write(fd, bytes(rest[: 16 * MIB])) :]


def write_temporary(
    path: Path,
    data: bytes | Iterable[bytes],
    *,
    files: Files,
    durable: bool = True,
    mode: int | None = None,
) -> Path:
    """A new file with ``data`` next to ``path``, flushed if ``durable``; its name is returned.

    What may be large comes in parts. Without ``mode`` it has that of an existing ``path``. On
    failure nothing is left behind.
    """
    present = _mode_of(path, files)
    mode = present if mode is None else mode
    temporary, fd = _open_temporary(path, files)
    try:
        try:
            if mode is not None:
                files.chmod(fd, mode)
            for part in [data] if isinstance(data, bytes) else data:
                write_all(files, fd, part)
            if durable:
                files.fsync(fd)
        finally:
            files.close(fd)
    except BaseException:
        discard(temporary, files=files)
        raise
    return temporary


def atomic_write(
    path: Path, data: bytes, *, files: Files, durable: bool = True, mode: int | None = None
) -> None:
    """Gives ``path`` the content ``data`` in one step; durable on return unless told otherwise.

    A reader sees the old content or the new, whole. A link or anything else that is no regular
    file at ``path`` is refused. On failure the old content stands and no temporary file is left.
    Raises ``Storage``.
    """
    with translated(path):
        temporary = write_temporary(path, data, files=files, durable=durable, mode=mode)
        try:
            files.replace(temporary, path)
        except BaseException:
            discard(temporary, files=files)
            raise
        if durable:
            files.fsync_dir(path.parent)


def discard(path: Path, *, files: Files) -> None:
    """Removes a file of ours that is no longer needed; one that stays is ignored later."""
    with contextlib.suppress(OSError):
        files.unlink(path)


def make_folder(folder: Path, *, files: Files, mode: int = 0o777) -> None:
    """Makes ``folder`` and its missing parents, each name durable on return.

    Raises ``Storage``: ``not_regular`` where something else stands in its place.
    """
    if folder.is_dir():
        return
    if folder != folder.parent:
        make_folder(folder.parent, files=files, mode=mode)
    with translated(folder):
        try:
            files.mkdir(folder, mode)
        except FileExistsError:
            if not folder.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, "", str(folder)) from None
        files.fsync_dir(folder.parent)


def refuse_network_filesystem(path: Path) -> None:
    """Raises ``Storage`` ``unsupported_filesystem`` where locks do not hold (NFS, SMB, sshfs).

    Where the kind of file system cannot be told, nothing is refused.
    """
    if sys.platform != "linux":
        return
    try:
        mounts = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape")
    except OSError:
        return
    kind = filesystem_type(Path(os.path.realpath(path)), mounts)
    if kind in _NETWORK:
        raise Storage(
            "unsupported_filesystem",
            f"{path} is on a {kind} file system, where locks do not hold; viewing works",
            next="keep the workspace on a local disk",
            path=str(path),
            filesystem=kind,
        )


def filesystem_type(path: Path, mountinfo: str) -> str | None:
    """The type of the file system that holds the real path ``path``, as ``mountinfo`` tells."""
    best: tuple[int, str] | None = None
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        point = Path(_unescape_octal(fields[4]))
        # Of two mounts on one point the later one covers the earlier.
        if path.is_relative_to(point) and (best is None or len(point.parts) >= best[0]):
            best = (len(point.parts), after.split(" ")[0])
    return best[1] if best else None


def _unescape_octal(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _mode_of(path: Path, files: Files) -> int | None:
    try:
        status = files.lstat(path)
    except FileNotFoundError:
        return None
    require_regular(status, path)
    return stat.S_IMODE(status.st_mode)


def _open_temporary(path: Path, files: Files) -> tuple[Path, int]:
    number = 0
    while True:
        temporary = path.with_name(f".{path.name}.{os.getpid()}-{number}.tmp")
        try:
            return temporary, files.open_new(temporary)
        except FileExistsError:
            number += 1
