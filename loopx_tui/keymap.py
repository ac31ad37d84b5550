"""The person's own keys: ``~/.config/loopx/keys.yaml``, ids of actions and their keys.

What is wrong with the file is one sentence for the person, never an
exception; the entry, or the whole file, then counts as not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from loopx_kernel.text import safe

from loopx_tui.commands import BY_ID, COMMANDS, DECISIONS, MOVING, Command, Scope, shown_keys
from loopx_tui.preferences import own_folder

_LARGEST_FILE = 65_536
_KEY = re.compile(r"(?:(?:ctrl|shift)\+)*(?:[a-z][a-z0-9_]*|[A-Za-z0-9])")
_NEVER_DECIDES = frozenset(("enter", "space", "escape", "tab", "ctrl+a", "ctrl+b"))

TOGETHER: Final[tuple[frozenset[Scope], ...]] = (
    frozenset(("main", "rows", "goal", "history")),
    frozenset(("review",)),
    frozenset(("dialog",)),
)
"""Scopes that share the keyboard: a key may stand once in each of these."""


class Keymap(NamedTuple):
    """Keys by action id, for ``App.set_keymap``, and what to tell the person."""

    keys: dict[str, str]
    notices: tuple[str, ...] = ()


def location() -> Path:
    """Where the file is looked for; honours ``XDG_CONFIG_HOME`` and makes nothing."""
    return own_folder() / "keys.yaml"


def load(path: Path | None = None) -> Keymap:
    """The person's keys; the defaults, with a notice, for all that cannot be used."""
    path = path or location()
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
    except FileNotFoundError:
        return Keymap({})
    except OSError as error:
        return Keymap({}, (f"{path.name} cannot be read ({error.strerror}); default keys",))
    try:
        loaded = _parse(data)
    except ValueError as error:
        return Keymap({}, (f"{path.name} {error}; default keys",))
    return check(loaded)


def check(wanted: Mapping[Any, Any]) -> Keymap:
    """The usable part of ``wanted`` (action id to a key or a list of keys), and what is not."""
    keys: dict[str, str] = {}
    notices: list[str] = []
    for name, value in wanted.items():
        problem, keys_text = _judge(name, value)
        if problem:
            notices.append(f"{safe(str(name))}: {problem}; default key")
        else:
            keys[name] = keys_text
    while clash := next(_clashes(keys), None):
        key, first, second = clash
        loser = second if second.id in keys else first
        del keys[loser.id]
        notices.append(
            f"{shown_keys(key)} is both {first.title} ({first.id}) and {second.title}"
            f" ({second.id}); {loser.id} keeps its default key"
        )
    return Keymap(keys, tuple(notices))


def _parse(data: bytes) -> dict[Any, Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    if len(data) > _LARGEST_FILE:
        raise ValueError(f"is larger than {_LARGEST_FILE:,} bytes")
    try:
        loaded = YAML(typ="safe", pure=True).load(data.decode("utf-8-sig"))
    except (YAMLError, UnicodeDecodeError, RecursionError, ValueError):
        raise ValueError("is not YAML") from None
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise ValueError("is not a list of actions and keys")
    return loaded


def _judge(name: Any, value: Any) -> tuple[str, str]:
    """What is wrong with one entry, or its keys in Textual's names."""
    command = BY_ID.get(name) if isinstance(name, str) else None
    if command is None or not command.keys:
        return "there is no such action with a key", ""
    listed = value if isinstance(value, list) else [value]
    if not listed or not all(isinstance(key, str | int) and str(key) for key in listed):
        return "a key is a text such as d, ctrl+k or f5", ""
    names = [_textual_name(str(key)) for key in listed]
    for key, said in zip(names, listed, strict=True):
        if not _KEY.fullmatch(key):
            return f"{safe(str(said))} is not a key", ""
        if command.id in DECISIONS and key in MOVING | _NEVER_DECIDES:
            return f"{shown_keys(key)} moves, and can decide nothing", ""
    return "", ",".join(names)


def _textual_name(key: str) -> str:
    from textual.keys import _character_to_key

    return _character_to_key(key) if len(key) == 1 else key


def _clashes(keys: Mapping[str, str]) -> Iterator[tuple[str, Command, Command]]:
    for scopes in TOGETHER:
        taken: dict[str, Command] = {}
        for command in COMMANDS:
            if command.scope not in scopes:
                continue
            for key in filter(None, keys.get(command.id, command.keys).split(",")):
                if key in taken:
                    yield key, taken[key], command
                else:
                    taken[key] = command
