"""When a person must look: table by table, from one turn to the next."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.domain.effort import Judged, judge_turn
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.records_of_work import Effort, Escalation
from loopx_kernel.domain.rules import JudgeRule, Limits
from loopx_kernel.domain.state import GoalState
from loopx_kernel.text import check_line

from tests.kernel.domain.build import NOW, add, opened

HOUR = timedelta(hours=1)
TURN: dict[str, Any] = {
    "outcome": "progress",
    "progress": True,
    "result_digest": None,
    "score": None,
}
NOTHING = {"outcome": "progress", "progress": False}
FAILED = {"outcome": "failed", "progress": False}
CRASHED = {"outcome": "failed", "progress": False, "recovered": True}
RISK = [("write@infra/**", "write infra/x.tf")]


def goal(kind: str = "work", **limits: Any) -> GoalState:
    """A goal with one todo, T1, and a judge that must be sure."""
    judge = JudgeRule(command="judge", votes=3, min_confidence="0.7")
    book = opened(limits=Limits(**limits), judge=judge)
    book.do(add("Work", kind=kind))
    return book.state


def result(letter: str) -> dict[str, Any]:
    return {"result_digest": letter.lower() * 64}


def score(value: str) -> dict[str, Any]:
    return {"score": value}


def after(state: GoalState, judged: Judged) -> GoalState:
    todo = state.todos["T1"].model_copy(update={"effort": judged.effort})
    return state.with_todo(todo).model_copy(update={"failures": judged.failures})


def judge(state: GoalState, at: datetime = NOW, **values: Any) -> Judged:
    return judge_turn(state, state.todos["T1"], at=at, **(TURN | values))


def causes(state: GoalState, *turns: dict[str, Any], step: timedelta = HOUR) -> list[str | None]:
    """The cause after each of these turns, an hour apart."""
    found: list[str | None] = []
    for number, values in enumerate(turns):
        judged = judge(state, NOW + number * step, **values)
        found.append(judged.cause)
        state = after(state, judged)
    return found


def first(found: list[str | None]) -> tuple[int, str] | None:
    """In which turn a person was first asked, and why."""
    return next(((number, one) for number, one in enumerate(found, 1) if one), None)


OTHERS = [result(letter) for letter in "0123456789abcdef"]


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([result("A")] * 5, (4, "no_progress")),
        ([result(letter) for letter in "ABABAB"], (5, "no_progress")),
        ([result(letter) for letter in "ABCABC"], (6, "no_progress")),
        ([result(letter) for letter in "AABAC"], None),
        ([result(letter) for letter in "AABBCC"], None),
        ([*OTHERS, result("0"), result("1"), result("2")], (19, "no_progress")),
        ([{}] * 9, None),
        ([NOTHING] * 3, (3, "no_progress")),
        ([FAILED] * 3, (3, "no_progress")),
        ([{"outcome": "blocked", "progress": False}] * 3, (3, "no_progress")),
        ([NOTHING, NOTHING, {}, NOTHING, NOTHING], None),
        ([FAILED, result("A"), result("A") | FAILED, result("A")], None),
        ([score("0.0")] * 9, None),
        ([score("2.0")] * 5, (4, "no_progress")),
        ([score(value) for value in ("3.0", "2.0", "1.0", "2.9")], (4, "no_progress")),
        ([score(value) for value in ("1.0", "1.1", "1.2", "1.3", "1.4")], None),
        ([score(value) for value in ("9.0", "10.0", "11.0", "12.0")], None),
        ([score("1.0"), score("1.0"), {}, score("1.0"), score("1.0")], None),
        ([NOTHING, result("A"), NOTHING, CRASHED, NOTHING, NOTHING], (6, "no_progress")),
        ([NOTHING, CRASHED, NOTHING], None),
        ([CRASHED, CRASHED], (2, "capped")),
        ([CRASHED, {}, {}, CRASHED], (4, "capped")),
        ([CRASHED] + [{}] * 23 + [CRASHED], None),
        ([CRASHED] + [{}] * 22 + [CRASHED], (24, "capped")),
        ([FAILED, FAILED, {"outcome": "done"}], None),
        ([result("A"), result("A"), result("A"), result("A") | {"outcome": "done"}], None),
        ([{"confidence": "0.7"}], None),
        ([{"confidence": "0.69"}], (1, "low_confidence")),
        ([{"confidence": "0.667", "outcome": "done"}], (1, "low_confidence")),
        ([{"high_risk": RISK, "confidence": "0.1"}], (1, "high_risk")),
        ([{"high_risk": RISK, "outcome": "done"}], (1, "high_risk")),
        ([NOTHING, NOTHING, NOTHING | {"confidence": "0.1"}], (3, "low_confidence")),
        ([CRASHED, NOTHING, NOTHING, NOTHING | {"high_risk": RISK}], (4, "high_risk")),
    ],
)
def test_when_a_person_is_asked(
    turns: list[dict[str, Any]], expected: tuple[int, str] | None
) -> None:
    assert first(causes(goal(), *turns)) == expected


def test_the_limits_are_in_the_rules() -> None:
    assert first(causes(goal(turns_without_progress=2), *[result("A")] * 4)) == (3, "no_progress")
    abab = [result(letter) for letter in "ABAB"]
    assert first(causes(goal(turns_without_progress=2), *abab)) == (4, "no_progress")
    assert first(causes(goal(remembered_results=1), *abab, *abab)) is None
    assert first(causes(goal(turns_per_todo=4), *[{}] * 5)) == (4, "capped")
    assert first(causes(goal(recoveries_per_day=3), *[CRASHED] * 5)) == (3, "capped")


def test_looking_after_something_changes_nothing_and_may_do_so() -> None:
    same = result("A") | score("1.0")
    assert first(causes(goal("monitor"), *[same] * 9)) is None
    assert first(causes(goal("monitor"), *[NOTHING] * 3)) == (3, "no_progress")


def test_the_failed_turns_of_the_whole_goal_within_a_window() -> None:
    state = goal(turns_without_progress=100)
    found = [judge(state, NOW, **FAILED)]
    for number in range(1, 24):
        state = after(state, found[-1])
        found.append(judge(state, NOW + number * timedelta(minutes=1), **FAILED))
    assert [one.cause for one in found] == [None] * 23 + ["capped"]
    assert found[-1].whole_goal
    assert "24 turns of the goal failed" in found[-1].detail
    # As many, but not within one window of 24 hours.
    assert first(causes(goal(turns_without_progress=100), *[FAILED] * 30, step=2 * HOUR)) is None


def test_a_time_far_ahead_forgets_no_failure() -> None:
    state = after(goal(), judge(goal(), NOW, **FAILED))
    state = after(state, judge(state, NOW + 1000 * HOUR, **FAILED))
    assert state.failures == (NOW, NOW + 1000 * HOUR)


def asked(state: GoalState, todo_id: str | None) -> GoalState:
    one = Escalation(id="E1", cause="capped", todo_id=todo_id, detail="x", at=NOW, seq=state.seq)
    return state.with_escalation(one)


def test_one_question_at_a_time_on_a_todo_and_on_the_goal() -> None:
    state = goal(failed_turns_per_window=3)
    for _ in range(2):
        state = after(state, judge(state, NOW, **FAILED))
    assert judge(state, NOW, **FAILED).whole_goal
    assert judge(state, NOW, **FAILED, high_risk=RISK).cause == "high_risk"
    whole = judge(asked(state, "T1"), NOW, **FAILED, high_risk=RISK)
    assert (whole.cause, whole.whole_goal) == ("capped", True)
    both = asked(asked(state, "T1").model_copy(update={"escalations": {}}), None)
    assert judge(both, NOW, **FAILED).cause == "no_progress"
    everything = asked(state, "T1").with_escalation(
        Escalation(id="E2", cause="capped", detail="x", at=NOW, seq=1)
    )
    assert judge(everything, NOW, **FAILED, high_risk=RISK).cause is None


def test_a_risk_is_told_by_what_was_done_and_by_which_rule_asks_for_it() -> None:
    risks = [("write@infra/**", f"write infra/{number}.tf") for number in range(5)]
    judged = judge(goal(), high_risk=risks)
    assert "write infra/0.tf (write@infra/**)" in judged.detail
    assert "and 3 more" in judged.detail
    hostile = judge(goal(), high_risk=[("x" * 4000, "write a\nb\x1b[2J\u202e" + "y" * 4000)] * 9)
    assert check_line(hostile.detail, "detail") == hostile.detail


def test_what_is_remembered_is_bounded() -> None:
    state = goal(failed_turns_per_window=5)
    for number in range(40):
        digest = f"{number:064x}"
        state = after(state, judge(state, NOW, **CRASHED, result_digest=digest))
    effort = state.todos["T1"].effort
    assert (effort.turns, effort.failed) == (40, 40)
    assert len(effort.digests) == 16
    assert len(effort.recoveries) == 2
    assert len(state.failures) == 5


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "outcome": st.sampled_from(["done", "progress", "blocked", "failed"]),
                "progress": st.booleans(),
                "recovered": st.booleans(),
                "result_digest": st.sampled_from([None, "a" * 64, "b" * 64]),
                "score": st.sampled_from([None, "0.0", "0.5", "10.0"]),
            }
        ),
        max_size=30,
    )
)
def test_whoever_brings_nothing_is_stopped_and_whoever_brings_something_is_not(
    turns: list[dict[str, Any]],
) -> None:
    state = goal()
    fruitless = 0
    for values in turns:
        values["progress"] = values["progress"] and values["outcome"] in ("done", "progress")
        judged = judge(state, NOW, **values)
        todo: Todo = state.todos["T1"]
        assert judged.effort.turns == todo.effort.turns + 1
        if not values["recovered"]:
            fruitless = 0 if values["progress"] else fruitless + 1
            assert judged.effort.streak >= fruitless
            assert fruitless < 3 or judged.cause is not None
        if judged.effort == Effort(turns=judged.effort.turns, score=judged.effort.score):
            assert judged.cause is None
        state = after(state, judged)
