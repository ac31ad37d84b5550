"""An app that can lend its terminal: while another program has it, nothing of ours is drawn."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.screen import Screen

from loopx_tui.thrift import thrift

if TYPE_CHECKING:
    from types import FrameType

    from rich.console import RenderableType


class LendingApp(App[None]):
    """Draws thriftily, and not at all while the terminal is lent."""

    def __init__(self) -> None:
        super().__init__()
        self._lent = False
        self._unsent = ""

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Lends the terminal to another program. The loop may go on meanwhile."""
        failure: BaseException | None = None
        with super().suspend():
            self._lent = True
            try:
                yield
            except BaseException as error:
                # Without this Textual would leave the terminal as it was lent.
                failure = error
            finally:
                self._lent = False
        unsent, self._unsent = self._unsent, ""
        self.send(unsent)
        if failure is not None:
            raise failure

    def mind_stops(self) -> None:
        """Call on the loop, once Textual has the terminal.

        Whoever goes on after SIGSTOP, or was never stopped, still has the terminal: Textual would
        take it again, and at the end give back what it then found.
        """
        stop, go_on = (signal.getsignal(number) for number in (signal.SIGTSTP, signal.SIGCONT))
        loop, given_back = asyncio.get_running_loop(), False

        def stopping(number: int, frame: FrameType | None) -> None:
            nonlocal given_back
            given_back = True
            if callable(stop):
                stop(number, frame)

        def going_on(number: int, frame: FrameType | None) -> None:
            nonlocal given_back
            if given_back and callable(go_on):
                go_on(number, frame)
            else:
                loop.call_soon_threadsafe(self.redraw)
            given_back = False

        signal.signal(signal.SIGTSTP, stopping)
        signal.signal(signal.SIGCONT, going_on)

    def redraw(self) -> None:
        """Draws the whole screen again, for a terminal that lost it."""
        self.screen.refresh(layout=True)
        self.refresh(layout=True)

    def send(self, sequence: str) -> None:
        """Sends a sequence of ours to the terminal, after it was given back."""
        if self._lent:
            self._unsent += sequence
        elif self._driver is not None and sequence:
            # Textual has no public way to send a sequence of one's own.
            self._driver.write(sequence)

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        # All painting comes through here; Textual has no public place for it.
        if not self._lent:
            super()._display(screen, thrift(renderable))
