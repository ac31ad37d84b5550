"""Agents for tests: the real ``ssh-agent``, and one of our own that answers as it is told."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from loopx_kernel.trust.sshsig import Signer
from loopx_kernel.trust.wire import Malformed, Reader, pack

from tests.patience import PATIENCE

LIST, KEYS, SIGN, SIGNATURE, FAILURE = 11, 12, 13, 14, 5

Answer = Callable[[bytes], bytes | None]
"""The bytes to send for a request's bytes; ``None`` hangs up."""


@contextmanager
def short_folder() -> Iterator[Path]:
    """A folder whose sockets have names that are short enough for one."""
    folder = Path(tempfile.mkdtemp(prefix="lx-", dir="/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def real_agent(askpass: Path | None = None) -> Iterator[Path]:
    """The socket of a running ``ssh-agent``; ``askpass`` answers where it asks its owner."""
    asking = {"SSH_ASKPASS": str(askpass), "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": "none"}
    with short_folder() as folder:
        path = folder / "agent"
        environment = {**os.environ, **(asking if askpass else {})}
        process = subprocess.Popen(
            ["ssh-agent", "-D", "-a", path], env=environment, stdout=subprocess.DEVNULL
        )
        try:
            until(lambda: _listens(path))
            yield path
        finally:
            process.terminate()
            process.wait(PATIENCE)


def add(agent: Path, *arguments: str | Path) -> None:
    """``ssh-add`` with this agent."""
    environment = {**os.environ, "SSH_AUTH_SOCK": str(agent)}
    command = ["ssh-add", "-q", *map(str, arguments)]
    subprocess.run(command, env=environment, check=True, capture_output=True)


class Askpass:
    """A script in the place of a person in front of their agent. It notes each question."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "askpass"
        self._log, self._yes = folder / "asked", folder / "yes"
        self.path.write_text(
            f"#!/bin/sh\nprintf '%s\\n' \"$1\" >> {self._log}\ntest -e {self._yes}\n"
        )
        self.path.chmod(0o700)

    def answers(self, yes: bool) -> None:
        """What it says from now on."""
        self._yes.touch() if yes else self._yes.unlink(missing_ok=True)

    @property
    def asked(self) -> list[str]:
        """The first line of every question so far."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        return [line for line in lines if line.startswith("Allow use of key")]


class FakeAgent:
    """Speaks the agent's protocol for some signers, or answers by ``answer``."""

    def __init__(self, *signers: Signer, answer: Answer | None = None) -> None:
        self.signers = signers
        self.answer = answer or self.honest
        self.requests: list[bytes] = []
        self._stop = threading.Event()

    def honest(self, request: bytes) -> bytes:
        """The answer of an agent that is one."""
        if request[0] == LIST:
            fields = [pack(one.public.blob, one.public.comment.encode()) for one in self.signers]
            return framed(bytes([KEYS]) + len(fields).to_bytes(4, "big") + b"".join(fields))
        reader = Reader(request[1:])
        blob, data = reader.string(), reader.string()
        signer = next((one for one in self.signers if one.public.blob == blob), None)
        if request[0] != SIGN or signer is None:
            return framed(bytes([FAILURE]))
        return framed(bytes([SIGNATURE]) + pack(signer.sign(data)))

    @contextmanager
    def listening(self) -> Iterator[Path]:
        """The socket it listens at, until it is left."""
        with short_folder() as folder, socket.socket(socket.AF_UNIX) as server:
            path = folder / "agent"
            server.bind(str(path))
            server.listen()
            thread = threading.Thread(target=self._serve, args=(server,))
            thread.start()
            try:
                yield path
            finally:
                self._stop.set()
                with socket.socket(socket.AF_UNIX) as last:
                    last.connect(str(path))
                thread.join(PATIENCE)

    def wait_until_left(self) -> None:
        """For an answer that never comes."""
        self._stop.wait(PATIENCE)

    def _serve(self, server: socket.socket) -> None:
        while True:
            link, _ = server.accept()
            if self._stop.is_set():
                link.close()
                return
            threading.Thread(target=self._answer, args=(link,)).start()

    def _answer(self, link: socket.socket) -> None:
        with link, suppress(OSError, Malformed), link.makefile("rb") as stream:
            request = stream.read(int.from_bytes(stream.read(4), "big"))
            self.requests.append(request)
            answer = self.answer(request)
            if answer is not None:
                link.sendall(answer)


def framed(message: bytes) -> bytes:
    """A message with its length in front."""
    return pack(message)


def _listens(path: Path) -> bool:
    """There is a moment between its name and its listening."""
    with socket.socket(socket.AF_UNIX) as link:
        return link.connect_ex(str(path)) == 0


def until(holds: Callable[[], bool]) -> None:
    """Waits for what comes at once, and calls it lost after a while."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came"
        os.sched_yield()
