"""Signatures of files: what a look at the directory tells, without reading a byte of content."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

_OWN = frozenset(("lock", "lock.holder.json"))
_TEMPORARY = ".tmp"
# Written once and named by digest: that an entry came or went is all there is to see.
_SHALLOW = "objects"
_FILE, _DIRECTORY, _SHALLOW_DIRECTORY = range(3)

Signature = tuple[int, ...]


def is_own(name: str) -> bool:
    """Whether a file of this name is the kernel's lock or a temporary file: no change to show."""
    return name in _OWN or _TEMPORARY in name


class Signatures:
    """The last seen signature of every file and directory under some directories.

    A file's is its size, times, inode and mode, so that a same-size edit with
    an old mtime differs by its ctime. Links are not followed; a directory that
    cannot be entered counts as empty.
    """

    def __init__(self) -> None:
        self._seen: dict[str, Signature] = {}

    def look(self, roots: Iterable[Path]) -> frozenset[Path]:
        """Looks at everything under ``roots`` again; returns what differs since last time."""
        return self._take(self._seen, _walk(map(str, roots)))

    def look_at(self, hints: Iterable[str]) -> frozenset[Path]:
        """Looks again at ``hints`` and what is under them alone; returns what differs."""
        news = (hint for hint in hints if not is_own(hint.rpartition(os.sep)[2]))
        starts = {start for hint in news if (start := self._start(hint)) is not None}
        old = {start: self._seen[start] for start in starts if start in self._seen}
        # Only a directory has anything under it.
        inside = tuple(start + os.sep for start, known in old.items() if known[0] != _FILE)
        if inside:
            old |= {path: known for path, known in self._seen.items() if path.startswith(inside)}
        return self._take(old, _walk(starts))

    def _start(self, hint: str) -> str | None:
        """Where to look because of ``hint``: a place whose directory was seen and is entered."""
        path = hint
        while path not in self._seen or self._below_shallow(path):
            parent = os.path.dirname(path)  # noqa: PTH120 - hot, and these are strings
            known = self._seen.get(parent)
            if known is not None and known[0] == _DIRECTORY:
                return path
            if parent == path:
                return None
            path = parent
        return path

    def _below_shallow(self, path: str) -> bool:
        known = self._seen.get(os.path.dirname(path))  # noqa: PTH120 - as above
        return known is not None and known[0] == _SHALLOW_DIRECTORY

    def _take(self, old: dict[str, Signature], new: dict[str, Signature]) -> frozenset[Path]:
        gone = old.keys() - new.keys()
        differing = {path for path, found in new.items() if self._seen.get(path) != found}
        for path in gone:
            del self._seen[path]
        self._seen.update(new)
        return frozenset(map(Path, gone | differing))


def _walk(starts: Iterable[str]) -> dict[str, Signature]:
    found: dict[str, Signature] = {}
    waiting = list(starts)
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        try:
            info = os.lstat(path)
            found[path] = _signature(path, info)
            if found[path][0] == _DIRECTORY:
                with os.scandir(path) as entries:
                    waiting.extend(entry.path for entry in entries if not is_own(entry.name))
        except OSError:
            continue
    return found


def _signature(path: str, info: os.stat_result) -> Signature:
    if not stat.S_ISDIR(info.st_mode):
        return (_FILE, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino, info.st_mode)
    if path.endswith(os.sep + _SHALLOW):
        return (_SHALLOW_DIRECTORY, info.st_ino, info.st_mode, info.st_mtime_ns)
    # Its times would tell of every lock that comes and goes inside.
    return (_DIRECTORY, info.st_ino, info.st_mode)
