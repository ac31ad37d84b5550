"""A person's own editor on a text of theirs, with the terminal lent to it meanwhile."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import sys
import tempfile
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from textual.app import App, SuspendNotSupported

from loopx_tui import strings

LARGEST_BYTES: Final = 1_048_576
"""More than this is no text for a decision."""

_USUAL: Final = ("sensible-editor", "vim", "nano", "vi")


class Edited(NamedTuple):
    """What came of it: the text, and a sentence where it was not written anew."""

    text: str
    problem: str = ""


def editor(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The command of ``$VISUAL``, ``$EDITOR``, or the first usual one there is; empty for none."""
    for name in ("VISUAL", "EDITOR"):
        with suppress(ValueError):
            if words := shlex.split(environ.get(name, "")):
                return tuple(words)
    found = next(filter(shutil.which, _USUAL), None)
    return (found,) if found else ()


async def edit(app: App[object], text: str, suffix: str) -> Edited:
    """The ``text`` as a person left it in their editor; as it was, and why, where that failed.

    It lies in a folder that nobody else can enter, which is gone afterwards. The event loop
    goes on; where it is ended meanwhile, the editor is too.
    """
    words = editor()
    if not words:
        return Edited(text, strings.NO_EDITOR)
    with tempfile.TemporaryDirectory(prefix="loopx-") as folder:
        file = Path(folder) / f"loopx{suffix}"
        file.write_text(text, "utf-8")
        try:
            with app.suspend(), _interrupts_are_the_editors():
                status = await _run(*words, str(file))
        except SuspendNotSupported:
            return Edited(text, strings.NO_LENDING)
        except OSError as error:
            why = error.strerror or type(error).__name__
            return Edited(text, strings.EDITOR_FAILED.format(editor=words[0], why=why))
        if status:
            why = f"exit status {status}"
            return Edited(text, strings.EDITOR_FAILED.format(editor=words[0], why=why))
        return _read(file, text)


def _read(file: Path, before: str) -> Edited:
    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST_BYTES + 1)
        if len(data) > LARGEST_BYTES:
            return Edited(before, strings.EDITED_TOO_LARGE)
        after = data.decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return Edited(before, strings.EDITED_UNREADABLE)
    # Editors end a file with a line end; the text had none.
    return Edited(after if before.endswith("\n") else after.removesuffix("\n"))


async def _run(*words: str) -> int:
    process = await asyncio.create_subprocess_exec(*words, stdout=sys.__stderr__)
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
        # What was typed too much is no key of ours.
        with suppress(termios.error, OSError, ValueError):
            termios.tcflush(0, termios.TCIFLUSH)


@contextmanager
def _interrupts_are_the_editors() -> Iterator[None]:
    """Ctrl+C in an editor reaches the whole group; a handler of ours is none of the child's."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
