"""A minute of the demo, recorded: ``python -m tests.terminal.recording DIR`` writes it there as
``demo.cast`` and ``demo.svg``."""

from __future__ import annotations

import codecs
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from loopx_tui import strings
from loopx_tui.demo.jobs import GOALS
from loopx_tui.themes import DEFAULT
from tests.terminal.cast import Cast
from tests.terminal.film import film
from tests.terminal.ptys import Screen, running
from tests.terminal.stage import ROOT, TUI, wait

COLUMNS, ROWS = 110, 32
SPEED = 2
READING = 4.0
"""Seconds that a person is given for each screen."""
STILL = "the first screen"
TITLE = "loopx-tui demo"


@dataclass
class Recorder(Screen):
    """Notes what the program writes, and when."""

    cast: Cast = field(default_factory=lambda: Cast((COLUMNS, ROWS), TITLE))

    def __post_init__(self) -> None:
        super().__post_init__()
        self._began = time.monotonic()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def read(self) -> None:
        before = len(self.log)
        super().read()
        data = self._decoder.decode(bytes(self.log[before:]))
        if data:
            self._note("o", data)

    def _note(self, kind: str, data: str) -> None:
        self.cast.events.append((round(time.monotonic() - self._began, 3), kind, data))

    def press(self, *keys: str) -> None:
        """Presses keys, each once the screen stands still."""
        for key in keys:
            self.quiet(0.3)
            self.child.send(key)

    def shown(self, mark: str, seconds: float) -> None:
        """What was waited for is shown; a person reads it for so long."""
        self._note("m", mark)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read()


def environment(home: Path) -> dict[str, str]:
    """For the demo: a terminal in true colour, and nothing of a person's own."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "PYTHONPATH": str(ROOT),
    }


@contextmanager
def demo(environ: Mapping[str, str]) -> Iterator[Recorder]:
    """The real demo on a terminal of its own."""
    words = (*TUI, "demo", "--speed", str(SPEED))
    with running(words, environ, (COLUMNS, ROWS), Recorder) as screen:
        yield screen


def play(screen: Recorder, reading: float) -> None:
    """What a newcomer does in the first minute; each key waits for what it is pressed at."""
    goal = GOALS[0]
    screen.sees(strings.NEEDS, goal, "turn.", "blocks")
    screen.shown(STILL, 2 * reading)
    screen.press("1", "\r")
    screen.sees("8 Report")
    screen.shown("the goal", reading)
    screen.press("2")
    screen.shown("changes", reading)
    screen.press("5")
    screen.sees("slots per")
    screen.shown("quota", reading)
    screen.press("\x1b")
    screen.sees(strings.LEASES, strings.NEEDS)
    screen.press("2", "d")
    screen.sees("Evidence", strings.READ_ON)
    screen.shown("the review", reading)
    screen.press("G")
    screen.sees("What will be signed")
    screen.sees_no(strings.READ_ON)
    screen.sees_no(strings.KEYS_WAIT)
    screen.press("A")
    screen.sees(strings.SIGN_AT_ONCE)
    screen.shown("the signature", reading / 2)
    wait(lambda: screen.press("\x13") or "recorded as #" in screen.text, what=lambda: screen.text)
    screen.shown("the receipt", reading)
    screen.press("\x1b")
    screen.sees(strings.LEASES, strings.NEEDS)
    screen.press("H")
    screen.sees("PAST")
    for _ in range(5):
        screen.press("h")
    screen.shown("history", reading)
    screen.press("\x1b", "\x1b")
    screen.sees(strings.LEASES, strings.NEEDS)
    screen.press("?")
    screen.sees("Review what waits")
    screen.shown("help", reading)
    screen.press("\x1b")
    screen.sees(strings.LEASES, strings.NEEDS)
    screen.shown("the end", reading / 2)


def recorded(reading: float) -> Recorder:
    """The recording of a demo that was played; nothing is left of the demo."""
    with tempfile.TemporaryDirectory() as folder, demo(environment(Path(folder))) as screen:
        play(screen, reading)
        screen.press("q")
        screen.rest()
    return screen


def main(arguments: list[str]) -> int:
    """Writes the recording into the folder named; returns the exit status."""
    if len(arguments) != 1:
        sys.stderr.write("name one folder: python -m tests.terminal.recording DIR\n")
        return 2
    folder = Path(arguments[0])
    sys.stderr.write("recording: a minute of the demo\n")
    screen = recorded(READING)
    (folder / "demo.cast").write_text(screen.cast.text, "utf-8")
    svg = film(screen.cast, STILL, DEFAULT.background, DEFAULT.text)
    (folder / "demo.svg").write_text(svg, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
