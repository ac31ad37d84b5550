"""Deliberate bugs, each with the test that must notice it.

A row names what is broken, breaks it, and calls a test function that passes on sound code.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain import fold, handin_rules, holding, lease
from loopx_kernel.store import index_table
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.spend_file import SpendFile
from loopx_kernel.store.writer import Settled, Writer
from loopx_kernel.workspace import commit, ledgers, locking, resume, verdicts
from loopx_kernel.workspace.damage import Written
from loopx_kernel.workspace.ledger import Ledger
from loopx_kernel.workspace.state_files import StateFile

from tests.faults import test_locks
from tests.kernel.store import test_index
from tests.kernel.workspace import (
    test_crash,
    test_damage,
    test_damaged_journals,
    test_drift,
    test_forgeries,
    test_history,
    test_leases,
    test_replay,
)
from tests.kernel.workspace.build import Place

Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Mutant:
    """One bug: ``breaks`` puts it in, ``killer`` must fail then. ``killer`` is called with
    the place, a folder of its own and a patch that is undone afterwards."""

    name: str
    breaks: Callable[[Patch], None]
    killer: Callable[[Place, Path, Patch], None]


def made(folder: Path) -> Path:
    """The folder, which is there now."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _no_lock(patch: Patch) -> None:
    patch.setattr(commit, "held", lambda *_: contextlib.nullcontext())
    patch.setattr(locking, "held", lambda *_: contextlib.nullcontext())


def _epoch_unchecked(patch: Patch) -> None:
    patch.setattr(holding, "check_epoch", _nothing)


def _version_unchecked(patch: Patch) -> None:
    decide = lease.decide

    def careless(state: Any, command: Any, context: Any) -> Any:
        if isinstance(command, lease.ClaimTodo):
            command = replace(command, expect_version=None)
        return decide(state, command, context)

    patch.setattr(lease, "decide", careless)


def _no_tail_repair(patch: Patch) -> None:
    patch.setattr(Writer, "settle_tail", lambda *_: Settled())


def _tail_thrown_away(patch: Patch) -> None:
    def cut(self: Writer, fd: int, end: int, reason: str, at: Any) -> Path:
        self._files.truncate(fd, end)
        return self._path

    patch.setattr(Writer, "_cut", cut)


def _signature_ignored(patch: Patch) -> None:
    patch.setattr(fold, "check_actor", _nothing)


def _witness_unchecked(patch: Patch) -> None:
    def trusting(event: Any, kind: Any, **values: Any) -> Any:
        values["hash_at"] = lambda seq: event.signed.witnessed.head
        return verdicts.verdict_on(event, kind, **values)

    patch.setattr(ledgers, "verdict_on", trusting)


def _object_version_unchecked(patch: Patch) -> None:
    patch.setattr(fold, "_check_object", _nothing)


def _parts_unchecked(patch: Patch) -> None:
    patch.setattr(handin_rules, "check_parts", _nothing)


def _index_believed(patch: Patch) -> None:
    patch.setattr(index_table, "require_whole", _nothing)


def _index_of_anything(patch: Patch) -> None:
    patch.setattr(Journal, "holds", lambda *_: True)


def _index_at_its_last_look(patch: Patch) -> None:
    find = Journal.find_event_id

    def looked_up(self: Journal, event_id: str, since: int = 0) -> Any:
        return find(self, event_id) if since == 0 else None

    patch.setattr(Journal, "find_event_id", looked_up)


def _snapshot_believed(patch: Patch) -> None:
    patch.setattr(Journal, "holds", lambda *_: True)


def _replay_unnoticed(patch: Patch) -> None:
    patch.setattr(commit, "recorded", _nothing)


def _request_not_compared(patch: Patch) -> None:
    find = Ledger.find
    wanted: dict[str, str] = {}

    def found(self: Ledger, event_id: str) -> Any:
        line = find(self, event_id)
        return line and line._replace(record=line.record | {"request": wanted["now"]})

    recorded = commit.recorded

    def careless(ledger: Any, order: Any) -> Any:
        wanted["now"] = order.request
        return recorded(ledger, order)

    patch.setattr(Ledger, "find", found)
    patch.setattr(commit, "recorded", careless)


def _drift_unseen(patch: Patch) -> None:
    patch.setattr(StateFile, "_drift", lambda *_: ())


def _crash_called_loss(patch: Patch) -> None:
    patch.setattr(Written, "surely", lambda *_: True)


def _loss_not_recorded(patch: Patch) -> None:
    patch.setattr(Written, "surely", lambda *_: False)


def _roll_back_unnoticed(patch: Patch) -> None:
    patch.setattr(resume, "rolled_back", _nothing)
    patch.setattr(Journal, "_rolled_back", _nothing)


def _spend_unguarded(patch: Patch) -> None:
    level = SpendFile.bring_level

    def careless(self: SpendFile, since: Any) -> Any:
        self.write_all(since)
        return level(self, since)

    patch.setattr(SpendFile, "bring_level", careless)


def _claim_at_old_version(place: Place, folder: Path, patch: Patch) -> None:
    command = lease.ClaimTodo(todo_id="T3", expect_version=4)
    test_leases.test_claims_that_may_not_be(place, command, "version_mismatch")


def _hand_in_with_a_gate(place: Place, folder: Path, patch: Patch) -> None:
    test_forgeries.test_an_agent_s_hand_in_cannot_carry_a_gate_away(place)


def _torn_tail(place: Place, folder: Path, patch: Patch) -> None:
    test_crash.test_a_torn_tail_is_put_aside_and_the_approval_stands_alone(place, b"{")


MUTANTS = [
    Mutant(
        "no lock",
        _no_lock,
        lambda place, folder, patch: (
            test_locks.test_a_lock_held_by_another_process_is_named_and_not_broken(place, patch)
        ),
    ),
    Mutant(
        "epoch unchecked",
        _epoch_unchecked,
        lambda place, folder, patch: test_leases.test_a_holder_that_lost_its_todo_is_told_to_stop(
            place
        ),
    ),
    Mutant("version unchecked", _version_unchecked, _claim_at_old_version),
    Mutant(
        "no torn-tail repair",
        _no_tail_repair,
        _torn_tail,
    ),
    Mutant(
        "the torn tail is thrown away",
        _tail_thrown_away,
        _torn_tail,
    ),
    Mutant(
        "signature verdict ignored",
        _signature_ignored,
        lambda place, folder, patch: (
            test_forgeries.test_a_forged_approval_has_no_effect_and_raises_the_alert(
                place, test_forgeries.unsigned
            )
        ),
    ),
    Mutant(
        "witness not checked",
        _witness_unchecked,
        lambda place, folder, patch: (
            test_forgeries.test_a_decision_does_not_outlive_a_change_of_what_its_maker_saw(
                place, patch, folder
            )
        ),
    ),
    Mutant(
        "object version not checked",
        _object_version_unchecked,
        lambda place, folder, patch: (
            test_forgeries.test_a_genuine_line_copied_to_a_later_place_does_nothing(place)
        ),
    ),
    Mutant(
        "parts unchecked",
        _parts_unchecked,
        lambda place, folder, patch: (
            test_forgeries.test_an_agent_s_hand_in_cannot_carry_a_gate_away(place)
        ),
    ),
    Mutant(
        "replay unnoticed",
        _replay_unnoticed,
        lambda place, folder, patch: (
            test_replay.test_the_stored_claim_sent_again_is_the_stored_claim(place)
        ),
    ),
    Mutant(
        "missing rows of the index believed",
        _index_believed,
        lambda place, folder, patch: test_index.test_a_harmed_index_gives_no_wrong_answer(
            made(folder), "rows removed"
        ),
    ),
    Mutant(
        "the index of another journal believed",
        _index_of_anything,
        lambda place, folder, patch: test_index.test_a_harmed_index_gives_no_wrong_answer(
            made(folder), "of another journal"
        ),
    ),
    Mutant(
        "lines after the index missed",
        _index_at_its_last_look,
        lambda place, folder, patch: (
            test_index.test_half_a_line_and_lines_after_the_last_look_are_not_missed(made(folder))
        ),
    ),
    Mutant(
        "a kept state of another journal believed",
        _snapshot_believed,
        lambda place, folder, patch: test_history.test_a_harmed_snapshot_gives_the_same_past(
            place, patch, "of another line"
        ),
    ),
    Mutant(
        "request not compared",
        _request_not_compared,
        lambda place, folder, patch: test_replay.test_an_id_used_for_something_else_is_a_conflict(
            place
        ),
    ),
    Mutant(
        "drift unseen",
        _drift_unseen,
        lambda place, folder, patch: test_drift.test_an_edit_asks_a_person_and_stops_new_work_alone(
            place, "tick"
        ),
    ),
    Mutant(
        "a crash is called a loss",
        _crash_called_loss,
        lambda place, folder, patch: (
            test_crash.test_the_very_first_files_of_a_goal_are_written_late_without_being_called_lost(
                folder
            )
        ),
    ),
    Mutant(
        "a loss is not recorded",
        _loss_not_recorded,
        lambda place, folder, patch: (
            test_damage.test_a_deleted_file_is_missing_then_rebuilt_and_recorded_once(
                place, "lease"
            )
        ),
    ),
    Mutant(
        "a rolled-back journal goes unnoticed",
        _roll_back_unnoticed,
        lambda place, folder, patch: (
            test_damaged_journals.test_lines_removed_from_the_end_are_noticed_by_whoever_saw_them(
                place
            )
        ),
    ),
    Mutant(
        "a damaged file is written over",
        _spend_unguarded,
        lambda place, folder, patch: test_damage.test_an_edited_spend_ledger_is_damage(place),
    ),
]
