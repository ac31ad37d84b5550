"""Work done in turn, round after round, so that whatever disturbs one disturbs all."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.results import Times

Work = Callable[[int], object]
ANSWERS = (0, 10, 11, 12, 13)
"""Exit statuses of a command that did what it was asked."""
LONGEST_SECONDS = 120
"""After that a command is ended, and its case with it."""


def in_turn(works: Mapping[str, Work], rounds: int) -> dict[str, Times]:
    """Each work once a round, after a round to warm up; it is given the round's number, and
    may give back the seconds that count."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for number in range(rounds + 1):
        for name, work in works.items():
            start = time.perf_counter()
            told = work(number)
            seconds = told if isinstance(told, float) else time.perf_counter() - start
            taken[name].append(seconds)
    return {name: Times(tuple(seconds[1:])) for name, seconds in taken.items()}


def run(
    command: Sequence[str | Path],
    cwd: Path,
    env: Mapping[str, str] | None = None,
    answers: Sequence[int] = ANSWERS,
) -> str:
    """A whole process; what it printed. Raises ``RuntimeError`` where it failed."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_SECONDS,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode not in answers:
        words = " ".join(map(str, command))
        raise RuntimeError(
            f"{words}: exit {done.returncode}: {(done.stderr or done.stdout)[-400:]}"
        )
    return done.stdout


def process(command: Sequence[str | Path], cwd: Path, env: Mapping[str, str] | None = None) -> Work:
    """A whole process as work to be done in turn; only its own time counts."""

    def work(_: int) -> float:
        start = time.perf_counter()
        run(command, cwd, env)
        return time.perf_counter() - start

    return work
