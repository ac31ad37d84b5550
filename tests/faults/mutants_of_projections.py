"""Deliberate bugs in what says how old and how complete a projection is, and in finding lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain import freshness, source
from loopx_kernel.store import index_table
from loopx_kernel.store.journal import Journal
from loopx_kernel.views import envelope
from loopx_kernel.workspace import beside, materials, state_files

from tests.faults.mutants import Mutant, made
from tests.kernel.domain import test_freshness
from tests.kernel.store import test_index
from tests.kernel.workspace import test_beside, test_read_on
from tests.kernel.workspace.build import GOAL, Place, open_goal

Patch = pytest.MonkeyPatch


def _a_future_that_counts(patch: Patch) -> None:
    patch.setattr(freshness, "_is_ahead", lambda *_: False)


def _failures_unsaid(patch: Patch) -> None:
    patch.setattr(freshness, "UNREADABLE", frozenset({"partially_unreadable"}))


def _unproven_is_fresh(patch: Patch) -> None:
    status = freshness._status

    def fresh(one: Any, age: int | None) -> Any:
        return status(one.model_copy(update={"read_status": "read"}), age)

    patch.setattr(freshness, "_status", fresh)


def _a_backlog_forgotten(patch: Patch) -> None:
    patch.setattr(freshness, "_idle", lambda *_: 0)


def _counts_that_come_and_go(patch: Patch) -> None:
    patch.setattr(source, "_waiting", lambda one, pending, facts: {"pending_count": pending})


def _times_believed(patch: Patch) -> None:
    patch.setattr(index_table, "_TIMES_FITTING", "SELECT 1")


def _one_stretch_short(patch: Patch) -> None:
    found = index_table.stretches
    patch.setattr(index_table, "stretches", lambda *args: found(*args)[:1])


def _times_moved(place: Place, folder: Path, patch: Patch) -> None:
    test_index.test_a_harmed_index_gives_no_wrong_answer(made(folder), "times moved")


def _back_and_forth(place: Place, folder: Path, patch: Patch) -> None:
    test_index.test_times_that_go_back_and_forth_are_found(made(folder))


def _omissions_unsaid(patch: Patch) -> None:
    patch.setattr(envelope.Coverage, "complete", True)


def _nothing_unread(patch: Patch) -> None:
    patch.setattr(materials, "unread_lines", lambda *_: 0)


def _broken_in_the_middle(place: Place, *_: Any) -> None:
    lines = place.journal.read_bytes().splitlines(keepends=True)
    place.journal.write_bytes(b"".join((*lines[:2], b"garbage\n", *lines[3:])))
    found = place.again().view(GOAL).envelope.coverage
    assert [one.reason for one in found.omitted] == ["unreachable"]


def _any_end_will_do(patch: Patch) -> None:
    patch.setattr(beside, "ends_with", lambda *_: True)


def _a_lease_given_back(place: Place, *_: Any) -> None:
    open_goal(place, test_beside.BESIDE)
    test_beside.test_a_line_more_and_it_is_read_anew(place, test_beside._released)


def _any_journal_was_read(patch: Patch) -> None:
    patch.setattr(Journal, "signature", lambda _: (1, 1, 1, 1))


def _a_line_more(place: Place, *_: Any) -> None:
    looking = place.again()
    before = looking.view(GOAL)
    test_read_on._append(place)
    assert looking.view(GOAL).seq == before.seq + 1


def _any_page_was_seen(patch: Patch) -> None:
    patch.setattr(state_files, "signature", lambda *_, **__: (1, 1, 1, 1))


def _a_tick_by_hand(place: Place, *_: Any) -> None:
    looking = place.again()
    assert not looking.view(GOAL).reads.drift
    test_read_on._ticked(place)
    assert looking.view(GOAL).reads.drift


MUTANTS_OF_PROJECTIONS = [
    Mutant("a journal is not read on by who read it once", _any_journal_was_read, _a_line_more),
    Mutant("a todo list is not looked at twice", _any_page_was_seen, _a_tick_by_hand),
    Mutant(
        "a time that has not come proves freshness",
        _a_future_that_counts,
        lambda *_: test_freshness.test_a_time_that_has_not_come_yet_proves_nothing(),
    ),
    Mutant(
        "a failed look raises no alert while the window lasts",
        _failures_unsaid,
        lambda *_: (
            test_freshness.test_a_failed_look_alerts_though_the_last_good_one_is_still_fresh()
        ),
    ),
    Mutant(
        "a success without counts is as good as one with",
        _unproven_is_fresh,
        lambda *_: test_freshness.test_an_unverified_reading_is_not_fresh_even_after_a_good_one(),
    ),
    Mutant(
        "a queue is never late",
        _a_backlog_forgotten,
        lambda *_: test_freshness.test_a_queue_is_late_when_it_has_not_moved_for_a_window(),
    ),
    Mutant(
        "a read that says nothing of the queue empties it",
        _counts_that_come_and_go,
        lambda *_: test_freshness.test_a_queue_that_does_not_move_is_stalled_and_not_cleared(),
    ),
    Mutant("moved times of the index believed", _times_believed, _times_moved),
    Mutant("lines after a time that goes back missed", _one_stretch_short, _back_and_forth),
    Mutant(
        "what is left out makes nothing incomplete",
        _omissions_unsaid,
        lambda *_: test_freshness.test_what_is_left_out_is_said_and_makes_it_incomplete(),
    ),
    Mutant("lines behind damage are not missed", _nothing_unread, _broken_in_the_middle),
    Mutant("leases of a goal that went on are kept", _any_end_will_do, _a_lease_given_back),
]
"""Each is noticed by its test."""
