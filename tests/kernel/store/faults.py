"""A file system whose k-th changing call fails."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loopx_kernel.store.files import Files

CHANGING = (
    "open_append",
    "open_new",
    "write",
    "fsync",
    "fsync_dir",
    "truncate",
    "replace",
    "exchange",
    "link",
    "mkdir",
)
ENDLESS = 3000
"""More calls than any command makes."""


class FailingFiles(Files):
    """Fails call number ``at`` (counted from 0) among ``names``, with ``code``; 0 is a short write.

    ``calls`` lists the names of the changing calls made.
    """

    names: tuple[str, ...] = CHANGING

    def __init__(self, at: int | None = None, code: int = errno.EIO) -> None:
        self.at = at
        self.code = code
        self.calls: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in type(self).names:
            return found
        return self._counted(name, found)

    def _counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any) -> Any:
            self.calls.append(name)
            assert len(self.calls) < ENDLESS, "it goes on for ever"
            if len(self.calls) - 1 != self.at:
                return call(*args)
            if self.code:
                raise OSError(self.code, os.strerror(self.code))
            return call(args[0], args[1][: len(args[1]) // 2])

        return counted


def names_in(folder: Path) -> list[str]:
    """The names in ``folder``, sorted."""
    return sorted(path.name for path in folder.iterdir())
