"""Which files somebody wrote, or took away, since a turn began."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from loopx_kernel.domain.scope import split_glob
from loopx_kernel.observe.git import Git, Listing
from loopx_kernel.observe.look import Look, is_repository, place_of, real, walk
from loopx_kernel.observe.repo import asked


def touched(
    repo: Path,
    since: datetime,
    *,
    without: Sequence[str] = (),
    more: Sequence[str] = (),
    named: Sequence[str] = (),
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The paths in ``repo`` that somebody wrote since a time (UTC), and those that went.

    Ignored files do not count, but for ``more``, and for what lies in a folder of ``named``, the
    scopes somebody asks for. Told by when a file last changed on disk, which no program sets at
    will, so a commit hides nothing; nor does a folder that was made ready elsewhere and put in
    its place, unless something was written in it afterwards. A removal that was committed is not
    seen. Without git only ``more`` and ``named`` are looked at. Raises ``limit`` where these are
    too many files.
    """
    repo = real(repo)
    look = Look(map(os.fsencode, without))
    start = since.timestamp()
    paths = {os.fsencode(path) for path in more}
    told = asked(repo)
    if told is not None:
        paths.update(_files(*told, look, b""))
        # What is to be ignored in all of the repo is for git to say.
        named = [scope for scope in named if split_glob(scope)[0]]
    if named:
        # A scope that is not there may never have been: only git tells of what went.
        paths.update(path for path in walk(repo, named, look) if _changed_at(place_of(repo, path)))
    moved = _Moved(repo, start)
    written: list[str] = []
    gone: list[str] = []
    for path in look.counting(paths):
        place = place_of(repo, path)
        changed = _changed_at(place)
        if changed is None:
            folder = _changed_at(place.parent)
            if folder is None or folder >= start:
                gone.append(os.fsdecode(path))
        elif changed >= start or moved.holds(place.parent):
            written.append(os.fsdecode(path))
    return tuple(written), tuple(gone)


class _Moved:
    """The folders that were put where they are, as they were, since a time: what is in them did
    not change, nor did they but for their place."""

    def __init__(self, repo: Path, start: float) -> None:
        self._start = start
        self._known = {repo: False}

    def holds(self, folder: Path) -> bool:
        """Whether this folder, or one around it in the repo, is such a one."""
        inside = []
        while folder not in self._known and folder != folder.parent:
            inside.append(folder)
            folder = folder.parent
        moved = self._known.get(folder, False)
        for one in reversed(inside):
            moved = self._known[one] = moved or self._is_one(one)
        return moved

    def _is_one(self, folder: Path) -> bool:
        try:
            found = folder.lstat()
        except OSError:
            return False
        return found.st_mtime < self._start <= found.st_ctime


def _files(found: Git, known: Listing, look: Look, prefix: bytes) -> Iterator[bytes]:
    """Every file that git knows of, those of repositories inside too."""
    for path in (known.index.keys() | known.look) - known.nested:
        yield prefix + path
    for path in known.nested:
        place = place_of(found.folder, path)
        if is_repository(place) and look.budget.may_ask():
            inside = asked(place)
            if inside is not None:
                yield from _files(*inside, look, prefix + path + b"/")


def _changed_at(path: Path) -> float | None:
    try:
        return path.lstat().st_ctime
    except OSError:
        return None
