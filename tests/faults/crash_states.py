"""What a disk may hold after a crash: any legal mix of what was not flushed.

A file keeps a prefix of what was written or cut since its last flush, the last write cut short
or turned to NULs. A folder keeps any subset, in order, of the names made, moved or taken away
since its last flush. Nothing flushed is lost.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from loopx_kernel.store.files import Files

Names = dict[Path, int]
Tree = dict[Path, bytes]
MOST_NAMES = 8


@dataclass(frozen=True)
class Rename:
    """One change of names in a folder: each path stands for that file, or for none."""

    changes: tuple[tuple[Path, int | None], ...]


@dataclass
class Content:
    """A file's bytes as they were flushed last, and all it held since then."""

    flushed: bytes = b""
    since: list[bytes] = field(default_factory=list)

    @property
    def now(self) -> bytes:
        return self.since[-1] if self.since else self.flushed

    def after_a_crash(self) -> set[bytes]:
        """What it may hold."""
        found = {self.flushed}
        for before, after in itertools.pairwise([self.flushed, *self.since]):
            found.add(after)
            added = after[len(before) :] if after.startswith(before) else b""
            if added:
                half = len(added) // 2
                found |= {before + added[:half], before + added[:-1], before + bytes(len(added))}
                found.add(before + added[:half] + bytes(len(added) - half))
        return found


@dataclass(frozen=True)
class Moment:
    """A crash here: how often the command's calls had been made, and what may be found."""

    calls: int
    trees: tuple[Tree, ...]


class Recorder(Files):
    """Does everything for real below ``root`` and remembers what a crash could undo."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.contents: list[Content] = []
        self.names: Names = {}
        self.flushed_names: Names = {}
        self.pending: dict[Path, list[Rename]] = {}
        self.open: dict[int, int] = {}
        self.moments: list[Moment] = []
        for path in sorted(root.rglob("*")):
            if path.is_file() and self.counts(path):
                self.names[path] = len(self.contents)
                self.contents.append(Content(path.read_bytes()))
        self.flushed_names = dict(self.names)

    def counts(self, path: Path) -> bool:
        """Whether it belongs to the ledger: locks and caches do not."""
        return path.is_relative_to(self.root) and "lock" not in path.name

    def open_read(self, path: Path) -> int:
        return self._opened(super().open_read(path), path)

    def open_append(self, path: Path) -> int:
        return self._opened(super().open_append(path), path)

    def open_new(self, path: Path, mode: int = 0o644) -> int:
        return self._opened(super().open_new(path, mode), path)

    def write(self, fd: int, data: bytes) -> int:
        done = super().write(fd, data)
        self._changed(fd)
        return done

    def truncate(self, fd: int, size: int) -> None:
        super().truncate(fd, size)
        self._changed(fd)

    def fsync(self, fd: int) -> None:
        super().fsync(fd)
        if fd in self.open:
            content = self.contents[self.open[fd]]
            content.flushed, content.since = content.now, []
            self._note()

    def fsync_dir(self, folder: Path) -> None:
        super().fsync_dir(folder)
        for rename in self.pending.pop(folder, []):
            apply(self.flushed_names, rename)
        self._note()

    def close(self, fd: int) -> None:
        self.open.pop(fd, None)
        super().close(fd)

    def replace(self, source: Path, target: Path) -> None:
        super().replace(source, target)
        self._renamed((target, self.names.get(source)), (source, None))

    def exchange(self, one: Path, other: Path) -> bool:
        done = super().exchange(one, other)
        if done:
            self._renamed((one, self.names.get(other)), (other, self.names.get(one)))
        return done

    def link(self, source: Path, target: Path) -> None:
        super().link(source, target)
        self._renamed((target, self.names.get(source)))

    def unlink(self, path: Path) -> None:
        super().unlink(path)
        self._renamed((path, None))

    def _opened(self, fd: int, path: Path) -> int:
        if self.counts(path):
            if path not in self.names:
                self.contents.append(Content())
                self._renamed((path, len(self.contents) - 1))
            self.open[fd] = self.names[path]
        return fd

    def _changed(self, fd: int) -> None:
        if fd in self.open:
            size = os.fstat(fd).st_size
            self.contents[self.open[fd]].since.append(os.pread(fd, size, 0))
            self._note()

    def _renamed(self, *changes: tuple[Path, int | None]) -> None:
        if self.counts(changes[0][0]):
            rename = Rename(changes)
            apply(self.names, rename)
            self.pending.setdefault(changes[0][0].parent, []).append(rename)
            self._note()

    def _note(self) -> None:
        self.moments.append(Moment(len(self.moments), tuple(self._trees())))

    def _trees(self) -> Iterator[Tree]:
        pending = [rename for renames in self.pending.values() for rename in renames]
        assert len(pending) <= MOST_NAMES, "too many names are left unflushed"
        for kept in itertools.product((False, True), repeat=len(pending)):
            names = dict(self.flushed_names)
            for rename in itertools.compress(pending, kept):
                apply(names, rename)
            paths = list(names)
            for held in itertools.product(*(self._held(names[path]) for path in paths)):
                yield dict(zip(paths, held, strict=True))

    def _held(self, number: int) -> set[bytes]:
        return self.contents[number].after_a_crash()


def apply(names: Names, rename: Rename) -> None:
    """Changes names as the call did."""
    for path, number in rename.changes:
        if number is None:
            names.pop(path, None)
        else:
            names[path] = number
