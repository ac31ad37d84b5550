"""What a durable change costs in one process, against the floors of durable writing."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from bench.place import AGENT
from bench.results import Results
from bench.timing import in_turn

ROUNDS = 200
LINE = b"x" * 600 + b"\n"


def commits(root: Path, results: Results) -> None:
    """A command, and its commit alone, beside SQLite and a plain append, all flushed."""
    from loopx_kernel.domain.todo import AddTodo
    from loopx_kernel.workspace import Workspace

    ws = Workspace.open(root)
    ledger, path = _ledger(root), root / "bench.sqlite"
    plain = (root / "plain.log").open("ab", buffering=0)
    with plain, sqlite3.connect(path, isolation_level=None) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        db.execute("CREATE TABLE event (seq INTEGER PRIMARY KEY, line BLOB)")

        def append(_: int) -> None:
            plain.write(LINE)
            os.fsync(plain.fileno())

        works = {
            "append and fsync, nothing else": append,
            "SQLite, WAL, FULL: one insert, one commit": lambda _: db.execute(
                "INSERT INTO event (line) VALUES (?)", (LINE,)
            ),
            "a commit: the line made, sealed, appended, flushed": ledger.write,
            "todo add: locks, rules, commit, fold, files": lambda n: ws.todos.add(
                "shop", AGENT, AddTodo(title=f"More work {n}")
            ),
        }
        times = in_turn(works, ROUNDS)
    floor = times["SQLite, WAL, FULL: one insert, one commit"]
    for name, taken in times.items():
        results.times(name, taken, f"{taken.over(floor):.2f} x SQLite")
    commit = times["a commit: the line made, sealed, appended, flushed"]
    results.at_most("a commit, times SQLite in WAL mode with FULL", commit.over(floor), 2, "x")
    _reads(ws, results)


def _reads(ws: object, results: Results) -> None:
    view = in_turn({"view": lambda _: ws.view("shop")}, 100)["view"]  # type: ignore[attr-defined]
    results.times("view of the goal in one process", view)


class Ledger:
    """A journal of its own, to which lines like the kernel's are committed as it commits."""

    def __init__(self, folder: Path) -> None:
        from loopx_kernel.store.files import Files
        from loopx_kernel.store.journal import Journal
        from loopx_kernel.store.line import START

        folder.mkdir()
        self._journal = Journal(folder / "events.jsonl", Files())
        self._quarantine = folder / "quarantine"
        self._position = START

    def write(self, number: int) -> None:
        """Commits one event of the usual size."""
        from loopx_kernel.store.writer import Writer

        fields = {
            "event_id": f"01M2P60ZG0E3NTPJTPNC{number:06}",
            "goal_id": "shop",
            "event_type": "todo.added",
            "recorded_at": "2026-09-16T22:40:00.000Z",
            "actor_kind": "agent",
            "actor_agent_id": AGENT,
            "payload": {"todo_id": f"T{number}", "title": f"More work {number}"},
            "request": f"{number:064x}",
        }
        with Writer(self._journal, self._quarantine) as writer:
            self._position = writer.append(fields, self._position).position


def _ledger(root: Path) -> Ledger:
    return Ledger(root / "bench-journal")
