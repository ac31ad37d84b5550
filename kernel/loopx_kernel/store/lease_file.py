"""``task-leases/<todo_id>.json``: who works on a todo, until when, for other programs to read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loopx_kernel.store.disk import discard
from loopx_kernel.store.files import Files
from loopx_kernel.store.records import Level, Record, RecordFile, Verdict
from loopx_kernel.value import Value

SCHEMA_VERSION = "task_lease_v0"


class LeaseFile(Value):
    """The lease file of one todo.

    ``expected`` is the lease as the journal gives it: ``goal_id``, ``todo_id``, ``owner``,
    ``write_scopes``, ``version``, ``lease_epoch``, ``acquired_at``, ``expires_at``, ``status``,
    ``seq``, ``host_id``, ``boot_id``, ``boot_deadline``; times RFC 3339, UTC.
    """

    path: Path
    files: Files

    def read(self) -> Record | None:
        """The lease as it stands, ``None`` where it is missing; raises ``Damaged``."""
        return RecordFile(self.path, self.files).read()

    def level(self, expected: Mapping[str, Any]) -> Verdict:
        """How the file stands to the journal's lease; changes nothing."""
        return RecordFile(self.path, self.files).level(_complete(expected))

    def bring_level(self, expected: Mapping[str, Any]) -> Level:
        """Writes where missing or behind, durable on return; raises ``Damaged``, ``Storage``."""
        return RecordFile(self.path, self.files).bring_level(_complete(expected))

    def write(self, lease: Mapping[str, Any]) -> None:
        """Puts the lease there, whatever stood in the file (a repair); durable on return."""
        RecordFile(self.path, self.files).write(_complete(lease))

    def discard(self) -> None:
        """Removes the file of a todo long finished; one that stays is ignored later."""
        discard(self.path, files=self.files)


def _complete(lease: Mapping[str, Any]) -> Record:
    return {**lease, "schema_version": SCHEMA_VERSION}
