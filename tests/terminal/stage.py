"""What the tests in real terminals share: a workspace, its agents, and tmux."""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopx_kernel.workspace import KeyChoice

from tests.patience import PATIENCE
from tests.tui.gates import GOAL, House

TUI = (sys.executable, "-m", "loopx_tui.main")
LOOPX = (sys.executable, "-m", "loopx_kernel.cli")
ROOT = Path(__file__).parents[2]
_numbers = itertools.count()


def wait(holds: Callable[[], Any], seconds: float = PATIENCE, what: Any = "") -> float:
    """Waits, with a limit, for a condition; the seconds it took."""
    started = time.monotonic()
    while not holds():
        if time.monotonic() - started > seconds:
            raise AssertionError(f"waited {seconds:g} s in vain; {what() if what else ''}")
        time.sleep(0.01)
    return time.monotonic() - started


@dataclass
class Place:
    """A workspace of its own, with a home, for one test."""

    folder: Path
    root: Path
    environ: dict[str, str]

    @classmethod
    def copy_of(cls, made: Path, folder: Path, **environ: str) -> Place:
        """A copy of a folder that holds a workspace ``w`` and its owner's ``key``."""
        shutil.copytree(made, folder / "copy")
        home = folder / "home"
        home.mkdir()
        own = {
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_STATE_HOME": str(home / ".state"),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "LOOPX_KEY": str(folder / "copy" / "key"),
            "PYTHONPATH": str(ROOT),
            "LANG": "C.UTF-8",
            "PATH": os.environ["PATH"],
            "TERM": "xterm-256color",
        }
        return cls(folder, folder / "copy" / "w", own | environ)

    @property
    def journal(self) -> bytes:
        """The goal's journal, byte for byte."""
        return (self.root / ".loopx" / "runtime" / GOAL / "events.jsonl").read_bytes()

    @property
    def house(self) -> House:
        """The same workspace, for what agents do in this process."""
        key: KeyChoice | None = None
        return House(self.root, key, None)  # type: ignore[arg-type]

    def loopx(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs the public command in the workspace, as another process."""
        return subprocess.run(
            (*LOOPX, *words),
            cwd=self.root,
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )

    def must(self, *words: str) -> str:
        """As ``loopx``; its output where it succeeded, and a failed test elsewhere."""
        done = self.loopx(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout


@dataclass
class Tmux:
    """A tmux server of its own with one window."""

    environ: Mapping[str, str]
    size: tuple[int, int] = (120, 36)
    socket: str = field(default_factory=lambda: f"loopx-test-{os.getpid()}-{next(_numbers)}")

    def run(self, *words: str, check: bool = True, given: str | None = None) -> str:
        """Runs one tmux command on this server."""
        done = subprocess.run(
            ("tmux", "-L", self.socket, "-f", "/dev/null", *words),
            env=dict(self.environ),
            input=given,
            capture_output=True,
            text=True,
            check=check,
            timeout=PATIENCE,
        )
        return done.stdout

    def start(self, *command: str) -> None:
        """Opens the window with this command in it."""
        width, height = map(str, self.size)
        self.run(
            *("set-option", "-g", "remain-on-exit", "on", ";"),
            *("set-option", "-g", "escape-time", "0", ";"),
            *("new-session", "-d", "-x", width, "-y", height, *command),
        )

    @property
    def screen(self) -> str:
        """What is seen in the window."""
        return self.run("capture-pane", "-p", check=False)

    def format(self, text: str) -> str:
        """A tmux format of the window, such as ``#{pane_dead}``."""
        return self.run("display-message", "-p", text, check=False).strip()

    def keys(self, *keys: str) -> None:
        """Presses keys by tmux's names."""
        for key in keys:
            self.run("send-keys", key)

    def type(self, text: str) -> None:
        """Sends a text at once, as typed letters."""
        self.run("send-keys", "-l", text)

    def paste(self, text: str, *, bracketed: bool) -> None:
        """Pastes a text, as a bracketed paste where the program asked for those."""
        self.run("load-buffer", "-", given=text)
        self.run("paste-buffer", *(["-p"] if bracketed else []))

    def sees(self, *texts: str, seconds: float = PATIENCE) -> float:
        """Waits until all texts are on the screen; the seconds it took."""
        return wait(lambda: all(text in self.screen for text in texts), seconds, self._look)

    def sees_no(self, text: str, seconds: float = PATIENCE) -> float:
        """Waits until a text is not on the screen."""
        return wait(lambda: text not in self.screen, seconds, self._look)

    def still(self, seconds: float = 0.4) -> str:
        """Waits until the screen has not changed for a while; what it shows."""
        seen, since = self.screen, time.monotonic()

        def unchanged() -> bool:
            nonlocal seen, since
            now = self.screen
            if now != seen:
                seen, since = now, time.monotonic()
            return time.monotonic() - since > seconds

        wait(unchanged, what=self._look)
        return seen

    def _look(self) -> str:
        return f"the screen shows:\n{self.screen}"


@contextmanager
def tmux(
    place: Place, *options: str, size: tuple[int, int] = (120, 36), **environ: str
) -> Iterator[Tmux]:
    """The app in a window of tmux; a shell says how it ended and how it left the terminal."""
    server = Tmux(place.environ, size)
    env = [f"{name}={value}" for name, value in environ.items()]
    words = shlex.join(("env", *env, *TUI, str(place.root), *options))
    script = f"{words}; echo status=$?; stty -a; exec sleep 600"
    try:
        server.start("sh", "-c", script)
        yield server
    finally:
        server.run("kill-server", check=False)
        Path(f"/tmp/tmux-{os.getuid()}", server.socket).unlink(missing_ok=True)


def app_pid(server: Tmux) -> int:
    """The process of the app inside the window."""
    shell = server.format("#{pane_pid}")
    found: list[int] = []

    def started() -> bool:
        children = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
        found[:] = [int(child) for child in children]
        return bool(found)

    wait(started)
    return found[0]


def is_gone(pid: int) -> bool:
    """Whether a process has ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"
