"""Layer 3: the k-th system call of a command fails, for every k and every reason."""

from __future__ import annotations

import errno
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.errors import LoopxError, Storage

from tests.faults.commands import (
    COMMANDS,
    EVENT_ID,
    Command,
    assert_level,
    committed,
    future,
    kept,
    recorded,
)
from tests.kernel.store.faults import CHANGING, FailingFiles
from tests.kernel.workspace.build import GOAL, Place, ledger_tree, with_files


class Looking(FailingFiles):
    """Looking at what is there fails: no descriptor is left, or the disk does not answer."""

    names = ("open_read", "read_at", "fstat", "lstat")

    def __init__(self, at: int) -> None:
        super().__init__(at, errno.EMFILE if at % 2 else errno.EIO)


class ShortWrites(FailingFiles):
    """Takes only half of the bytes of one write."""

    names = ("write",)

    def __init__(self, at: int) -> None:
        super().__init__(at, code=0)


class Gone(FailingFiles):
    """From the k-th changing call on nothing works, not even taking something back."""

    names = (*CHANGING, "open_read", "read_at", "fstat", "lstat", "unlink", "chmod")

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.gone = False

    def _counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        counted = super()._counted(name, call) if name in CHANGING else call

        def attempted(*args: Any) -> Any:
            if self.gone:
                raise OSError(errno.EIO, "I/O error")
            try:
                return counted(*args)
            except OSError:
                self.gone = len(self.calls) > (self.at or 0)
                raise

        return attempted


CODES = [errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EMFILE, errno.EROFS]
BY_COMMAND = pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)


@BY_COMMAND
def test_whichever_change_fails_it_is_all_or_nothing_and_can_be_sent_again(
    trials: Trials, command: Command
) -> None:
    trials.begin(command)
    refused = trials.refused(FailingFiles)
    for code in CODES:
        for at in refused:
            trials.refuses(FailingFiles(at, code))


@BY_COMMAND
def test_whichever_write_is_short_or_the_last_it_is_all_or_nothing_and_can_be_sent_again(
    trials: Trials, command: Command
) -> None:
    trials.begin(command)
    # A repair puts a whole new journal in place, so that a short write is gone on with.
    assert trials.refused(ShortWrites) or command.name == "repair of the journal"
    assert trials.refused(Gone)


@BY_COMMAND
def test_whichever_look_fails_it_is_all_or_nothing_and_can_be_sent_again(
    trials: Trials, command: Command
) -> None:
    trials.begin(command)
    assert trials.refused(Looking)


class Trials:
    """One command, tried on copies of one ledger. A copy that a trial left as it was serves
    the next one too; where a trial leaves the same bytes as one before, the same follows."""

    def __init__(self, place: Place, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.place, self.folder, self.patch = place, folder, patch
        self.outcomes: set[str] = set()
        self.copies = 0

    def begin(self, command: Command) -> None:
        """Makes the ledger ready for the command."""
        self.command = command
        command.ready(self.place)
        self.precious, self.before = command.precious(self.place), committed(self.place)
        self.untouched = ledger_tree(self.place)
        self.there = self.copy()

    def copy(self) -> Place:
        self.copies += 1
        there = future(self.place, self.folder / str(self.copies), self.patch)
        # A reading saves what it read: every trial makes the same calls then.
        there.again().view(GOAL)
        return there

    def refused(self, fault: Callable[[int], FailingFiles]) -> list[int]:
        """The calls whose failure made the command fail, of all that it makes."""
        found = []
        for at in itertools.count():
            files = fault(at)
            if self.refuses(files):
                found.append(at)
            if len(files.calls) <= at:
                break
        return found

    def refuses(self, files: FailingFiles) -> bool:
        """Whether the command fails; whatever it does, all holds that must."""
        there = self.there
        try:
            self.command.act(with_files(there.root, files, there.clock), there)
            refused = False
            assert recorded(there)
        except LoopxError as error:
            refused = True
            # What could not be read for a repair is seen at the second look to have changed.
            assert isinstance(error, Storage) or error.code == "stale_decision", error
            expected = errno.errorcode[files.code or errno.ENOSPC]
            assert error.facts.get("errno", expected) == expected
            assert_all_or_nothing(there, error, self.before)
        left = ledger_tree(there)
        if str(left) not in self.outcomes:
            self.outcomes.add(str(left))
            assert kept(there, self.precious)
            assert_can_be_sent_again(there, self.command)
            assert kept(there, self.precious)
            self.there = self.copy()
        elif left != self.untouched or isinstance(files, Gone):
            self.there = self.copy()
        return refused


@pytest.fixture
def trials(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trials:
    return Trials(place, tmp_path, monkeypatch)


def assert_can_be_sent_again(place: Place, command: Command) -> None:
    """The same command works now and counts once, and everything is level."""
    command.act(place.again(), place)
    assert recorded(place)
    assert_level(place)


def assert_all_or_nothing(place: Place, error: LoopxError, before: dict[str, list[bytes]]) -> None:
    """Nothing was recorded; or all of it, and then the error says that this is unknown."""
    now = committed(place)
    if now != before:
        assert error.code == "durability_unknown", error
        assert recorded(place)
    if error.code == "durability_unknown":
        assert EVENT_ID in (error.next or "")
