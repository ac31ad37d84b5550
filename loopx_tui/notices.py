"""Telling a person once that something waits for them: bell, desktop notice, title, command.

What was told is remembered in the person's own state folder, so that neither
the next reading nor the next start tells it again. The command comes from the
person's own configuration and from nowhere else.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from loopx_kernel.errors import LoopxError
from loopx_kernel.text import safe

from loopx_tui import strings
from loopx_tui.presentation.needs import key_of, unread_key, unreadable

if TYPE_CHECKING:
    from loopx_kernel.views.workspace import WorkspaceView

COMMAND_SECONDS: Final = 10.0
TITLE_SAVE: Final = "\x1b[22;2t"
TITLE_RESTORE: Final = "\x1b[23;2t"

_LONGEST_TEXT = 120
_LARGEST_MEMORY = 1_000_000
_PLAIN_TERMINALS = ("", "dumb", "linux", "vt", "ansi", "cons")


class Wish(NamedTuple):
    """How a person wants to be told: not at all, or also by a command of their own."""

    silent: bool = False
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class News:
    """What is to be told now. ``items`` are those a person was not told of before."""

    waiting: int
    items: tuple[dict[str, Any], ...]


class Memory:
    """The keys of what a person was told, in one small file of their own.

    ``path`` is ``None`` where nothing is to be kept. A file that cannot be read
    or written only means that something is told a second time.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def read(self) -> frozenset[str]:
        """The keys; none where there is no such file."""
        if self._path is None:
            return frozenset()
        try:
            with self._path.open("rb") as file:
                keys = json.loads(file.read(_LARGEST_MEMORY))
        except (OSError, ValueError, RecursionError):
            return frozenset()
        if not isinstance(keys, list):
            return frozenset()
        return frozenset(key for key in keys if isinstance(key, str))

    def write(self, keys: frozenset[str]) -> None:
        """Keeps these keys and no others; without any there is no file."""
        if self._path is None:
            return
        with suppress(OSError):
            if not keys:
                self._path.unlink(missing_ok=True)
                return
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            part = self._path.with_name(f"{self._path.name}.{os.getpid()}.tmp")
            part.write_text(json.dumps(sorted(keys)), "utf-8")
            part.replace(self._path)


class Notices:
    """Knows what a person was told of one workspace. For worker threads, one at a time."""

    def __init__(self, workspace_id: str, *, folder: Path | None) -> None:
        name = hashlib.sha256(workspace_id.encode()).hexdigest()[:32]
        self._memory = Memory(folder / f"told-{name}.json" if folder else None)
        self._told: frozenset[str] | None = None
        self._lock = threading.Lock()

    def news(self, view: WorkspaceView) -> News:
        """What waits now and was not told before; from now on it was.

        What waits no longer is forgotten, unless its goal could not be read.
        """
        waiting = _waiting(view)
        unread = tuple(f"{item.goal_id}/" for item in view.unread)
        with self._lock:
            told = self._memory.read() if self._told is None else self._told
            kept = frozenset(key for key in told if key in waiting or key.startswith(unread))
            self._told = kept | waiting.keys()
            if self._told != told:
                self._memory.write(self._told)
        return News(len(waiting), tuple(item for key, item in waiting.items() if key not in told))


def _waiting(view: WorkspaceView) -> dict[str, dict[str, Any]]:
    found = {
        unread_key(item): _item(item.goal_id, "damage", "damage", item.message, item.next)
        for item in unreadable(view)
    }
    return found | {
        key_of(item): _item(item.goal_id, item.id, item.kind, item.question, item.next)
        for item in view.needs_you
    }


def _item(goal: str, name: str, kind: str, question: str, command: str | None) -> dict[str, Any]:
    return {"goal_id": goal, "id": name, "kind": kind, "question": question, "next": command}


def wish() -> tuple[Wish, str]:
    """What the person's own configuration says, and what is wrong with it, as a sentence."""
    from loopx_kernel.workspace.person import read_config

    try:
        return _parse(read_config().get("notify"))
    except LoopxError as error:
        return Wish(), error.message
    except OSError:
        return Wish(), strings.NOTIFY_WRONG


def _parse(value: object) -> tuple[Wish, str]:
    if value is None:
        return Wish(), ""
    if value in ("none", False):
        return Wish(silent=True), ""
    command = value.get("command") if isinstance(value, dict) else None
    words: list[Any] = command if isinstance(command, list) else []
    with suppress(ValueError):
        words = shlex.split(command) if isinstance(command, str) else words
    if words and all(isinstance(word, str) and word for word in words):
        program = str(Path(words[0]).expanduser()) if words[0].startswith("~") else words[0]
        return Wish(command=(program, *words[1:])), ""
    return Wish(), strings.NOTIFY_WRONG


def sequences(news: News, environ: Mapping[str, str], called: str = "") -> str:
    """The bell and the desktop notice for what is new; empty where nothing is.

    ``called`` is what the person calls the workspace. The notice is OSC 777 where the terminal
    is one that knows no other, else OSC 9.
    """
    if not news.items:
        return ""
    if not _understands_osc(environ):
        return "\a"
    first = news.items[0]
    text = f"{first['id'].partition(':')[0]} {first['question']} ({first['goal_id']})"
    if len(news.items) > 1:
        text = strings.NEED_YOU[False].format(count=len(news.items))
    head = " ".join(filter(None, (strings.APP, called)))
    text = _short(text)
    # Its parts stand between semicolons.
    notice = (
        f"777;notify;{head.replace(';', ',')};{text}"
        if _knows_777(environ)
        else f"9;{head}: {text}"
    )
    return "\a" + _through_tmux(f"\x1b]{notice}\a", environ)


def _knows_777(environ: Mapping[str, str]) -> bool:
    """Whether desktop notices are OSC 777 here: rxvt's, which foot, VTE and Ghostty took over."""
    term = environ.get("TERM", "")
    return term.startswith(("rxvt", "foot")) or "VTE_VERSION" in environ


def title(waiting: int, place: str, environ: Mapping[str, str]) -> str:
    """Sets the terminal's title to how much waits where; empty where it has none."""
    if not _understands_osc(environ):
        return ""
    words = strings.NEED_YOU[waiting == 1].format(count=waiting) if waiting else ""
    return f"\x1b]2;{_short(' - '.join(filter(None, (strings.APP, words, place))))}\a"


def _short(text: str) -> str:
    text = safe(text)
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


def _understands_osc(environ: Mapping[str, str]) -> bool:
    term = environ.get("TERM", "")
    if term in _PLAIN_TERMINALS or term.startswith(_PLAIN_TERMINALS[2:]):
        return False
    # GNU screen shows such a sequence as text.
    return "TMUX" in environ or not term.startswith("screen")


def _through_tmux(sequence: str, environ: Mapping[str, str]) -> str:
    if "TMUX" not in environ:
        return sequence
    escaped = sequence.replace("\x1b", "\x1b\x1b")
    return f"\x1bPtmux;{escaped}\x1b\\"


def run_command(command: tuple[str, ...], item: Mapping[str, Any]) -> str:
    """Hands one item as a line of JSON to the person's command; what went wrong, as a sentence.

    The command has a session of its own and none of our streams, so that it
    cannot draw on the screen, and is ended after ``COMMAND_SECONDS``.
    """
    try:
        done = subprocess.run(
            command,
            input=f"{json.dumps(item, ensure_ascii=False)}\n".encode("utf-8", "replace"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return strings.NOTIFY_FAILED.format(why=f"it took more than {COMMAND_SECONDS:g} s")
    except (OSError, ValueError) as error:
        return strings.NOTIFY_FAILED.format(why=getattr(error, "strerror", None) or "not a command")
    if done.returncode:
        return strings.NOTIFY_FAILED.format(why=f"exit status {done.returncode}")
    return ""
