"""What a long journal costs: made by writing lines directly, then read in every way there is."""

from __future__ import annotations

import json
import os
import resource
import shutil
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.results import Results

if TYPE_CHECKING:
    from loopx_kernel.workspace import Workspace

LINES = 1_000_000
"""How long the journal is, unless ``$LOOPX_BENCH_LINES`` says otherwise."""
STEPS = 1000
"""Lines from the adding of one todo to that of the next."""
CLOCK = {"host_id": "bench", "boot_id": "bench", "boot_ms": None}


def lengthen(journal: Path, goal_id: str, agent: str, count: int, *, steps: int = STEPS) -> None:
    """Appends ``count`` lines of an agent's work, as its commands would have made them; one a
    minute, the last of them now.

    Nothing else may write the journal meanwhile; its files are left behind.
    """
    from loopx_kernel.store.files import Files
    from loopx_kernel.store.journal import Journal
    from loopx_kernel.store.line import encode

    last = Journal(journal, Files()).scan_backwards(1).lines[0]
    at = datetime.fromisoformat(last.record["recorded_at"]) - timedelta(minutes=count)
    todo, turn = (_next(journal, name) for name in ("todo.added", "turn.opened"))
    prev, begin = last.sha256, last.seq + 1
    with journal.open("ab") as file:
        for seq, (name, payload) in zip(
            range(begin, begin + count), _work(todo, turn, steps), strict=False
        ):
            at += timedelta(minutes=1)
            text = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            for one in (payload, *payload.get("parts", ())):
                if "expires_at" in one:
                    one["expires_at"] = (at + timedelta(hours=23)).strftime("%Y-%m-%dT%H:%M:%SZ")
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


def _next(journal: Path, name: str) -> int:
    with journal.open("rb") as file:
        return 1 + sum(f'"event_type":"{name}"'.encode() in line for line in file)


def _work(number: int, turn: int, steps: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """One todo after another: added, begun, worked on, a slot booked, done; a turn for each."""
    while True:
        lease = {"todo_id": f"T{number}", "lease_epoch": 1}
        until = {"expires_at": "", "clock": CLOCK}
        title = {"todo_id": f"T{number}", "title": f"Work {number}", "role": "agent"}
        of_turn = {"turn_id": f"turn-{turn:04}", "todo_id": f"T{number}"}
        yield "todo.added", title
        claim = {"type": "todo.claimed", **lease, "version": 1, **until, "write_scopes": []}
        opened = {"contract_id": f"c-{turn}", "lease_epoch": 1, "clock": CLOCK, "parts": [claim]}
        yield "turn.opened", of_turn | opened
        for version in range(2, steps - 2):
            if version % 2:
                yield "todo.updated", {**lease, "version": version, "note": f"Step {version}"}
            else:
                yield "todo.renewed", {**lease, "version": version, **until}
        yield "spend.booked", {"effect_ref": f"turn-{turn:04}", "slots": 1}
        yield "turn.settled", of_turn | _receipt({**lease, "version": steps - 2})
        number, turn = number + 1, turn + 1


def _receipt(lease: dict[str, Any]) -> dict[str, Any]:
    from loopx_kernel.domain.canonical import digest

    file = {"path": "notes.md", "sha256": "a3" * 32, "size": 12, "kind": "file", "kept": False}
    done = {
        "type": "todo.completed",
        **lease,
        "evidence": [file],
        "result_hash": digest([{"path": file["path"], "sha256": file["sha256"]}]),
        "proven": False,
        "note": "",
        "parts": [{"type": "lease.ended", "todo_id": lease["todo_id"]}],
    }
    return {
        "asked": "done",
        "note": "",
        "slots": 1,
        "high_risk": [],
        "outcome": "done",
        "verified": True,
        "unproven": True,
        "state_written": False,
        "slots_booked": 1,
        "reason": "",
        "parts": [done],
    }


def _lines(path: Path) -> None:
    """Reads every line as each reading begins: nothing is folded."""
    from loopx_kernel.store.files import Files
    from loopx_kernel.store.journal import Journal
    from loopx_kernel.store.line import Position

    with path.open("rb") as file:
        grown_from = json.loads(file.readline())["prev"]
    for result in Journal(path, Files()).batches(Position(0, 0, grown_from)):
        if result.damage is not None:
            raise result.damage


def _parsed(path: Path) -> None:
    """The yardstick: what a line costs on this machine that nobody proves."""
    with path.open("rb") as file:
        for line in file:
            json.loads(line)


def journals(root: Path, results: Results, goal_id: str = "shop") -> None:
    """Every figure of a long journal."""
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

    rates: dict[str, float] = {}

    def told(name: str, work: Callable[[], object], lines: int = 0) -> Any:
        start, used = time.perf_counter(), time.process_time()
        value = work()
        taken = time.perf_counter() - start
        rates[name] = lines / (time.process_time() - used)
        results.line(name, taken, f"{rates[name]:,.0f} events/s of processor" if lines else "")
        return value

    size = path.stat().st_size // 10**6
    results.row("the journal", f"{size} MB", note=f"{count:,} events")
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
    nouns = {"event_type": "spend"}
    told("event list --type NOUN --limit 50", lambda: ws.events.page(goal_id, 50, **nouns))
    by = {"actor": "claude-code"}
    told("event list --actor --limit 50", lambda: ws.events.page(goal_id, 50, **by))
    then = ws.events.show(goal_id, middle).event.recorded_at
    told("event list --since TIME --limit 50", lambda: ws.events.page(goal_id, 50, begin=then))
    told("event list --until TIME --limit 50", lambda: ws.events.page(goal_id, 50, end=then))
    at = end * 2 // 3
    told("replay --at, the first time", lambda: ws.history.at(goal_id, at), at)
    told("replay --at, near it afterwards", lambda: ws.history.at(goal_id, max(1, at - 20_000)))
    told("json.loads of every line, nothing else", lambda: _parsed(path), count)
    told("every line: hash, chain and form", lambda: _lines(path), count)
    told("event verify", lambda: ws.events.verify(goal_id), count)
    per_second = "events/s of processor"
    proven = rates["every line: hash, chain and form"]
    results.at_least("hash, chain and form of every line", proven, 100_000, per_second)
    results.at_least("full verification", rates["event verify"], 100_000, per_second)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    kept = sum(file.stat().st_size for file in cache.rglob("*") if file.is_file()) // 10**6
    results.row("most memory used by this process", f"{peak} MB")
    results.row("kept in the cache", f"{kept} MB")
