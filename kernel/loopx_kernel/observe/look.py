"""One bounded look at the files of a repo: what counts, what is there, what lies in a folder."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from loopx_kernel.domain.scope import split_glob
from loopx_kernel.errors import Busy

BYTES = 256 * 1024 * 1024
"""How much of a repo is read for one look."""
FILES = 200_000
"""How many files are looked at where there is no git to tell which changed."""
NESTED = 64
"""How many repositories inside it are asked for their own state."""
SECONDS = 60
"""After how long none of these is asked any more: each may keep git waiting."""
OWN = b".loopx"
_CHUNK = 1024 * 1024


class Budget:
    def __init__(self) -> None:
        self.bytes, self.files, self.nested = BYTES, FILES, NESTED
        self._until = time.monotonic() + SECONDS

    def may_ask(self) -> bool:
        """Whether one more repository inside is asked."""
        self.nested -= 1
        return self.nested >= 0 and time.monotonic() < self._until


class Look:
    """One look at a repo: what it leaves out, and how much it may still look at."""

    def __init__(
        self,
        without: Iterable[bytes],
        budget: Budget | None = None,
        starts: Iterable[bytes] = (b".",),
    ) -> None:
        self._without = (OWN, *map(os.path.normpath, without))
        self._starts = tuple(starts)
        self.budget = budget or Budget()
        self._linked: dict[Path, bool] = {}

    def below(self, path: bytes) -> Look:
        """The same look at a repository inside."""
        inside = (out[len(path) + 1 :] for out in self._without if out.startswith(path + b"/"))
        return Look(inside, self.budget)

    def leaves_out(self, path: bytes) -> bool:
        return any(path == out or path.startswith(out + b"/") for out in self._without)

    def counting(self, paths: Iterable[bytes]) -> list[bytes]:
        """Those that count, in an order that does not depend on the disk."""
        return sorted(path for path in paths if self._begins(path) and not self.leaves_out(path))

    def _begins(self, path: bytes) -> bool:
        """Whether a path is below where this look starts, or a repository around that."""
        return any(
            start in (b".", path) or path.startswith(start + b"/") or start.startswith(path + b"/")
            for start in self._starts
        )

    def kind_and_content(self, path: Path, name: str) -> bytes | None:
        """What is at a path: its mode and the digest of its content; None where nothing is, or
        where only a link leads there.

        ``name`` is the algorithm of git's blob ids, else ``sha256`` over the bytes alone.
        """
        if self._is_behind_a_link(path):
            return None
        try:
            found = path.lstat()
            if stat.S_ISLNK(found.st_mode):
                target = os.fsencode(path.readlink())
                return b"120000 " + hexed(name, [target], len(target))
            if stat.S_ISREG(found.st_mode):
                return self._regular(path, found, name)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return b"error %d" % (error.errno or 0)
        return b"kind %o" % stat.S_IFMT(found.st_mode)

    def _is_behind_a_link(self, path: Path) -> bool:
        folder = path.parent
        if folder not in self._linked:
            self._linked[folder] = real(folder) != folder
        return self._linked[folder]

    def _regular(self, path: Path, found: os.stat_result, name: str) -> bytes:
        mode = b"100755 " if found.st_mode & stat.S_IXUSR else b"100644 "
        for _ in range(2):
            if found.st_size > self.budget.bytes:
                break
            self.budget.bytes -= found.st_size
            with _opened(path) as handle:
                before = os.fstat(handle)
                content = hexed(name, _chunks(handle, found.st_size), before.st_size)
                if _marks(before) == _marks(found) == _marks(os.fstat(handle)):
                    return mode + content
            found = path.lstat()
        return mode + b"%d %d %d %d" % _marks(found)


def is_repository(place: Path) -> bool:
    """Whether a repository is really here; a link in its place may lead anywhere."""
    return real(place) == place and os.path.lexists(place / ".git")


def walk(repo: Path, scopes: Sequence[str], look: Look) -> set[bytes]:
    """Everything that is no folder in ``scopes``; a glob counts as the folder before it."""
    pending = [b"" if start == b"." else start for start in starts_of(scopes)]
    files: set[bytes] = set()
    while pending:
        path = pending.pop()
        if look.leaves_out(path) or path.rpartition(b"/")[2] == b".git":
            continue
        inside = _entries(place_of(repo, path))
        if inside is None:
            files.add(path)
        else:
            pending += [path + b"/" + name if path else name for name in inside]
        look.budget.files -= 1
        if look.budget.files < 0:
            raise Busy(
                "limit",
                f"{repo} has more than {FILES} files where its state is looked at",
                next="name narrower write scopes, or use git there",
                repo=str(repo),
                limit=FILES,
            )
    return files


def starts_of(scopes: Sequence[str]) -> set[bytes]:
    starts = {os.fsencode(os.path.normpath(split_glob(scope)[0] or ".")) for scope in scopes}
    return starts or {b"."}


def _entries(path: Path) -> list[bytes] | None:
    """The names in a folder, no link; None for anything else, one that may not be read too."""
    try:
        if not stat.S_ISDIR(path.lstat().st_mode):
            return None
        return [os.fsencode(entry.name) for entry in path.iterdir()]
    except OSError:
        return None


def place_of(repo: Path, path: bytes) -> Path:
    return repo / os.fsdecode(path)


def real(place: Path) -> Path:
    """The place without links, whether or not something is there."""
    return Path(os.path.realpath(place))


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield handle
    finally:
        os.close(handle)


def _chunks(handle: int, size: int) -> Iterator[bytes]:
    """At most ``size`` bytes: what grows meanwhile is noticed by its marks."""
    while size > 0 and (chunk := os.read(handle, min(size, _CHUNK))):
        size -= len(chunk)
        yield chunk


def _marks(found: os.stat_result) -> tuple[int, int, int, int]:
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def hexed(name: str, chunks: Iterable[bytes], size: int = 0) -> bytes:
    blob = name.startswith("git-")
    total = hashlib.new(name.removeprefix("git-"), usedforsecurity=not blob)
    if blob:
        total.update(b"blob %d\0" % size)
    for chunk in chunks:
        total.update(chunk)
    return total.hexdigest().encode()
