"""``known_workspaces``: which workspaces this person has seen, and whose they were.

One JSON object a line, sorted by ``root``, of mode 0600 in the person's own folder. The way
``known_hosts`` is read: a file that is missing knows nothing, one that cannot be understood
is no such file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from loopx_kernel.errors import UsageError
from loopx_kernel.store import locks
from loopx_kernel.store.disk import (
    MIB,
    Signature,
    atomic_write,
    make_folder,
    read_regular,
    signature,
)
from loopx_kernel.store.files import Files
from loopx_kernel.value import Value

_LIMIT = 16 * MIB
_TYPES: dict[str, type] = {"root": str, "workspace_id": str, "seq": int, "head": str}


class Known(Value):
    """A workspace as it was seen: at the real path ``root``, with its id; ``seq`` and ``head``
    are the line of its journal that last changed its owners, and ``owners`` their names by
    the fingerprints of their keys."""

    root: str
    workspace_id: str
    seq: int
    head: str
    owners: dict[str, str]


class KnownFile(Value):
    """The file at ``path``."""

    path: Path
    files: Files

    def read(self) -> tuple[Known, ...]:
        """All that is known; nothing where the file is missing. Raises ``permission`` where it
        cannot be opened and ``invalid_value`` where it is not what was written."""
        data = read_regular(self.path, _LIMIT, files=self.files)
        try:
            return tuple(_known(line) for line in (data or b"").splitlines() if line.strip())
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise UsageError(
                "invalid_value",
                f"{self.path} is not what LoopX wrote there",
                next=f"mend {self.path}, or move it away; then nothing is known",
                path=str(self.path),
            ) from None

    def put(self, known: Known) -> None:
        """Notes a workspace in place of what was known at its root; durable on return. Holds
        the file's own lock. Raises what ``read`` does, ``Storage`` and ``lock_timeout``."""
        make_folder(self.path.parent, files=self.files, mode=0o700)
        with locks.hold(
            self.path.with_name(f"{self.path.name}.lock"),
            purpose="known_workspaces",
            actor="loopx",
            timeout_seconds=locks.CHECK_SECONDS,
            files=self.files,
        ):
            others = [one for one in self.read() if one.root != known.root]
            atomic_write(self.path, _render([*others, known]), files=self.files, mode=0o600)

    def signature(self) -> Signature | None:
        """What tells of a change of the file, without reading it; ``None`` without one."""
        return signature(self.path, files=self.files)


def _known(line: bytes) -> Known:
    value: dict[str, Any] = json.loads(line)
    owners = value["owners"]
    plain = all(type(value[name]) is kind for name, kind in _TYPES.items())
    if not plain or not all(type(one) is str for one in owners.values()):
        raise ValueError
    return Known(**{name: value[name] for name in _TYPES}, owners=dict(owners))


def _render(known: Iterable[Known]) -> bytes:
    rows = sorted(known, key=lambda one: one.root)
    return b"".join(json.dumps(asdict(one)).encode() + b"\n" for one in rows)
