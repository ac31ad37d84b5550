"""Small journals for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from loopx_kernel.clock import format_time
from loopx_kernel.store.files import Files
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.line import START, Line
from loopx_kernel.store.writer import Writer

AT = datetime(2026, 9, 16, 22, 40, tzinfo=UTC)


def event(number: int = 1, **changes: Any) -> dict[str, Any]:
    """The fields of an event as they are handed to a writer."""
    return {
        "event_id": f"e-{number}",
        "goal_id": "dark-mode",
        "event_type": "todo.claimed",
        "recorded_at": "2026-09-16T22:40:00Z",
        "actor_kind": "agent",
        "actor_agent_id": "claude-code",
        "payload": {"todo_id": f"T{number}", "note": '漢 \u2028 \x85 \\ " \n'},
        "request": "a" * 64,
        **changes,
    }


def journal_in(
    folder: Path, count: int = 0, files: Files | None = None, *, apart: timedelta = timedelta()
) -> Journal:
    """A journal in ``folder`` with ``count`` lines, so far apart, read through ``files``."""
    plain = Journal(folder / "events.jsonl", Files())
    position = START
    with Writer(plain, folder / "quarantine") as writer:
        for number in range(1, count + 1):
            at = format_time(AT + (number - 1) * apart)
            position = writer.append(event(number, recorded_at=at), position).position
    return Journal(plain.path, files or Files())


def append(journal: Journal, number: int) -> Line:
    """Appends event ``number`` at the end, as a command under the lock does."""
    with Writer(journal, journal.path.parent / "quarantine") as writer:
        writer.settle_tail(AT)
        return writer.append(event(number), journal.read().position)


def seqs(journal: Journal) -> list[int]:
    """The ``seq`` of every line a reader gets."""
    return [line.seq for line in journal.read().lines]
