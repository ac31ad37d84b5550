"""Running a command of the signed rules: bounded in time and output, as a group, with nothing
of ours in its environment."""

from __future__ import annotations

import contextlib
import os
import pwd
import selectors
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from loopx_kernel.value import Value

Problem = Literal["not_started", "timed_out", "too_much"]

_FLOOD = 1024
"""A command is stopped once it has printed this many times what is kept of its output."""
_CHUNK = 64 * 1024
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.001, 0.05
_HANDED_ON = ("LANG", "TMPDIR")
SYSTEM_FOLDERS = (
    *("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"),
    *("/opt/homebrew/bin", "/run/current-system/sw/bin"),
)
"""Where programs are looked for: the system's own places, whatever ``PATH`` the caller has."""


class Run(Value):
    """What became of a command.

    ``status`` is its exit status, minus the number of the signal that ended it, or None where
    ``problem`` says why it has none. ``output`` is the beginning of what it printed, standard
    output and error together, as bytes.
    """

    status: int | None
    output: bytes = b""
    problem: Problem | None = None


def split_command(text: str) -> list[str]:
    """The words of a command as a shell would quote them, without any other meaning of a shell;
    none where a quote is not closed, so that it cannot be started."""
    try:
        return shlex.split(text)
    except ValueError:
        return []


def run_command(
    argv: Sequence[str],
    cwd: Path,
    *,
    seconds: float = 60,
    stdin: bytes = b"",
    limit: int = 64 * 1024,
    search: Sequence[str] = (),
) -> Run:
    """Runs ``argv`` in ``cwd``, without a shell and without a terminal, and waits for its end.

    Programs are looked for in the folders of ``search``, absolute or seen from ``cwd``, and then
    in those of the system.
    At most ``seconds`` pass and ``limit`` bytes of output are kept; what is printed beyond is
    read and dropped. Everything it started and left in its process group is killed when it
    ends. Never raises for what a command does: see ``Run.problem``.
    """
    try:
        with (
            _started(argv, cwd, _environment(cwd, search)) as process,
            _Pipes(process, stdin, limit) as pipes,
        ):
            problem = _attend(process, pipes, seconds)
            _kill_group(process)
            pipes.take_the_rest()
    except _NotStarted:
        return Run(None, problem="not_started")
    return Run(None if problem else process.returncode, bytes(pipes.output), problem)


class _NotStarted(Exception):
    """There is no such program, or it cannot be one."""


@contextlib.contextmanager
def _started(
    argv: Sequence[str], cwd: Path, environment: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """The process, whose group is killed at the end. An interrupt that comes while it is being
    started waits until there is something to kill."""
    with _interrupts_held() as held:
        process = _start(argv, cwd, environment)
        with process:
            try:
                held.let_go()
                yield process
            finally:
                _kill_group(process)


def _start(argv: Sequence[str], cwd: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError, IndexError):
        raise _NotStarted from None


class _Held:
    """Interrupts of this process that wait; only where they would be raised otherwise."""

    def __init__(self) -> None:
        self._came = False
        in_main = threading.current_thread() is threading.main_thread()
        self._ours = in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._ours:
            signal.signal(signal.SIGINT, self._note)

    def _note(self, *_: object) -> None:
        self._came = True

    def let_go(self) -> None:
        """Interrupts are raised again; one that waited is raised now."""
        if self._ours:
            self._ours = False
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._came:
            self._came = False
            raise KeyboardInterrupt


@contextlib.contextmanager
def _interrupts_held() -> Iterator[_Held]:
    held = _Held()
    try:
        yield held
    finally:
        held.let_go()


def _environment(cwd: Path, search: Sequence[str]) -> dict[str, str]:
    """Nothing in which the caller could say what passes for a program, or for its settings."""
    handed_on = {name: os.environ[name] for name in _HANDED_ON if name in os.environ}
    own = (str(cwd / folder) for folder in search)
    path = os.pathsep.join([*own, *SYSTEM_FOLDERS])
    return {"LANG": "C.UTF-8", "TERM": "dumb", **handed_on, "PATH": path, **_home()}


def _home() -> dict[str, str]:
    """The home folder of the user, as the system knows it."""
    try:
        return {"HOME": pwd.getpwuid(os.getuid()).pw_dir}
    except KeyError:
        return {}


class _Pipes:
    """Both ends of the talk with a command. Nothing here blocks for longer than asked."""

    def __init__(self, process: subprocess.Popen[bytes], stdin: bytes, limit: int) -> None:
        assert process.stdin and process.stdout
        self.output = bytearray()
        self.printed = 0
        self._limit = limit
        self._unsaid = memoryview(stdin)
        self._stdin, self._stdout = process.stdin, process.stdout
        self._ready = selectors.DefaultSelector()

    def __enter__(self) -> _Pipes:
        for pipe, event in (
            (self._stdin, selectors.EVENT_WRITE),
            (self._stdout, selectors.EVENT_READ),
        ):
            os.set_blocking(pipe.fileno(), False)
            self._ready.register(pipe, event)
        return self

    def __exit__(self, *_: object) -> None:
        self._ready.close()

    @property
    def flooded(self) -> bool:
        return self.printed > self._limit * _FLOOD

    def exchange(self, seconds: float) -> bool:
        """Says and hears what is possible now; waits up to ``seconds`` for that. False where
        nothing was."""
        ready = self._ready.select(seconds)
        for key, event in ready:
            if event & selectors.EVENT_WRITE:
                self._say()
            elif self._hear() == b"":
                self._ready.unregister(key.fileobj)
        return bool(ready)

    def take_the_rest(self) -> None:
        """What was printed before the end and not heard yet. A process that left the group may
        still be printing, so no more is taken than is kept."""
        while len(self.output) < self._limit and self._hear():
            pass

    def _say(self) -> None:
        try:
            said = os.write(self._stdin.fileno(), self._unsaid[:_CHUNK]) if self._unsaid else 0
        except BlockingIOError:
            return
        except BrokenPipeError:
            said = len(self._unsaid)
        self._unsaid = self._unsaid[said:]
        if not self._unsaid:
            self._ready.unregister(self._stdin)
            self._stdin.close()

    def _hear(self) -> bytes | None:
        try:
            heard = os.read(self._stdout.fileno(), _CHUNK)
        except BlockingIOError:
            return None
        self.printed += len(heard)
        self.output += heard[: self._limit - len(self.output)]
        return heard


def _attend(process: subprocess.Popen[bytes], pipes: _Pipes, seconds: float) -> Problem | None:
    deadline = time.monotonic() + seconds
    pause = _SHORTEST_PAUSE
    while not _has_ended(process):
        left = deadline - time.monotonic()
        if left <= 0:
            return "timed_out"
        busy = pipes.exchange(min(pause, left))
        pause = _SHORTEST_PAUSE if busy else min(pause * 2, _LONGEST_PAUSE)
        if pipes.flooded:
            return "too_much"
    return None


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Looks without reaping where the system can: until it is reaped, no other group can be
    given its number, so the kill that follows cannot hit a stranger."""
    if hasattr(os, "waitid"):
        look = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, process.pid, look) is not None
    return process.poll() is not None


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
