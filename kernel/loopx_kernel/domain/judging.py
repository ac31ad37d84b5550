"""What a judge is asked, and what its votes amount to."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_DOWN, Decimal
from typing import Literal

from loopx_kernel.value import Value

REQUEST_SCHEMA = "loopx_judge_request_v0"
_SCALE = frozenset(map(str, range(11)))


class Verdict(Value):
    """The outcome of a vote; ``score`` is its median from 0 to 10, ``confidence`` the share of
    votes on the winning side, a decimal as text. Where no vote counts both say nothing."""

    result: Literal["passed", "failed", "inconclusive"]
    score: int | None
    confidence: str


def vote_of(word: str | None) -> int | None:
    """The vote that is exactly this word; ``None`` for anything else."""
    return int(word) if word in _SCALE else None


def verdict(votes: Sequence[int | None], threshold: int) -> Verdict:
    """A strict majority at or above ``threshold`` passes; a vote that is none is a no.

    The median is the lower of two, so it is at the threshold exactly where the vote passed.
    """
    counted = [vote for vote in votes if vote is not None]
    if not counted:
        return Verdict("inconclusive", None, "0")
    yes = sum(vote >= threshold for vote in counted)
    passed = 2 * yes > len(votes)
    median = sorted(vote or 0 for vote in votes)[(len(votes) - 1) // 2]
    winning = yes if passed else len(votes) - yes
    share = (Decimal(winning) / len(votes)).quantize(Decimal("0.001"), ROUND_DOWN)
    return Verdict("passed" if passed else "failed", median, str(share.normalize()))
