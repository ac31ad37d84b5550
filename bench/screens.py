"""The terminal UI from outside, through a pty, beside programs that people keep open today."""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.measure_tui import Facts, measure, medians
from bench.peers import Program, programs
from bench.place import AGENT, SCRIPTS
from bench.results import Results
from bench.terminal import Terminal, Usage, launch

ROUNDS = 2
IDLE_SECONDS = 3.0
SHOWN = (
    "first_paint_ms",
    "startup_bytes",
    "startup_cpu_ms",
    "rss_mb",
    "idle_cpu_pct",
    "idle_bytes_s",
)
HERE = Path(__file__).parents[1]
HELLO = (
    "from textual.app import App\n"
    "from textual.widgets import Static\n"
    "class Hello(App):\n"
    "    def compose(self):\n"
    "        yield Static('hello, world ' * 20)\n"
    "Hello().run()\n"
)


@dataclass
class Shown:
    """What one program gave, round after round."""

    command: Sequence[str]
    pokes: list[Callable[[], object]] = field(default_factory=list)
    quit_keys: bytes = b"\x11"
    hang_up: bool = False
    rounds: list[Facts] = field(default_factory=list)


def screens(root: Path, results: Results) -> None:
    """Programs in turn, then the budgets that take a workspace or a scene of their own."""
    hello, ours = Shown((sys.executable, "-c", HELLO)), _ours(root)
    shown = {"Textual hello-world": hello, "loopx-tui": ours}
    for program in programs(results):
        shown[program.name] = _peer(program, root.parent)
    for _ in range(ROUNDS):
        for one in shown.values():
            one.rounds.append(_measured(one, root))
    for name, one in shown.items():
        facts = medians(one.rounds)
        values = ", ".join(f"{fact} {_figure(facts.get(fact))}" for fact in SHOWN)
        results.row(name, f"{_figure(facts.get('first_paint_ms'))} ms", _range(one), values)
    _bounds(medians(ours.rounds), medians(hello.rounds), results)
    _scenes(root.parent, results)
    _large(root.parent, results)


def _ours(root: Path) -> Shown:
    from loopx_kernel.domain.todo import AddTodo
    from loopx_kernel.workspace import Workspace

    ws = Workspace.open(root)
    numbers = iter(range(10_000))

    def poke() -> None:
        ws.todos.add("shop", AGENT, AddTodo(title=f"Poked {next(numbers)}"))

    return Shown((str(SCRIPTS / "loopx-tui"), str(root)), [poke] * 12, hang_up=True)


def _peer(program: Program, folder: Path) -> Shown:
    content = folder / f"{program.name.partition(' ')[0]}-content"
    if not content.exists():
        content.write_text(
            "".join(f"# Line {number} of a text\n" for number in range(200)), "utf-8"
        )
    file = content.with_suffix(".log" if program.name.startswith("toolong") else ".md")
    file.write_bytes(content.read_bytes())
    command = [part.replace("FILE", str(file)) for part in program.command]
    return Shown(command, quit_keys=program.quit_keys)


def _measured(one: Shown, root: Path) -> Facts:
    return measure(
        one.command,
        idle_seconds=IDLE_SECONDS,
        pokes=one.pokes,
        gap_seconds=0.3,
        quiet_seconds=0.7,
        settle_limit=6.0,
        cwd=root,
        quit_keys=one.quit_keys,
        hang_up=one.hang_up,
    )


def _range(one: Shown) -> str:
    values = [value for facts in one.rounds if (value := facts.get("first_paint_ms")) is not None]
    return f"{min(values):,.0f} to {max(values):,.0f}" if values else ""


def _figure(value: float | None) -> str:
    return "never" if value is None else f"{value:,.1f}"


def _bounds(ours: Facts, hello: Facts, results: Results) -> None:
    results.row("a change in the journal until it is seen", f"{_figure(ours['poke_first_ms'])} ms")
    paint, beside = ours.get("first_paint_ms"), hello.get("first_paint_ms")
    ratio = paint / beside if paint and beside else None
    results.at_most("first paint, times a Textual hello-world", ratio, 1.25, "x")
    results.at_most("bytes at start-up, 120x40", ours.get("startup_bytes"), 30_000, "bytes")
    results.at_most("idle processor", ours.get("idle_cpu_pct"), 0.5, "%")
    results.at_most("idle bytes", ours.get("idle_bytes_s"), 200, "bytes/s")
    seen = ours.get("poke_first_p95_ms")
    results.at_most("from a change of a file to the repaint, p95", seen, 60, "ms")
    results.at_most("gone after the terminal disappears", ours.get("gone_ms"), 2_000, "ms")


@contextmanager
def _scene(name: str, folder: Path) -> Iterator[tuple[Terminal, int, int]]:
    """The screen on a scene of the tests: its terminal, its pid and the pipe that moves it."""
    pipe = folder / f"scene-{name}"
    os.mkfifo(pipe)
    writing = os.open(pipe, os.O_RDWR)
    command = (sys.executable, "-m", "tests.terminal.staged", name, str(pipe))
    process, fd = launch(command, (120, 40), {"TZ": "UTC"}, HERE)
    terminal = Terminal(fd, True, 40)
    try:
        terminal.settle(1.0, 20.0)
        yield terminal, process.pid, writing
        terminal.write(b"q")
        terminal.read_for(0.5)
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait()
        terminal.close()
        os.close(writing)
        pipe.unlink()


def _scenes(folder: Path, results: Results) -> None:
    read = {name: changes(name, folder) for name in ("equal", "unseen", "row")}
    for name in ("equal", "unseen"):
        results.at_most(f"a change that is {name}", max(read[name][0]), 0, "bytes")
    sizes, costs = read["row"]
    results.at_most("a changed row", max(sizes), 300, "bytes")
    results.row(
        "processor for a changed row, the reading with it", f"{statistics.median(costs):.2f} ms"
    )
    alone = statistics.median(costs) - statistics.median(read["equal"][1])
    results.at_most("a changed row, beyond an equal reading", alone, 4, "ms of processor")
    paints = {count: min(_painted(count, folder) for _ in range(3)) for count in ("0", "10000")}
    results.line("processor to paint no todos", paints["0"])
    results.line("processor to paint 10,000 todos", paints["10000"])
    ratio = paints["10000"] / paints["0"]
    results.at_most("painting 10,000 todos, times none", ratio, 1.4, "x")
    with _scene("countdown", folder) as (terminal, _, _):
        size = terminal.total
        terminal.read_for(IDLE_SECONDS)
        rate = (terminal.total - size) / IDLE_SECONDS
    results.at_most("a countdown on the screen", rate, 200, "bytes/s")


def changes(name: str, folder: Path) -> tuple[list[int], list[float]]:
    """Bytes and CPU ms of each of some readings."""
    sizes, costs = [], []
    with _scene(name, folder) as (terminal, pid, pipe):
        for _ in range(12):
            size, cpu = terminal.total, Usage.of(pid).cpu_ns
            os.write(pipe, b".")
            terminal.read_for(0.15)
            sizes.append(terminal.total - size)
            costs.append((Usage.of(pid).cpu_ns - cpu) / 1e6)
    return sizes, costs


def _painted(count: str, folder: Path) -> float:
    """The CPU seconds until so many todos were first painted."""
    with _scene(count, folder):
        pass
    return float((folder / f"scene-{count}.cpu").read_text("ascii"))


def _large(folder: Path, results: Results) -> None:
    with _scene("1000", folder) as (terminal, pid, pipe):
        os.write(pipe, b".")
        terminal.read_for(0.3)
        memory = Usage.of(pid).rss_kb / 1024
    results.at_most("memory with 1,000 todos", memory, 75, "MB")
