"""Where the time of each case goes: kept as text beside the results."""

from __future__ import annotations

import cProfile
import io
import pstats
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from bench.place import AGENT, BY
from bench.results import Results

FOLDER = Path(__file__).with_name("profiles")
LINES = 25
MAIN = "import sys; from loopx_kernel.cli.main import main; sys.exit(main(sys.argv[1:]))"
IMPORT = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \| (\s*)(\S+)")
COMMANDS = {
    "should-run": ("quota", "should-run", *BY),
    "status": ("status",),
    "verify": ("event", "verify"),
}


def profiles(root: Path, results: Results) -> None:
    """Writes a profile of each case to ``bench/profiles``."""
    from loopx_kernel.domain.todo import AddTodo
    from loopx_kernel.workspace import Workspace

    FOLDER.mkdir(exist_ok=True)
    for name, words in COMMANDS.items():
        _write(f"imports-{name}", _imports(root, words))
    ws = Workspace.open(root)
    ws.todos.add("shop", AGENT, AddTodo(title="First"))
    cases: dict[str, Callable[[], object]] = {
        "todo-add": lambda: [
            ws.todos.add("shop", AGENT, AddTodo(title=f"Profiled {number}")) for number in range(50)
        ],
        "view": lambda: [ws.view("shop", AGENT) for _ in range(50)],
        "verify": lambda: ws.events.verify("shop"),
    }
    for name, work in cases.items():
        _write(f"calls-{name}", calls(work))
    results.note("Profiles of these cases: bench/profiles")


def calls(work: Callable[[], object]) -> str:
    """The functions that took most of some work, without the paths of this machine."""
    profile = cProfile.Profile()
    profile.runcall(work)
    text = io.StringIO()
    stats = pstats.Stats(profile, stream=text)
    stats.strip_dirs().sort_stats("tottime").print_stats(LINES)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines() if line.strip())


def _imports(root: Path, words: tuple[str, ...]) -> str:
    run = subprocess.run(
        (sys.executable, "-X", "importtime", "-c", MAIN, *words),
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    found = [(int(own), name) for own, _, _, name in IMPORT.findall(run.stderr)]
    total = sum(own for own, _ in found)
    lines = [f"{len(found)} modules, {total / 1000:.1f} ms in all; microseconds of each its own"]
    lines += [f"{own:8} {name}" for own, name in sorted(found, reverse=True)[: 2 * LINES]]
    return "\n".join(lines)


def _write(name: str, text: str) -> None:
    (FOLDER / f"{name}.txt").write_text(text + "\n", "utf-8")
