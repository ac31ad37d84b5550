"""What age costs: the same commands on a short ledger and on a very long one, side by side."""

from __future__ import annotations

import os
import time
from pathlib import Path

from bench.commands import SHOULD_RUN, claims, renewals
from bench.journal import lengthen
from bench.place import AGENT, BY, LOOPX, loopx, workspace
from bench.results import Results
from bench.timing import in_turn, process

SHORT, LONG = 10_000, 1_000_000
FEWEST = 1_000
PER_TODO = 10
"""Lines from the adding of one todo to that of the next: a long ledger has 100,000 finished."""
ROUNDS = 11
LIMIT = 1.15


def growth(root: Path, results: Results) -> None:
    """Every figure of growth, on ledgers made beside ``root``."""
    long = int(os.environ.get("LOOPX_BENCH_LINES", LONG))
    roots = {count: _grown(root.parent, count, results) for count in (FEWEST, SHORT, long)}
    _commands(roots[SHORT], roots[long], long, results)
    _appends(roots, results)
    _looks_back(roots[long], long, results)


def _grown(home: Path, count: int, results: Results) -> Path:
    folder = home / f"grown-{count}"
    folder.mkdir()
    os.environ["HOME"] = str(folder)
    made = workspace(folder)
    lengthen(made / ".loopx/runtime/shop/events.jsonl", "shop", AGENT, count, steps=PER_TODO)
    start = time.perf_counter()
    loopx(made, "refresh-state", *BY, "--handoff", "caught up")
    results.line(f"first reading of {count:,} events", time.perf_counter() - start)
    return made


def _commands(short: Path, long: Path, lines: int, results: Results) -> None:
    for name, work in {
        "should-run": lambda root: process((LOOPX, *SHOULD_RUN), root),
        "status": lambda root: process((LOOPX, "status"), root),
        "todo claim": claims,
        "todo renew": renewals,
    }.items():
        times = in_turn({"short": work(short), "long": work(long)}, ROUNDS)
        ratio = times["long"].over(times["short"])
        results.times(f"loopx {name}, {SHORT:,} events", times["short"])
        results.times(f"loopx {name}, {lines:,} events", times["long"], f"{ratio:.2f} x")
        results.at_most(f"{name}, from {SHORT:,} to {lines:,} events", ratio, LIMIT, "x")


def _appends(roots: dict[int, Path], results: Results) -> None:
    from loopx_kernel.domain.todo import AddTodo
    from loopx_kernel.workspace import Workspace

    opened = {count: Workspace.open(root) for count, root in roots.items()}
    works = {
        f"todo add in process, {count:,} events": lambda number, ws=ws: ws.todos.add(
            "shop", AGENT, AddTodo(title=f"Appended {number}")
        )
        for count, ws in opened.items()
    }
    times = in_turn(works, 100)
    first = next(iter(times.values()))
    for name, taken in times.items():
        results.times(name, taken, f"{taken.over(first):.2f} x")


def _looks_back(root: Path, last: int, results: Results) -> None:
    from loopx_kernel.workspace import Workspace

    ws = Workspace.open(root)
    worst = 0.0
    for number in range(1, 20):
        at = last * number // 20 + 7_919 % last
        start = time.perf_counter()
        ws.history.at("shop", min(at, last))
        worst = max(worst, time.perf_counter() - start)
    results.line("replay --at N, the slowest of 19 places", worst)
    start = time.perf_counter()
    ws.history.todo("shop", "T100")
    results.line("todo show of one finished long ago", time.perf_counter() - start)
