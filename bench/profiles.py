"""Where the time of each case goes: kept as text beside the results."""

from __future__ import annotations

import cProfile
import io
import os
import pstats
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from bench.journal import lengthen
from bench.place import AGENT, BY
from bench.results import Results
from bench.signatures import signing
from bench.timing import LONGEST_SECONDS

FOLDER = Path(__file__).with_name("profiles")
LINES = 25
MAIN = "import sys; from loopx_kernel.cli.main import main; sys.exit(main(sys.argv[1:]))"
CALLS = """
import sys
from cProfile import Profile
from bench.profiles import listed
from loopx_kernel.cli.main import main
profile = Profile()
profile.runcall(main, sys.argv[1:])
print(listed(profile), file=sys.stderr)
"""
"""A command in a cold process, with the functions that took most of it on stderr."""
SCREEN = "import loopx_tui.app, loopx_tui.screens.main"
IMPORT = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \| (\s*)(\S+)")
COMMANDS = {
    "should-run": ("quota", "should-run", *BY),
    "status": ("status",),
    "claim": ("todo", "claim", "T1", *BY),
    "renew": ("todo", "renew", "T1", "--version", "1", "--epoch", "1", *BY),
    "verify": ("event", "verify"),
    "report": ("report", "--period", "7d"),
    "board": ("board",),
    "doctor": ("doctor",),
}
"""What the cases of commands, growth, reference, projections and memory run."""
EVENTS = 20_000


def profiles(root: Path, results: Results) -> None:
    """Writes a profile of each case to ``bench/profiles``."""
    from loopx_kernel.domain.todo import AddTodo
    from loopx_kernel.workspace import Workspace

    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.txt"):
        old.unlink()
    for name, words in COMMANDS.items():
        _write(f"command-{name}", _cold(root, "-c", CALLS, *words))
    for name in ("should-run", "status"):
        _write(f"imports-{name}", _imports(root, "-c", MAIN, *COMMANDS[name]))
    _write("imports-screen", _imports(root, "-c", SCREEN))
    ws = Workspace.open(root)
    ws.todos.add("shop", AGENT, AddTodo(title="First"))
    signs = signing("ed25519", root.parent)
    cases: dict[str, Callable[[], object]] = {
        "commits": lambda: [
            ws.todos.add("shop", AGENT, AddTodo(title=f"Profiled {number}")) for number in range(50)
        ],
        "view": lambda: [ws.view("shop", AGENT) for _ in range(50)],
        "signatures": lambda: [signs[what]() for what in signs for _ in range(100)],
    }
    for name, work in cases.items():
        _write(f"process-{name}", calls(work))
    lengthen(root / ".loopx/runtime/shop/events.jsonl", "shop", AGENT, EVENTS)
    _write("process-journal", calls(lambda: ws.events.verify("shop")))
    results.note("Profiles: command-* and imports-* of cold processes, process-* of work in one.")


def calls(work: Callable[[], object]) -> str:
    """The functions that took most of some work."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return listed(profile)


def listed(profile: cProfile.Profile) -> str:
    """The functions that took most, without the paths of this machine."""
    text = io.StringIO()
    stats = pstats.Stats(profile, stream=text)
    stats.strip_dirs().sort_stats("tottime").print_stats(LINES)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines() if line.strip())


def _cold(root: Path, *words: str) -> str:
    """What a Python of its own says on stderr."""
    done = subprocess.run(
        (sys.executable, *words),
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(FOLDER.parents[1])},
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_SECONDS,
    )
    return done.stderr


def _imports(root: Path, *words: str) -> str:
    found = [
        (int(own), name)
        for own, _, _, name in IMPORT.findall(_cold(root, "-X", "importtime", *words))
    ]
    total = sum(own for own, _ in found)
    lines = [f"{len(found)} modules, {total / 1000:.1f} ms in all; microseconds of each its own"]
    lines += [f"{own:8} {name}" for own, name in sorted(found, reverse=True)[: 2 * LINES]]
    return "\n".join(lines)


def _write(name: str, text: str) -> None:
    (FOLDER / f"{name}.txt").write_text(text + "\n", "utf-8")
