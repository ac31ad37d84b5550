"""Where one machine ends: a simulation of goals, agents and viewers with constants measured here.

Every agent wakes once a minute, asks whether it may run, and carries out one turn. Commands
queue for the cores, then for their goal's lock, then for the disk. What a command costs grows
with the goals beside it, as measured. Nothing here is a promise: it shows which resource goes
first, and about where.
"""

from __future__ import annotations

import heapq
import os
import random
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.place import AGENT, BY, loopx
from bench.results import Results
from bench.screens import changes

GRID = (
    (1, 30, 1),
    (10, 10, 1),
    (30, 30, 1),
    (100, 30, 2),
    (100, 100, 2),
    (1_000, 100, 5),
    (1_000, 300, 5),
    (10_000, 300, 10),
    (10_000, 1_000, 10),
)
"""Goals, agents and viewers of one workspace."""
MINUTE = 60.0
SIMULATED = 10 * MINUTE
WRITES = 5
"""Writing commands of one turn: begun, renewed twice, settled, a todo added."""
GOALS = 40
"""How many goals are made to see what a goal beside costs."""
PATIENCE = 10.0
"""Seconds a command waits for a lock before it says who holds it."""
WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")


@dataclass(frozen=True)
class Constants:
    """What was measured; seconds, unless it says otherwise."""

    ask: float
    write: float
    ask_per_goal: float
    hold: float
    fsync: float
    fsyncs: float
    event_bytes: float
    row_bytes: float
    row_cpu: float
    look_per_goal: float
    watches_per_goal: float
    cores: int
    watches: int


@dataclass(frozen=True)
class Day:
    """What came of one size: how busy the resources are (1 is all of it), and who waits."""

    events: float
    cores: float
    disk: float
    lock_wait: float
    answer: float
    watches: float
    terminal: float

    def ends(self, have: Constants) -> str:
        """The resources that do not suffice, the one that is missed most first."""
        missed = {
            f"processor ({self.cores:.1f} of {have.cores} cores)": self.cores / have.cores,
            "disk": self.disk,
            "locks": self.lock_wait / PATIENCE,
            "inotify watches": self.watches / have.watches,
        }
        over = sorted((part, name) for name, part in missed.items() if part >= 1)
        return ", ".join(name for _, name in reversed(over)) or "-"


def scale(root: Path, results: Results) -> None:
    """Measures the constants, then goes through the grid."""
    have = measured(root)
    for name, value in vars(have).items():
        small = isinstance(value, float) and value < 1
        results.row(name, f"{value * 1e3:,.3f} ms" if small else f"{value:,.0f}")
    last = "none of these sizes"
    for goals, agents, viewers in GRID:
        day = simulate(have, goals, agents, viewers)
        ends = day.ends(have)
        if ends == "-":
            last = f"{goals:,} goals, {agents:,} agents, {viewers} viewers"
        results.row(
            f"{goals:,} goals, {agents:,} agents, {viewers} viewers",
            f"{day.cores:,.2f} cores",
            note=f"{day.events:,.1f} events/s, disk {day.disk:.1%}, lock p95 "
            f"{day.lock_wait * 1e3:,.1f} ms, should-run p95 {day.answer:,.2f} s, "
            f"{day.watches:,.0f} watches, {day.terminal:,.0f} bytes/s; short of: {ends}",
        )
    results.note(f"The largest of these sizes that this machine carries: {last}.")


def simulate(have: Constants, goals: int, agents: int, viewers: int) -> Day:
    """Ten minutes of that size, from an empty queue."""
    rng = random.Random(1)
    lock_free: dict[int, float] = {}
    disk_free = 0.0
    viewing = viewers * goals * have.look_per_goal / 2
    cores = [0.0] * have.cores
    waits: list[float] = []
    answers: list[float] = []
    queue = [(rng.uniform(0, MINUTE), agent, 0) for agent in range(agents)]
    due = {agent: at for at, agent, _ in queue}
    heapq.heapify(queue)
    events = 0
    while queue and queue[0][0] < SIMULATED:
        at, agent, step = heapq.heappop(queue)
        cpu = (have.ask if step == 0 else have.write) + goals * have.ask_per_goal
        begun = max(at, heapq.heappop(cores))
        end = begun + cpu
        heapq.heappush(cores, end)
        if step == 0:
            answers.append(end - at)
        else:
            goal = agent % goals
            held = max(end, lock_free.get(goal, 0.0))
            waits.append(held - end)
            flushed = max(held, disk_free) + have.fsync * have.fsyncs
            disk_free, lock_free[goal] = flushed, max(flushed, held + have.hold)
            end = lock_free[goal]
            events += 1
        if step < WRITES:
            heapq.heappush(queue, (end, agent, step + 1))
        else:
            due[agent] = max(end, due[agent] + MINUTE)
            heapq.heappush(queue, (due[agent], agent, 0))
    rate = agents * WRITES / MINUTE
    asked = agents / MINUTE * (have.ask + WRITES * have.write)
    asked += agents / MINUTE * (1 + WRITES) * goals * have.ask_per_goal
    return Day(
        events=events / SIMULATED,
        cores=asked + viewing + viewers * rate * have.row_cpu,
        disk=rate * have.fsync * have.fsyncs,
        lock_wait=_p95(waits),
        answer=_p95(answers),
        watches=goals * have.watches_per_goal * viewers,
        terminal=rate * have.row_bytes * viewers,
    )


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)] if values else 0.0


def measured(root: Path) -> Constants:
    """The constants, on a workspace with one goal and then with many."""
    from loopx_tui.signatures import Signatures

    ask = _processor(lambda: loopx(root, "quota", "should-run", *BY))
    write = _processor(lambda: loopx(root, "todo", "add", "Timed", *BY))
    hold, fsyncs, event_bytes = _commit(root)
    for number in range(GOALS):
        loopx(root, "start-goal", "--id", f"beside-{number}", "--objective", "Sell more")
        loopx(root, "todo", "add", "Ask", *BY, "--goal", f"beside-{number}")
    beside = ("--goal", "shop")
    many = _processor(lambda: loopx(root, "quota", "should-run", *BY, *beside))
    sizes, costs = changes("row", root.parent)
    begun = time.perf_counter()
    looks = Signatures()
    for _ in range(10):
        looks.look([root / ".loopx"])
    look = (time.perf_counter() - begun) / 10
    folders = sum(path.is_dir() for path in (root / ".loopx").rglob("*"))
    return Constants(
        ask=ask,
        write=write,
        ask_per_goal=max(0.0, (many - ask) / GOALS),
        hold=hold,
        fsync=_fsync(root),
        fsyncs=fsyncs,
        event_bytes=event_bytes,
        row_bytes=statistics.median(sizes),
        row_cpu=statistics.median(costs) / 1e3,
        look_per_goal=look / (GOALS + 1),
        watches_per_goal=folders / (GOALS + 1),
        cores=os.cpu_count() or 1,
        watches=int(WATCHES.read_text("ascii")) if WATCHES.exists() else 0,
    )


def _processor(work: Callable[[], object], count: int = 8) -> float:
    """The seconds of processor of the whole process that ``work`` starts, the least of a few:
    what is measured now and what is measured later have different neighbours."""
    work()
    costs = []
    for _ in range(count):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        work()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(costs)


def _commit(root: Path, count: int = 50) -> tuple[float, float, float]:
    """Seconds that the lock is held for a change, its flushes, and its bytes in the journal."""
    from loopx_kernel.domain.todo import AddTodo
    from loopx_kernel.workspace import Workspace

    ws = Workspace.open(root)
    journal = root / ".loopx/runtime/shop/events.jsonl"
    size, flushes, real = journal.stat().st_size, 0, os.fsync

    def counted(fd: int) -> None:
        nonlocal flushes
        flushes += 1
        real(fd)

    os.fsync = counted  # type: ignore[assignment]
    begun = time.perf_counter()
    try:
        for number in range(count):
            ws.todos.add("shop", AGENT, AddTodo(title=f"Counted {number}"))
    finally:
        os.fsync = real
    seconds = (time.perf_counter() - begun) / count
    return seconds, flushes / count, (journal.stat().st_size - size) / count


def _fsync(root: Path) -> float:
    costs = []
    with (root / "plain.log").open("ab", buffering=0) as file:
        for _ in range(100):
            begun = time.perf_counter()
            file.write(b"x" * 600)
            os.fsync(file.fileno())
            costs.append(time.perf_counter() - begun)
    return statistics.median(costs)
