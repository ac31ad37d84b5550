"""Deliberate bugs in changes of mind, each with the test that must notice it."""

from __future__ import annotations

from typing import Any

from loopx_kernel.domain import cancel, gate_decide, handin_rules, patched_rules, proposal, replan
from loopx_kernel.domain.state import GoalState
from loopx_kernel.workspace import approvals

from tests.faults.mutants import Mutant, Patch
from tests.kernel.domain import test_cancel, test_patched_rules, test_propose, test_replan
from tests.kernel.domain.build import CLAUDE
from tests.kernel.workspace import test_forged_caches


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _any_successor(patch: Patch) -> None:
    patch.setattr(cancel, "check_successor", _nothing)


def _circles(patch: Patch) -> None:
    patch.setattr(cancel, "_refuse_circle", _nothing)


def _superseded_is_done(patch: Patch) -> None:
    patch.setattr(GoalState, "has_ended", GoalState.is_finished)


def _endings_left_out(patch: Patch) -> None:
    patch.setattr(cancel, "check_parts", _nothing)


def _todos_left_behind(patch: Patch) -> None:
    patch.setattr(replan, "_refuse_unbound", _nothing)


def _bindings_left_out(patch: Patch) -> None:
    patch.setattr(replan, "check_parts", _nothing)


def _done_without_a_route(patch: Patch) -> None:
    patch.setattr(handin_rules, "refuse_unfulfilled", _nothing)


def _approved_without_its_change(patch: Patch) -> None:
    patch.setattr(gate_decide, "check_parts", _nothing)


def _meaning_not_in_the_digest(patch: Patch) -> None:
    patch.setattr(proposal, "_MEANING", set())


def _results_outlive_their_items(patch: Patch) -> None:
    patch.setattr(patched_rules, "_results", lambda state, new: state.results)


def _rules_from_a_cache(patch: Patch) -> None:
    def believed(ledger: Any) -> Any:
        line = approvals.line_with_seq(ledger.journal, ledger.state.rules_seq)
        return ledger.event_of(line) if line.seq > 1 else None

    patch.setattr(approvals, "_laid_since", believed)


MUTANTS_OF_CHANGES = [
    Mutant(
        "any todo takes the place of another",
        _any_successor,
        lambda place, folder, patch: test_cancel.test_what_cannot_be_taken_away(
            cancel.SupersedeTodo(todo_id="T3", by="T5", reason="x"), "lineage_invalid"
        ),
    ),
    Mutant(
        "a successor waits for what it supersedes",
        _circles,
        lambda place, folder, patch: (
            test_cancel.test_a_circle_is_seen_through_what_was_superseded_before()
        ),
    ),
    Mutant(
        "what was superseded counts as done",
        _superseded_is_done,
        lambda place, folder, patch: (
            test_cancel.test_work_that_needs_a_superseded_todo_waits_for_its_successor()
        ),
    ),
    Mutant(
        "a todo goes and its lease stays",
        _endings_left_out,
        lambda place, folder, patch: (
            test_cancel.test_a_line_by_hand_can_do_no_more_than_the_command({"parts": []})
        ),
    ),
    Mutant(
        "a new route leaves todos behind",
        _todos_left_behind,
        lambda place, folder, patch: (
            test_replan.test_one_successor_may_take_several_places_and_all_must_be_taken()
        ),
    ),
    Mutant(
        "a duty is closed and nothing is bound",
        _bindings_left_out,
        lambda place, folder, patch: (
            test_replan.test_a_line_by_hand_can_do_no_more_than_the_command(
                test_replan.FULFIL, CLAUDE, {"parts": []}
            )
        ),
    ),
    Mutant(
        "a replanning is done without a route",
        _done_without_a_route,
        lambda place, folder, patch: (
            test_replan.test_a_replanning_is_not_done_before_its_duty_is_fulfilled()
        ),
    ),
    Mutant(
        "a proposal is approved and not carried out",
        _approved_without_its_change,
        lambda place, folder, patch: (
            test_propose.test_an_approval_by_hand_carries_out_what_was_proposed_or_nothing(
                test_propose.CANCEL, {"parts": []}
            )
        ),
    ),
    Mutant(
        "a proposal about a todo of another title is approved",
        _meaning_not_in_the_digest,
        lambda place, folder, patch: (
            test_propose.test_what_was_retitled_or_reworded_meanwhile_is_not_what_was_proposed()
        ),
    ),
    Mutant(
        "a result outlives its item",
        _results_outlive_their_items,
        lambda place, folder, patch: (
            test_patched_rules.test_results_hold_as_long_as_their_item_and_its_judge()
        ),
    ),
    Mutant(
        "rules are what a cache says",
        _rules_from_a_cache,
        lambda place, folder, patch: (
            test_forged_caches.test_rules_of_before_that_a_checkpoint_gives_back(place)
        ),
    ),
]
