"""Setting bytes aside before a recovery or a repair replaces them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from loopx_kernel.store.disk import discard, make_folder, translated, write_all
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
