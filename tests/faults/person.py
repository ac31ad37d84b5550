"""A person with an editor, at work on the state file while the kernel renders it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopx_kernel.store.files import Files

MARK = re.compile(rb"mark\d{4}")
ROW = re.compile(r"[ \t]*[-*] \[([ xX])\] (?:\*\*(T\d+)\*\* )?(.*)")
Rows = list[tuple[str, str, bool]]
EDITS = (
    "note prose step fence listed-fence comment quote key key-comment detail below-detail tick "
    "untick retitle add add-ticked remove copy crlf cr-less-end bom bullets twice moved restyle "
    "emptied blanked heading-gone"
).split()
STYLES = ("in place", "by rename", "in two steps", "deleted", "link", "folder")


def marks(data: bytes | None) -> set[bytes]:
    """What the person typed that stands in these bytes."""
    return set(MARK.findall(data or b""))


def rows_in(text: str) -> Rows:
    """The rows of the list, read without a parser of Markdown: id, title and tick."""
    found: Rows = []
    inside = fenced = False
    for line in text.replace("\r\n", "\n").removeprefix("\ufeff").split("\n"):
        if line.startswith("```"):
            fenced = not fenced
        elif line.startswith("## ") and not fenced:
            inside = line.strip() == "## Todos"
        match = ROW.fullmatch(line)
        if match and inside and not fenced:
            title = " ".join(match[3].replace("\\", "").split())
            found.append((match[2] or "", title, match[1] != " "))
    return sorted(found)


@dataclass
class Person:
    """Edits the file at ``page``. ``typed`` is what they typed and did not take out again."""

    page: Path
    typed: set[bytes] = field(default_factory=set)
    buffer: bytes | None = None
    number: int = 0
    open_fd: int | None = None
    unsaved: bytes = b""
    steps: int = 0

    def content(self) -> bytes | None:
        """What stands there, where it is a file."""
        plain = self.page.is_file() and not self.page.is_symlink()
        return self.page.read_bytes() if plain else None

    def load(self) -> None:
        self.buffer = self.content()

    def act(self, edit: str, at: int, style: str, stale: bool) -> None:
        """Changes the file, or the buffer loaded some time ago, and saves it."""
        self.finish()
        now = self.content()
        base = self.buffer if stale and self.buffer is not None else now
        if style in ("deleted", "link", "folder"):
            self.typed -= marks(now)
            self._remove()
            if style == "link":
                self.page.symlink_to("elsewhere.md")
            elif style == "folder":
                self.page.mkdir()
            return
        text = (base or b"").decode("utf-8")
        self.number += 1
        new = edited(text, edit, at, f"mark{self.number:04d}").encode("utf-8")
        self.typed -= marks(now)
        self.typed |= marks(new)
        self.buffer = new
        self._save(new, style)

    def go_on(self) -> None:
        """Time passes: a save in two steps takes no longer than two steps of the kernel."""
        self.steps += 1
        if self.steps > 2:
            self.finish()

    def finish(self) -> None:
        """Ends a save in two steps: into the very file that was opened."""
        if self.open_fd is not None:
            os.write(self.open_fd, self.unsaved)
            os.close(self.open_fd)
            self.open_fd = None

    def _save(self, data: bytes, style: str) -> None:
        if self.content() is None:
            self._remove()
        if style == "by rename":
            beside = self.page.with_name("editor.tmp")
            beside.write_bytes(data)
            beside.replace(self.page)
        elif style == "in two steps":
            self.open_fd = os.open(self.page, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            self.unsaved, self.steps = data, 0
        else:
            self.page.write_bytes(data)

    def _remove(self) -> None:
        if self.page.is_dir() and not self.page.is_symlink():
            shutil.rmtree(self.page)
        else:
            self.page.unlink(missing_ok=True)


def edited(text: str, edit: str, at: int, mark: str) -> str:
    """The text after one edit; ``at`` says of which row, ``mark`` is what is typed."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.split(newline)
    places = [n for n, line in enumerate(lines) if ROW.fullmatch(line)]
    place = places[at % len(places)] if places else len(lines)
    for_all: dict[str, Callable[[], str]] = {
        "crlf": lambda: text.replace("\r\n", "\n").replace("\n", "\r\n"),
        "cr-less-end": lambda: text.rstrip("\r\n"),
        "bom": lambda: "\ufeff" + text.removeprefix("\ufeff"),
        "bullets": lambda: text.replace(f"{newline}- [", f"{newline}* ["),
        "restyle": lambda: text.replace("[x]", "[X]").replace("  - *", "  -  *"),
        "moved": lambda: moved(text, newline),
        "emptied": lambda: "",
        "blanked": lambda: " \n\n",
        "heading-gone": lambda: text.replace("## Todos", f"## {mark}"),
        "note": lambda: f"{text}{newline}{newline}## Notes{newline}{newline}{mark}{newline}",
        "key": lambda: text.replace(f"---{newline}", f"---{newline}my_{mark}: 1{newline}", 1),
        "key-comment": lambda: text.replace("handoff_mode: ", f"handoff_mode: {mark} ", 1),
        "detail": lambda: text.replace("  - *held by* ", f"  - *held by* {mark} ", 1),
        "below-detail": lambda: re.sub(
            r"(?m)(^  - \*evidence\* [^\r\n]*)(\r?\n)", rf"\1\2{mark}\2", text, count=1
        ),
    }
    if edit in for_all:
        return for_all[edit]()
    inserted = {
        "prose": ["", mark, ""],
        "listed-fence": ["", "```", f"- [ ] {mark}", "```", ""],
        "comment": ["", f"<!-- - [ ] {mark} -->", ""],
        "quote": ["", f"> - [ ] {mark}", ""],
        "add": [f"- [ ] {mark}"],
        "add-ticked": [f"- [x] {mark}"],
    }
    if edit in inserted and places:
        lines[place:place] = inserted[edit]
    elif edit in ("fence", *inserted):
        lines += ["", "```", "## Todos", f"- [ ] {mark}", "```", ""]
    elif edit == "twice":
        lines += ["", "## Todos", "", f"- [ ] {mark}", ""]
    elif places and edit == "step":
        lines.insert(place + 1, f"  - {mark}")
    elif places and edit == "remove":
        del lines[place]
    elif places and edit == "copy":
        lines.insert(place, lines[place])
    elif places and edit == "retitle":
        lines[place] += f" {mark}"
    elif places:
        box = "[x]" if edit == "tick" else "[ ]"
        lines[place] = re.sub(r"\[[ xX]\]", box, lines[place], count=1)
    return newline.join(lines)


def moved(text: str, newline: str) -> str:
    """The list below all other sections."""
    head, mark, rest = text.partition(f"## Todos{newline}")
    end = rest.find(f"{newline}## ")
    if not mark or end < 0:
        return text
    return f"{head}{rest[end:].lstrip()}{newline}{newline}{mark}{rest[:end]}{newline}"


class Watched(Files):
    """Lets something happen at the k-th step on names in one folder, and ``go_on`` at each."""

    def __init__(self, folder: Path, go_on: Callable[[], None]) -> None:
        self.folder = folder
        self.go_on = go_on
        self.due: list[tuple[int, Callable[[], None]]] = []
        self.steps = 0

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name in ("open_read", "open_new", "exchange", "link", "replace", "unlink", "fsync_dir"):
            return self._stepping(found)
        return found

    def _stepping(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*paths: Any) -> Any:
            if self.folder not in (paths[0], paths[0].parent):
                return call(*paths)
            self._step()
            try:
                return call(*paths)
            finally:
                self._step()

        return stepped

    def _step(self) -> None:
        self.steps += 1
        self.go_on()
        while self.due and self.due[0][0] <= self.steps:
            self.due.pop(0)[1]()

    def arm(self, due: list[tuple[int, Callable[[], None]]]) -> None:
        """What happens next, each at a step counted from now."""
        self.steps, self.due = 0, sorted(due, key=lambda one: one[0])

    def settle(self) -> None:
        """What was due later happens now."""
        for _, act in self.due:
            act()
        self.due = []
