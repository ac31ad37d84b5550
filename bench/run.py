"""`make bench`: what the commands and the terminal UI cost on this machine.

Whole processes are run several times after a warm-up and the middle is kept.
Ratios are taken side by side in the same run; absolute times are this machine's.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.workspace import Workspace

from bench.journal import journals
from bench.measure_tui import measure, medians

RUNS = 7
SCRIPTS = Path(sys.executable).parent
HELLO = (
    "from textual.app import App\n"
    "from textual.widgets import Static\n"
    "class Hello(App):\n"
    "    def compose(self):\n"
    "        yield Static('hello, world ' * 20)\n"
    "Hello().run()\n"
)


def process_seconds(*command: str, cwd: Path) -> float:
    """The median wall time of a command, run ``RUNS`` times after one warm-up."""
    times = []
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        subprocess.run(command, cwd=cwd, check=False, capture_output=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def workspace(home: Path) -> Path:
    """A workspace with one goal, an agent and 20 todos, made through the command."""
    root = home / "shop"
    root.mkdir()
    loopx(root, "connect", "--owner", "li", "--new-key", "--no-passphrase", "--allow-unattended")
    loopx(root, "start-goal", "--id", "shop", "--objective", "Sell more")
    loopx(root, "agent", "add", "claude-code")
    for number in range(20):
        scope = f"src/{number}/**"
        loopx(root, "todo", "add", f"Work {number}", "--write-scope", scope, *AGENT)
    return root


AGENT = ("--agent", "claude-code")


def loopx(root: Path, *words: str) -> None:
    """One command, which must succeed."""
    subprocess.run([SCRIPTS / "loopx", *words], cwd=root, check=True, capture_output=True)


def commands(root: Path) -> None:
    """Whole processes against a bare start of Python."""
    bare = process_seconds(sys.executable, "-c", "pass", cwd=root)
    needed = "import pydantic, click, json; pydantic.create_model('M', a=(int, 1))(a=2)"
    imports = process_seconds(sys.executable, "-c", needed, cwd=root)
    line("bare Python", bare)
    line("Python, pydantic with one model, click", imports)
    for words in (("quota", "should-run", *AGENT), ("status",), ("event", "verify")):
        taken = process_seconds(str(SCRIPTS / "loopx"), *words, cwd=root)
        line("loopx " + " ".join(words), taken, f"{taken / imports:.2f} x its imports")


def commits(root: Path) -> None:
    """Appends in one process, against a plain append and fsync in the same folder."""
    ws = Workspace.open(root)

    def add(number: int) -> None:
        ws.todos.add("shop", "claude-code", AddTodo(title=f"More work {number}"))

    def plain(number: int) -> None:
        with (root / "plain.log").open("ab") as file:
            file.write(b"x" * 600 + b"\n")
            file.flush()
            os.fsync(file.fileno())

    floor, taken = median_of(plain), median_of(add)
    line("append and fsync, nothing else", floor)
    line("todo add in one process", taken, f"{taken / floor:.1f} x that")
    line("view of the goal, 20 to 120 todos", median_of(lambda _: ws.view("shop")))


def median_of(work: Callable[[int], object], count: int = 100) -> float:
    """The median time of one call."""
    times = []
    for number in range(count):
        start = time.perf_counter()
        work(number)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def screens(root: Path) -> None:
    """The terminal UI from outside, through a pty, beside a Textual hello-world."""
    hello = medians([measure([sys.executable, "-c", HELLO], idle_seconds=0) for _ in range(3)])
    ws = Workspace.open(root)
    change = [lambda number=n: _touch(ws, number) for n in range(20)]
    ours = medians(
        [
            measure(
                [str(SCRIPTS / "loopx-tui"), str(root)], idle_seconds=10, pokes=change, cwd=root
            )
            for _ in range(3)
        ]
    )
    for name, value in ours.items():
        beside = hello.get(name)
        print(f"{name:28}{_shown(value):>12}{_shown(beside) if beside is not None else '':>12}")


def _touch(ws: Workspace, number: int) -> None:
    ws.todos.add("shop", "claude-code", AddTodo(title=f"Poked {number}"))


def _shown(value: float | None) -> str:
    return "never" if value is None else f"{value:.1f}"


def line(name: str, seconds: float, note: str = "") -> None:
    """One figure, in milliseconds."""
    print(f"{name:44}{seconds * 1000:9.2f} ms  {note}".rstrip())


def main() -> None:
    """Runs everything, in a scratch home."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        os.environ.update(HOME=str(home), LOOPX_CACHE_DIR=str(home / "cache"))
        for name in ("XDG_CONFIG_HOME", "LOOPX_KEY", "LOOPX_ROOT", "LOOPX_GOAL", "LOOPX_AGENT"):
            os.environ.pop(name, None)
        root = workspace(home)
        commands(root)
        commits(root)
        print(f"\n{'terminal UI at 120x40':28}{'loopx-tui':>12}{'hello':>12}")
        screens(root)
        journals(root, "shop", line)


if __name__ == "__main__":
    main()
