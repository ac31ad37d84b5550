"""What an acceptance item and its judge may be."""

from __future__ import annotations

import re
from collections.abc import Iterable

from loopx_kernel.domain.rules import AcceptanceItem, GoalRules
from loopx_kernel.domain.scope import check_path
from loopx_kernel.errors import UsageError

_NEEDS_VALUE = frozenset({"cmd", "regex", "rubric"})
_NEEDS_PATH = frozenset({"regex", "json", "junit"})


def file_of(item: AcceptanceItem) -> str:
    """The file an item is about, relative to the repo; empty for one that is about none."""
    return item.path.partition("#")[0] if item.kind == "json" else item.path


def check_item(item: AcceptanceItem) -> None:
    """``invalid_value`` for an item that could never be run, ``invalid_scope`` for a file that
    is not in the repo."""
    file = file_of(item)
    fits = (
        (item.kind not in _NEEDS_VALUE or item.value.strip() != "")
        and (item.kind in _NEEDS_PATH) == (file != "")
        and (item.kind == "rubric") == (item.threshold is not None)
        and (item.threshold is None or 1 <= item.threshold <= 10)
        and (item.kind in _NEEDS_PATH or not item.command)
    )
    if not fits:
        raise UsageError(
            "invalid_value",
            f"The acceptance item {item.id} does not say what a {item.kind} item needs",
            next="loopx start-goal --help",
            item=item.id,
        )
    if file:
        check_path(file)


def check_search_path(rules: GoalRules) -> None:
    """``invalid_value`` for a folder that a search path cannot name."""
    for folder in rules.search_path:
        if not folder.strip() or ":" in folder or "\0" in folder or ".." in folder.split("/"):
            raise UsageError(
                "invalid_value",
                f"{folder!r} is no folder programs can be looked for in",
                next="write an absolute path, or one seen from the repo, such as .venv/bin",
                folder=folder,
            )


def check_judge(rules: GoalRules, agents: Iterable[str]) -> None:
    """``invalid_value`` where the judge is one of the workers, as far as its command tells."""
    worker = worker_in(rules.judge.command, agents) if rules.judge is not None else None
    if worker is not None:
        raise UsageError(
            "invalid_value",
            f"The judge names {worker}, a worker; nobody judges their own work",
            next="name another command as judge",
            agent_id=worker,
        )


def worker_in(command: str, agents: Iterable[str]) -> str | None:
    """The first registered agent whose id is a word of the command, in any case; a program's
    path and its extension hide none."""
    for agent in agents:
        if re.search(rf"(?<![\w-]){re.escape(agent)}(?![\w-])", command, re.IGNORECASE):
            return agent
    return None
