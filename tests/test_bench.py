"""The benchmarks' own arithmetic: what is broken counts as broken, and more work takes more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.results import Bound, Results, Times
from bench.scale import Constants, simulate
from bench.timing import in_turn

HERE = Constants(
    ask=0.1,
    write=0.15,
    ask_per_goal=0.0001,
    hold=0.004,
    fsync=0.0002,
    fsyncs=3,
    event_bytes=700,
    row_bytes=200,
    row_cpu=0.004,
    look_per_goal=0.0001,
    watches_per_goal=5,
    cores=2,
    watches=100_000,
)


def test_works_are_done_in_turn_and_the_first_round_does_not_count() -> None:
    done: list[tuple[str, int]] = []
    works = {name: lambda number, name=name: done.append((name, number)) for name in "ab"}
    times = in_turn(works, 2)
    assert done == [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2), ("b", 2)]
    assert all(len(taken.seconds) == 2 for taken in times.values())


def test_a_work_may_say_which_seconds_count() -> None:
    assert in_turn({"a": lambda number: number / 2}, 3)["a"].seconds == (0.5, 1.0, 1.5)


def test_a_ratio_is_that_of_the_rounds_not_of_the_medians() -> None:
    slow, quick = Times((2.0, 20.0, 4.0)), Times((1.0, 10.0, 1.0))
    assert slow.over(quick) == 2.0
    assert slow.spread == (3.0, 12.0)


@pytest.mark.parametrize(
    ("value", "most", "ok"),
    [(1.0, True, True), (1.1, True, False), (1.1, False, True), (0.9, False, False)],
)
def test_a_bound_holds_on_its_own_side(value: float, most: bool, ok: bool) -> None:
    assert Bound("b", value, 1.0, "x", most).ok is ok


@pytest.mark.parametrize("most", [True, False])
def test_what_was_not_measured_is_broken(most: bool) -> None:
    assert not Bound("b", None, 1.0, "x", most).ok


def test_the_page_has_every_figure_bound_and_omission() -> None:
    results = Results()
    results.section("Commands")
    results.times("loopx | status", Times((0.1, 0.1, 0.1)), "2.00 x")
    results.note("a peer is left out: npm is not on this machine")
    results.at_most("status", 2.0, 1.5, "x")
    page = results.page()
    assert "| loopx \\| status | 100.00 ms | 100.00 to 100.00 | 2.00 x |" in page
    assert "| status | 2.00 ≤ 1.50 x | NO |" in page
    assert "- a peer is left out: npm is not on this machine" in page
    assert [bound.name for bound in results.broken] == ["status"]


def test_more_agents_want_more_cores_until_the_machine_ends() -> None:
    few, many = simulate(HERE, 100, 10, 1), simulate(HERE, 100, 1_000, 1)
    assert few.cores < many.cores
    assert few.ends(HERE) == "-"
    assert many.ends(HERE).startswith("processor")
    assert many.answer > few.answer


def test_agents_of_one_goal_wait_for_its_lock() -> None:
    plenty = replace(HERE, cores=64, hold=0.05)
    together, apart = simulate(plenty, 1, 100, 1), simulate(plenty, 100, 100, 1)
    assert together.lock_wait > apart.lock_wait == 0


def test_viewers_use_up_the_watches() -> None:
    assert "inotify watches" in simulate(HERE, 10_000, 1, 3).ends(HERE)
