"""Two texts side by side, line by line, from a unified diff."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import unified_diff
from itertools import zip_longest
from typing import Final

from loopx_kernel.text import safe
from rich.cells import cell_len

from loopx_tui.presentation.cells import fit, wrap
from loopx_tui.presentation.lines import Line

SMALLEST: Final = 56
"""Cells without which the two stand one below the other."""
_HEADS = ("---", "+++", "@@")
_RULE = " │ "


def two_texts(before: str, after: str, names: tuple[str, str], width: int) -> list[Line]:
    """All of two texts, what differs marked with ``-`` and ``+``."""
    old, new = before.splitlines(), after.splitlines()
    whole = unified_diff(old, new, lineterm="", n=max(len(old), len(new)))
    return columns(tuple(whole), names, width)


def columns(diff: Sequence[str], names: tuple[str, str], width: int) -> list[Line]:
    """A unified diff as two columns with a title each; below ``SMALLEST`` cells as one."""
    wide = width >= SMALLEST
    room = (width - len(_RULE)) // 2 if wide else width
    shown = [Line(_pair(*names, room) if wide else f"- {names[0]}   + {names[1]}", "text-dim")]
    for old, new in _pairs(diff):
        same = old is not None and new is not None and old[0] == new[0] == " "
        style = "text-dim" if same else "text"
        if wide:
            halves = zip_longest(_wrapped(old, room), _wrapped(new, room), fillvalue="")
            shown += [Line(_pair(left, right, room), style) for left, right in halves]
        else:
            kept = (old,) if same else (old, new)
            shown += [Line(part, style) for one in kept for part in _wrapped(one, room)]
    return shown


def _pairs(diff: Sequence[str]) -> Iterator[tuple[str | None, str | None]]:
    """Lines that stand in each other's place, each with its mark."""
    old: list[str] = []
    new: list[str] = []
    for line in [*(line for line in diff if not line.startswith(_HEADS)), None]:
        if line is not None and line[:1] in "-+":
            (old if line[0] == "-" else new).append(line)
            continue
        yield from zip_longest(old, new)
        old, new = [], []
        if line is not None:
            yield line or " ", line or " "


def _wrapped(line: str | None, room: int) -> list[str]:
    if line is None:
        return []
    mark, text = line[0], safe(line[1:])
    return [f"{' ' if n else mark} {part}" for n, part in enumerate(wrap(text, room - 2))]


def _pair(left: str, right: str, room: int) -> str:
    return f"{fit(left, room)}{_RULE}{right if cell_len(right) <= room else fit(right, room)}"
