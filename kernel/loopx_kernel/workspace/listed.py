"""The person's own list of workspaces, against which a look at all of them is measured.

``workspaces`` in the person's configuration folder: an absolute path on each line; lines that
begin with ``#`` are theirs. It is no authority: it only says what there is to look at.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path

from loopx_kernel.errors import UsageError
from loopx_kernel.store.disk import MIB, atomic_write, make_folder, read_regular
from loopx_kernel.store.files import Files
from loopx_kernel.store.locks import CHANGE_SECONDS, hold
from loopx_kernel.workspace.person import config_folder

_LARGEST = MIB


def list_file() -> Path:
    """Where the list is kept."""
    return config_folder() / "workspaces"


def listed() -> tuple[Path, ...]:
    """The workspaces of the list, each once, in its order. Raises ``Storage``."""
    rows = (row.strip() for row in _lines())
    return tuple(dict.fromkeys(Path(row) for row in rows if row and not row.startswith("#")))


def add(root: Path) -> bool:
    """Puts a workspace on the list; durable on return. Tells whether it was not there before.

    Raises ``not_initialised`` for a folder without ``.loopx``, ``invalid_value`` for a name that
    no line can hold, and ``Storage``.
    """
    real = _real(root)
    if not (real / ".loopx").is_dir():
        raise UsageError(
            "not_initialised",
            f"There is no .loopx in {root}",
            next=f"loopx connect --root {shlex.quote(str(real))}",
            path=str(real),
        )
    if "\n" in str(real) or str(real) != str(real).strip():
        raise UsageError(
            "invalid_value",
            "A name with a line end in it, or a space at its end, cannot stand in the list",
            next="rename the folder",
            path=str(real),
        )
    return _change(lambda rows: rows if str(real) in rows else [*rows, str(real)])


def remove(root: Path) -> bool:
    """Takes a workspace off the list, whether it is still there or not; changes nothing in it.
    Tells whether it was on the list. Raises ``Storage``."""
    names = {str(root), str(root.absolute()), str(_real(root))}
    return _change(lambda rows: [row for row in rows if row not in names])


def _change(change: Callable[[list[str]], list[str]]) -> bool:
    place, files = list_file(), Files()
    make_folder(place.parent, files=files, mode=0o700)
    lock = place.with_name("workspaces.lock")
    with hold(
        lock,
        purpose="change the list of workspaces",
        actor="loopx",
        timeout_seconds=CHANGE_SECONDS,
        files=files,
    ):
        before = _lines()
        after = change(before)
        if after == before:
            return False
        atomic_write(place, os.fsencode("".join(f"{row}\n" for row in after)), files=files)
        return True


def _lines() -> list[str]:
    data = read_regular(list_file(), _LARGEST, files=Files()) or b""
    return os.fsdecode(data).split("\n")[: -1 if data.endswith(b"\n") else None] if data else []


def _real(root: Path) -> Path:
    return Path(os.path.realpath(root))
