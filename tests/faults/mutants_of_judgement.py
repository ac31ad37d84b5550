"""Deliberate bugs in what is judged: effort, risk, escalations, and the three parts of a turn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from loopx_kernel.domain import (
    effort,
    escalation,
    handed_in,
    handin_rules,
    handoff,
    risk,
    turn_receipt,
    turn_result,
)

from tests.faults.mutants import Mutant, Patch
from tests.kernel.domain import (
    test_effort,
    test_escalation,
    test_raw_lines,
    test_risk,
    test_turn,
)
from tests.kernel.domain.test_effort import CRASHED, FAILED, RISK, result, score
from tests.kernel.workspace.build import Place

MINUTE = test_risk.MINUTE


def nothing(*_: Any, **__: Any) -> None:
    """What a rule that was left out gives."""
    return


def by(test: Callable[..., None], *arguments: Any) -> Callable[[Place, Path, Patch], None]:
    """A killer that needs no ledger: the test, called with these."""
    return lambda place, folder, patch: test(*arguments)


# -- effort -------------------------------------------------------------------------------------


def _only_the_last_result(patch: Patch) -> None:
    stall = effort._stall

    def forgetful(todo: Any, *rest: Any) -> str:
        last = todo.effort.model_copy(update={"digests": todo.effort.digests[-1:]})
        return stall(todo.model_copy(update={"effort": last}), *rest)

    patch.setattr(effort, "_stall", forgetful)


def _scores_as_words(patch: Patch) -> None:
    patch.setattr(effort, "_better", lambda one, other: max(one or "", other or "") or None)


def _asked(turns: list[dict[str, Any]], expected: Any) -> Any:
    return by(test_effort.test_when_a_person_is_asked, turns, expected)


# -- risk ---------------------------------------------------------------------------------------


def _removals_unseen(patch: Patch) -> None:
    paths = risk._paths
    patch.setattr(risk, "_paths", lambda rule, mine, written, gone: paths(rule, mine, written, ()))


def _only_the_whole_command(patch: Patch) -> None:
    patch.setattr(risk, "_is_named", lambda state, rule, command: command.startswith("git push"))


# -- the three parts of a turn ------------------------------------------------------------------


def _any_result_is_verified(patch: Patch) -> None:
    with_result = turn_result.with_result

    def careless(*values: Any, **more: Any) -> Any:
        return with_result(*values, **more).model_copy(update={"verified": True})

    for module in (handed_in, turn_receipt):
        patch.setattr(module, "with_result", careless)


def _a_file_is_proof(patch: Patch) -> None:
    with_result = turn_result.with_result

    def careless(*values: Any, **more: Any) -> Any:
        return with_result(*values, **more | {"proven": True})

    for module in (handed_in, turn_receipt):
        patch.setattr(module, "with_result", careless)


def _in_one_order_only(patch: Patch) -> None:
    patch.setattr(handoff, "third", lambda *_: [])


def _items_of_any_todo(patch: Patch) -> None:
    for module in (handin_rules, turn_receipt):
        patch.setattr(module, "covers", lambda *_: True)


MUTANTS_OF_JUDGEMENT = [
    Mutant(
        "results that come and go by turns are taken for progress",
        _only_the_last_result,
        _asked([result(letter) for letter in "ABABAB"], (5, "no_progress")),
    ),
    Mutant(
        "a score of 10 is less than one of 9",
        _scores_as_words,
        _asked([score(value) for value in ("9.0", "10.0", "11.0", "12.0")], None),
    ),
    Mutant(
        "success is looked at before risk",
        lambda patch: patch.setattr(effort, "before_success", nothing),
        _asked([{"high_risk": RISK, "outcome": "done"}], (1, "high_risk")),
    ),
    Mutant(
        "turns without a receipt are counted for ever",
        lambda patch: patch.setattr(effort, "_count", lambda times, after: len(times)),
        _asked([CRASHED] + [{}] * 23 + [CRASHED], None),
    ),
    Mutant(
        "failures of the goal stop nothing",
        lambda patch: patch.setattr(effort, "_goal_capped", nothing),
        by(test_effort.test_the_failed_turns_of_the_whole_goal_within_a_window),
    ),
    Mutant(
        "what brings nothing goes on for ever",
        lambda patch: patch.setattr(effort, "_stopped", nothing),
        _asked([FAILED] * 3, (3, "no_progress")),
    ),
    Mutant(
        "leave for one path is leave for any",
        lambda patch: patch.setattr(risk, "_allows_path", lambda *_: True),
        by(
            test_risk.test_an_approval_of_something_else_or_used_before_is_none,
            lambda: test_risk.approved(action="write", paths=("infra/y.tf",)),
        ),
    ),
    Mutant(
        "a use before the turn is leave in it",
        lambda patch: patch.setattr(risk, "_is_allowed", lambda *_: True),
        by(
            test_risk.test_an_approval_of_something_else_or_used_before_is_none,
            lambda: test_risk.approved(action="write", paths=("infra/x.tf",), used=-MINUTE),
        ),
    ),
    Mutant(
        "what was removed is no risk",
        _removals_unseen,
        by(
            test_risk.test_what_is_a_risk,
            {"gone": ["data/x"]},
            [("delete@data/**", "delete data/x")],
        ),
    ),
    Mutant(
        "a command behind another is no risk",
        _only_the_whole_command,
        by(
            test_risk.test_what_is_a_risk,
            {"commands": ["cd x && git push"]},
            [("publish:git push*", "publish: cd x && git push")],
        ),
    ),
    Mutant(
        "a question is answered again",
        lambda patch: patch.setattr(escalation, "_require_open", nothing),
        by(test_escalation.test_it_is_answered_once, "go_on"),
    ),
    Mutant(
        "going on gives no new allowance",
        lambda patch: patch.setattr(escalation, "_with_new_allowance", lambda state, _: state),
        by(test_escalation.test_going_on_gives_a_new_allowance),
    ),
    Mutant(
        "an answer carries away what it likes",
        lambda patch: patch.setattr(escalation, "check_parts", nothing),
        by(test_escalation.test_parts_that_do_not_follow_do_nothing, {"answer": "cancel"}),
    ),
    Mutant(
        "what is finished is put before a person",
        lambda patch: patch.setattr(escalation, "refuse_finished", nothing),
        by(test_escalation.test_nothing_that_ended_is_put_before_a_person),
    ),
    Mutant(
        "words alone are a result",
        _any_result_is_verified,
        by(
            test_turn.TestSettling().test_scenario_27_two_of_three_are_no_progress,
            "progress",
            {"evidence": (), "handoff": "next"},
            "verified",
        ),
    ),
    Mutant(
        "prose is called proven",
        _a_file_is_proof,
        by(test_turn.TestSettling().test_prose_alone_is_unproven),
    ),
    Mutant(
        "a turn whose hand-over comes last stays open",
        _in_one_order_only,
        by(
            test_turn.TestOneByOne().test_in_any_order_the_third_closes,
            ("verified", "slots_booked", "state_written"),
        ),
    ),
    Mutant(
        "items of another todo prove this one",
        _items_of_any_todo,
        by(test_turn.TestSettling().test_items_of_another_todo_prove_nothing),
    ),
    Mutant(
        "a result in a line may be anything",
        lambda patch: patch.setattr(turn_result, "_is_result", lambda one: True),
        by(
            test_raw_lines.test_a_result_of_no_shape_is_no_result,
            *("turn.settled with acceptance", {"item_id": 1}),
        ),
    ),
]
