"""How strongly a signature speaks for its owner: the levels, weakest first.

Only ``presence`` shows in a signature itself. What else a key asks of its owner
nobody can tell from what it signed, nor does the protocol of ssh-agent say it;
so it is what an owner claimed in the enrolment, which is signed, and is shown as
their claim. LoopX itself uses a key only in the way it was enrolled.

| level | says |
| --- | --- |
| ``none`` | there is no signature that counts |
| ``software`` | whatever runs as the owner may sign: ``--allow-unattended`` |
| ``passphrase`` | claimed: the passphrase is typed at each decision |
| ``confirmed`` | claimed: an agent holds the key, and asks its owner at each use |
| ``presence`` | proven: a hardware key was touched; claimed: that it is one |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from loopx_kernel.domain.event import Level

MEANING: Mapping[Level, str] = {
    "none": "no signature that counts",
    "software": "whatever runs as this user may sign with it, with nobody present",
    "passphrase": "its passphrase is typed at each decision, as its owner claims",
    "confirmed": "ssh-agent asks its owner at each use, as its owner claims",
    "presence": "a hardware key that is touched for each signature",
}
"""What each level says, in words for people."""

LEVELS: tuple[Level, ...] = get_args(Level)


def level_of_key(key_line: str, *, allow_unattended: bool, confirmed: bool) -> Level:
    """The level of a decision with a key that was enrolled so; ``key_line`` begins with its
    kind. Of a hardware key only a signature that it was touched for counts."""
    if is_hardware(key_line):
        return "presence"
    if allow_unattended:
        return "software"
    return "confirmed" if confirmed else "passphrase"


def is_hardware(key_line: str) -> bool:
    """Whether a public key line is that of a hardware key."""
    return key_line.startswith("sk-")


def reaches(level: Level, wanted: Level | None) -> bool:
    """Whether a decision at ``level`` is as strong as is ``wanted``."""
    return wanted is None or LEVELS.index(level) >= LEVELS.index(wanted)
