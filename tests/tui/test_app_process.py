"""The command ``loopx-tui`` as a process: how it starts, what it costs, how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.terminal import Terminal, launch
from loopx_tui import main, strings
from tests.patience import PATIENCE

COMMAND = [sys.executable, "-m", "loopx_tui.main"]
BOARD = 6_000
"""Bytes that have come when the first reading is on the screen; the opening takes 3,400."""

ENVIRONMENT = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}


@contextmanager
def on_a_terminal(*arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], Terminal, int]]:
    """The app on a terminal, once it is quiet; ended afterwards whatever happened."""
    process, fd = launch([*COMMAND, *arguments], (100, 30), ENVIRONMENT, None)
    terminal = Terminal(fd, True, 40)
    try:
        while terminal.total < BOARD:
            assert terminal.read(PATIENCE), "nothing was read"
        assert terminal.settle(1.0, PATIENCE)
        yield process, terminal, fd
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def is_gone(process: subprocess.Popen[bytes], terminal: Terminal | None) -> bool:
    """Whether the process ends; what it still writes is read, so that nothing holds it up."""
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        if terminal is None:
            time.sleep(0.01)
        else:
            terminal.read_for(0.05)
    return process.poll() is not None


def test_without_a_terminal_it_says_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, str(tmp_path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{strings.NO_TERMINAL}\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_it_and_gives_the_terminal_back(
    tmp_path: Path, number: signal.Signals
) -> None:
    with on_a_terminal(str(tmp_path)) as (process, terminal, _):
        process.send_signal(number)
        assert is_gone(process, terminal)
        assert process.returncode == 128 + number


def test_it_ends_when_the_terminal_is_gone(tmp_path: Path) -> None:
    with on_a_terminal(str(tmp_path)) as (process, _, fd):
        os.close(fd)
        assert is_gone(process, None)


def test_q_ends_it_with_success_and_the_main_screen_back(tmp_path: Path) -> None:
    with on_a_terminal(str(tmp_path)) as (process, terminal, _):
        terminal.write(b"q")
        assert is_gone(process, terminal)
        assert process.returncode == 0


def test_nothing_to_count_down_writes_nothing(tmp_path: Path) -> None:
    with on_a_terminal(str(tmp_path)) as (_, terminal, _):
        before = terminal.total
        terminal.read_for(3.0)
        assert terminal.total == before


def test_a_picture_is_made_without_a_terminal(tmp_path: Path) -> None:
    place = tmp_path / "nothing-here"
    place.mkdir()
    picture = tmp_path / "shot.svg"
    arguments = ["shot", str(place), "--size", "80x24", "-o", str(picture)]
    assert main.main(arguments) == 0
    text = "".join(ElementTree.fromstring(picture.read_text("utf-8")).itertext())
    assert strings.NO_WORKSPACE in text.replace("\xa0", " ")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--size", "big"], "is not a size"),
        (["-o", "/nowhere/at/all.svg"], "cannot be written"),
    ],
)
def test_a_picture_that_cannot_be_made_is_a_sentence(
    tmp_path: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output = ["-o", str(tmp_path / "shot.svg")]
    assert main.main(["shot", str(tmp_path), *output, *arguments]) == 2
    assert says in capsys.readouterr().err
