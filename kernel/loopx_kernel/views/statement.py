"""Completion validation statements: what was checked before a todo was called done."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from loopx_kernel.clock import format_time
from loopx_kernel.domain.records import EvidenceRef, Todo

SCHEMA_VERSION = "loopx_statement_v0"


def statement_record(goal_id: str, todo: Todo) -> dict[str, Any]:
    """The statement about a todo that is ``stated``. ``made_at`` (RFC 3339, UTC) and ``seq`` are of
    the event that finished it; ``result`` is ``passed`` or ``unproven``."""
    assert todo.done_at is not None
    return {
        "schema_version": SCHEMA_VERSION,
        "goal_id": goal_id,
        "todo_id": todo.id,
        "checks": [_check(ref) for ref in todo.evidence],
        "result": "passed" if todo.proven else "unproven",
        "made_at": format_time(todo.done_at),
        "seq": todo.done_seq,
    }


def _check(ref: EvidenceRef) -> dict[str, Any]:
    return {
        "name": PurePosixPath(ref.path).name,
        "kind": ref.kind,
        # What no machine could read rests on the word of whoever handed it in.
        "basis": "told" if ref.result is None else "read",
        "result": ref.result,
        "path": ref.path,
        "sha256": ref.sha256,
    }
