"""Setting bytes aside before a recovery or a repair replaces them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from loopx_kernel.store.disk import MIB, discard, make_folder, opened, translated, write_all
from loopx_kernel.store.files import Files


def set_aside(
    folder: Path, reason: str, parts: Iterable[bytes], *, at: datetime, files: Files
) -> Path:
    """Keeps ``parts`` as one new file in ``folder``, durable on return; returns its path.

    The file is named ``<UTC time>-<reason>``, with ``-2``, ``-3``, … where that name is taken.
    Raises ``Storage``; then no file is left behind.
    """
    make_folder(folder, files=files)
    with translated(folder):
        path, fd = _open_free(folder, f"{at.astimezone(UTC):%Y%m%dT%H%M%SZ}-{reason}", files)
        try:
            try:
                for part in parts:
                    write_all(files, fd, part)
                files.fsync(fd)
            finally:
                files.close(fd)
            files.fsync_dir(folder)
        except BaseException:
            discard(path, files=files)
            raise
    return path


def _open_free(folder: Path, name: str, files: Files) -> tuple[Path, int]:
    number = 1
    while True:
        path = folder / (name if number == 1 else f"{name}-{number}")
        try:
            return path, files.open_new(path)
        except FileExistsError:
            number += 1


def set_file_aside(folder: Path, reason: str, path: Path, *, at: datetime, files: Files) -> None:
    """The same for the present content of the file at ``path``, where there is one."""
    with opened(files, path) as fd:
        if fd is not None:
            set_aside(folder, reason, _content(files, fd), at=at, files=files)


def digest_of(path: Path, *, files: Files) -> str | None:
    """The SHA-256 of a regular file, ``None`` where it is missing; raises ``Storage``."""
    with opened(files, path) as fd:
        if fd is None:
            return None
        found = hashlib.sha256()
        for part in _content(files, fd):
            found.update(part)
        return found.hexdigest()


def _content(files: Files, fd: int) -> Iterator[bytes]:
    offset = 0
    while part := files.read_at(fd, MIB, offset):
        yield part
        offset += len(part)
