"""What the screen costs: bytes and CPU time, seen from outside through a pty, never wall time.

CPU time is held against a Textual hello-world on the same machine in the same
run, with room for a busy machine; bytes are the same everywhere. `make bench`
tells the figures themselves.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.terminal import Terminal, Usage, launch
from tests.patience import PATIENCE
from tests.terminal.stage import ROOT, TUI
from tests.tui import gates

SIZE = (120, 40)
QUIET = 0.7
BOARD = 10_000
"""Bytes that have come when the panes are there; the screen before them takes 5,000."""
HELLO = (
    sys.executable,
    "-c",
    "from textual.app import App\n"
    "from textual.widgets import Static\n"
    "class Hello(App):\n"
    "    def compose(self):\n"
    "        yield Static('hello, world ' * 20)\n"
    "Hello().run()\n",
)
NOISE = 1.6
"""A processor shared with others differs that much from one measurement to the next."""


@dataclass
class Screen:
    """A program on a terminal; ``first_cpu`` is what it had used at its first paint, in ms."""

    pid: int
    terminal: Terminal
    pipe: int
    first_cpu: float

    def change(self) -> tuple[int, float]:
        """Makes the feed tell its next reading; the bytes and the CPU ms that followed."""
        size, cpu = self.terminal.total, self.cpu
        os.write(self.pipe, b".")
        self.terminal.read_for(0.15)
        return self.terminal.total - size, self.cpu - cpu

    def idle(self, seconds: float) -> tuple[float, float]:
        """Bytes a second, and the share of one CPU in per cent."""
        size, cpu = self.terminal.total, self.cpu
        self.terminal.read_for(seconds)
        return (self.terminal.total - size) / seconds, (self.cpu - cpu) / seconds / 10

    @property
    def cpu(self) -> float:
        """CPU used so far, in ms."""
        return Usage.of(self.pid).cpu_ns / 1e6


@contextmanager
def running(command: Sequence[str], pipe: int = -1, board: int = BOARD) -> Iterator[Screen]:
    """The program, once ``board`` bytes came and it is quiet; told to end afterwards."""
    process, fd = launch(command, SIZE, {"TZ": "UTC"}, ROOT)
    terminal = Terminal(fd, True, 40)
    try:
        while terminal.paint is None:
            assert terminal.read(PATIENCE), "nothing was painted"
        screen = Screen(process.pid, terminal, pipe, Usage.of(process.pid).cpu_ns / 1e6)
        while terminal.total < board:
            assert terminal.read(PATIENCE), "the board was not painted"
        assert terminal.settle(QUIET, PATIENCE)
        assert process.poll() is None
        yield screen
        process.terminate()
        end = time.monotonic() + PATIENCE
        while process.poll() is None:
            assert time.monotonic() < end, "it did not end"
            terminal.read(0.02)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        terminal.close()


@contextmanager
def staged(scene: str, folder: Path) -> Iterator[Screen]:
    """The screen on one of the scenes of ``tests.terminal.staged``."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    writing = os.open(pipe, os.O_RDWR)
    try:
        command = (sys.executable, "-m", "tests.terminal.staged", scene, str(pipe))
        with running(command, writing) as it:
            yield it
    finally:
        os.close(writing)
        pipe.unlink()


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with one goal and a gate that waits."""
    folder = tmp_path_factory.mktemp("budgets")
    house = gates.build(folder / "w", folder / "key", None)
    house.request()
    return house.root


@pytest.fixture(scope="module")
def hello_idle() -> float:
    """The share of one CPU, in per cent, that a hello-world takes for doing nothing here."""
    with running(HELLO, board=0) as screen:
        screen.terminal.read_for(1.0)
        return screen.idle(4.0)[1]


def first_cpu(command: Sequence[str]) -> float:
    """The CPU ms to the first paint, the least of a few runs."""
    costs = []
    for _ in range(4):
        with running(command, board=0) as screen:
            costs.append(screen.first_cpu)
    return min(costs)


def test_the_first_paint_costs_hardly_more_than_a_hello_world(root: Path) -> None:
    assert first_cpu((*TUI, str(root))) <= 1.25 * NOISE * first_cpu(HELLO)


def test_opening_a_workspace_takes_few_bytes_and_then_none(root: Path) -> None:
    with running((*TUI, str(root))) as screen:
        assert screen.terminal.total <= 30_000


def test_a_screen_on_which_nothing_runs_writes_nothing(tmp_path: Path, hello_idle: float) -> None:
    with staged("equal", tmp_path) as screen:
        rate, cpu = screen.idle(4.0)
        assert rate == 0
        assert cpu <= 1 + 6 * hello_idle


def test_watching_a_workspace_costs_next_to_nothing(root: Path, hello_idle: float) -> None:
    with running((*TUI, str(root))) as screen:
        # The age of a fresh gate is counted in seconds.
        rate, cpu = screen.idle(5.0)
        assert rate <= 200
        assert cpu <= 2 + 12 * hello_idle


def test_a_countdown_takes_a_few_cells_a_second(tmp_path: Path, hello_idle: float) -> None:
    with staged("countdown", tmp_path) as screen:
        rate, cpu = screen.idle(5.0)
        assert 0 < rate <= 200
        assert cpu <= 2 + 12 * hello_idle


@pytest.mark.parametrize("scene", ["equal", "unseen"])
def test_what_is_equal_or_out_of_sight_writes_nothing(scene: str, tmp_path: Path) -> None:
    with staged(scene, tmp_path) as screen:
        assert [screen.change()[0] for _ in range(5)] == [0] * 5


def opened(screen: Screen, keys: bytes, least: int) -> None:
    """Presses keys that paint ``least`` bytes at the least, and waits until all is quiet."""
    painted = screen.terminal.total + least
    screen.terminal.write(keys)
    while screen.terminal.total < painted:
        assert screen.terminal.read(PATIENCE), "nothing was painted"
    assert screen.terminal.settle(QUIET, PATIENCE)


def test_a_goals_own_screen_and_its_history_are_as_quiet(tmp_path: Path) -> None:
    with staged("equal", tmp_path) as screen:
        opened(screen, b"1", 1_000)
        for key in (b"\r", b"H"):
            opened(screen, key, 12_000)
            assert screen.idle(2.0)[0] == 0
            assert [screen.change()[0] for _ in range(3)] == [0] * 3


def test_an_open_window_is_not_painted_again_for_what_is_equal(tmp_path: Path) -> None:
    with staged("equal", tmp_path) as screen:
        opened(screen, b"\r", 12_000)
        assert [screen.change()[0] for _ in range(3)] == [0] * 3


def test_a_changed_row_costs_its_cells(tmp_path: Path) -> None:
    with staged("equal", tmp_path) as screen:
        reading = statistics.median(screen.change()[1] for _ in range(15))
    with staged("row", tmp_path) as screen:
        costs = [screen.change() for _ in range(15)]
    assert all(0 < size <= 300 for size, _ in costs)
    assert statistics.median(cpu for _, cpu in costs) <= 2 * NOISE * reading


def test_an_event_costs_the_lines_that_move(tmp_path: Path) -> None:
    with staged("event", tmp_path) as screen:
        assert all(0 < screen.change()[0] <= 2_000 for _ in range(8))


def test_ten_thousand_todos_are_painted_about_as_soon_as_none(tmp_path: Path) -> None:
    costs = {}
    for count in ("0", "10000"):
        tries = []
        for _ in range(3):
            with staged(count, tmp_path):
                pass
            tries.append(float((tmp_path / "pipe.cpu").read_text("ascii")))
        costs[count] = min(tries)
    assert costs["10000"] <= 1.4 * NOISE * costs["0"]


def test_a_thousand_todos_fit_into_little_memory(tmp_path: Path) -> None:
    with staged("1000", tmp_path) as screen:
        screen.change()
        assert Usage.of(screen.pid).rss_kb <= 75 * 1024
