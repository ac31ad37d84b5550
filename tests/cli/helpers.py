"""Running the public command in this process or another, and a workspace to run it on."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loopx_kernel.cli.main import main
from loopx_kernel.clock import Clock

from tests.patience import PATIENCE

PROGRAM = Path(sys.executable).with_name("loopx")

DARK_MODE = """\
id: dark-mode
display_name: 为商城前端添加深色模式
domain: frontend
objective: 为商城前端添加深色模式
repo: mall-frontend
state_file: .codex/goals/dark-mode/ACTIVE_GOAL_STATE.md
write_scope: [src/theme/**, tests/theme/**]
requires_approval: [write, publish, production-action]
spawn_policy: {mode: manual, max_children: 2}
quota: {compute: 0.4, window_hours: 24, slot_minutes: 1}
"""


@dataclass(frozen=True)
class Result:
    """What one run of the command gave."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout, or on stderr for an error."""
        return json.loads(self.out or self.err)

    @property
    def code(self) -> str:
        """The code of the error."""
        return str(self.json["error"]["code"])


class Stream(io.TextIOWrapper):
    """A text stream over bytes, as the real ones are."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="")

    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode("utf-8")  # type: ignore[attr-defined]


def loopx(*arguments: str | Path, clock: Clock | None = None) -> Result:
    """Runs the command in this process."""
    out, err = Stream(), Stream()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([str(argument) for argument in arguments], clock=clock)
    return Result(status, out.text(), err.text())


def ok(*arguments: str | Path, clock: Clock | None = None) -> Any:
    """Runs the command with ``--json``, which must succeed; its object."""
    result = loopx(*arguments, "--json", clock=clock)
    assert result.status == 0, result
    return result.json


def process(*arguments: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs the installed command in a process without a terminal."""
    return subprocess.run(
        [PROGRAM, *arguments],
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        start_new_session=True,
        timeout=PATIENCE,
        check=False,
    )


def connect() -> None:
    """Makes a workspace here whose owner's key needs no terminal."""
    ok("connect", "--owner", "huang", "--new-key", "--no-passphrase", "--allow-unattended")


def start(clock: Clock | None = None, goal: str = "shop", *more: str) -> None:
    """A connected workspace with one goal and one worker, ``claude-code``."""
    if not Path(".loopx").exists():
        connect()
        ok("agent", "add", "claude-code", clock=clock)
    ok("start-goal", "--id", goal, "--objective", "Dark mode for the shop", *more, clock=clock)


def dark_mode(clock: Clock | None = None) -> None:
    """The dark-mode goal, with its repo beside it."""
    connect()
    Path("mall-frontend").mkdir()
    Path("goal.yaml").write_text(DARK_MODE, "utf-8")
    ok("agent", "add", "claude-code", clock=clock)
    ok("start-goal", "--from", "goal.yaml", clock=clock)


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@contextlib.contextmanager
def unchanged(folder: Path = Path(".loopx")) -> Iterator[None]:
    """Not one byte below the folder may change. Locks say who holds them and are left out."""

    def content() -> dict[str, bytes]:
        found = bytes_of(folder)
        return {name: data for name, data in found.items() if "lock" not in Path(name).name}

    before = content()
    yield
    assert content() == before
