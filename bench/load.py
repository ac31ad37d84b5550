"""A heavy day on the screen: many goals with many todos, many events a second, somebody typing.

Linux only: it reads /proc.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from bench.results import Results
from bench.terminal import SEQUENCE, Terminal, Usage, launch

HERE = Path(__file__).parents[1]
OWNER, AGENT = "li", "claude-code"
SIZE = (120, 40)
SECONDS = 60.0
KEYS_A_SECOND = 5
LOST_SECONDS, QUIET_SECONDS, START_SECONDS = 5.0, 3.0, 120.0
LETTERS = [chr(code) for code in range(0x100, 0x250)]
"""Typed one after the other; none of them stands anywhere else on the screen."""


class Crowd(NamedTuple):
    """So many goals of so many todos, in which so many events a second happen."""

    goals: int = 50
    todos: int = 1_000
    events_a_second: int = 200


def load(root: Path, results: Results) -> None:
    """The whole of it, with the bounds."""
    crowd, begin = Crowd(), time.perf_counter()
    place = crowded(root.parent / "crowd", crowd)
    results.row("making the workspace", f"{time.perf_counter() - begin:,.1f} s")
    for name, cache in (("without a cache", "no-cache"), ("a second time", "no-cache")):
        with _screen(place, crowd, root.parent / cache) as (_, _, took):
            results.line(f"{crowd.goals} goals of {crowd.todos:,} todos all read, {name}", took)
    with _screen(place, crowd, root.parent / "no-cache") as (terminal, pid, _):
        _busy(terminal, place, crowd, results)
        terminal.settle(QUIET_SECONDS, START_SECONDS)
        _idle(terminal, pid, results)


@contextmanager
def _screen(place: Path, crowd: Crowd, cache: Path) -> Iterator[tuple[Terminal, int, float]]:
    """The screen once all goals were read and it is quiet: its terminal, its pid, and the
    seconds it took until all were read."""
    command = [sys.executable, "-m", "loopx_tui.main", str(place)]
    process, fd = launch(command, SIZE, {"LOOPX_CACHE_DIR": str(cache)}, HERE)
    terminal = Terminal(fd, True, 40)
    try:
        took = _wait_for(terminal, f"{crowd.goals}/{crowd.goals} goals", START_SECONDS)
        if took is None:
            raise RuntimeError(f"not all goals were read within {START_SECONDS:g} s")
        terminal.settle(QUIET_SECONDS, START_SECONDS)
        yield terminal, process.pid, took
    finally:
        process.kill()
        process.wait()
        terminal.close()


def _busy(terminal: Terminal, place: Path, crowd: Crowd, results: Results) -> None:
    for key in (b"3", b"/"):
        terminal.write(key)
        terminal.read_for(1.0)
    size, begin = terminal.total, time.perf_counter()
    writer = writing(place, crowd, SECONDS)
    answers: list[float | None] = []
    while writer.poll() is None:
        answers.append(_type(terminal, LETTERS[len(answers) % len(LETTERS)]))
        terminal.read_for(begin + len(answers) / KEYS_A_SECOND - time.perf_counter())
    took = time.perf_counter() - begin
    written, events = terminal.total - size, int(writer.communicate()[0])
    terminal.write(b"\x1b")
    seen = sorted(answer for answer in answers if answer is not None)
    rates = f"{events / took:.0f} events and {len(answers) / took:.1f} keys a second"
    results.note(f"{rates} for {took:.0f} s; {written / took:,.0f} bytes/s written")
    results.line("key to paint", statistics.median(seen), f"slowest {seen[-1] * 1e3:,.0f} ms")
    rank = min(int(len(seen) * 0.95), len(seen) - 1)
    results.at_most("key to paint under load, p95", seen[rank] * 1e3, 100, "ms")
    results.at_most("keys dropped under load", len(answers) - len(seen), 0)


def _idle(terminal: Terminal, pid: int, results: Results) -> None:
    size, cpu, begin = terminal.total, Usage.of(pid).cpu_ns, time.perf_counter()
    terminal.read_for(10.0)
    took = time.perf_counter() - begin
    usage = Usage.of(pid)
    results.at_most("bytes after the load", (terminal.total - size) / took, 0, "bytes/s")
    share = (usage.cpu_ns - cpu) / 1e7 / took
    results.at_most("processor after the load", share, 0.5, "%")
    results.row("memory after the load", f"{usage.rss_kb / 1024:,.1f} MB")


def _wait_for(terminal: Terminal, text: str, seconds: float) -> float | None:
    """Reads until this was written; the seconds it took, or ``None`` where it never was."""
    begin = time.perf_counter()
    while text.encode() not in SEQUENCE.sub(b"", terminal.recent):
        if time.perf_counter() - begin > seconds:
            return None
        terminal.read(0.01)
    return (terminal.last or begin) - begin


def _type(terminal: Terminal, letter: str) -> float | None:
    """Types a letter into the filter and takes it back; the seconds until it was there."""
    terminal.drain()
    terminal.recent = b""
    terminal.write(letter.encode())
    took = _wait_for(terminal, letter, LOST_SECONDS)
    terminal.write(b"\x7f")
    return took


def crowded(folder: Path, crowd: Crowd) -> Path:
    """A workspace with these goals, each with its todos to be done."""
    from loopx_kernel.domain.goal import OpenGoal
    from loopx_kernel.domain.rules import Coordination, GoalRules, Limits
    from loopx_kernel.domain.todo import AddTodo
    from loopx_kernel.trust.keys import load_private
    from loopx_kernel.trust.new_key import generate
    from loopx_kernel.workspace import Workspace

    root = folder / "workspace"
    root.mkdir(parents=True)
    ws = Workspace.connect(root)
    generate(folder / "key", OWNER, None)
    key = load_private(folder / "key", None)
    ws.append(ws.owners.enroll_first(OWNER, key.public.line, True), key)
    ws.agents.add(AGENT)
    for name in names(crowd):
        rules = GoalRules(
            display_name=name,
            state_file=f".loopx/goals/{name}/ACTIVE_GOAL_STATE.md",
            coordination=Coordination(write_scope=("src/**",)),
            limits=Limits(unfinished_todos_per_agent=100_000),
        )
        command = OpenGoal(goal_id=name, objective="Sell more", rules=rules)
        ws.append(ws.goals.open(OWNER, command), key)
        Writer(root, name).add(crowd.todos - 1)
        ws.todos.add(name, AGENT, AddTodo(title="The last one"))
    return root


def names(crowd: Crowd) -> list[str]:
    """The ids of the goals."""
    return [f"goal-{number:02}" for number in range(crowd.goals)]


class Writer:
    """Appends todos to a goal's journal as its agent's command would; nobody else may write."""

    def __init__(self, root: Path, goal_id: str) -> None:
        from loopx_kernel.store.files import Files
        from loopx_kernel.store.journal import Journal

        self._goal_id = goal_id
        self._path = root / ".loopx" / "runtime" / goal_id / "events.jsonl"
        last = Journal(self._path, Files()).scan_backwards(1).lines[0]
        self._seq, self._prev = last.seq, last.sha256
        self._next = 1 + self._path.read_bytes().count(b'"event_type":"todo.added"')

    def add(self, number: int) -> None:
        """Appends so many, and flushes them to the disk."""
        with self._path.open("ab") as file:
            for _ in range(number):
                file.write(self._line())
            file.flush()
            os.fsync(file.fileno())

    def _line(self) -> bytes:
        from loopx_kernel.store.line import encode

        self._seq += 1
        name = f"T{self._next}"
        self._next += 1
        fields: dict[str, Any] = {
            "event_id": f"load-{self._goal_id}-{self._seq:09}",
            "goal_id": self._goal_id,
            "event_type": "todo.added",
            "recorded_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "actor_kind": "agent",
            "actor_agent_id": AGENT,
            "payload": {"todo_id": name, "title": f"Convert part {name}", "role": "agent"},
            "request": f"{self._seq:064x}",
        }
        raw, self._prev = encode(fields, seq=self._seq, prev=self._prev)
        return raw


def writing(root: Path, crowd: Crowd, seconds: float) -> subprocess.Popen[str]:
    """A process that appends events for so long, and prints at its end how many they were."""
    asked = [str(number) for number in (*crowd, seconds)]
    words = [sys.executable, "-m", "bench.load", str(root), *asked]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=HERE)


def main(words: Sequence[str]) -> None:
    """Appends events to one goal after the other, and prints at the end how many they were."""
    root, goals, todos, rate, seconds = words
    crowd = Crowd(int(goals), int(todos), int(rate))
    writers = [Writer(Path(root), name) for name in names(crowd)]
    done = 0
    for number in _paced(crowd.events_a_second, float(seconds)):
        writers[number % crowd.goals].add(1)
        done += 1
    print(done)


def _paced(rate: int, seconds: float) -> Iterator[int]:
    begin = time.perf_counter()
    for number in count():
        due = begin + number / rate
        time.sleep(max(0.0, due - time.perf_counter()))
        if time.perf_counter() - begin > seconds:
            return
        yield number


if __name__ == "__main__":
    main(sys.argv[1:])
