"""A pseudo-terminal with a program on it, and what the program and its children use.

Linux only: it reads /proc.
"""

from __future__ import annotations

import os
import re
import select
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SEQUENCE = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]"
    rb"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
    rb"|\x1b[PX^_][^\x1b]*\x1b\\"
    rb"|\x1b[ -/]*[0-OQ-WYZ\\`-~]"
)
UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)\Z")
VISIBLE = re.compile(rb"[\x21-\x7e\xc0-\xff]")  # one byte of each UTF-8 character
FRAME = b"\x1b[?2026h"
ALTERNATE_SCREEN = b"\x1b[?1049h"
BURST_SECONDS = 0.002
RECENT = 1 << 16

# What a modern terminal says when a program asks at start: question, answer.
ANSWERS = (
    (rb"\x1b\[0?c", b"\x1b[?62;22c"),
    (rb"\x1b\[6n", b"\x1b[1;1R"),
    (rb"\x1b\[\?2026\$p", b"\x1b[?2026;2$y"),
    (rb"\x1b\[\?2048\$p", b"\x1b[?2048;0$y"),
    (rb"\x1b\[\?u", b"\x1b[?0u"),
    (rb"\x1b\[>0?q", b"\x1bP>|measure_tui\x1b\\"),
    (rb"\x1b\]10;\?(?:\x07|\x1b\\)", b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\"),
    (rb"\x1b\]11;\?(?:\x07|\x1b\\)", b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
)
QUESTION = re.compile(b"|".join(b"(" + question + b")" for question, _ in ANSWERS))


@dataclass
class Terminal:
    """The master side of a pty, and what has come out of it so far (seconds: perf_counter).

    ``recent`` is the last of it; whoever waits for something empties it before.
    """

    fd: int
    answer: bool
    enough_to_paint: int
    total: int = 0
    bursts: int = 0
    updates: int = 0
    visible: int = 0
    first_byte: float | None = None
    alternate: float | None = None
    paint: float | None = None
    last: float | None = None
    ended: bool = False
    recent: bytes = field(default=b"", repr=False)
    _rest: bytes = field(default=b"", repr=False)

    def frames_since(self, updates: int, bursts: int) -> int:
        """Frames since the counters stood so: synchronized updates where it has any."""
        return self.updates - updates if self.updates else self.bursts - bursts

    def read(self, seconds: float) -> bool:
        """Waits at most ``seconds`` for output and takes it in; whether any came."""
        if self.ended:
            time.sleep(min(max(seconds, 0), 0.01))
            return False
        if not select.select([self.fd], [], [], max(seconds, 0))[0]:
            return False
        try:
            data = os.read(self.fd, 1 << 20)
        except OSError:  # Linux says EIO when the last slave is closed
            data = b""
        self.ended = not data
        if data:
            self._take(data, time.perf_counter())
        return bool(data)

    def read_for(self, seconds: float) -> None:
        """Takes in everything that comes within ``seconds``."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self.read(left)

    def drain(self) -> None:
        """Takes in what is already there."""
        while self.read(0):
            pass

    def settle(self, quiet: float, limit: float) -> bool:
        """Reads until ``quiet`` seconds without output, at most ``limit``; whether it got there."""
        end = time.perf_counter() + limit
        while not self.ended and (now := time.perf_counter()) < end:
            since = now - self.last if self.last is not None else 0.0
            if since >= quiet:
                return True
            self.read(min(quiet - since, end - now))
        return False

    def write(self, data: bytes) -> None:
        """Types ``data``; a program that has ended does not hear it."""
        if not self.ended:
            try:
                os.write(self.fd, data)
            except OSError:
                self.ended = True

    def close(self) -> None:
        """Takes the terminal away from the program; a second time does nothing."""
        if self.fd >= 0:
            os.close(self.fd)
        self.fd, self.ended = -1, True

    def _take(self, data: bytes, now: float) -> None:
        self.first_byte = self.first_byte or now
        if self.last is None or now - self.last > BURST_SECONDS:
            self.bursts += 1
        self.last = now
        self.total += len(data)
        self.recent = (self.recent + data)[-RECENT:]
        whole = self._rest + data
        cut = UNFINISHED.search(whole)
        whole, self._rest = (whole[: cut.start()], cut[0]) if cut else (whole, b"")
        self.updates += whole.count(FRAME)
        if self.alternate is None and ALTERNATE_SCREEN in whole:
            self.alternate = now
        if self.paint is None:
            self.visible += len(VISIBLE.findall(SEQUENCE.sub(b"", whole)))
            self.paint = now if self.visible >= self.enough_to_paint else None
        if self.answer:
            for question in QUESTION.finditer(whole):
                self.write(ANSWERS[(question.lastindex or 1) - 1][1])


@dataclass(frozen=True)
class Usage:
    """What a process and its descendants have used so far."""

    cpu_ns: int
    wakeups: int
    rss_kb: int
    pss_kb: int
    processes: int
    threads: int

    @classmethod
    def of(cls, pid: int) -> Usage:
        family = _family(pid)
        tasks = [task for one in family for task in Path(f"/proc/{one}/task").glob("*")]
        memory = [_numbers(Path(f"/proc/{one}/smaps_rollup"), "Rss", "Pss") for one in family]
        return cls(
            cpu_ns=sum(_cpu_ns(one) for one in family),
            wakeups=sum(
                sum(_numbers(task / "status", "voluntary_ctxt_switches")) for task in tasks
            ),
            rss_kb=sum(rss for rss, _ in memory),
            pss_kb=sum(pss for _, pss in memory),
            processes=len(family),
            threads=len(tasks),
        )


def _family(pid: int) -> list[int]:
    found = [pid]
    for one in found:  # grows while it is walked
        for path in Path(f"/proc/{one}/task").glob("*/children"):
            found += [int(child) for child in _text(path).split()]
    return found


def _cpu_ns(pid: int) -> int:
    # The CPU clock of another process, as clock_getcpuclockid(3) makes it: it counts threads
    # that have ended too, and is finer than the ticks in /proc.
    try:
        return time.clock_gettime_ns((~pid << 3) | 2)
    except OSError:
        return 0


def _numbers(path: Path, *names: str) -> list[int]:
    lines = dict(line.split(":", 1) for line in _text(path).splitlines() if ":" in line)
    return [int(lines.get(name, "0").split()[0]) for name in names]


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # the process has ended meanwhile
        return ""


def launch(
    command: Sequence[str], size: tuple[int, int], env: Mapping[str, str], cwd: Path | None
) -> tuple[subprocess.Popen[bytes], int]:
    """Starts ``command`` as the leader of a session on a new terminal of ``size`` (columns, rows).

    ``env`` is laid over this process's. Returns the process and the master's
    descriptor. Raises ``OSError`` when the command cannot be started.
    """
    hidden = {"COLUMNS", "LINES", "TMUX", "NO_COLOR"}
    base = {name: value for name, value in os.environ.items() if name not in hidden}
    modern = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
    master, slave = os.openpty()
    termios.tcsetwinsize(slave, (size[1], size[0]))
    try:
        process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**base, **modern, **env},
            cwd=cwd,
            preexec_fn=lambda: os.login_tty(0),  # noqa: PLW1509 - system calls only
        )
    except OSError:
        os.close(master)
        raise
    finally:
        os.close(slave)
    return process, master
