"""The next command after a refusal, told what the refused one was told."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loopx_kernel.cli.framework import Options

_OF_NO_GOAL = frozenset("connect start-goal agent owner doctor".split())
_OF_AGENTS = {
    "todo": "add claim renew release update complete block defer wait reopen",
    "gate": "request use withdraw",
    "turn": "begin settle",
    "quota": "should-run spend-slot",
    "replan": "fulfil",
    "propose": "cancel supersede route objective",
}
_BY_A_PERSON = re.compile(r"loopx (todo complete|todo reopen) \S+ .*--reason ")


def carry_on(step: str | None, options: Options) -> str | None:
    """``step`` with the root, goal and agent that were named as options, where it takes them.

    Who named them by the environment need not name them again. What is no command stays as it
    is, and so does the prose behind one.
    """
    if step is None or not step.startswith("loopx "):
        return step
    command, prose = _split(step)
    words = command.split()
    named = {"--root": options.root}
    if "--help" in words:
        return step
    if words[1] not in _OF_NO_GOAL and words[1:3] != ["goal", "list"]:
        named["--goal"] = options.goal
    if is_for_an_agent(command, words):
        named["--agent"] = options.agent
    for option, value in named.items():
        if value and option not in words:
            command += f" {option} {shlex.quote(value)}"
    return command + prose


def _split(step: str) -> tuple[str, str]:
    found = re.search(r" \(|; ", step)
    if found is None or "'" in step[: found.start()]:
        return step, ""
    return step[: found.start()], step[found.start() :]


def is_for_an_agent(command: str, words: list[str]) -> bool:
    """Whether a command line, given with its words, is one that an agent acts by."""
    if words[1] == "refresh-state":
        return True
    if len(words) < 3 or _BY_A_PERSON.match(command):
        return False
    return words[2] in _OF_AGENTS.get(words[1], "").split()
