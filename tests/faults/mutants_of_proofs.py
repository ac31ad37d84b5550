"""Deliberate bugs in statements and kept evidence, each with the test that must notice it."""

from __future__ import annotations

from typing import Any

from loopx_kernel.domain import handin, handin_rules
from loopx_kernel.observe import evidence
from loopx_kernel.store.objects import Objects
from loopx_kernel.store.records import Level, Verdict
from loopx_kernel.workspace import proofs
from loopx_kernel.workspace.proofs import Proofs

from tests.faults.mutants import Mutant, Patch
from tests.kernel.domain import test_todo
from tests.kernel.workspace import test_kept_evidence, test_statements


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _bytes_not_kept(patch: Patch) -> None:
    patch.setattr(Objects, "keep", _nothing)


def _changed_copy_written_over(patch: Patch) -> None:
    patch.setattr(Objects, "keep", Objects.put)


def _copies_known_by_size(patch: Patch) -> None:
    def by_size(self: Objects, sha256: str) -> Verdict:
        there = self.path(sha256).exists()
        return Verdict(Level.SAME if there else Level.MISSING)

    patch.setattr(Objects, "audit", by_size)


def _any_file_is_the_same(patch: Patch) -> None:
    patch.setattr(evidence, "look_again", lambda *_, **__: ("same", b"something"))


def _statement_not_rolled_forward(patch: Patch) -> None:
    patch.setattr(Proofs, "_catch_up", lambda *_, **__: [])


def _one_todo_stops_all(patch: Patch) -> None:
    class Nobody(Exception):
        """What nothing raises."""

    patch.setattr(proofs, "LoopxError", Nobody)


def _forged_statement_unseen(patch: Patch) -> None:
    patch.setattr(
        Proofs, "of_goal", lambda self, state: self._of_todos(state, [*state.todos.values()])
    )


def _failure_needs_a_claim(patch: Patch) -> None:
    for module in (handin, handin_rules):
        patch.setattr(module, "said", lambda evidence, tests: tests)


MUTANTS_OF_PROOFS = [
    Mutant(
        "evidence recorded before its bytes are kept",
        _bytes_not_kept,
        lambda place, folder, patch: (
            test_kept_evidence.test_the_bytes_are_durable_before_the_event_is_appended(place, patch)
        ),
    ),
    Mutant(
        "a changed copy written over",
        _changed_copy_written_over,
        lambda place, folder, patch: (
            test_kept_evidence.test_the_same_bytes_are_not_handed_in_over_a_changed_copy(place)
        ),
    ),
    Mutant(
        "copies known by their size alone",
        _copies_known_by_size,
        lambda place, folder, patch: (
            test_kept_evidence.test_a_changed_copy_is_damage_until_a_person_has_it_set_aside(
                place, b"VARS\n", True
            )
        ),
    ),
    Mutant(
        "any file is taken for the evidence it was",
        _any_file_is_the_same,
        lambda place, folder, patch: (
            test_kept_evidence.test_a_lost_copy_of_a_file_that_changed_stays_missing_by_name(
                place, "same size"
            )
        ),
    ),
    Mutant(
        "a statement is not rolled forward",
        _statement_not_rolled_forward,
        lambda place, folder, patch: (
            test_statements.test_scenario_17_a_deleted_statement_is_missing_then_rebuilt_and_recorded_once(
                place
            )
        ),
    ),
    Mutant(
        "the statement of one todo stops the goal",
        _one_todo_stops_all,
        lambda place, folder, patch: (
            test_statements.test_a_folder_in_its_place_stops_nothing_but_that_todo(place, True)
        ),
    ),
    Mutant(
        "a statement about what was not done goes unseen",
        _forged_statement_unseen,
        lambda place, folder, patch: (
            test_statements.test_a_statement_about_what_was_not_done_is_damage(place, patch, 100)
        ),
    ),
    Mutant(
        "a report that says failed counts only where it is claimed",
        _failure_needs_a_claim,
        lambda place, folder, patch: (
            test_todo.test_a_report_that_says_failed_needs_no_claim_to_count()
        ),
    ),
]
