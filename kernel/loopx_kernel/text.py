"""Text from elsewhere, made harmless for a terminal, Markdown or HTML.

Nothing here changes what is stored: records keep raw text, faces show it
through ``safe`` or ``safe_block``.
"""

from __future__ import annotations

import re
import unicodedata
from enum import IntEnum, auto
from functools import lru_cache

from loopx_kernel.errors import UsageError

_LONGEST_PADDING = 20
_MOST_MARKS = 4
_TAB = "    "
_SPACES = " \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_PADDING = re.compile(f"[{_SPACES}]{{{_LONGEST_PADDING + 1},}}")
_PADDING_ASCII = " " * (_LONGEST_PADDING + 1)

_ZWJ = "\u200d"
_VS16 = "\ufe0f"
_KEYCAP = "\u20e3"
_KEYCAP_BASES = frozenset("0123456789#*")

# Blank or joining on screen although their Unicode category says otherwise.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_HIDDEN_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_EMOJI = re.compile(
    "[©®‼⁉™ℹ\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf"
    "\u2934\u2935\u2b05-\u2b55〰〽㊗㊙\U0001f000-\U0001faff]"
)


class _Kind(IntEnum):
    PLAIN = auto()
    EMOJI = auto()
    MARK = auto()
    HIDDEN = auto()


def counted(number: int, noun: str) -> str:
    """``1 line``, ``2 lines``: a number with its noun, which takes an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def safe(text: str) -> str:
    """``text`` on one line, with everything that hides or moves made visible.

    Control characters become their pictures (ESC ``␛``, newline ``␤``), other
    invisible ones ``⟨U+202E⟩``, more than 20 spaces in a row ``␣×N``. Emoji
    sequences and up to four combining marks on a character stay as they are.
    ``safe(safe(x)) == safe(x)``.
    """
    if _is_plain_ascii(text):
        return text
    return _show(text, block=False)[0]


def safe_block(text: str) -> str:
    """As ``safe``, but line ends stay (CRLF as ``\\n``) and a tab is four spaces."""
    return _show(text, block=True)[0]


def hidden_count(text: str, *, block: bool = False) -> int:
    """How many characters ``safe`` (or with ``block`` ``safe_block``) makes visible in ``text``."""
    if _is_plain_ascii(text):
        return 0
    return _show(text, block=block)[1]


def check_line(text: str, field: str, *, limit: int = 500) -> str:
    """``text`` unchanged, if it may be a title, question or reason.

    It must be one line of at most ``limit`` characters with something to see
    in it and neither control characters nor lone surrogates. Otherwise raises
    ``UsageError("invalid_value")`` with the facts ``field`` and ``reason``.
    """
    if len(text) <= limit and _is_plain_ascii(text) and text.strip():
        return text
    reason = _line_fault(text, limit)
    if reason:
        raise UsageError(
            "invalid_value",
            f"{field} {reason}",
            next=f"correct {field} and send the same command again",
            field=field,
            reason=reason,
        )
    return text


def _line_fault(text: str, limit: int) -> str | None:
    if len(text) > limit:
        return f"is longer than {limit} characters"
    categories = {unicodedata.category(char) for char in text}
    if not categories.isdisjoint(("Zl", "Zp")) or "\n" in text or "\r" in text:
        return "must be one line"
    if "Cs" in categories:
        return "holds half a surrogate pair, which is not text"
    if "Cc" in categories:
        return "holds a control character"
    if not any(_kind(char) < _Kind.MARK and not char.isspace() for char in text):
        return "is blank"
    return None


def _is_plain_ascii(text: str) -> bool:
    return text.isascii() and text.isprintable() and _PADDING_ASCII not in text


def _show(text: str, *, block: bool) -> tuple[str, int]:
    if block:
        text = text.replace("\r\n", "\n").replace("\t", _TAB)
    padding = sum(len(run) for run in _PADDING.findall(text))
    text = _PADDING.sub(lambda run: f"␣×{len(run[0])}", text)
    keeper = _Keeper(block)
    shown: list[str] = []
    hidden = 0
    for index, char in enumerate(text):
        if keeper.keeps(char, text[index + 1 : index + 2]):
            shown.append(char)
        else:
            shown.append(_name(char))
            hidden += 1
    return "".join(shown), padding + hidden


class _Keeper:
    """Decides character by character; knows what the last kept one can carry."""

    def __init__(self, block: bool) -> None:
        self._block = block
        self._before = ""
        self._marks = 0

    def keeps(self, char: str, following: str) -> bool:
        kept = self._is_readable(char, following)
        if _kind(char) is not _Kind.MARK:
            self._before = char if kept else ""
            self._marks = 0
        return kept

    def _is_readable(self, char: str, following: str) -> bool:
        kind = _kind(char)
        if kind < _Kind.MARK:
            return True
        if kind is _Kind.MARK:
            self._marks += 1
            return self._marks <= _MOST_MARKS and self._before not in ("", "\n")
        if char == "\n":
            return self._block
        if char == _VS16:
            return self._marks == 0 and _takes_emoji_style(self._before, following)
        # An emoji's own VS16 may stand between it and the joiner.
        joins = self._before == _VS16 or _is_emoji(self._before)
        return char == _ZWJ and self._marks == 0 and joins and _is_emoji(following)


def _takes_emoji_style(base: str, following: str) -> bool:
    return _is_emoji(base) or (base in _KEYCAP_BASES and following == _KEYCAP)


def _is_emoji(char: str) -> bool:
    return char != "" and _kind(char) is _Kind.EMOJI


@lru_cache(maxsize=8192)
def _kind(char: str) -> _Kind:
    if _INVISIBLE.match(char):
        return _Kind.HIDDEN
    if _EMOJI.match(char):
        return _Kind.EMOJI
    category = unicodedata.category(char)
    if category in _HIDDEN_CATEGORIES:
        return _Kind.HIDDEN
    return _Kind.MARK if category[0] == "M" else _Kind.PLAIN


def _name(char: str) -> str:
    code = ord(char)
    if char == "\n":
        return "␤"
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"
