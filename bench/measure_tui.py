"""Measures a terminal program from outside, through a pty, as a terminal would see it.

    python -m bench.measure_tui --idle 10 --key j --key k -- loopx-tui demo

``measure`` returns facts by name. Times are milliseconds since the program was
started (or since the event), rates are per second, memory is MB of 1024 KiB:

    first_byte_ms, alt_screen_ms, first_paint_ms, settle_ms
    startup_bytes, startup_frames, startup_cpu_ms, exited
    idle_cpu_pct, idle_wakeups_s, idle_bytes_s, idle_frames_s
    rss_mb, pss_mb, processes, threads
    poke_* and key_*: n, silent, first_ms, first_p95_ms, last_ms, bytes, bytes_max, frames, cpu_ms
    gone_ms: from the loss of the terminal to the end of the program

Facts that did not happen are None. A frame is a synchronized update where the
program uses them, else a burst of output. Linux only: it reads /proc.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shlex
import signal
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from bench.terminal import Terminal, Usage, launch

Facts = dict[str, float | None]

QUIT_SECONDS = 1.5
GONE_SECONDS = 5.0


def measure(
    command: Sequence[str],
    *,
    size: tuple[int, int] = (120, 40),
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    setup: Sequence[bytes] = (),
    idle_seconds: float = 0.0,
    pokes: Sequence[Callable[[], object]] = (),
    keys: Sequence[bytes] = (),
    gap_seconds: float = 0.6,
    quiet_seconds: float = 1.0,
    settle_limit: float = 20.0,
    paint_characters: int = 40,
    answer_queries: bool = True,
    quit_keys: bytes = b"\x11",
    hang_up: bool = False,
) -> Facts:
    """Runs ``command`` once on a terminal of ``size`` (columns, rows) and returns its facts.

    In order: start until quiet; ``setup`` keys, unmeasured; ``idle_seconds`` of
    watching; each of ``pokes`` called, then each of ``keys`` typed, with
    ``gap_seconds`` of watching after each. Then the program is quit, or with
    ``hang_up`` its terminal is taken away. ``env`` is laid over this process's.
    It has ended on return. Raises ``OSError`` when the command cannot be started.
    """
    start = time.perf_counter()
    process, fd = launch(command, size, env or {}, cwd)
    terminal = Terminal(fd, answer_queries, paint_characters)
    try:
        settled = terminal.settle(quiet_seconds, settle_limit)
        facts = _start_facts(terminal, start, settled, process.pid)
        for one in setup:
            terminal.write(one)
            terminal.settle(quiet_seconds, settle_limit)
        if idle_seconds > 0:
            facts |= _idle_facts(terminal, process.pid, idle_seconds)
        facts |= _size_facts(process.pid)
        typing = [partial(terminal.write, key) for key in keys]
        facts |= _event_facts("poke", terminal, process.pid, pokes, gap_seconds)
        facts |= _event_facts("key", terminal, process.pid, typing, gap_seconds)
        if hang_up:
            facts["gone_ms"] = _hang_up(process, terminal)
        return facts
    finally:
        _stop(process, terminal, quit_keys)


def _start_facts(terminal: Terminal, start: float, settled: bool, pid: int) -> Facts:
    def since(moment: float | None) -> float | None:
        return None if moment is None else round((moment - start) * 1e3, 1)

    return {
        "first_byte_ms": since(terminal.first_byte),
        "alt_screen_ms": since(terminal.alternate),
        "first_paint_ms": since(terminal.paint),
        "settle_ms": since(terminal.last) if settled else None,
        "startup_bytes": terminal.total,
        "startup_frames": terminal.frames_since(0, 0),
        "startup_cpu_ms": round(Usage.of(pid).cpu_ns / 1e6, 1),
        "exited": terminal.ended,
    }


def _idle_facts(terminal: Terminal, pid: int, seconds: float) -> Facts:
    before, size = Usage.of(pid), terminal.total
    updates, bursts = terminal.updates, terminal.bursts
    start = time.perf_counter()
    terminal.read_for(seconds)
    took = time.perf_counter() - start
    after = Usage.of(pid)
    return {
        "idle_cpu_pct": round((after.cpu_ns - before.cpu_ns) / 1e7 / took, 2),
        "idle_wakeups_s": round((after.wakeups - before.wakeups) / took, 1),
        "idle_bytes_s": round((terminal.total - size) / took, 1),
        "idle_frames_s": round(terminal.frames_since(updates, bursts) / took, 2),
    }


def _size_facts(pid: int) -> Facts:
    usage = Usage.of(pid)
    return {
        "rss_mb": round(usage.rss_kb / 1024, 1),
        "pss_mb": round(usage.pss_kb / 1024, 1),
        "processes": usage.processes,
        "threads": usage.threads,
    }


def _event_facts(
    name: str, terminal: Terminal, pid: int, acts: Sequence[Callable[[], object]], gap: float
) -> Facts:
    if not acts:
        return {}
    cpu_ns, answers = Usage.of(pid).cpu_ns, [_react(terminal, act, gap) for act in acts]
    cpu_ms = (Usage.of(pid).cpu_ns - cpu_ns) / 1e6 / len(acts)
    seen = [answer for answer in answers if answer is not None]
    facts: Facts = {"n": len(acts), "silent": len(acts) - len(seen), "cpu_ms": round(cpu_ms, 2)}
    if seen:
        first, last, sizes, frames = zip(*seen, strict=True)
        rank = min(len(first) - 1, int(len(first) * 0.95))
        facts |= {
            "first_ms": round(statistics.median(first), 1),
            "first_p95_ms": round(sorted(first)[rank], 1),
            "last_ms": round(statistics.median(last), 1),
            "bytes": round(statistics.median(sizes)),
            "bytes_max": max(sizes),
            "frames": round(statistics.mean(frames), 2),
        }
    return {f"{name}_{fact}": value for fact, value in facts.items()}


def _react(
    terminal: Terminal, act: Callable[[], object], gap: float
) -> tuple[float, float, int, int] | None:
    """First and last output (ms after the act), bytes and frames; None when nothing came."""
    terminal.drain()
    size, updates, bursts = terminal.total, terminal.updates, terminal.bursts
    start = time.perf_counter()
    act()
    end = time.perf_counter() + gap
    if not terminal.read(gap) or terminal.last is None:
        return None
    first = terminal.last
    terminal.read_for(end - time.perf_counter())
    return (
        (first - start) * 1e3,
        (terminal.last - start) * 1e3,
        terminal.total - size,
        terminal.frames_since(updates, bursts),
    )


def _hang_up(process: subprocess.Popen[bytes], terminal: Terminal) -> float | None:
    start = time.perf_counter()
    terminal.close()
    try:
        process.wait(GONE_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    return round((time.perf_counter() - start) * 1e3, 1)


def _stop(process: subprocess.Popen[bytes], terminal: Terminal, quit_keys: bytes) -> None:
    terminal.write(quit_keys)
    for sign in (None, signal.SIGTERM, signal.SIGKILL):
        if sign is not None and process.poll() is None:
            os.killpg(process.pid, sign)
        end = time.perf_counter() + QUIT_SECONDS
        while process.poll() is None and time.perf_counter() < end:
            terminal.read(0.02)  # a full pty would keep it from ending
    terminal.close()
    process.wait()


def medians(runs: Sequence[Facts]) -> Facts:
    """The median of each fact over the runs in which it happened."""
    names = dict.fromkeys(name for run in runs for name in run)
    values = {name: [v for run in runs if (v := run.get(name)) is not None] for name in names}
    return {name: statistics.median(had) if had else None for name, had in values.items()}


def _keys(text: str) -> bytes:
    return text.encode().decode("unicode_escape").encode("latin-1")


def _size(text: str) -> tuple[int, int]:
    columns, _, rows = text.partition("x")
    return int(columns), int(rows)


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


def _poke(command: str, number: int) -> None:
    env = {**os.environ, "N": str(number)}
    subprocess.run(command, shell=True, env=env, stdin=subprocess.DEVNULL, check=False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--size", type=_size, default=(120, 40), metavar="COLSxROWS")
    add("--env", type=_pair, action="append", default=[], metavar="NAME=VALUE")
    add("--cwd", type=Path)
    add("--runs", type=int, default=1, help="medians over so many runs")
    add("--setup", type=_keys, action="append", default=[], help="keys sent once, unmeasured")
    add("--idle", type=float, default=10.0, help="seconds of idle window")
    add("--key", type=_keys, action="append", default=[], help="a key to measure; may be repeated")
    add("--poke", help="a shell command to measure the answer to; it is given $N")
    add("--count", type=int, default=20, help="how many keys and pokes")
    add("--gap", type=float, default=0.6, help="seconds watched after each")
    add("--quiet", type=float, default=1.0, help="seconds without output that count as settled")
    add("--quit", type=_keys, default=b"\x11", help="keys that quit the program (ctrl+q)")
    add("--dumb", action="store_true", help="answer no questions to the terminal")
    add("--hang-up", action="store_true", help="take the terminal away instead of quitting")
    add("--json", action="store_true")
    add("command", nargs=argparse.REMAINDER)
    return parser


def main() -> None:
    """The command line; prints one fact a line, or one JSON object."""
    parser = _parser()
    args = parser.parse_args()
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        parser.error("name a command to measure")
    pokes = [partial(_poke, args.poke, number) for number in range(args.count)] if args.poke else []
    runs = [
        measure(
            command,
            size=args.size,
            env=dict(args.env),
            cwd=args.cwd,
            setup=args.setup,
            idle_seconds=args.idle,
            pokes=pokes,
            keys=list(itertools.islice(itertools.cycle(args.key), args.count)),
            gap_seconds=args.gap,
            quiet_seconds=args.quiet,
            answer_queries=not args.dumb,
            quit_keys=args.quit,
            hang_up=args.hang_up,
        )
        for _ in range(args.runs)
    ]
    facts = medians(runs)
    if args.json:
        print(json.dumps({"command": shlex.join(command), "runs": args.runs, **facts}))
    else:
        for name, value in facts.items():
            print(f"{name:18} {value}")


if __name__ == "__main__":
    main()
