"""A goal's files as they are now: what acceptance was bound to, and is compared with."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from loopx_kernel.domain.standing import RepoSeen
from loopx_kernel.observe.look import Look, place_of
from loopx_kernel.observe.repo import diff_digest


def look_at_files(
    repo: Path, scopes: Sequence[str], *, written: Sequence[str], without: Sequence[str] = ()
) -> RepoSeen:
    """What the files in ``scopes`` (all where there are none) and those ``written`` by commands of
    the rules hold now; ``without`` are paths that do not count. Raises ``limit`` where they are
    too many to be looked at."""
    work = diff_digest(repo, None, scopes, without=(*without, *written))
    look, total = Look(()), hashlib.sha256()
    for path in sorted({os.fsencode(path) for path in written}):
        content = look.kind_and_content(place_of(repo, path), "sha256")
        total.update(path + b"\0" + (content or b"gone") + b"\0")
    return RepoSeen(work, total.hexdigest())
