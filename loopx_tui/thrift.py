"""Fewer bytes for the same screen: it is watched all day, and over slow lines.

Textual writes every piece of text with its whole style and a reset after it,
and rewrites a line from its widget's left edge. Here a colour is written where
it differs, and a line from where it changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from rich.console import Console, RenderableType
from rich.control import Control
from textual._compositor import ChopsUpdate, CompositorUpdate
from textual.strip import Strip

_STYLE = re.compile(r"\x1b\[([0-9;]*)m")
_MOVES = re.compile(r"(?:\n|\x1b\[\d+;\d+H)*")
_NEEDLESS = re.compile(r"\n(?=\x1b\[\d+;\d+H)")
_RESET = "\x1b[0m"
# Bold, dim and italic are not seen on spaces; underlines and reversed colours are.
_SEEN_ON_LETTERS_ONLY = frozenset("123")
_EXTENDED = {"5": 2, "2": 4}


class ThriftyUpdate(CompositorUpdate):
    """Writes what ``update`` would, with the same effect, in fewer bytes."""

    def __init__(self, update: CompositorUpdate) -> None:
        self._update = update

    def render_segments(self, console: Console) -> str:
        """The text for the terminal; it leaves plain style behind, as Textual expects."""
        if isinstance(self._update, ChopsUpdate):
            text = "".join(_changed_parts(self._update, console))
        else:
            text = self._update.render_segments(console)
        return min(thrifty(text), text, key=len)


def thrift(renderable: RenderableType | None) -> RenderableType | None:
    """``renderable`` for ``App._display``; anything but an update of the screen as it is."""
    return ThriftyUpdate(renderable) if isinstance(renderable, CompositorUpdate) else renderable


def thrifty(text: str) -> str:
    """``text`` with the same effect on a terminal whose style is plain, and a plain one after."""
    now, wanted = _PLAIN, _PLAIN
    written: list[str] = []
    for place, piece in enumerate(_STYLE.split(_NEEDLESS.sub("", text))):
        if place % 2:
            wanted = _styled(wanted, piece)
            continue
        if not _MOVES.fullmatch(piece):
            need = _on_blank(now, wanted) if piece.isspace() else wanted
            if need != now:
                written.append(_change(now, need))
                now = need
        written.append(piece)
    if now != _PLAIN:
        written.append(_RESET)
    return "".join(written)


def _changed_parts(update: ChopsUpdate, console: Console) -> Iterator[str]:
    for y, first, last in update.spans:
        for end, (start, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is None or max(start, first) >= min(end, last):
                continue
            left, right = _uncut(strip, max(first - start, 0), min(last, end) - start)
            yield Control.move_to(start + left, y).segment.text
            whole = (left, right) == (0, end - start)
            yield (strip if whole else strip.crop(left, right)).render(console)


def _uncut(strip: Strip, left: int, right: int) -> tuple[int, int]:
    """These cells, and those of every wide or combined text that they would cut."""
    at = 0
    for segment in strip:
        end = at + segment.cell_length
        if len(segment.text) != segment.cell_length:
            left = at if at < left < end else left
            right = end if at < right < end else right
        at = end
    return left, right


class _Style(NamedTuple):
    attributes: frozenset[str]
    front: str
    ground: str


_PLAIN = _Style(frozenset(), "", "")


@lru_cache(maxsize=512)
def _styled(style: _Style, codes: str) -> _Style:
    """The style after an SGR sequence with these codes."""
    left = codes.split(";")
    while left:
        size = 1 + _EXTENDED.get(left[1], 0) if left[0] in ("38", "48") and len(left) > 1 else 1
        code, left = ";".join(left[:size]), left[size:]
        kind = code.partition(";")[0]
        if kind in ("", "0"):
            style = _PLAIN
        elif kind[:-1] in ("3", "9"):
            style = style._replace(front="" if kind == "39" else code)
        elif kind[:-1] in ("4", "10"):
            style = style._replace(ground="" if kind == "49" else code)
        else:
            style = style._replace(attributes=style.attributes | {code})
    return style


@lru_cache(maxsize=512)
def _on_blank(now: _Style, wanted: _Style) -> _Style:
    """The style nearest to ``now`` in which a space looks as in ``wanted``."""
    if (now.attributes | wanted.attributes) <= _SEEN_ON_LETTERS_ONLY:
        return now._replace(ground=wanted.ground)
    return wanted


@lru_cache(maxsize=512)
def _change(now: _Style, wanted: _Style) -> str:
    """The shortest sequence that makes ``wanted`` of ``now``."""
    whole = ";".join(["0", *sorted(wanted.attributes), *filter(None, wanted[1:])])
    if now.attributes - wanted.attributes:
        return f"\x1b[{whole}m"
    codes = sorted(wanted.attributes - now.attributes)
    if wanted.front != now.front:
        codes.append(wanted.front or "39")
    if wanted.ground != now.ground:
        codes.append(wanted.ground or "49")
    return min(f"\x1b[{whole}m", f"\x1b[{';'.join(codes)}m", key=len)
