"""Whether a rule's command glob may mean a command, however that is spelled.

Errs on the side of asking: letter case, quotes, invisible characters, a path before the program
and words or commands before it tell nothing apart. No shell is imitated, so a rule that must
hold whatever the options names the kind alone or leaves room for them: ``git*push*``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from fnmatch import fnmatchcase

LONGEST = 4000
_QUOTES = re.compile(r"[\"'\\]")
_BETWEEN = re.compile(r"[;&|()`{}\n\r]|\$\(")


def may_mean(glob: str, command: str) -> bool:
    """Whether ``command`` may run what ``glob`` names. One too long to look at may."""
    if len(command) > LONGEST:
        return True
    wanted = " ".join(_plain(glob).split())
    return any(fnmatchcase(words, wanted) for words in _readings(_plain(command)))


def _readings(command: str) -> Iterator[str]:
    """The whole, and from each word on what one of its commands says."""
    yield " ".join(command.split())
    for part in _BETWEEN.split(command):
        words = part.split()
        for start, first in enumerate(words):
            rest = words[start + 1 :]
            yield " ".join([first, *rest])
            yield " ".join([first.rpartition("/")[2], *rest])


def _plain(text: str) -> str:
    shown = (c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf")
    return _QUOTES.sub("", "".join(shown)).casefold()
