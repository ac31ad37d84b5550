"""Deliberate bugs in gates and limits: what a rule covers, what a judge may admit, the one use of
an approval, and what nobody may fill or hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from loopx_kernel.domain import admission, gate_use, goal, rules, spelling, todo
from loopx_kernel.domain.state import GoalState
from loopx_kernel.observe import touched

from tests.faults.mutants import Mutant, Patch
from tests.faults.mutants_of_judgement import by, nothing
from tests.kernel.domain import (
    test_admission,
    test_rules,
    test_spelling,
    test_todo,
    test_withdrawal,
)
from tests.kernel.observe import test_touched
from tests.kernel.workspace.build import Place


def _read_as_it_is_typed(patch: Patch) -> None:
    def plain(action: Any) -> bool:
        return any(map(admission._SECRET.search, (action.command, *action.paths)))

    patch.setattr(test_admission, "looks_secret", plain)


def _is_approved(wrong: str) -> Callable[[Patch], None]:
    """A gate that stands so gives leave."""
    status = GoalState.gate_status

    def generous(self: GoalState, gate: Any, now: Any) -> Any:
        found = status(self, gate, now)
        return "approved" if found == wrong else found

    return lambda patch: patch.setattr(GoalState, "gate_status", generous)


def _admitted_and_not_written_down(patch: Patch) -> None:
    patch.setattr(gate_use, "with_admitted", lambda state, *_: state)


def _by_the_kind_alone(patch: Patch) -> None:
    covers = rules.rule_covers

    def believing(rule: Any, *, action: str, **more: Any) -> bool:
        return rule.kind == action and covers(rule, action=action, **more)

    patch.setattr(test_rules, "rule_covers", believing)


def _made_ready_before(place: Place, folder: Path, patch: Patch) -> None:
    patch.setenv("HOME", str(folder / "home"))
    repo = test_touched.made(folder / "mall")
    test_touched.test_a_folder_made_ready_before_and_put_in_its_place_is_told(repo, "infra")


MUTANTS_OF_GATES = [
    Mutant(
        "an option hides what a rule names",
        lambda patch: patch.setattr(spelling, "_places", lambda *_: set()),
        by(
            test_spelling.test_options_between_its_words_are_no_way_around,
            test_spelling.PUSH,
            "git -c a=b push",
        ),
    ),
    Mutant(
        "what a rule names is done under another word",
        _by_the_kind_alone,
        by(
            test_rules.test_what_a_rule_covers,
            *("publish:git push*", "network", "git push origin main", (), True),
        ),
    ),
    Mutant(
        "a folder that was moved in is as it always was",
        lambda patch: patch.setattr(touched._Moved, "holds", lambda *_: False),
        _made_ready_before,
    ),
    Mutant(
        "an agent adds todos without end",
        lambda patch: patch.setattr(todo, "_refuse_flood", nothing),
        by(test_todo.test_what_an_agent_added_and_nobody_finished_has_a_limit),
    ),
    Mutant(
        "a retired goal keeps others from their files",
        lambda patch: patch.setattr(goal, "returns", lambda _: []),
        by(test_withdrawal.test_a_retired_goal_holds_nobodys_files),
    ),
    Mutant(
        "a judge admits two commands in one",
        lambda patch: patch.setattr(admission, "_COMPOUND", admission.re.compile(r"(?!)")),
        by(
            test_admission.test_what_no_judge_is_asked_about,
            test_admission.Action(action="notify", command="send-digest; git push origin main"),
            "simple",
        ),
    ),
    Mutant(
        "what another rule names is admitted under a harmless kind",
        lambda patch: patch.setattr(admission, "_names", lambda *_: False),
        by(
            test_admission.test_what_no_judge_is_asked_about,
            test_admission.Action(action="notify", command="send-digest", paths=("infra/x.tf",)),
            "write@infra",
        ),
    ),
    Mutant(
        "a judge overrules a person",
        lambda patch: patch.setattr(admission, "before_a_person", nothing),
        by(
            test_admission.test_what_is_before_a_person_or_refused_by_one_no_judge_admits,
            "rejected",
        ),
    ),
    Mutant(
        "a run that nobody watches asks to change its own loop",
        lambda patch: patch.setattr(admission, "OF_ITSELF", frozenset()),
        by(
            test_admission.test_a_run_that_nobody_watches_does_not_ask_to_change_its_own_loop,
            "self-upgrade",
        ),
    ),
    Mutant(
        "a secret in wide letters goes to the judge",
        _read_as_it_is_typed,
        by(test_admission.test_what_looks_like_a_secret, "x ｔｏｋｅｎ"),
    ),
    Mutant(
        "an approval that ran out is leave",
        _is_approved("expired"),
        by(test_admission.test_the_whole_life_of_a_gate, "expired", "used"),
    ),
    Mutant(
        "an approval is used twice",
        _is_approved("used"),
        by(test_admission.test_the_whole_life_of_a_gate, "used", "used"),
    ),
    Mutant(
        "what a judge admitted stands nowhere",
        _admitted_and_not_written_down,
        by(test_admission.test_one_word_is_one_use),
    ),
    Mutant(
        "a line says what a judge admitted",
        lambda patch: patch.setattr(gate_use, "check_admitted", nothing),
        by(
            test_admission.test_a_line_written_by_hand_admits_nothing_else,
            {"asked": {"action": "notify", "command": "send-digest --to all"}},
        ),
    ),
]
