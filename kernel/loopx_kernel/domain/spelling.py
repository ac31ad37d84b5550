"""Whether a rule's command glob may mean a command, however that is spelled.

Errs on the side of asking: letter case, quotes, invisible characters, a path before the program,
words or commands before it, and options between the words of the glob tell nothing apart
(``git -c a=b push`` is a ``git push``). No shell is imitated: what an alias, a variable or a
script stands for is not seen, so a rule that must hold whatever is typed names the kind alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from fnmatch import fnmatchcase

LONGEST = 4000
_APART = 8
"""Between how many of a glob's words options are looked for; programs and their parts are fewer."""
_QUOTES = re.compile(r"[\"'\\]")
_BETWEEN = re.compile(r"[;&|()`{}\n\r]|\$\(")


def may_mean(glob: str, command: str) -> bool:
    """Whether ``command`` may run what ``glob`` names. One too long to look at may."""
    if len(command) > LONGEST:
        return True
    wanted, plain = _plain(glob).split(), _plain(command)
    if fnmatchcase(" ".join(plain.split()), " ".join(wanted)):
        return True
    return any(_runs(wanted, part.split()) for part in _BETWEEN.split(plain))


def _runs(wanted: Sequence[str], words: Sequence[str]) -> bool:
    """Whether what the glob names begins at one of the words, with or without a path before it."""
    program, rest = (wanted[0], wanted[1:]) if wanted else ("", ())
    after = _places(rest, words)
    for start, first in enumerate(words):
        for name in (first, first.rpartition("/")[2]):
            if fnmatchcase(" ".join([name, *words[start + 1 :]]), " ".join(wanted)):
                return True
            if rest and start + 1 in after and fnmatchcase(name, program):
                return True
    return False


def _places(wanted: Sequence[str], words: Sequence[str]) -> set[int]:
    """From which words on those of the glob are found, with options between its first ones."""
    found: set[int] = set()
    for number in reversed(range(min(len(wanted), _APART))):
        found = _places_of(wanted[number], " ".join(wanted[number:]), words, found)
    return found


def _places_of(first: str, all_of_it: str, words: Sequence[str], rest: set[int]) -> set[int]:
    """From which words on ``all_of_it`` is found, or ``first`` and then one of the ``rest``.

    An option may have a value of its own, and nobody can tell from outside which do.
    """
    found: set[int] = set()
    for place in reversed(range(len(words))):
        is_first = place + 1 in rest and fnmatchcase(words[place], first)
        is_option = words[place].startswith("-") and bool({place + 1, place + 2} & found)
        if is_first or is_option or fnmatchcase(" ".join(words[place:]), all_of_it):
            found.add(place)
    return found


def _plain(text: str) -> str:
    shown = (c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf")
    return _QUOTES.sub("", "".join(shown)).casefold()
