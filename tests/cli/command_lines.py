"""The command lines that the sources tell people and agents to type, held against the commands.

``X`` stands for what is filled in when a step is given.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import loopx_kernel
from loopx_kernel.cli.framework import Options
from loopx_kernel.cli.main import COMMANDS, root
from loopx_kernel.cli.session import Session
from loopx_kernel.clock import SystemClock
from loopx_kernel.errors import LoopxError

import loopx_tui

SOURCES = tuple(Path(package.__file__ or "").parent for package in (loopx_kernel, loopx_tui))
NAMED = frozenset(("next", "command", "fix"))
_VERB_UNKNOWN = re.compile(r"loopx (X|(todo|gate|goal|state) X)\b")
_STEP = re.compile(r"(?:'[^']*'|(?! \(|; )[^'])*")
_COMMAND = re.compile(r"(?<![\w/.-])loopx (?=[a-z])(?:'[^']*'|\"[^\"]*\"|[^'\"`();,\n])*")
_OPTIONAL = re.compile(r"\{goal\}| ?\{who\}")
_FILLED = ("X", "1", "10m", "2026-09-17T09:00:00Z", "done", "T1:T2", "ci")


class NotACommand(AssertionError):
    """What was named is no command, or not one with these options."""


def steps() -> list[str]:
    """Every next step of the sources that is a command, without the prose behind it."""
    return sorted({_STEP.match(text)[0] for text in _named() if _is_known(text)})  # type: ignore[index]


def mentions() -> list[str]:
    """Every command named in a text of the sources, with the prose that follows it. In no
    backticks it is one only where its first word is: ``loopx`` is a name, too."""
    found = set()
    for text in _texts():
        for one in _COMMAND.finditer(text):
            line = re.sub(r"\{\w+\}", "X", one.group().strip(" .:"))
            quoted = text[: one.start()].endswith("`")
            if _is_known(line) and (quoted or line.split()[1] in COMMANDS):
                found.add(line)
    return sorted(found)


def parse(line: str, *, whole: bool = False) -> None:
    """Raises ``NotACommand`` unless a line begins with a command. Words behind it are prose
    where they are no option, and it may be no more than a name; not so a ``whole`` line."""
    words = shlex.split(line)[1:]
    problem = ""
    for end in range(len(words), 0, -1):
        if words[end:] and (whole or any(word.startswith("--") for word in words[end:])):
            break
        for filled in _FILLED:
            problem = _problem([word.replace("X", filled) for word in words[:end]], whole)
            if not problem:
                return
    raise NotACommand(f"{line}: {problem}")


def _problem(words: list[str], whole: bool) -> str:
    """What the commands say of these words; nothing of it is run."""
    if words[-1] == "--help":
        words = words[:-1]
        if not words or isinstance(_resolved(words), click.Command):
            return ""
    try:
        command, context, rest = root, root.make_context("loopx", [*words], obj=_session()), words
        while isinstance(command, click.Group):
            rest = [*context._protected_args, *context.args]
            if not rest:
                return f"{context.command_path} needs one of its commands"
            name, command, rest = command.resolve_command(context, rest)
            assert command is not None
            context = command.make_context(name, rest, parent=context)
    except click.MissingParameter as error:
        return error.format_message() if whole else ""
    except click.ClickException as error:
        return error.format_message()
    except LoopxError as error:
        return error.message
    return ""


def _resolved(words: list[str]) -> click.Command | None:
    command: click.Command | None = root
    for word in words:
        if not isinstance(command, click.Group):
            return command
        command = command.get_command(click.Context(command), word)
    return command


def _session() -> Session:
    return Session(Options(), SystemClock())


def _is_known(text: str) -> bool:
    return text.startswith("loopx ") and not _VERB_UNKNOWN.match(text)


def _words(value: ast.expr) -> str:
    if isinstance(value, ast.Constant):
        return value.value if isinstance(value.value, str) else ""
    if isinstance(value, ast.JoinedStr):
        parts = value.values
        return "".join("X" if isinstance(v, ast.FormattedValue) else _words(v) for v in parts)
    return ""


def _trees() -> Iterator[ast.Module]:
    for folder in SOURCES:
        for path in sorted(folder.rglob("*.py")):
            # A brief's commands are put together of pieces; its own tests run them.
            if path.name != "brief.py":
                yield ast.parse(_OPTIONAL.sub("", path.read_text("utf-8")))


def _named() -> Iterator[str]:
    for tree in _trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg in NAMED:
                yield _words(node.value)


def _texts() -> Iterator[str]:
    for tree in _trees():
        nodes = list(ast.walk(tree))
        inside = {
            id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values
        }
        docs = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in inside | docs:
                yield _words(node)
