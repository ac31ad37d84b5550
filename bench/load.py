"""A heavy day on the screen: many goals with many todos, many events a second, somebody typing.

    python -m bench.load [SECONDS]

Linux only: it reads /proc.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from bench.terminal import SEQUENCE, Terminal, Usage, launch

GOALS, TODOS, EVENTS_A_SECOND = 50, 1_000, 200
SECONDS = 60.0
KEYS_A_SECOND = 5
OWNER, AGENT = "li", "claude-code"
SIZE = (120, 40)
LOST_SECONDS, QUIET_SECONDS, START_SECONDS = 5.0, 3.0, 120.0
LETTERS = [chr(code) for code in range(0x100, 0x250)]
"""Typed one after the other; none of them stands anywhere else on the screen."""

Line = Callable[[str, float, str], None]


def load(line: Line, seconds: float = SECONDS) -> None:
    """Every figure; ``line`` prints one, in seconds, with a note."""
    with tempfile.TemporaryDirectory() as folder:
        root = crowded(Path(folder))
        command = [sys.executable, "-m", "loopx_tui.main", str(root)]
        process, fd = launch(command, SIZE, {"HOME": folder}, None)
        terminal = Terminal(fd, True, 40)
        try:
            took = _wait_for(terminal, f"{GOALS}/{GOALS} goals", START_SECONDS)
            line(f"{GOALS} goals of {TODOS:,} todos all read", took or START_SECONDS, "")
            terminal.settle(QUIET_SECONDS, START_SECONDS)
            _busy(terminal, root, line, seconds)
            terminal.settle(QUIET_SECONDS, START_SECONDS)
            _idle(terminal, process.pid, seconds)
        finally:
            process.kill()
            process.wait()
            terminal.close()


def _idle(terminal: Terminal, pid: int, seconds: float) -> None:
    size, cpu = terminal.total, Usage.of(pid).cpu_ns
    terminal.read_for(seconds)
    written = (terminal.total - size) * 60 / seconds
    share = (Usage.of(pid).cpu_ns - cpu) / 1e7 / seconds
    print(f"{'quiet afterwards':44}{written:9,.0f} bytes a minute, {share:.2f} % of a CPU")
    print(f"{'memory':44}{Usage.of(pid).rss_kb / 1024:9.1f} MB")


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


def _busy(terminal: Terminal, root: Path, line: Line, seconds: float) -> None:
    words = [sys.executable, "-m", "bench.load", "write", str(root), str(seconds)]
    for key in (b"7", b"/"):
        terminal.write(key)
        terminal.read_for(1.0)
    size, begin = terminal.total, time.perf_counter()
    writer = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    answers: list[float | None] = []
    while writer.poll() is None:
        answers.append(_type(terminal, LETTERS[len(answers) % len(LETTERS)]))
        terminal.read_for(begin + len(answers) / KEYS_A_SECOND - time.perf_counter())
    took = time.perf_counter() - begin
    written = (terminal.total - size) * 60 / took
    events = int(writer.communicate()[0])
    terminal.write(b"\x1b")
    print(f"\n{events / took:.0f} events and {len(answers) / took:.1f} keys a second, {took:.0f} s")
    seen = sorted(answer for answer in answers if answer is not None)
    line("key to paint, median", seen[len(seen) // 2], "")
    line("key to paint, 95 of 100", seen[int(len(seen) * 0.95)], f"slowest {seen[-1]:.3f} s")
    print(f"{'keys dropped':44}{len(answers) - len(seen):9}")
    print(f"{'busy':44}{written:9,.0f} bytes a minute")


def crowded(home: Path) -> Path:
    """A workspace with so many goals, each with so many todos to be done."""
    from loopx_kernel.domain.goal import OpenGoal
    from loopx_kernel.domain.rules import Coordination, GoalRules, Limits
    from loopx_kernel.domain.todo import AddTodo
    from loopx_kernel.trust.keys import load_private
    from loopx_kernel.trust.new_key import generate
    from loopx_kernel.workspace import Workspace

    root = home / "crowd"
    root.mkdir()
    ws = Workspace.connect(root)
    generate(home / "key", OWNER, None)
    key = load_private(home / "key", None)
    ws.append(ws.owners.enroll_first(OWNER, key.public.line, True), key)
    ws.agents.add(AGENT)
    for number in range(GOALS):
        name = f"goal-{number:02}"
        rules = GoalRules(
            display_name=name,
            state_file=f".loopx/goals/{name}/ACTIVE_GOAL_STATE.md",
            coordination=Coordination(write_scope=("src/**",)),
            limits=Limits(unfinished_todos_per_agent=100_000),
        )
        command = OpenGoal(goal_id=name, objective="Sell more", rules=rules)
        ws.append(ws.goals.open(OWNER, command), key)
        Writer(root, name).add(TODOS - 1)
        ws.todos.add(name, AGENT, AddTodo(title="The last one"))
    return root


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


def write(root: Path, seconds: float) -> None:
    """Appends events to one goal after the other, and says at the end how many they were."""
    writers = [Writer(root, f"goal-{number:02}") for number in range(GOALS)]
    begin = time.perf_counter()
    number = 0
    for number in _paced(begin, seconds):
        writers[number % GOALS].add(1)
    print(number + 1)


def _paced(begin: float, seconds: float) -> Iterator[int]:
    for number in count():
        due = begin + number / EVENTS_A_SECOND
        time.sleep(max(0.0, due - time.perf_counter()))
        if time.perf_counter() - begin > seconds:
            return
        yield number


def _said(name: str, seconds: float, note: str) -> None:
    print(f"{name:44}{seconds * 1000:9.2f} ms  {note}".rstrip())


if __name__ == "__main__":
    if sys.argv[1:2] == ["write"]:
        write(Path(sys.argv[2]), float(sys.argv[3]))
    else:
        load(_said, *map(float, sys.argv[1:]))
