"""The state of a repo as a digest: what an acceptance run saw, and whether a turn changed it.

Nothing of the repository's own settings is run, no link is followed out of it, and what cannot
be read in bounded time counts by its size, times and inode, so that a change still shows.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from loopx_kernel.observe import git
from loopx_kernel.observe.git import Git, Listing
from loopx_kernel.observe.look import (
    Look,
    hexed,
    is_repository,
    place_of,
    real,
    starts_of,
    walk,
)
from loopx_kernel.value import Value


class RepoState(Value):
    """A repo as it was looked at: ``commit`` is that of its HEAD, None without git or a commit;
    ``dirty`` a SHA-256 over what is staged, changed and untracked; ``digest`` over both."""

    commit: str | None
    dirty: str
    digest: str


def repo_state(repo: Path, scopes: Sequence[str] = (), *, without: Sequence[str] = ()) -> RepoState:
    """The state of ``repo`` now. Ignored files, ``.loopx`` and ``without`` (paths in the repo,
    such as the rendered todo list) do not count.

    Without git, the files in ``scopes`` count, or all where there are none. Raises ``limit``
    where these are too many to be looked at.
    """
    return _state(real(repo), Look(map(os.fsencode, without)), scopes)


def diff_digest(
    repo: Path, since: str | None, scopes: Sequence[str] = (), *, without: Sequence[str] = ()
) -> str:
    """A SHA-256 over what the files of ``repo`` in ``scopes`` are now, committed or not; over all
    where there are none.

    With a commit in ``since`` only those that differ from it count. What is equal twice gives
    the same digest, whatever was committed between. Raises as ``repo_state``.
    """
    look = Look(map(os.fsencode, without), starts=starts_of(scopes))
    repo = real(repo)
    told = asked(repo)
    if told is None:
        return _sum(_seen(look, repo, walk(repo, scopes, look)))
    found, known = told
    files = _contents(found, known, look)
    before = git.tree_of(found, since) if since else None
    return _sum(files if before is None else _differing(look, before, files))


def _state(repo: Path, look: Look, scopes: Sequence[str] = ()) -> RepoState:
    told = asked(repo)
    if told is None:
        return _stated(None, _sum(_seen(look, repo, walk(repo, scopes, look))))
    found, known = told
    staged = {path: known.index[path] for path in look.counting(known.index)}
    looked = _seen(look, found.folder, known.look)
    inside = _nested(found, known, look)
    parts = (_sum(staged), _sum(looked), _sum(inside), hexed("sha256", [known.excluded]).decode())
    return _stated(known.commit, hashlib.sha256("\n".join(parts).encode()).hexdigest())


def _stated(commit: str | None, dirty: str) -> RepoState:
    return RepoState(commit, dirty, hashlib.sha256(f"{commit}\n{dirty}".encode()).hexdigest())


def asked(repo: Path) -> tuple[Git, Listing] | None:
    """What git says; None where it cannot, and where it has nothing to tell since a repository
    around the folder ignores it."""
    found = git.find(repo)
    known = git.listing(found) if found else None
    if found is None or known is None or not (known.index or known.look or known.nested):
        return None
    return found, known


def _contents(found: Git, known: Listing, look: Look) -> dict[bytes, bytes]:
    """Every file that counts with its content as git would name it, staged or not."""
    name = "sha256" if any(len(entry) > 60 for entry in known.index.values()) else "sha1"
    files = {path: known.index[path] for path in look.counting(known.index)}
    for path in look.counting(known.look):
        content = look.kind_and_content(place_of(found.folder, path), "git-" + name)
        files.pop(path, None)
        if content is not None:
            files[path] = content
    return files | _nested(found, known, look)


def _nested(found: Git, known: Listing, look: Look) -> dict[bytes, bytes]:
    """The repositories inside, by their own states; one that is not there by its commit."""
    states: dict[bytes, bytes] = {}
    for path in look.counting(known.nested):
        place = place_of(found.folder, path)
        states[path] = known.index.get(path, b"untracked") + b" "
        if not is_repository(place):
            inside = (look.kind_and_content(place, "sha256") or b"gone").decode()
        elif look.budget.may_ask():
            inside = _state(place, look.below(path)).digest
        else:
            inside = _sum(_seen(look.below(path), place, walk(place, (), look.below(path))))
        states[path] += inside.encode()
    return states


def _differing(
    look: Look, before: Mapping[bytes, bytes], after: Mapping[bytes, bytes]
) -> dict[bytes, bytes]:
    paths = look.counting(before.keys() | after.keys())
    return {path: after.get(path, b"gone") for path in paths if before.get(path) != after.get(path)}


def _seen(look: Look, repo: Path, paths: Iterable[bytes]) -> dict[bytes, bytes]:
    found = {
        path: look.kind_and_content(place_of(repo, path), "sha256") for path in look.counting(paths)
    }
    return {path: content or b"gone" for path, content in found.items()}


def _sum(files: Mapping[bytes, bytes]) -> str:
    """One digest over paths and what is at them; neither holds a NUL."""
    total = hashlib.sha256()
    for path in sorted(files):
        total.update(path + b"\0" + files[path] + b"\0")
    return total.hexdigest()
