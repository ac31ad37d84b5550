"""What a long journal costs: made by writing lines directly, then read in every way there is."""

from __future__ import annotations

import os
import resource
import shutil
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loopx_kernel.workspace import Workspace

LINES = 1_000_000
"""How long the journal is, unless ``$LOOPX_BENCH_LINES`` says otherwise."""
STEPS = 1000
"""Lines from the adding of one todo to that of the next."""
CLOCK = {"host_id": "bench", "boot_id": "bench", "boot_ms": None}


def lengthen(journal: Path, goal_id: str, agent: str, count: int, *, steps: int = STEPS) -> None:
    """Appends ``count`` lines of an agent's work, as its commands would have made them.

    Nothing else may write the journal meanwhile; its files are left behind.
    """
    from loopx_kernel.store.files import Files
    from loopx_kernel.store.journal import Journal
    from loopx_kernel.store.line import encode

    last = Journal(journal, Files()).scan_backwards(1).lines[0]
    at = datetime.fromisoformat(last.record["recorded_at"])
    todo = _next_todo(journal)
    prev, begin = last.sha256, last.seq + 1
    with journal.open("ab") as file:
        for seq, (name, payload) in zip(
            range(begin, begin + count), _work(todo, steps), strict=False
        ):
            at += timedelta(seconds=1)
            text = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            if "expires_at" in payload:
                payload["expires_at"] = (at + timedelta(hours=23)).strftime("%Y-%m-%dT%H:%M:%SZ")
            fields = {
                "event_id": f"bench-{seq:09}",
                "goal_id": goal_id,
                "event_type": name,
                "recorded_at": text,
                "actor_kind": "agent",
                "actor_agent_id": agent,
                "payload": payload,
                "request": f"{seq:064x}",
            }
            raw, prev = encode(fields, seq=seq, prev=prev)
            file.write(raw)


def _next_todo(journal: Path) -> int:
    with journal.open("rb") as file:
        return 1 + sum(b'"event_type":"todo.added"' in line for line in file)


def _work(number: int, steps: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """One todo after another: added, claimed, worked on, a slot booked, done."""
    while True:
        lease = {"todo_id": f"T{number}", "lease_epoch": 1}
        until = {"expires_at": "", "clock": CLOCK}
        title = {"todo_id": f"T{number}", "title": f"Work {number}", "role": "agent"}
        yield "todo.added", title
        yield "todo.claimed", {**lease, "version": 1, **until}
        for version in range(2, steps - 2):
            if version % 2:
                yield "todo.updated", {**lease, "version": version, "note": f"Step {version}"}
            else:
                yield "todo.renewed", {**lease, "version": version, **until}
        yield "spend.booked", {"effect_ref": f"turn-{number:06}", "slots": 1}
        parts = [{"type": "lease.ended", "todo_id": f"T{number}"}]
        yield "todo.completed", {**lease, "version": steps - 2, "parts": parts}
        number += 1


def journals(root: Path, goal_id: str, line: Callable[[str, float, str], None]) -> None:
    """Every figure of a long journal; ``line`` prints one, in seconds."""
    from loopx_kernel.workspace import Workspace

    path = root / ".loopx" / "runtime" / goal_id / "events.jsonl"
    count = int(os.environ.get("LOOPX_BENCH_LINES", LINES))
    lengthen(path, goal_id, "claude-code", count)
    cache = Path(os.environ["LOOPX_CACHE_DIR"])
    shutil.rmtree(cache)

    def opened() -> Workspace:
        workspace = Workspace.open(root)
        workspace.state(goal_id)
        return workspace

    def told(name: str, work: Callable[[], object], lines: int = 0) -> Any:
        start, used = time.perf_counter(), time.process_time()
        value = work()
        taken = time.perf_counter() - start
        rate = f"{lines / (time.process_time() - used):,.0f} lines/s of CPU" if lines else ""
        line(name, taken, rate)
        return value

    size = path.stat().st_size // 10**6
    print(f"\na journal of {count:,} lines, {size} MB")
    ws = told("cold: fold from line 1", opened, count)
    told("warm: open and look", opened)
    middle, end = f"bench-{count // 2:09}", ws.state(goal_id).seq
    told("event show, index made", lambda: ws.events.show(goal_id, middle), count)
    told("event show, warm", lambda: ws.events.show(goal_id, middle))
    told("event list --since N --limit 50", lambda: ws.events.page(goal_id, 50, since=end // 2))
    kind = {"event_type": "spend.booked"}
    told("event list --type --limit 50", lambda: ws.events.page(goal_id, 50, **kind))
    about = {"about": f"T{count // STEPS // 2}"}
    told("event list --about --limit 50", lambda: ws.events.page(goal_id, 50, **about))
    at = end * 2 // 3
    told("replay --at, the first time", lambda: ws.history.at(goal_id, at), at)
    told("replay --at, near it afterwards", lambda: ws.history.at(goal_id, max(1, at - 20_000)))
    told("event verify", lambda: ws.events.verify(goal_id), count)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    kept = sum(file.stat().st_size for file in cache.rglob("*") if file.is_file()) // 10**6
    print(f"{'most memory used':44}{peak:9} MB")
    print(f"{'kept in the cache':44}{kept:9} MB")
