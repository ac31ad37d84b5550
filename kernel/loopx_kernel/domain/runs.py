"""Sets of numbers that mostly follow one another, kept as their unbroken runs."""

from __future__ import annotations

from bisect import bisect_right
from typing import TypeAlias

from loopx_kernel.domain.record import Count

Runs: TypeAlias = tuple[tuple[Count, Count], ...]
"""First and last number of each run, in rising order; no two runs touch."""


def holds(runs: Runs, number: int) -> bool:
    """Whether the number is in the set."""
    place = _place(runs, number)
    return place > 0 and number <= runs[place - 1][1]


def adding(runs: Runs, number: int) -> Runs:
    """The set with the number in it."""
    place = _place(runs, number)
    before, after = runs[:place], runs[place:]
    if before and number <= before[-1][1]:
        return runs
    first = last = number
    if before and before[-1][1] == number - 1:
        first, before = before[-1][0], before[:-1]
    if after and after[0][0] == number + 1:
        last, after = after[0][1], after[1:]
    return (*before, (first, last), *after)


def _place(runs: Runs, number: int) -> int:
    return bisect_right(runs, number, key=lambda run: run[0])
