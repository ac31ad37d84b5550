"""Many goals, many events and somebody typing, on a terminal; `make bench` has it at full size."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bench.load import LETTERS, Crowd, crowded, names, writing
from bench.terminal import Usage
from tests.terminal.ptys import Screen, running
from tests.terminal.stage import ROOT, TUI
from tests.terminal.test_budgets import hello_idle  # noqa: F401 - a fixture

CROWD = Crowd(goals=8, todos=150, events_a_second=80)
SECONDS = 4.0
KEYS = 12
IDLE_SECONDS = 4.0


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with all these goals and todos."""
    return crowded(tmp_path_factory.mktemp("crowd"), CROWD)


@contextmanager
def screen_on(root: Path, home: Path) -> Iterator[Screen]:
    """The screen, once all goals were read."""
    environ = {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "TZ": "UTC",
    }
    with running((*TUI, str(root)), environ) as screen:
        screen.sees(f"{CROWD.goals}/{CROWD.goals} goals", "live")
        yield screen


def journal(root: Path, goal: str) -> list[dict[str, Any]]:
    """The lines of a goal."""
    path = root / ".loopx" / "runtime" / goal / "events.jsonl"
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def idle(screen: Screen, seconds: float) -> tuple[int, float]:
    """The bytes that came, and the share of one CPU in per cent."""
    size, cpu, begin = len(screen.log), Usage.of(screen.child.pid).cpu_ns, time.monotonic()
    while (took := time.monotonic() - begin) < seconds:
        screen.read()
    return len(screen.log) - size, (Usage.of(screen.child.pid).cpu_ns - cpu) / 1e7 / took


def test_under_load_every_key_counts_and_afterwards_all_is_right_and_quiet(
    crowd: Path,
    tmp_path: Path,
    hello_idle: float,  # noqa: F811
) -> None:
    with screen_on(crowd, tmp_path) as screen:
        screen.child.send("3")
        screen.sees("▌T1 ")
        screen.child.send("/")
        screen.sees("filter Todos")
        writer = writing(crowd, CROWD, SECONDS)
        typed = 0
        while writer.poll() is None or typed < KEYS:
            # A letter, taken back, and the next one, all at once.
            wrong, letter = LETTERS[2 * typed], LETTERS[2 * typed + 1]
            screen.child.send(f"{wrong}\x7f{letter}")
            screen.sees(f"Nothing matches {letter};")
            screen.child.send("\x7f")
            screen.sees_no("Nothing matches")
            typed += 1
        assert int(writer.communicate()[0])
        screen.sees("filter Todos")
        screen.child.send("\x1b")
        screen.sees_no("filter Todos")

        first, last = (journal(crowd, name) for name in (names(CROWD)[0], names(CROWD)[-1]))
        screen.sees(f"#{first[-1]['seq']} ✔ verified")
        screen.child.send("1")
        screen.quiet()
        screen.child.send("G")
        screen.sees(f"#{last[-1]['seq']} ✔ verified", f"{last[-1]['payload']['title']} ")
        screen.sees(f"{sum(line['event_type'] == 'todo.added' for line in last)} todos")

        screen.quiet(3.0)
        size, share = idle(screen, IDLE_SECONDS)
        assert size == 0
        assert share <= 2 + 12 * hello_idle
