"""Letters that look like others: each one named where a word mixes alphabets."""

from __future__ import annotations

import re
import unicodedata

from loopx_kernel.text import safe

_WORD = re.compile(r"\w+")
_LOOK_ALIKE = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "FULLWIDTH", "MATHEMATICAL")


def look_alikes(text: str) -> list[str]:
    """Words that mix Latin letters with letters that look like them, each such one named."""
    if text.isascii():
        return []
    return [_spelled(word) for word in _WORD.findall(text) if _is_mixed(word)]


def _is_mixed(word: str) -> bool:
    return any(char.isascii() and char.isalpha() for char in word) and any(map(_is_alike, word))


def _is_alike(char: str) -> bool:
    return not char.isascii() and unicodedata.name(char, "").startswith(_LOOK_ALIKE)


def _spelled(word: str) -> str:
    return "".join(f"{char}⟨U+{ord(char):04X}⟩" if _is_alike(char) else char for char in safe(word))
