"""Deliberate bugs in locks, leases, clocks and fence, each with the test that must notice it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from filelock import FileLock
from loopx_kernel.clock import Reading
from loopx_kernel.domain import contract, fence, holding, lease, roster, state
from loopx_kernel.domain.records import Alert
from loopx_kernel.domain.state import GoalState
from loopx_kernel.store import locks
from loopx_kernel.views import goal, warnings
from loopx_kernel.workspace import beside, commit, events, materials
from loopx_kernel.workspace.core import Core

from tests.faults import test_clocks, test_fence, test_leases, test_locks
from tests.faults.mutants import Mutant, Patch
from tests.kernel.domain import test_times
from tests.kernel.store import test_locks as test_lock_files
from tests.kernel.workspace.build import Place

Killer = Callable[[Place, Path, Patch], None]


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _claims_unlocked(patch: Patch) -> None:
    patch.setattr(commit, "house_held", lambda *_: contextlib.nullcontext())


def _any_lock_file(patch: Patch) -> None:
    def acquire(path: Path, seconds: float, files: Any) -> Any:
        lock = FileLock(path)
        lock.acquire(timeout=seconds)
        return lock, locks._made(path, files)

    patch.setattr(locks, "_acquire", acquire)


def _lost_lock_unnoticed(patch: Patch) -> None:
    patch.setattr(locks.Held, "require", _nothing)


def _number_believed(patch: Patch) -> None:
    patch.setattr(locks, "started_at", lambda _: "")


def _checks_wait_long(patch: Patch) -> None:
    patch.setattr(locks, "CHECK_SECONDS", locks.CHANGE_SECONDS)


def _living_by(judge: Callable[[Any, Reading], bool]) -> Callable[[Patch], None]:
    """Leases are judged so wherever they are."""

    def breaks(patch: Patch) -> None:
        for module in (contract, goal, holding, lease, state):
            patch.setattr(module, "is_live", judge)

    return breaks


def _whatever_boot(found: Any, reading: Reading) -> bool:
    boot = found.boot_id if found is not None else ""
    return SOUND_IS_LIVE(found, replace(reading, boot_id=boot))


def _by_wall_clock(found: Any, reading: Reading) -> bool:
    return SOUND_IS_LIVE(found, Reading(reading.now))


SOUND_IS_LIVE = state.is_live
SOUND_NOT_BEFORE = GoalState.not_before


def _no_grace(patch: Patch) -> None:
    patch.setattr(state, "WALL_GRACE_SECONDS", 0)


def _takeover_unflagged(patch: Patch) -> None:
    patch.setattr(lease, "ran_out_by_wall_clock", lambda *_: False)


def _fence_unread(patch: Patch) -> None:
    patch.setattr(Core, "require_unfenced", _nothing)


def _fence_read_early(patch: Patch) -> None:
    def look(self: Core) -> None:
        fence.require_unfenced(self.house.state, self.generation)

    patch.setattr(Core, "require_unfenced", look)


def _fence_lowered(patch: Patch) -> None:
    row = roster.workspace_event_type("writer.fenced")
    patch.setitem(roster._EVENTS, "writer.fenced", replace(row, check=_nothing))


def _fence_never_raised(patch: Patch) -> None:
    patch.setattr(commit, "raise_fence", _nothing)


def _clashes_unseen(patch: Patch) -> None:
    patch.setattr(materials, "clashes", lambda *_: ())


def _clash_worked_on(patch: Patch) -> None:
    patch.setattr(contract._Desk, "_clash", _nothing)


def _links_not_followed(patch: Patch) -> None:
    patch.setattr(beside, "real_scopes", lambda _, scopes: scopes)


def _zombies_unlisted(patch: Patch) -> None:
    patch.setattr(Alert, "is_zombie", property(lambda _: False))


def _going_back_unflagged(patch: Patch) -> None:
    patch.setattr(events, "replace", lambda row, **_: row)


def _clock_never_behind(patch: Patch) -> None:
    patch.setattr(warnings, "behind", _nothing)


def _far_time_for_ever(patch: Patch) -> None:
    patch.setattr(GoalState, "not_before", lambda self, at, since=0: SOUND_NOT_BEFORE(self, at))


def _old_time_believed(patch: Patch) -> None:
    patch.setattr(GoalState, "not_before", lambda self, at, since=0: at)


def _clock(name: str) -> Killer:
    return lambda place, folder, patch: test_clocks.test_whose_clock_says_that_a_lease_is_over(
        place, name
    )


def _slipped_in(place: Place, folder: Path, patch: Patch) -> None:
    test_leases.test_a_lease_slipped_in_beside_anothers_is_named_and_not_worked_on(place, patch)


def _replaced(place: Place, folder: Path, patch: Patch) -> None:
    path = folder / "runtime" / "lock"
    folder.mkdir(parents=True)
    test_lock_files.test_a_lock_file_replaced_while_we_lock_it_is_locked_again(path)


def _used_again(place: Place, folder: Path, patch: Patch) -> None:
    def note(pid: int) -> locks.Holder:
        return replace(test_locks.MINE, pid=pid, started="1")

    test_locks.test_who_holds_it_is_told_and_nothing_is_ever_taken_away(
        place, patch, note, False, "(not running)"
    )


MUTANTS_OF_HOLDING = [
    Mutant(
        "claims without the workspace's lock",
        _claims_unlocked,
        lambda place, folder, patch: (
            test_leases.test_claims_of_two_goals_are_made_one_after_the_other(place, patch)
        ),
    ),
    Mutant("the lock file is not compared with the one at its path", _any_lock_file, _replaced),
    Mutant(
        "a lock file deleted while held goes unnoticed",
        _lost_lock_unnoticed,
        lambda place, folder, patch: (
            test_locks.test_a_lock_file_deleted_while_it_is_held_lets_no_two_write(
                place, patch, False
            )
        ),
    ),
    Mutant("a number used again is taken for the holder", _number_believed, _used_again),
    Mutant(
        "a check waits as long as a change",
        _checks_wait_long,
        lambda place, folder, patch: test_locks.test_each_kind_of_work_waits_for_its_own_time(
            place, patch, "check", lambda ws: ws.handoff.bring_level("dark-mode", "codex"), 2
        ),
    ),
    Mutant("boot id ignored", _living_by(_whatever_boot), _clock("another boot")),
    Mutant(
        "the wall clock decides on one host",
        _living_by(_by_wall_clock),
        _clock("wall clock a day ahead"),
    ),
    Mutant("no grace for other hosts", _no_grace, _clock("another host within a minute")),
    Mutant(
        "a takeover by the wall clock is not flagged",
        _takeover_unflagged,
        _clock("another host after a minute"),
    ),
    Mutant(
        "fence not read",
        _fence_unread,
        lambda place, folder, patch: (
            test_fence.test_an_older_writer_is_refused_and_nothing_is_changed(place, "add")
        ),
    ),
    Mutant(
        "fence read before the lock is held",
        _fence_read_early,
        lambda place, folder, patch: test_fence.test_the_fence_is_read_under_the_lock(place, "add"),
    ),
    Mutant(
        "fence lowered",
        _fence_lowered,
        lambda place, folder, patch: test_fence.test_a_line_that_lowers_it_does_nothing(place),
    ),
    Mutant(
        "fence never raised",
        _fence_never_raised,
        lambda place, folder, patch: (
            test_fence.test_the_fence_goes_up_once_before_the_first_line_of_a_newer_writer(place)
        ),
    ),
    Mutant("overlapping leases go unseen", _clashes_unseen, _slipped_in),
    Mutant("work goes on beside an overlapping lease", _clash_worked_on, _slipped_in),
    Mutant(
        "overlaps by way of a link go unseen",
        _links_not_followed,
        lambda place, folder, patch: test_leases.test_the_way_a_link_leads_counts(place),
    ),
    Mutant(
        "lines by former holders are not listed",
        _zombies_unlisted,
        lambda place, folder, patch: (
            test_leases.test_a_line_by_a_former_holder_does_nothing_and_is_listed(
                place, patch, "renewal with the old epoch"
            )
        ),
    ),
    Mutant(
        "a time that goes back is not flagged",
        _going_back_unflagged,
        lambda place, folder, patch: (
            test_clocks.test_a_time_before_the_one_before_it_is_kept_and_flagged(place, patch)
        ),
    ),
    Mutant(
        "a clock that is behind goes unnoticed",
        _clock_never_behind,
        lambda place, folder, patch: (
            test_clocks.test_a_clock_too_far_behind_the_last_line_is_an_alert(
                place, patch, 301, True, "dark-mode"
            )
        ),
    ),
    Mutant(
        "a far time ends all approvals for ever",
        _far_time_for_ever,
        lambda place, folder, patch: (
            test_clocks.test_a_line_from_the_far_future_costs_one_approval_and_no_later_one(
                place, patch
            )
        ),
    ),
    Mutant(
        "a time that goes back brings an approval back",
        _old_time_believed,
        lambda place, folder, patch: (
            test_times.test_what_ran_out_stays_so_whatever_time_a_later_line_claims()
        ),
    ),
]
