"""The levels of a signature: their order, and which a key reaches."""

from __future__ import annotations

from itertools import product

import pytest
from loopx_kernel.domain.event import Level
from loopx_kernel.domain.levels import LEVELS, level_of_key, reaches


def test_the_order_is_the_documented_one() -> None:
    assert LEVELS == ("none", "software", "passphrase", "confirmed", "presence")


@pytest.mark.parametrize(
    ("key", "unattended", "confirmed", "level"),
    [
        ("ssh-ed25519 AAAA", False, False, "passphrase"),
        ("ssh-ed25519 AAAA", False, True, "confirmed"),
        ("ssh-rsa AAAA", True, False, "software"),
        ("ssh-rsa AAAA", True, True, "software"),
        ("sk-ssh-ed25519@openssh.com AAAA", False, False, "presence"),
        ("sk-ecdsa-sha2-nistp256@openssh.com AAAA", True, False, "presence"),
    ],
)
def test_the_level_of_a_key(key: str, unattended: bool, confirmed: bool, level: Level) -> None:
    assert level_of_key(key, allow_unattended=unattended, confirmed=confirmed) == level


@pytest.mark.parametrize(("level", "wanted"), list(product(LEVELS, LEVELS)))
def test_a_level_reaches_itself_and_what_is_weaker(level: Level, wanted: Level) -> None:
    assert reaches(level, wanted) is (LEVELS.index(level) >= LEVELS.index(wanted))
    assert reaches(level, None)
