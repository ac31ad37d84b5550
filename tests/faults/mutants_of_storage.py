"""Deliberate bugs in writing files, each with the test that must notice it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from loopx_kernel.store import disk, line, quarantine, spend_file
from loopx_kernel.store.files import Files
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.writer import Writer
from loopx_kernel.workspace import commit, locking

from tests.faults import (
    test_crash_states,
    test_failing_calls,
    test_one_flush,
    test_truncation,
    test_turned_bits,
)
from tests.faults.commands import COMMANDS, Command
from tests.faults.mutants import Mutant, Patch, made
from tests.kernel.store import test_disk, test_locks
from tests.kernel.workspace.build import Place

Killer = Callable[[Place, Path, Patch], None]


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _no_fsync(patch: Patch) -> None:
    def commit_unflushed(
        self: Writer, fd: int, size: int, data: bytes, event_id: str, *, first: bool
    ) -> None:
        self._files.write(fd, data)

    patch.setattr(Writer, "_commit", commit_unflushed)


def _half_line_left(patch: Patch) -> None:
    patch.setattr(Files, "truncate", _nothing)


def _short_write_believed(patch: Patch) -> None:
    def write_once(files: Files, fd: int, data: bytes) -> None:
        files.write(fd, data)

    patch.setattr(disk, "write_all", write_once)


def _lines_written_twice(patch: Patch) -> None:
    """A line that was written and not flushed stays, and the command says that it failed."""

    def commit_again(
        self: Writer, fd: int, size: int, data: bytes, event_id: str, *, first: bool
    ) -> None:
        self._files.write(fd, data)
        try:
            self._files.fsync(fd)
        except OSError as error:
            raise disk.storage_error(error, self._path) from error

    patch.setattr(Writer, "_commit", commit_again)


def _folders_unflushed(patch: Patch) -> None:
    patch.setattr("tests.faults.crash_states.Recorder.fsync_dir", _nothing)


def _new_content_unflushed(patch: Patch) -> None:
    write = disk.write_temporary
    patch.setattr(
        disk,
        "write_temporary",
        lambda path, data, *, files, durable=True: write(path, data, files=files, durable=False),
    )


def _copies_unflushed(patch: Patch) -> None:
    class Careless(Files):
        def __init__(self, real: Files) -> None:
            self.real = real

        def __getattribute__(self, name: str) -> Any:
            if name == "fsync":
                return _nothing
            return getattr(object.__getattribute__(self, "real"), name)

    keep = quarantine.set_aside

    def careless(*arguments: Any, files: Files, **values: Any) -> Path:
        return keep(*arguments, files=Careless(files), **values)

    patch.setattr("loopx_kernel.store.writer.set_aside", careless)


def _lock_kept_after_an_error(patch: Patch) -> None:
    patch.setattr("filelock.BaseFileLock.release", _nothing)


def _foreign_tail_of_spends(patch: Patch) -> None:
    judge = spend_file._judge_tail

    def strict(end: Any, missing: Any) -> Any:
        return judge(end, [] if end.tail.endswith(b"\0") else missing)

    patch.setattr(spend_file, "_judge_tail", strict)


def _hash_unchecked(patch: Patch) -> None:
    patch.setattr(line, "_check_hash", _nothing)


def _chain_unchecked(patch: Patch) -> None:
    patch.setattr(Journal, "_check_place", _nothing)


def _tail_of_a_damaged_journal_cut(patch: Patch) -> None:
    def settle(core: Any, ledger: Any, *, unread: bool = False) -> None:
        ledger.damage = None
        locking.settle(core, ledger, unread=ledger.has_tail or unread)

    patch.setattr(commit, "settle", settle)


def _named(name: str) -> Command:
    return next(command for command in COMMANDS if command.name == name)


def _crashing(name: str) -> Killer:
    return lambda place, folder, patch: (
        test_crash_states.test_every_state_a_crash_may_leave_is_before_or_after(
            place, made(folder), _named(name), patch
        )
    )


def _failing(place: Place, folder: Path, patch: Patch) -> None:
    trials = test_failing_calls.Trials(place, made(folder), patch)
    command = _named("gate request")
    test_failing_calls.test_whichever_change_fails_it_is_all_or_nothing_and_can_be_sent_again(
        trials, command
    )


def _short(place: Place, folder: Path, patch: Patch) -> None:
    trials = test_failing_calls.Trials(place, made(folder), patch)
    command = _named("gate request")
    test_failing_calls.test_whichever_write_is_short_or_the_last_it_is_all_or_nothing_and_can_be_sent_again(
        trials, command
    )


MUTANTS_OF_STORAGE = [
    Mutant(
        "no fsync",
        _no_fsync,
        lambda place, folder, patch: test_one_flush.test_what_is_reported_was_flushed(place),
    ),
    Mutant("a half line is left after a full disk", _half_line_left, _short),
    Mutant("an unflushed line stays", _lines_written_twice, _failing),
    Mutant(
        "a short write is believed",
        _short_write_believed,
        lambda place, folder, patch: test_disk.test_a_short_write_is_gone_on_with(made(folder)),
    ),
    Mutant("new names are not flushed", _folders_unflushed, _crashing("opening a goal")),
    Mutant("new content is not flushed", _new_content_unflushed, _crashing("claim")),
    Mutant(
        "what is cut off is not flushed",
        _copies_unflushed,
        _crashing("gate request after a torn tail"),
    ),
    Mutant(
        "a lock is kept after an error",
        _lock_kept_after_an_error,
        lambda place, folder, patch: (
            test_locks.test_a_lock_that_cannot_be_compared_with_its_path_is_given_back(
                made(folder) / "runtime" / "lock"
            )
        ),
    ),
    Mutant(
        "a line's hash is not compared",
        _hash_unchecked,
        lambda place, folder, patch: test_turned_bits.test_a_turned_bit_is_never_taken_for_a_line(
            made(folder), (0,)
        ),
    ),
    Mutant(
        "seq and prev are not compared",
        _chain_unchecked,
        lambda place, folder, patch: (
            test_turned_bits.test_a_stomped_file_never_gives_another_state_in_silence(
                place, "journal", test_turned_bits.reordered
            )
        ),
    ),
    Mutant(
        "the tail of a damaged journal is cut off",
        _tail_of_a_damaged_journal_cut,
        lambda place, folder, patch: (
            test_truncation.test_a_goal_s_journal_is_rolled_back_for_whoever_saw_more(
                place, patch, made(folder)
            )
        ),
    ),
    Mutant("half a booking before NULs is damage", _foreign_tail_of_spends, _crashing("spend")),
]
