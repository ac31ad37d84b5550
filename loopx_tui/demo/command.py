"""The demo's only way to the ledger: the public ``loopx`` command, as a child process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loopx_tui.demo.place import DemoError, Place

# `-P` keeps the folder that is worked in off the module path.
LOOPX = (sys.executable, "-P", "-m", "loopx_kernel.cli")
LONGEST_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Reply:
    """What ``loopx --json`` said: its exit status and the object it printed."""

    status: int
    body: Mapping[str, Any]

    @property
    def ok(self) -> bool:
        """Whether the command did what was asked."""
        return self.body.get("ok") is True

    @property
    def code(self) -> str:
        """The error's code, or an empty text."""
        return str(self.body.get("error", {}).get("code", ""))

    @property
    def message(self) -> str:
        """The error's sentence, or an empty text."""
        return str(self.body.get("error", {}).get("message", ""))


@dataclass(frozen=True, slots=True)
class Loopx:
    """``loopx`` for one agent in one goal; without an agent, for the demo's owner.
    ``unattended`` runs are those that nobody watches."""

    place: Place
    agent: str = ""
    goal: str = ""
    unattended: bool = False

    def ask(self, *arguments: str) -> Reply:
        """Runs one command. Errors of ``loopx`` are replies; raises ``DemoError`` where
        there is no reply at all."""
        environment = self.place.environment()
        if self.agent:
            environment |= {"LOOPX_AGENT": self.agent}
        if self.goal:
            environment |= {"LOOPX_GOAL": self.goal}
        if self.unattended:
            environment |= {"LOOPX_UNATTENDED": "1"}
        done = subprocess.run(
            (*LOOPX, *arguments, "--json"),
            cwd=self.place.repo,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONGEST_SECONDS,
            check=False,
        )
        return Reply(done.returncode, _object(done.stdout) or _object(done.stderr) or {})

    def must(self, *arguments: str) -> Mapping[str, Any]:
        """The object that a command printed; raises ``DemoError`` if it was refused."""
        reply = self.ask(*arguments)
        if not reply.ok:
            sentence = reply.message or f"it ended with status {reply.status}"
            raise DemoError(f"loopx {' '.join(arguments[:2])}: {sentence}")
        return reply.body


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
