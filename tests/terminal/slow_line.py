"""A slow line on the loopback: what goes in at one end comes out at the other later, in order."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from tests.patience import PATIENCE

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class _Line:
    """A line whose far end is a port, and how many seconds a byte takes to get there."""

    far: int
    delay: float

    async def open(self, near: Future[tuple[int, asyncio.Event]]) -> None:
        """Carries until the event is set that ``near`` gets, beside the port to come in by."""
        over = asyncio.Event()
        server = await asyncio.start_server(self._join, LOOPBACK, 0)
        near.set_result((server.sockets[0].getsockname()[1], over))
        await over.wait()
        server.close()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        other_reader, other_writer = await asyncio.open_connection(LOOPBACK, self.far)
        await asyncio.gather(self._carry(reader, other_writer), self._carry(other_reader, writer))
        for end in (writer, other_writer):
            asyncio.get_running_loop().call_later(self.delay, end.close)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        with suppress(ConnectionError):
            while chunk := await reader.read(1 << 16):
                loop.call_later(self.delay, writer.write, chunk)
        loop.call_later(self.delay, _end, writer)


def _end(writer: asyncio.StreamWriter) -> None:
    if not writer.is_closing():
        writer.write_eof()


@contextmanager
def slow_line(far: int, delay: float) -> Iterator[int]:
    """The port at the near end of a line to the port ``far``, ``delay`` seconds away each way."""
    near: Future[tuple[int, asyncio.Event]] = Future()
    loop = asyncio.new_event_loop()

    def carry() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(_Line(far, delay).open(near))

    thread = threading.Thread(target=carry)
    thread.start()
    port, over = near.result(PATIENCE)
    try:
        yield port
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(PATIENCE)
