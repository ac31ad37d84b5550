"""The workspaces that are measured: made through the command alone, in a scratch home."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from bench.timing import run

SCRIPTS = Path(sys.executable).parent
LOOPX = SCRIPTS / "loopx"
AGENT = "claude-code"
BY = ("--agent", AGENT)
SETTINGS = ("XDG_CONFIG_HOME", "LOOPX_KEY", "LOOPX_ROOT", "LOOPX_GOAL", "LOOPX_AGENT", "NO_COLOR")


def use_home(home: Path) -> None:
    """All settings and caches of this process and its children are in ``home`` from now on."""
    os.environ.update(HOME=str(home), LOOPX_CACHE_DIR=str(home / "cache"))
    for name in SETTINGS:
        os.environ.pop(name, None)


def workspace(home: Path, todos: int = 20) -> Path:
    """A workspace with one goal, ``shop``, an agent and so many todos."""
    root = home / "shop"
    root.mkdir()
    loopx(root, "connect", "--owner", "li", "--new-key", "--no-passphrase", "--allow-unattended")
    loopx(root, "start-goal", "--id", "shop", "--objective", "Sell more", "--compute", "1")
    loopx(root, "agent", "add", AGENT)
    add_todos(root, todos)
    return root


def add_todos(root: Path, count: int) -> None:
    """So many more todos, each with a place of its own to write in."""
    from loopx_kernel.domain.todo import AddTodo
    from loopx_kernel.workspace import Workspace

    ws = Workspace.open(root)
    begin = ws.state("shop").seq
    for number in range(begin, begin + count):
        scopes = (f"src/{number}/**",)
        ws.todos.add("shop", AGENT, AddTodo(title=f"Work {number}", write_scope=scopes))


def loopx(root: Path, *words: str) -> str:
    """One command, which must do what it is asked; what it printed."""
    return run((LOOPX, *words), root)


def new_todo(root: Path, title: str) -> str:
    """The id of a todo just added."""
    made = loopx(root, "todo", "add", title, *BY, "--json")
    return str(json.loads(made)["todo"]["id"])
