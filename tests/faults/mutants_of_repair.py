"""Deliberate bugs in the ways out of drift and damage, each with the test that must notice it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loopx_kernel.domain import drift, repair, roster_state
from loopx_kernel.store.writer import Writer
from loopx_kernel.workspace import mending, pieces
from loopx_kernel.workspace.drifts import Drifts
from loopx_kernel.workspace.materials import Materials
from loopx_kernel.workspace.repairs import Repairs
from loopx_kernel.workspace.resume import Seen
from loopx_kernel.workspace.state_files import StateFile

from tests.faults.mutants import Mutant, Patch
from tests.kernel.workspace import test_drift_settled, test_repair, test_repair_journal
from tests.kernel.workspace.build import Place


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _later_edit_adopted(patch: Patch) -> None:
    patch.setattr(Drifts, "_decide", lambda _, shown, *rest: drift.decide(*rest))


def _decision_forgotten(patch: Patch) -> None:
    patch.setattr(StateFile, "_is_settled", lambda *_: False)


def _edit_not_kept(patch: Patch) -> None:
    patch.setattr(StateFile, "_keep", _nothing)


def _parts_unchecked(patch: Patch) -> None:
    patch.setattr(drift, "check_parts", _nothing)


def _damage_not_kept(patch: Patch) -> None:
    patch.setattr(pieces, "set_file_aside", _nothing)


def _repair_not_finished(patch: Patch) -> None:
    patch.setattr(Materials, "finish_repairs", _nothing)


def _changed_bytes_repaired(patch: Patch) -> None:
    def decide(self: Repairs, path: Path, state: Any, command: Any, context: Any) -> Any:
        return repair.decide(state, command, context, object_id=self._find(path)[0])

    patch.setattr(Repairs, "_decide_file", decide)


def _cut_explains_everything(patch: Patch) -> None:
    patch.setattr(Seen, "explained_by", lambda *_: True)


def _cut_explains_nothing(patch: Patch) -> None:
    patch.setattr(Seen, "explained_by", lambda *_: False)


def _lost_decisions_unnamed(patch: Patch) -> None:
    patch.setattr(mending, "_decision_in", lambda raw: [])


def _heads_outlive_the_cut(patch: Patch) -> None:
    patch.setattr(roster_state, "_place", lambda head, noted_at, cuts: head and head.seq)


def _rest_thrown_away(patch: Patch) -> None:
    mend = Writer.mend

    def careless(self: Writer, fields: Any, expected: Any, **values: Any) -> Any:
        self._quarantine = self._quarantine.with_name("lost")
        return mend(self, fields, expected, **values)

    patch.setattr(Writer, "mend", careless)


def _later_edit(place: Place, folder: Path, patch: Patch) -> None:
    settle = test_drift_settled.adopt
    test_drift_settled.test_a_later_edit_makes_the_decision_stale(place, "add", settle)


def _crash_of_adopting(place: Place, folder: Path, patch: Patch) -> None:
    settle = test_drift_settled.adopt
    test_drift_settled.test_a_crash_after_the_line_is_rolled_forward_and_decides_nothing_twice(
        place, patch, settle
    )


def _restoring(place: Place, folder: Path, patch: Patch) -> None:
    test_drift_settled.test_restoring_renders_the_list_again_and_keeps_what_was_typed(place, "add")


def _more_than_signed(place: Place, folder: Path, patch: Patch) -> None:
    test_drift_settled.test_a_line_cannot_add_more_than_was_signed(place)


def _repairing(place: Place, folder: Path, patch: Patch) -> None:
    test_repair.test_a_damaged_file_is_repaired_by_a_signature_and_work_goes_on(
        place, test_repair.lease_of_another
    )


def _repair_cut_short(place: Place, folder: Path, patch: Patch) -> None:
    test_repair.test_a_repair_cut_short_by_a_full_disk_is_finished_by_the_next_writer(
        place, test_repair.lease_of_another, patch
    )


def _changed_meanwhile(place: Place, folder: Path, patch: Patch) -> None:
    test_repair.test_what_changes_after_it_was_looked_at_is_looked_at_again(
        place, test_repair.lease_of_another
    )


def _seen_by_others(place: Place, folder: Path, patch: Patch) -> None:
    test_repair_journal.test_whoever_saw_the_lines_cut_off_accepts_the_repair_and_nothing_else(
        place
    )


def _decisions_lost(place: Place, folder: Path, patch: Patch) -> None:
    test_repair_journal.test_each_decision_among_the_lines_cut_off_is_named_and_counts_no_more(
        place
    )


def _late_owner(place: Place, folder: Path, patch: Patch) -> None:
    test_repair_journal.test_an_owner_enrolled_after_the_lines_cut_off_may_sign_the_cut(place)


MUTANTS_OF_REPAIR = [
    Mutant("a later edit is adopted unseen", _later_edit_adopted, _later_edit),
    Mutant("a settled edit is forgotten", _decision_forgotten, _crash_of_adopting),
    Mutant("an edit is restored without a copy", _edit_not_kept, _restoring),
    Mutant("adopting adds more than was signed", _parts_unchecked, _more_than_signed),
    Mutant("damage is rendered over without a copy", _damage_not_kept, _repairing),
    Mutant("a repair cut short stays so", _repair_not_finished, _repair_cut_short),
    Mutant("other bytes than signed are repaired", _changed_bytes_repaired, _changed_meanwhile),
    Mutant("a cut explains whatever is gone", _cut_explains_everything, _seen_by_others),
    Mutant("a cut is taken for a roll-back", _cut_explains_nothing, _seen_by_others),
    Mutant("lost decisions are not named", _lost_decisions_unnamed, _decisions_lost),
    Mutant("heads count beyond a cut", _heads_outlive_the_cut, _late_owner),
    Mutant("what is cut off is thrown away", _rest_thrown_away, _decisions_lost),
]
