"""Ending in time: when a signal says so, or when the terminal is gone without any."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import sys
import termios
import threading
import time
from collections.abc import Callable
from typing import Any

_LIMIT_SECONDS = 1.5
_HANG_UP = 128 + signal.SIGHUP
# Main screen, cursor, title, no mouse, no bracketed paste, no focus events, plain colours.
_RESTORE = b"\x1b[?1049l\x1b[?25h\x1b[23;2t\x1b[?1000;1003;1006;1015;2004;1004l\x1b[<u\x1b[0m"


class Ending:
    """Ends the process within two seconds after SIGHUP, SIGINT, SIGTERM or the terminal's end.

    ``leave`` is called on the event loop with the exit status; where it does
    not get the process to its end in time, the terminal is restored as far as
    it goes and the process ended from a thread, after ``last_words`` were written.
    A terminal that takes nothing holds up the event loop, but not this. It is left as it was
    when this was made: make it before the terminal is anybody's.
    """

    def __init__(
        self, leave: Callable[[int], object], last_words: Callable[[], str] = lambda: ""
    ) -> None:
        self._leave = leave
        self._last_words = last_words
        self._begun = threading.Event()
        self._status = 0
        self._terminal = _terminal_state()

    def arm(self) -> None:
        """Handles the signals, even where they were ignored at the start; call on the loop."""
        loop = asyncio.get_running_loop()
        # Not through the loop, which may be waiting for the terminal.
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: self._begin(loop, 128 + number))
        for work in (lambda: self._watch_terminal(loop), self._end_in_time):
            threading.Thread(target=work, name="loopx-ending", daemon=True).start()

    def _begin(self, loop: asyncio.AbstractEventLoop, status: int) -> None:
        """From any thread, and in the middle of anything: it starts no thread and waits for no
        lock."""
        if not self._begun.is_set():
            self._status = status
            self._begun.set()
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._leave, status)

    def _watch_terminal(self, loop: asyncio.AbstractEventLoop) -> None:
        """Sleeps until the terminal hangs up; some ways of losing it send no signal."""
        poll = select.poll()
        poll.register(sys.__stdin__.fileno() if sys.__stdin__ else 0, 0)
        poll.poll()
        self._begin(loop, _HANG_UP)

    def _end_in_time(self) -> None:
        self._begun.wait()
        time.sleep(_LIMIT_SECONDS)
        self._force(self._status)

    def _force(self, status: int) -> None:
        with contextlib.suppress(OSError, termios.error, ValueError):
            if self._terminal is not None:
                termios.tcsetattr(0, termios.TCSANOW, self._terminal)
            os.set_blocking(2, False)
            words = self._last_words()
            os.write(2, _RESTORE + f"{words}\r\n".encode() if words else _RESTORE)
        os._exit(status)


def _terminal_state() -> list[Any] | None:
    try:
        return termios.tcgetattr(0)
    except termios.error:
        return None
