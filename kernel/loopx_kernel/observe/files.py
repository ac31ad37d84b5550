"""Opening a file somebody named: inside a root, through no link, without blocking."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from loopx_kernel.errors import Denied
from loopx_kernel.text import safe

LARGEST = 16 * 1024 * 1024

_SENTENCES = {
    "absent": "there is no such file",
    "outside": "it is outside the repo",
    "link": "it is reached through a link",
    "not_a_file": "it is not a regular file",
    "too_big": "it is larger than 16 MiB",
    "empty": "it is empty",
    "unreadable": "it may not be read",
    "other_size": "it has another size than before",
}


class _Refused(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def read_inside(
    repo: Path, path: str, extra_roots: Sequence[Path], *, size: int | None = None
) -> tuple[str, bytes]:
    """The file's name to record (relative in ``repo``, else absolute) and its bytes.

    A relative ``path`` is looked for in ``repo`` and then in each of
    ``extra_roots``. A file of another ``size`` than asked for is not read. Raises
    ``Denied("missing_evidence")``, fact ``reason``.
    """
    reason = "outside"
    for root in (repo, *extra_roots):
        try:
            parts = _parts_below(root, path)
            if parts is None:
                continue
            content = _read(root, parts, size)
        except _Refused as refusal:
            reason = refusal.reason
            if reason != "absent":
                break
        else:
            return "/".join(parts) if root == repo else str(root.joinpath(*parts)), content
    raise _missing(path, reason)


def _parts_below(root: Path, path: str) -> tuple[str, ...] | None:
    """The names from ``root`` down to ``path``; None if an absolute path lies elsewhere."""
    if "\0" in path or not _encodes(path):
        raise _Refused("absent")
    named = PurePosixPath(path)
    if ".." in named.parts:
        raise _Refused("outside")
    if not named.is_absolute():
        if not named.parts:
            raise _Refused("not_a_file")
        return named.parts
    for start in (root, root.resolve()):
        if named != PurePosixPath(start) and named.is_relative_to(start):
            return named.relative_to(start).parts
    return None


def _encodes(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def _read(root: Path, parts: tuple[str, ...], size: int | None) -> bytes:
    try:
        handle = _open_below(root, parts)
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise _Refused("not_a_file")
            if status.st_size > LARGEST:
                raise _Refused("too_big")
            if size is not None and status.st_size != size:
                raise _Refused("other_size")
            with open(handle, "rb", closefd=False) as file:
                content = file.read(LARGEST + 1)
        finally:
            os.close(handle)
    except FileNotFoundError:
        raise _Refused("absent") from None
    except OSError:
        raise _Refused("unreadable") from None
    if not content:
        raise _Refused("empty")
    if len(content) > LARGEST:
        raise _Refused("too_big")
    return content


def _open_below(root: Path, parts: tuple[str, ...]) -> int:
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in parts[:-1]:
            inner = _open_at(folder, name, os.O_DIRECTORY)
            os.close(folder)
            folder = inner
        return _open_at(folder, parts[-1], os.O_NONBLOCK)
    finally:
        os.close(folder)


def _open_at(folder: int, name: str, flags: int) -> int:
    try:
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | flags, dir_fd=folder)
    except OSError:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            raise _Refused("link") from None
        if flags & os.O_DIRECTORY and not stat.S_ISDIR(found.st_mode):
            raise _Refused("absent") from None
        if stat.S_ISSOCK(found.st_mode):
            raise _Refused("not_a_file") from None
        raise


def _missing(path: str, reason: str) -> Denied:
    return Denied(
        "missing_evidence",
        f"{safe(path)} is no evidence: {_SENTENCES[reason]}",
        next="name a regular file inside the repo",
        path=path,
        reason=reason,
    )
