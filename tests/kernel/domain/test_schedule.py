"""When to ring next."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.domain import schedule
from loopx_kernel.domain.rules import Cadence

from tests.kernel.domain.build import NOW


def seconds(count: int) -> timedelta:
    return timedelta(seconds=count)


@pytest.mark.parametrize(
    ("since", "wake", "step", "number"),
    [
        (0, 600, 600, 1),
        (599, 600, 600, 1),
        (600, 1800, 1200, 2),
        (1799, 1800, 1200, 2),
        (1800, 5400, 3600, 3),
        (5400, 9000, 3600, 4),
        (9000, 12600, 3600, 4),
        (12599, 12600, 3600, 4),
        (12600, 16200, 3600, 4),
        (3_600_000, 3_603_600, 3600, 4),
    ],
)
def test_the_ladder(since: int, wake: int, step: int, number: int) -> None:
    hint = schedule.ladder(NOW + seconds(since), NOW, Cadence())
    if since == 3_600_000:
        wake = 5400 + 3600 * ((since - 5400) // 3600 + 1)
    assert hint.next_wake_at == NOW + seconds(wake)
    assert (hint.interval_seconds, hint.basis, hint.step) == (step, "ladder", number)


def test_the_ladder_is_computed_not_counted() -> None:
    looks = [schedule.ladder(NOW + seconds(1000), NOW, Cadence()) for _ in range(5)]
    assert set(looks) == {looks[0]}


def test_an_empty_ladder_rings_at_the_shortest_interval() -> None:
    hint = schedule.ladder(NOW + seconds(90), NOW, Cadence(shortest_seconds=60, ladder_seconds=()))
    assert hint.next_wake_at == NOW + seconds(120)


@given(
    st.integers(-5000, 200_000),
    st.lists(st.integers(1, 9000), max_size=5).map(tuple),
)
def test_a_wake_up_is_never_in_the_past(since: int, steps: tuple[int, ...]) -> None:
    now = NOW + seconds(since)
    cadence = Cadence(ladder_seconds=steps)
    hint = schedule.ladder(now, NOW, cadence)
    assert hint.next_wake_at is not None
    assert hint.next_wake_at > now
    if since >= 0:
        assert hint.next_wake_at <= now + seconds(max(steps, default=60))


@given(st.integers(0, 100_000), st.integers(1, 5000))
def test_a_rhythm_does_not_climb(since: int, every: int) -> None:
    hint = schedule.rhythm(NOW + seconds(since), NOW, every)
    assert hint.next_wake_at is not None
    beat = int((hint.next_wake_at - NOW).total_seconds())
    assert beat % every == 0
    assert since < beat <= since + every
    assert hint.basis == "fact_rhythm"


def test_the_soonest_of_several() -> None:
    soon = schedule.at(NOW, NOW + seconds(5), "date")
    late = schedule.at(NOW, NOW + seconds(9), "lease_end")
    assert schedule.soonest([late, schedule.NEVER, soon]) == soon
    assert schedule.soonest([schedule.NEVER]) is None
    assert soon.interval_seconds == 5
