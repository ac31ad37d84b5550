"""Key files on disk: read with care, written once and never over another."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

from loopx_kernel.errors import Denied, Storage
from loopx_kernel.text import safe

_LARGEST = 64 * 1024
_STORAGE_CODES = {
    errno.ENOSPC: "no_space",
    errno.EDQUOT: "no_space",
    errno.EROFS: "read_only",
    errno.EACCES: "permission",
    errno.EPERM: "permission",
}


def read_key_file(path: Path) -> bytes:
    """The bytes of a regular file of at most 64 KiB; never blocks on a pipe or device.

    Raises ``Denied("no_key")``, with the reason as the fact ``reason``.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as fault:
        raise _unreadable(path, _why(fault)) from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise _unreadable(path, "it is not a file")
        with open(handle, "rb", closefd=False) as file:
            data = file.read(_LARGEST + 1)
    except OSError as fault:
        raise _unreadable(path, _why(fault)) from None
    finally:
        os.close(handle)
    if len(data) > _LARGEST:
        raise _unreadable(path, "it is too large for a key")
    return data


def write_new(path: Path, content: bytes, mode: int) -> bool:
    """Makes ``path`` with all of ``content`` and exactly ``mode``, durable on return.

    Answers False, and changes nothing, if something is there already. A missing
    folder is made with mode 0700. Raises ``Storage``.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            _write(beside, content, mode)
            os.link(beside, path)
        except FileExistsError:
            return False
        finally:
            with contextlib.suppress(FileNotFoundError):
                beside.unlink()
        _flush_folder(path.parent)
    except OSError as fault:
        code = _STORAGE_CODES.get(fault.errno or 0, "io_error")
        raise Storage(
            code, f"{safe(str(path))} could not be written: {_why(fault)}", path=str(path)
        ) from None
    return True


def _write(path: Path, content: bytes, mode: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(handle, "wb") as file:  # noqa: PTH123  # opened above, readable by nobody else
        file.write(content)
        file.flush()
        os.fchmod(handle, mode)
        os.fsync(handle)


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _why(fault: Exception) -> str:
    if isinstance(fault, FileNotFoundError):
        return "there is no such file"
    if isinstance(fault, OSError) and fault.strerror:
        return fault.strerror.lower()
    return "its name cannot be used"


def _unreadable(path: Path, reason: str) -> Denied:
    return Denied("no_key", f"no key at {safe(str(path))}: {reason}", path=str(path), reason=reason)
