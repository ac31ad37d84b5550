"""How much memory each command takes at its peak, and the terminal UI while much happens."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from bench.place import BY, LOOPX, SCRIPTS
from bench.results import Results
from bench.terminal import Terminal, Usage, launch
from bench.timing import ANSWERS, run

HELD = ("--version", "1", "--epoch", "1")
WHY = ("--reason", "measured")
COMMANDS = (
    ("quota", "should-run", *BY),
    ("quota", "status"),
    ("status",),
    ("status", "--scope", "workspace"),
    ("board",),
    ("todo", "list"),
    ("todo", "show", "T1"),
    ("todo", "add", "Measured", *BY),
    ("todo", "claim", "T2", *BY),
    ("todo", "renew", "T2", *HELD, *BY),
    ("turn", "begin", *BY),
    ("turn", "list"),
    ("lease", "list"),
    ("gate", "list"),
    ("escalation", "list"),
    ("source", "list"),
    ("replan", "list"),
    ("objective", "history"),
    ("agent", "list"),
    ("owner", "list"),
    ("goal", "list"),
    ("goal", "pause", *WHY),
    ("goal", "resume", *WHY),
    ("workspace", "list"),
    ("completion",),
    ("report", "--period", "7d"),
    ("replay", "--at", "5"),
    ("event", "list"),
    ("event", "verify"),
    ("event", "verify", "--deep"),
    ("state", "check"),
    ("repair", "list"),
    ("doctor",),
    ("schema",),
)
DEMO_SECONDS = 60.0
SPEED = "20"
WARM_SECONDS = 20.0
"""Until the demo is built, its libraries are imported and its first screens were painted."""


def memory(root: Path, results: Results) -> None:
    """Peaks of whole processes, then the growth of the terminal UI on the demo."""
    results.row("bare Python", f"{_peak((sys.executable, '-c', 'pass'), root):,.1f} MB")
    for words in COMMANDS:
        results.row("loopx " + " ".join(words), f"{_peak((LOOPX, *words), root):,.1f} MB")
    _demo(results)


def _peak(command: tuple[str | Path, ...], cwd: Path) -> float:
    """The largest resident size of a process in MB, as the system counted it at its end."""
    told = run((sys.executable, "-S", "-c", _COUNTER, *map(str, command)), cwd)
    kilobytes, status = map(int, told.split())
    if status not in (1, *ANSWERS):
        raise RuntimeError(f"{' '.join(map(str, command))}: exit {status}")
    return kilobytes / 1024


# A process inherits the peak of the one that started it, so a small one starts it.
_COUNTER = (
    "import os, sys\n"
    "child = os.fork()\n"
    "if child == 0:\n"
    "    null = os.open(os.devnull, os.O_RDWR)\n"
    "    for stream in (0, 1, 2): os.dup2(null, stream)\n"
    "    os.execv(sys.argv[1], sys.argv[1:])\n"
    "_, status, usage = os.wait4(child, 0)\n"
    "print(usage.ru_maxrss, os.waitstatus_to_exitcode(status))\n"
)


def _demo(results: Results) -> None:
    """The UI on scripted workers as fast as they go, a scripted owner deciding."""
    command = (str(SCRIPTS / "loopx-tui"), "demo", "--speed", SPEED, "--owner")
    process, fd = launch(command, (120, 40), {}, None)
    terminal = Terminal(fd, True, 40)
    try:
        terminal.read_for(WARM_SECONDS)
        sizes = []
        end = time.perf_counter() + DEMO_SECONDS
        while time.perf_counter() < end and process.poll() is None:
            terminal.read_for(1.0)
            sizes.append(_own_rss(process.pid))
        ended = process.poll() is not None
        terminal.write(b"q")
        terminal.read_for(3.0)
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait()
        terminal.close()
    tenth = max(1, len(sizes) // 10)
    first, last = max(sizes[: 3 * tenth]), max(sizes[-tenth:])
    results.row(f"loopx-tui on the demo at speed {SPEED}", f"{last:,.1f} MB")
    results.row("the same, when it had settled", f"{first:,.1f} MB")
    growth = None if ended else last - first
    results.at_most(f"growth of the UI over {DEMO_SECONDS:.0f} s of the demo", growth, 8, "MB")


def _own_rss(pid: int) -> float:
    """The program's own resident size in MB, without its workers'."""
    for line in Path(f"/proc/{pid}/status").read_text("ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return Usage.of(pid).rss_kb / 1024
