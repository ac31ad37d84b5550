"""When the feed reads, rests and tells: on a clock of values, whatever comes when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopx_tui.agenda import (
    LONGEST_REST,
    PATIENCE,
    SPACE,
    STRETCH,
    Agenda,
    Begin,
    GoOn,
    Stop,
    Tell,
    Wait,
)

GOALS = ("a", "b", "c")
LATER = 60.0
"""Seconds after which a person may have anything else of the screen."""


class Came(NamedTuple):
    """Something that comes at a moment: a goal that changed, or a person's wish."""

    at: float
    what: Literal["a", "b", "c", "all", "ask"]


class Done(NamedTuple):
    """An act, when it began and ended, and the goal that it read."""

    act: object
    begun: float
    ended: float
    goal: str = ""


@dataclass
class Day:
    """A feed that does what its agenda says; a goal takes ``cost`` seconds, telling ``say``."""

    cost: float
    say: float = 0.001
    now: float = 0.0
    done: list[Done] = field(default_factory=list)
    _left: list[str] = field(default_factory=list)

    def live(self, coming: Sequence[Came], *, until: float) -> None:
        agenda, waiting = Agenda(), sorted(coming)
        while self.now < until:
            while waiting and waiting[0].at <= self.now:
                _take(agenda, waiting.pop(0).what)
            act = agenda.next(self.now, None)
            assert not isinstance(act, Stop)
            if isinstance(act, Wait):
                moments = [until, *(one.at for one in waiting[:1])]
                moments += [] if act.seconds is None else [self.now + act.seconds]
                assert act.seconds is None or act.seconds > 0
                self.now = min(moments)
            else:
                self._do(agenda, act)

    def _do(self, agenda: Agenda, act: Tell | Begin | GoOn) -> None:
        begun, goal = self.now, ""
        if isinstance(act, Begin):
            assert not self._left
            self._left = [*GOALS] if act.wish.everything else sorted(act.wish.goals)
        if not isinstance(act, Tell):
            goal = self._left.pop(0)
        self.now += self.say if isinstance(act, Tell) else self.cost
        agenda.did(act, begun, self.now, over=not self._left)
        self.done.append(Done(act, begun, self.now, goal))

    def readings(self, goal: str) -> list[Done]:
        return [one for one in self.done if one.goal == goal]

    @property
    def tellings(self) -> list[Done]:
        return [one for one in self.done if isinstance(one.act, Tell)]


def _take(agenda: Agenda, what: str) -> None:
    if what == "ask":
        agenda.ask()
    else:
        agenda.changed((what,) if what != "all" else (), everything=what == "all")


COMING = st.lists(
    st.builds(
        Came,
        st.floats(min_value=0, max_value=5),
        st.sampled_from(["a", "b", "c", "all", "ask"]),
    ),
    max_size=60,
)
COST = st.floats(min_value=0.0005, max_value=0.6)


@given(COMING, COST)
def test_whatever_comes_is_read_and_told(coming: list[Came], cost: float) -> None:
    day = Day(cost)
    day.live(coming, until=LATER)
    last_told = day.tellings[-1].begun
    for one in coming:
        goals = {"all": GOALS, "ask": ()}.get(one.what, (one.what,))
        for goal in goals:
            read = [reading for reading in day.readings(goal) if reading.begun >= one.at]
            assert read
            assert read[0].ended <= last_told
    assert {goal for goal in GOALS if day.readings(goal)} == {*GOALS}


@given(COMING, COST)
def test_it_is_told_at_most_four_times_a_second_unless_a_person_asks(
    coming: list[Came], cost: float
) -> None:
    day = Day(cost)
    day.live([one for one in coming if one.what != "ask"], until=LATER)
    ended = [one.ended for one in day.tellings]
    assert all(
        next_.begun - before >= SPACE - 1e-9
        for before, next_ in zip(ended, day.tellings[1:], strict=False)
    )


@given(COST)
def test_in_a_burst_it_rests_as_long_as_it_works(cost: float) -> None:
    burst = [Came(number / 50, GOALS[number % 3]) for number in range(500)]
    day = Day(cost)
    day.live(burst, until=10.0)
    worked, since = 0.0, day.done[0].begun
    for one, following in zip(day.done, day.done[1:], strict=False):
        worked += one.ended - one.begun
        if following.begun - one.ended > 1e-9:
            worked, since = 0.0, following.begun
        # It never goes on for longer than a stretch and one act.
        assert worked <= STRETCH + max(cost, day.say) + 1e-9, since
    busy = sum(one.ended - one.begun for one in day.done)
    longest = STRETCH + cost
    share = max(0.5, longest / (longest + LONGEST_REST))
    # A telling may fall into a rest.
    assert busy <= day.now * share + longest + cost + len(day.tellings) * day.say


@pytest.mark.parametrize("cost", [0.002, 0.04])
def test_the_first_change_after_quiet_is_read_and_told_at_once(cost: float) -> None:
    day = Day(cost)
    day.live([Came(20.0, "b")], until=LATER)
    (reading,) = [one for one in day.done if one.goal == "b" and one.begun >= 20.0]
    (telling,) = [one for one in day.tellings if one.begun >= 20.0]
    assert reading.begun == 20.0
    assert telling.begun == reading.ended


def test_what_takes_long_is_told_on_the_way() -> None:
    day = Day(0.08)
    day.live([], until=LATER)
    first = day.tellings[0].begun
    assert [one.goal for one in day.done if one.goal and one.ended <= first] == ["a"]
    assert first >= PATIENCE
    assert len(day.tellings) == 2


def test_a_person_who_asks_waits_for_no_rest() -> None:
    burst = [Came(number / 50, "a") for number in range(100)]
    day = Day(0.06)
    day.live([*burst, Came(1.111, "ask")], until=5.0)
    before = max(one.ended for one in day.done if one.begun < 1.111)
    telling = next(one for one in day.tellings if one.begun >= 1.111)
    assert telling.begun == max(before, 1.111)


def test_nothing_is_told_before_anything_was_read() -> None:
    agenda = Agenda()
    agenda.ask()
    assert isinstance(agenda.next(0.0, None), Begin)


def test_what_the_clock_alone_changes_is_read_when_it_is_due() -> None:
    agenda = Agenda()
    begin = agenda.next(0.0, None)
    agenda.did(begin, 0.0, 0.01, over=True)
    agenda.did(agenda.next(0.01, None), 0.01, 0.02)
    assert agenda.next(1.0, 3.0) == Wait(2.0)
    assert isinstance(agenda.next(3.0, 3.0), Begin)


def test_after_the_stop_there_is_nothing_else() -> None:
    agenda = Agenda()
    agenda.stop()
    assert isinstance(agenda.next(0.0, None), Stop)
