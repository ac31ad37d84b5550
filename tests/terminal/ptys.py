"""The screen on a pseudo-terminal of a test, whose every byte is kept and drawn."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeVar

import pexpect
import pyte

from loopx_tui import strings
from tests.patience import PATIENCE
from tests.terminal.stage import TUI, Place, wait

S = TypeVar("S", bound="Screen")
QUESTION = "Publish one point zero?"
SIZE = (120, 36)


@dataclass
class Screen:
    """The app on a pseudo-terminal, and all it has written so far."""

    child: pexpect.spawn
    log: bytearray = field(default_factory=bytearray)
    seen: pyte.Screen = field(default_factory=lambda: pyte.Screen(*SIZE))

    def __post_init__(self) -> None:
        self._stream = pyte.ByteStream(self.seen)

    def read(self) -> None:
        """Takes in what was written."""
        try:
            data = self.child.read_nonblocking(1 << 16, timeout=0.05)
        except (pexpect.TIMEOUT, pexpect.EOF):
            return
        self.log += data
        # pyte takes the kitty keyboard sequence for text and underlines.
        self._stream.feed(re.sub(rb"\x1b\[[<>=][0-9;]*[a-z]", b"", data))

    @property
    def text(self) -> str:
        self.read()
        return "\n".join(self.seen.display)

    def sees(self, *texts: str) -> None:
        wait(
            lambda: (text := self.text) and all(one in text for one in texts),
            what=lambda: f"the screen shows:\n{self.text}\n{bytes(self.log[-600:])!r}",
        )

    def sees_no(self, text: str) -> None:
        wait(lambda: text not in self.text, what=lambda: self.text)

    def quiet(self, seconds: float = 0.5) -> None:
        """Waits until nothing more was written for a while."""
        size, since = len(self.log), time.monotonic()

        def unchanged() -> bool:
            nonlocal size, since
            self.read()
            if len(self.log) != size:
                size, since = len(self.log), time.monotonic()
            return time.monotonic() - since > seconds

        wait(unchanged)

    def rest(self) -> bytes:
        """Everything up to the end of the process, which must come in time."""
        wait(lambda: self.read() or not self.child.isalive())
        self.read()
        return bytes(self.log)


@contextmanager
def on_a_pty(
    place: Place, *options: str, before: Sequence[str] = (), **environ: str
) -> Iterator[Screen]:
    """The app on a terminal of its own, behind other words; ended afterwards in any case."""
    words = (*before, *TUI, str(place.root), *options)
    with running(words, place.environ | {"COLORTERM": "truecolor"} | environ) as screen:
        yield screen


@contextmanager
def running(
    words: Sequence[str],
    environ: Mapping[str, str],
    size: tuple[int, int] = SIZE,
    make: type[S] = Screen,  # type: ignore[assignment]
) -> Iterator[S]:
    """A program on a terminal of its own, ended afterwards in any case."""
    child = pexpect.spawn(
        words[0],
        list(words[1:]),
        env=dict(environ),
        dimensions=(size[1], size[0]),
        timeout=PATIENCE,
    )
    try:
        yield make(child, seen=pyte.Screen(*size))
    finally:
        end(child)


def end(child: pexpect.spawn) -> None:
    """Ends the app, whose terminal may be closed already."""
    with suppress(OSError, ValueError):
        child.close(force=True)
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(child.pid, signal.SIGKILL)
        os.waitpid(child.pid, 0)


def open_review(screen: Screen) -> None:
    screen.sees(QUESTION)
    screen.child.send("d")
    screen.sees("What will be signed")
    screen.child.send("G")
    screen.sees_no(strings.READ_ON)
    screen.sees_no(strings.KEYS_WAIT)


def open_passphrase(screen: Screen) -> None:
    open_review(screen)
    screen.child.send("A")
    screen.sees("Sign: passphrase of your key")
    screen.quiet()
