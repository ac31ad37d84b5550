"""What each projection costs over many goals with much work in each."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.results import Results

GOALS, TODOS = 50, 1000
"""How much there is, unless ``$LOOPX_BENCH_GOALS`` and ``$LOOPX_BENCH_TODOS`` say otherwise."""
DONE = 4
"""One todo of so many was claimed and is done."""
LOOPX = Path(sys.executable).with_name("loopx")
CLOCK = {"host_id": "bench", "boot_id": "bench", "boot_ms": None}
AGENTS = ("claude-code", "codex")
"""Work is theirs by turns: one alone may not leave so much unfinished."""
AGENT = AGENTS[0]


def projections(root: Path, results: Results) -> None:
    """Fills a workspace with goals, then asks for each projection: first with no cache of the
    reader's, then with one."""
    goals = int(os.environ.get("LOOPX_BENCH_GOALS", GOALS))
    todos = int(os.environ.get("LOOPX_BENCH_TODOS", TODOS))
    _loopx(root, "agent", "add", AGENTS[1])
    for number in range(goals):
        name = f"goal-{number}"
        _loopx(root, "start-goal", "--id", name, "--objective", "Sell more")
        _fill(root / ".loopx" / "runtime" / name / "events.jsonl", name, todos)
        # The next writer makes the files that the lines give.
        _loopx(root, "todo", "add", "Ask", "--role", "human", "--agent", AGENT, "--goal", name)
    what = f"{goals} goals, {todos} todos each"
    start = time.perf_counter()
    _loopx(root, "status", "--scope", "workspace")
    results.line("status --scope workspace, no cache", time.perf_counter() - start, what)
    one = ("--goal", "goal-0")
    for words in (
        ("status", *one),
        ("status", "--scope", "workspace"),
        ("status", "--scope", "global"),
        ("board", *one),
        ("board", "--scope", "workspace"),
        ("report", "--period", "7d", *one),
        ("report", "--period", "7d", "--format", "html", *one),
        ("review-packet", f"T{todos + 1}", *one),
        ("quota", "should-run", "--agent", AGENT, *one),
        ("doctor",),
        ("completion", *one),
        ("event", "list", "--limit", "50", *one),
        ("todo", "list", *one),
        ("todo", "show", f"T{todos // 2}", *one),
        ("objective", "history", *one),
        ("source", "list", *one),
    ):
        results.line(" ".join(words), min(_seconds(root, *words) for _ in range(3)), "")


def _fill(journal: Path, goal_id: str, todos: int) -> None:
    """Todos added one after another, some of them claimed and done."""
    from loopx_kernel.store.files import Files
    from loopx_kernel.store.journal import Journal
    from loopx_kernel.store.line import encode

    last = Journal(journal, Files()).scan_backwards(1).lines[0]
    prev, seq = last.sha256, last.seq
    at, step = datetime.fromisoformat(last.record["recorded_at"]), timedelta(milliseconds=1)
    with journal.open("ab") as file:
        for agent, name, payload in _work(todos):
            at, seq = at + step, seq + 1
            if "expires_at" in payload:
                payload["expires_at"] = _text(at + timedelta(hours=1))
            fields = {
                "event_id": f"bench-{seq:09}",
                "goal_id": goal_id,
                "event_type": name,
                "recorded_at": _text(at),
                "actor_kind": "agent",
                "actor_agent_id": agent,
                "payload": payload,
                "request": f"{seq:064x}",
            }
            raw, prev = encode(fields, seq=seq, prev=prev)
            file.write(raw)


def _work(todos: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Who does what, with the payload."""
    for number in range(1, todos + 1):
        ref, agent = f"T{number}", AGENTS[number // DONE % 2]
        yield agent, "todo.added", {"todo_id": ref, "title": f"Work {number} of the shop"}
        if number % DONE == 0:
            lease = {"todo_id": ref, "lease_epoch": 1, "version": 1}
            yield agent, "todo.claimed", lease | {"expires_at": "", "clock": CLOCK}
            ends = ({"type": "lease.ended", "todo_id": ref},)
            yield agent, "todo.completed", lease | {"version": 2, "parts": ends}


def _text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _loopx(root: Path, *words: str) -> None:
    subprocess.run([LOOPX, *words], cwd=root, check=True, capture_output=True)


def _seconds(root: Path, *words: str) -> float:
    start = time.perf_counter()
    subprocess.run([LOOPX, *words], cwd=root, check=False, capture_output=True)
    return time.perf_counter() - start
